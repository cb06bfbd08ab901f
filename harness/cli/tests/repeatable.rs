//! Equal seed, clock and target give equal records, whatever ends first; and equal reports from records whose times are equal.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_reference::{Bank, Clock, Config};

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

/// A bank at this address, or at one that is free; the address, and the profile in a file of the folder.
async fn bank(folder: &Path, address: SocketAddr) -> (Bank, SocketAddr, String) {
    let now = Clock::at(Some(NOW.parse().unwrap()));
    let bank = xs2aspec_reference::start(Config { address, now, ..Config::default() }).await.unwrap();
    let address = bank.base_url().trim_start_matches("http://").parse().unwrap();
    let profile = include_str!("../../../fixtures/targets/reference.toml");
    let profile = profile.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    let target = folder.join("bank.toml");
    fs::write(&target, profile).unwrap();
    (bank, address, target.to_str().unwrap().to_owned())
}

fn run(target: &str, out: &Path, more: &[&str]) {
    let fixed = ["run", "--quiet", "--target", target, "--out", out.to_str().unwrap(), "--depth", "quick"];
    xs2aspec(&[&fixed[..], &["--seed", "9", "--now", NOW], more].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_one_seed_clock_and_target_are_equal_but_for_times() {
    let folder = TempDir::new().unwrap();
    let mut place = ([127, 0, 0, 1], 0).into();
    let mut records = Vec::new();
    let mut reports = Vec::new();
    // Not as many at once in the second: other cases end first.
    for (name, jobs) in [("one", "16"), ("two", "5")] {
        let (bank, address, target) = bank(folder.path(), place).await;
        place = address;
        let out = folder.path().join(name);
        run(&target, &out, &["--jobs", jobs]);
        let record = without_times(&out);
        fs::write(out.join("record.jsonl"), &record).unwrap();
        records.push(record);
        let formats = ["junit", "markdown", "html", "ctrf", "har", "terminal"];
        reports.push(formats.map(|format| xs2aspec(&["report", out.to_str().unwrap(), "--format", format])));
        bank.shutdown().await.unwrap();
    }
    for (one, two) in records[0].lines().zip(records[1].lines()) {
        assert_eq!(one, two);
    }
    assert_eq!(records[0], records[1]);
    assert!(reports[0] == reports[1], "a report says something else");

    // Three shards, each on its own, make the same record; only that some controls were asked more than once.
    let parts = ["1/3", "2/3", "3/3"].map(|shard| (shard, folder.path().join(shard.replace('/', "-"))));
    for (shard, out) in &parts {
        let (bank, _, target) = bank(folder.path(), place).await;
        run(&target, out, &["--shard", shard]);
        bank.shutdown().await.unwrap();
    }
    let merged = folder.path().join("merged");
    let mut arguments = vec!["merge", "--out", merged.to_str().unwrap()];
    arguments.extend(parts.iter().map(|(_, out)| out.to_str().unwrap()));
    xs2aspec(&arguments);
    let record = without_times(&merged);
    let alike = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "run-finished" {
            event["exchanges"] = 0.into();
        }
        event
    };
    for (one, other) in records[0].lines().zip(record.lines()) {
        assert_eq!(alike(one), alike(other));
    }
    assert_eq!(records[0].lines().count(), record.lines().count());
}
