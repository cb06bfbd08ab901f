//! Repeated runs: the failed cases, several times, after each change.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Lines},
    net::SocketAddr,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;
use xs2aspec_record::{Role, Verdict};
use xs2aspec_reference::{Bank, Config, start};

use crate::support::{REFERENCE, command, network::silent_port, recorded, xs2aspec};

const ONLY: &str = "periodic.months*";
const FAULT: &str = "periodic.months.duplicate/only-adjacent";

/// Returns the selected cases of the run in a folder with one of these verdicts, or all cases.
fn cases(out: &Path, verdicts: &[Verdict]) -> BTreeSet<String> {
    let (all, _) = recorded(out, "no record");
    let selected = all.into_iter().filter(|verdict| verdict.role == Role::Selected);
    let wanted = selected.filter(|verdict| verdicts.is_empty() || verdicts.contains(&verdict.verdict));
    wanted.map(|verdict| verdict.case).collect()
}

#[test]
fn only_what_failed_is_asked_again_until_nothing_fails() {
    let folder = TempDir::new().unwrap();
    let (latest, again) = (folder.path().join("last"), folder.path().join("again"));
    let out = latest.to_str().unwrap();
    let (exit, said) = xs2aspec(&["run", "--quiet", "--only", ONLY, "--fault", FAULT, "--out", out]);
    assert_eq!(exit, Some(1), "{said}");
    let failed = cases(&latest, &[Verdict::Fail]);
    assert!(!failed.is_empty() && failed.len() < cases(&latest, &[]).len(), "{failed:?}");

    let (exit, said) = xs2aspec(&["run", "--quiet", "--failed", "--fault", FAULT, "--out", out]);
    assert_eq!((exit, cases(&again, &[])), (Some(1), failed.clone()), "{said}");
    // The failures of a run stay known until the next run.
    for _ in 0..2 {
        let (exit, said) = xs2aspec(&["run", "--quiet", "--failed", "--out", out]);
        assert_eq!((exit, cases(&again, &[Verdict::Pass])), (Some(0), failed.clone()), "{said}");
    }
    assert_eq!(cases(&latest, &[Verdict::Fail]), failed);
    let (exit, said) = xs2aspec(&["run", "--quiet", "--only", ONLY, "--out", out]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = xs2aspec(&["run", "--quiet", "--failed", "--out", out]);
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.contains("nothing failed in the last run of "), "{said}");

    let nowhere = folder.path().join("nowhere");
    let (exit, said) = xs2aspec(&["run", "--failed", "--out", nowhere.to_str().unwrap()]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("there is no earlier run in "), "{said}");
}

/// Starts a bank at this address, and writes a profile of it to the folder.
async fn bank(address: SocketAddr, folder: &Path) -> Bank {
    let bank = start(Config { address, ..Config::default() }).await.unwrap();
    write_profile(&bank.base_url(), folder);
    bank
}

fn write_profile(url: &str, folder: &Path) {
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{url}\""));
    assert_ne!(profile, REFERENCE);
    fs::write(folder.join("bank.toml"), profile).unwrap();
}

/// The first run uses up a quota that the second run needs.
#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_that_is_not_the_same_each_time_is_named() {
    let folder = TempDir::new().unwrap();
    let bank = bank(([127, 0, 0, 1], 0).into(), folder.path()).await;
    let repeated = |only: &'static str, out: &'static str| {
        let line = ["run", "--quiet", "--target", "bank.toml", "--repeat", "2", "--only", only, "--out", out];
        let output = command().current_dir(folder.path()).args(line).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (stable, unstable) =
        tokio::task::block_in_place(|| (repeated(ONLY, "stable"), repeated("limits", "quota")));
    assert_eq!(stable.0, Some(0), "{}", stable.1);
    let cases = cases(&folder.path().join("stable/2"), &[]).len();
    assert!(stable.1.contains(" had the same verdict, 0 did not") && cases > 1, "{}", stable.1);
    assert!(!unstable.1.contains("the same verdict, 0 did not"), "{}", unstable.1);
    assert!(
        unstable.1.contains("\n  limit.without-psu-ip.four/fourth: pass, inconclusive\n"),
        "{}",
        unstable.1
    );
    bank.shutdown().await.unwrap();
}

/// A run with `--watch`, and its output.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn begin(folder: &Path) -> Self {
        let line = ["run", "--quiet", "--target", "bank.toml", "--watch", "--only", ONLY, "--out", "out"];
        let mut command = command();
        command.current_dir(folder).args(line).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Reads the output until a line that starts with `beginning`.
    fn until(&mut self, beginning: &str) -> String {
        let mut said = String::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            said.push_str(&line);
            said.push('\n');
            if line.starts_with(beginning) {
                return said;
            }
        }
        panic!("no `{beginning}` in: {said}");
    }

    fn end(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_watches_goes_on_when_the_target_is_back_or_a_file_changes() {
    let folder = TempDir::new().unwrap();
    let (socket, port) = silent_port();
    drop(socket);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    write_profile(&format!("http://{address}"), folder.path());
    let mut watching = Watching::begin(folder.path());
    tokio::task::block_in_place(|| watching.until("waiting for a change of bank.toml, the target"));
    let bank = start(Config { address, ..Config::default() }).await.unwrap();
    tokio::task::block_in_place(|| {
        watching.until("rerun: the target is back");
        assert!(watching.until("waiting for").contains("conforms"));
        let mut profile = fs::read_to_string(folder.path().join("bank.toml")).unwrap();
        profile.push_str("\n# seen\n");
        fs::write(folder.path().join("bank.toml"), profile).unwrap();
        watching.until("rerun: bank.toml changed");
        watching.until("waiting for");
        assert_eq!(watching.end(), Some(0));
    });
    bank.shutdown().await.unwrap();
}

/// The failed cases run first, and everything runs only after they pass.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_watches_begins_with_what_failed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let (exit, said) =
        xs2aspec(&["run", "--quiet", "--only", ONLY, "--fault", FAULT, "--out", out.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{said}");
    let failed = cases(&out, &[Verdict::Fail]).len();
    let bank = bank(([127, 0, 0, 1], 0).into(), folder.path()).await;
    tokio::task::block_in_place(|| {
        let mut watching = Watching::begin(folder.path());
        let said = watching.until("waiting for");
        assert!(said.starts_with(&format!("rerunning {failed} failed cases\n")), "{said}");
        assert_eq!(said.matches("conforms: ").count(), 2, "{said}");
        assert!(cases(&out, &[]).len() > failed);
        assert_eq!(watching.end(), Some(0));
    });
    bank.shutdown().await.unwrap();
}

#[test]
fn nothing_to_watch_is_said() {
    let (exit, said) = xs2aspec(&["run", "--watch"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("pass a target, --cases, --pack or --waivers"), "{said}");
}
