//! Equal seed, clock and target give equal records, whatever ends first; and equal reports from records whose times are equal.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_reference::{Clock, Config};

const NOW: &str = "2030-01-31T12:00:00Z";

/// The members of a record that say how long something took, and when.
const TIMING: [&str; 2] = ["at", "micros"];

fn xs2aspec(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_xs2aspec")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Takes the times out of a record.
fn without_times(folder: &Path) -> String {
    let record = fs::read_to_string(folder.join("record.jsonl")).unwrap();
    let mut text = String::new();
    let mut times = 0;
    for line in record.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        for name in TIMING {
            if let Some(value) = event.get_mut(name) {
                times += usize::from(*value != 0);
                *value = 0.into();
            }
        }
        text.push_str(&event.to_string());
        text.push('\n');
    }
    assert!(times > 500, "{times} times in the record");
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_one_seed_clock_and_target_are_equal_but_for_times() {
    let folder = TempDir::new().unwrap();
    let mut address = ([127, 0, 0, 1], 0).into();
    let mut records = Vec::new();
    let mut reports = Vec::new();
    for name in ["one", "two"] {
        let now = Clock::at(Some(NOW.parse().unwrap()));
        let bank = xs2aspec_reference::start(Config { address, now, ..Config::default() }).await.unwrap();
        address = bank.base_url().trim_start_matches("http://").parse().unwrap();
        let profile = include_str!("../../../fixtures/targets/reference.toml");
        let profile = profile.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
        fs::write(folder.path().join("bank.toml"), profile).unwrap();
        let (out, target) = (folder.path().join(name), folder.path().join("bank.toml"));
        let (out, target) = (out.to_str().unwrap(), target.to_str().unwrap());
        // Not as many at once in the second: other cases end first.
        let jobs = if name == "one" { "16" } else { "5" };
        let depth = ["--depth", "quick", "--seed", "9", "--now", NOW, "--jobs", jobs];
        xs2aspec(&[&["run", "--quiet", "--target", target, "--out", out][..], &depth].concat());
        let record = without_times(Path::new(out));
        fs::write(Path::new(out).join("record.jsonl"), &record).unwrap();
        records.push(record);
        let formats = ["junit", "markdown", "html", "ctrf", "har", "terminal"];
        reports.push(formats.map(|format| xs2aspec(&["report", out, "--format", format])));
        bank.shutdown().await.unwrap();
    }
    for (one, two) in records[0].lines().zip(records[1].lines()) {
        assert_eq!(one, two);
    }
    assert_eq!(records[0], records[1]);
    assert!(reports[0] == reports[1], "a report says something else");
}
