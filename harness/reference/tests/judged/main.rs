//! The suite judges this bank. `.ci/mutants` runs this test on banks with one change in their source. If the
//! suite does not detect a change, a case is missing, or the document does not cover it.

use std::{env, fs, process::Command};

use xs2aspec_reference::{Config, start};

/// The profile of the bank, without its port.
const PROFILE: &str = include_str!("../../../../fixtures/targets/reference.toml");

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_finds_nothing() {
    let program =
        env::var_os("XS2ASPEC").expect("XS2ASPEC names the program that judges: run `bash .ci/mutants`");
    let bank = start(Config::default()).await.unwrap();
    let folder = env::temp_dir().join(format!("xs2aspec-judged-{}", bank.address().port()));
    fs::create_dir_all(&folder).unwrap();
    let profile = folder.join("bank.toml");
    fs::write(&profile, PROFILE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()))).unwrap();
    let run = Command::new(program)
        .args(["run", "--quiet", "--fail-fast", "--deny", "warnings", "--target"])
        .arg(&profile)
        .arg("--out")
        .arg(folder.join("out"))
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&run.stderr));
    bank.shutdown().await.unwrap();
}
