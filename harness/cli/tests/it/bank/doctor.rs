//! The output of the doctor for usable targets and for unusable ones.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use tempfile::TempDir;
use xs2aspec_reference::{Bank, Config, start};

use crate::support::{REFERENCE, command, network::silent_port, printed};

async fn bank() -> Bank {
    start(Config::default()).await.unwrap()
}

/// Runs the doctor on a profile. Returns its output and exit code.
async fn doctor(profile: String) -> (Option<i32>, String) {
    tokio::task::spawn_blocking(move || {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("bank.toml");
        fs::write(&file, profile).unwrap();
        let output = command().args(["doctor", "--target"]).arg(&file).output().unwrap();
        let said = printed(&output);
        (output.status.code(), said)
    })
    .await
    .unwrap()
}

fn at(url: &str) -> String {
    REFERENCE.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {url:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_in_order_is_ready() {
    let bank = bank().await;
    let (exit, said) = doctor(at(&bank.base_url())).await;
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(said.matches(" accepted: 20").count(), 6, "{said}");
    assert!(said.contains("clock      in step with this machine") && said.contains(" can run"), "{said}");
    let lacks = |line: &&str| line.contains("not:") && !line.contains("no further");
    assert_eq!(said.lines().find(lacks), None, "the profile offers everything: {said}");
    let named = format!("target     reference bank at {}\n", bank.base_url());
    assert!(said.starts_with(&named), "{said}");
    // The name of a target without a name is its address, which is printed only once.
    let (_, said) = doctor(format!("base-url = {:?}", bank.base_url())).await;
    assert!(said.starts_with(&format!("target     {}\n", bank.base_url())), "{said}");
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_only_warned_of_is_ready() {
    let variations = vec!["basket.response.basket-id.absent/absent".parse().unwrap()];
    let bank = start(Config { variations, ..Config::default() }).await.unwrap();
    let (exit, said) = doctor(at(&bank.base_url())).await;
    assert!(said.contains("responded, with a warning: 201"), "{said}");
    assert_eq!(exit, Some(0), "{said}");
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn init_takes_the_answers_of_somebody_who_is_asked() {
    let folder = TempDir::new().unwrap();
    let init = |file: &str, answers: &str| {
        let mut child = command()
            .current_dir(folder.path())
            .args(["init", file, "--ask"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), printed(&output))
    };
    let bank = bank().await;
    let (exit, said) = init("bank.toml", &format!("a bank\n{}\n", bank.base_url()));
    assert_eq!(exit, Some(0), "{said}");
    assert!(
        said.contains("base-url (with any prefix, without the document's /v1) [http://127.0.0.1:8080]: "),
        "{said}"
    );
    assert!(said.contains("[psu.private] id (PSU-ID)") && said.contains("fill in [psu.second]: "), "{said}");
    assert!(said.ends_with("wrote bank.toml; next, run `xs2aspec doctor --target bank.toml`\n"), "{said}");
    let (exit, said) = doctor(fs::read_to_string(folder.path().join("bank.toml")).unwrap()).await;
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.starts_with(&format!("target     a bank at {}\n", bank.base_url())), "{said}");
    bank.shutdown().await.unwrap();

    let (exit, said) = init("wrong.toml", "a bank\nno address\n");
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("wrong.toml:") && said.contains("base-url"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_init_writes_is_a_profile_and_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bank.toml");
    let init = || command().arg("init").arg(&file).output().unwrap();
    assert_eq!(init().status.code(), Some(0));
    let bank = bank().await;
    let text = fs::read_to_string(&file).unwrap().replace("http://127.0.0.1:8080", &bank.base_url());
    let (exit, said) = doctor(text).await;
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("can run"), "{said}");
    let again = init();
    assert_eq!(again.status.code(), Some(2));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains(&format!("refusing to overwrite {}:", file.display())), "{said}");
    bank.shutdown().await.unwrap();
}

/// The reason names the two keys of the profile that have the same value.
#[tokio::test(flavor = "multi_thread")]
async fn one_person_under_two_names_is_the_reason_why_cases_are_left_out() {
    let (private, second) = ("0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", "5e2f8a41-7c36-4d19-b0e5-9a8b7c6d5e4f");
    let bank = bank().await;
    let profile = at(&bank.base_url());
    assert!(profile.contains(private) && profile.contains(second));
    let reason = "the target profile has the same value for `psu.second.id` and `psu.private.id`, so it has no `second-psu`";
    for (text, is_told) in [(profile.clone(), false), (profile.replace(second, private), true)] {
        let (exit, said) = doctor(text).await;
        assert_eq!(exit, Some(0), "{said}");
        assert_eq!(said.contains(reason), is_told, "{said}");
        assert!(!said.contains("profile has no `second-psu`"), "{said}");
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_not_there_is_told_in_a_line() {
    let (_kept, port) = silent_port();
    let (exit, said) = doctor(at(&format!("http://127.0.0.1:{port}"))).await;
    assert_eq!(exit, Some(3));
    assert!(said.contains("cannot reach the target") && said.contains("change `base-url`"), "{said}");
    let (exit, said) = doctor(at("https://bank.example")).await;
    assert_eq!(exit, Some(2));
    assert!(said.contains("refusing to send requests"), "{said}");
}

/// The responses show the exact status of success, and which operations are missing. The profile lacks both.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_of_the_profile_says_what_the_answers_show() {
    let variations = vec!["payment.success-status/ok".parse().unwrap()];
    let bank = start(Config { variations, ..Config::default() }).await.unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("bank.toml");
    let profile = at(&bank.base_url()).replace("basket = true\n", "");
    assert!(profile.contains("\"payment.success-status\" = \"201\""));
    fs::write(&file, format!("{profile}\n[paths]\nbasket = \"/v1/nowhere\"\n")).unwrap();
    let doctor = |option: &str| {
        let arguments = ["doctor", "--target", "bank.toml", option];
        printed(&command().current_dir(folder.path()).args(arguments).output().unwrap())
    };
    let profile = || fs::read_to_string(&file).unwrap();
    let before = profile();
    tokio::task::block_in_place(|| {
        let said = doctor("--diff");
        assert_eq!(profile(), before, "--diff writes nothing");
        assert!(
            said.contains("-\"payment.success-status\" = \"201\"\n+\"payment.success-status\" = \"200\"\n"),
            "{said}"
        );
        assert!(said.contains("+basket = false\n"), "{said}");
        // The output is a patch that applies unchanged.
        fs::write(folder.path().join("said"), &said).unwrap();
        let mut patch = Command::new("patch");
        let patched =
            patch.current_dir(folder.path()).args(["-s", "-i", "said", "bank.toml"]).output().unwrap();
        assert!(patched.status.success(), "{}", printed(&patched));
        let patched = profile();
        assert_ne!(patched, before);
        let said = doctor("--diff");
        assert!(said.contains("fix        bank.toml already has all that the responses show"), "{said}");
        // `--fix` writes what `--diff` prints.
        fs::write(&file, &before).unwrap();
        let said = doctor("--fix");
        assert!(said.contains("fix        wrote bank.toml"), "{said}");
        assert_eq!(profile(), patched);
        doctor("--fix");
        assert_eq!(profile(), patched);
        let of_url = command().args(["doctor", "--fix", "--target", &bank.base_url()]).output().unwrap();
        assert!(printed(&of_url).contains("a URL has no profile to fix"));
    });
    bank.shutdown().await.unwrap();
}
