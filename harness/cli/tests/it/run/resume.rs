//! A run that was killed, or that lost its target, can be resumed. It ends with the verdicts of an
//! undisturbed run, none lost and none doubled.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read as _,
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_reference::{Bank, Clock, Config};

use crate::support::{MASK_KEY, REFERENCE, command, is_again};

const NOW: &str = "2030-01-31T12:00:00Z";
/// Some hundred cases of every operation and kind. None of them forbids logical duplicates, since runs with
/// the same seed and clock create the same payments.
const ONLY: [&str; 7] = [
    "basket.payment*",
    "periodic.months.duplicate*",
    "customers*",
    "transaction.path*",
    "amount.digits/ncbct/instructedAmount/N*",
    "digest.wrong-h*",
    "ncbct.creditor-name.req*",
];

async fn bank(address: SocketAddr) -> Bank {
    let now: DateTime<Utc> = NOW.parse().unwrap();
    let config = Config { address, now: Clock::at(Some(now)), ..Config::default() };
    xs2aspec_reference::start(config).await.unwrap()
}

/// Starts a bank, and writes a profile of it to the folder.
async fn target(folder: &Path) -> (Bank, SocketAddr) {
    let bank = bank(([127, 0, 0, 1], 0).into()).await;
    let address = bank.base_url().trim_start_matches("http://").parse().unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    assert_ne!(profile, REFERENCE);
    fs::write(folder.join("bank.toml"), profile).unwrap();
    (bank, address)
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = command();
    let command = command.current_dir(folder).args(["run", "--quiet"]).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts a run with few cases in flight, so that it takes long enough.
fn begin(folder: &Path, out: &str) -> Child {
    let only = ONLY.iter().flat_map(|pattern| ["--only", pattern]);
    let mut arguments = vec!["--target", "bank.toml", "--seed", "5", "--now", NOW, "--jobs", "2"];
    arguments.extend(["--mask-key", MASK_KEY, "--out", out]);
    arguments.extend(only);
    start(folder, &arguments)
}

/// Resumes a run, which needs the profile again.
fn resume(folder: &Path, out: &str, more: &[&str]) -> Child {
    start(folder, &[&["--resume", out, "--target", "bank.toml", "--mask-key", MASK_KEY], more].concat())
}

fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn events(folder: &Path) -> Vec<Value> {
    let text = crate::support::read_record(folder.join("record.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the verdicts of the selected cases and of the controls. Only a resumed run may have two for a
/// case, and then the last one counts.
fn verdicts(folder: &Path) -> BTreeMap<String, (String, String)> {
    let (mut verdicts, mut part) = (BTreeMap::new(), 0);
    let mut of_part = BTreeSet::new();
    for event in events(folder) {
        part += u32::from(event["event"] == "resumed");
        if event["event"] != "verdict" {
            continue;
        }
        let text = |name: &str| event[name].as_str().unwrap().to_owned();
        // If a run created a customer before it was killed, creating the customer again is rejected, and
        // these cases are observed.
        if ["customers.all/", "customers.as-created/"].iter().any(|begin| text("case").starts_with(begin)) {
            continue;
        }
        verdicts.insert(text("case"), (text("role"), text("verdict")));
        assert!(of_part.insert((part, text("case"))), "{} has two verdicts", event["case"]);
    }
    verdicts
}

/// Pseudorandom numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_killed_again_and_again_comes_to_the_same_verdicts() {
    is_killed(6).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "two minutes with optimisation"]
async fn a_run_that_is_killed_sixty_times_comes_to_the_same_verdicts() {
    is_killed(60).await;
}

/// Asserts that runs that are killed `times` times in total give the verdicts of an undisturbed run.
async fn is_killed(times: u32) {
    let folder = TempDir::new().unwrap();
    let (bank, _) = target(folder.path()).await;
    let whole = folder.path().join("whole");
    let began = Instant::now();
    assert_eq!(ended(begin(folder.path(), "whole")).0, Some(0));
    let took = u64::try_from(began.elapsed().as_micros()).unwrap();
    let expected = verdicts(&whole);
    assert!(expected.len() > 200, "{}", expected.len());

    let mut numbers = Numbers(1);
    let (mut kills, mut runs, mut in_doubt) = (0, 0, 0);
    while kills < times {
        runs += 1;
        let name = format!("killed-{runs}");
        let out = folder.path().join(&name);
        let mut child = begin(folder.path(), &name);
        // A run that is always killed while it waits for the baseline requests makes no progress, so it gets
        // more time in each round.
        let (mut longest, mut kept) = (took, Vec::new());
        loop {
            thread::sleep(Duration::from_micros(numbers.below(longest)));
            if child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            longest += took / 4;
            // Everything that was written is still there, except for a cut line.
            let mut left = Vec::new();
            // The last line may end within a character.
            if let Ok(mut record) = xs2aspec_record::compressed::open_record(&out) {
                record.read_to_end(&mut left).unwrap();
            }
            assert!(left.starts_with(&kept), "kill {kills} lost something");
            kept = left;
            kept.truncate(kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
            child = match crate::support::read_record(&out) {
                Ok(record) if !record.is_empty() => resume(folder.path(), &name, &[]),
                // The run had not sent its first request yet.
                _ => begin(folder.path(), &name),
            };
        }
        let (exit, said) = ended(child);
        assert_eq!(exit, Some(0), "{said}");
        assert_eq!(verdicts(&out), expected, "run {runs}");
        assert!(crate::support::read_record(out.join("record.jsonl")).unwrap().as_bytes().starts_with(&kept));
        assert!(!out.join("run.lock").exists() && out.join("report.html").exists());
        // The requests of a case are there once, unless the case was in doubt.
        let mut doubted = BTreeSet::new();
        let mut sent = BTreeMap::<(String, String, String), u32>::new();
        for event in events(&out) {
            if event["event"] == "resumed" {
                doubted.extend(event["in_doubt"].as_array().into_iter().flatten().map(ToString::to_string));
            } else if event["event"] == "exchange" {
                let of = |name: &str| event[name].to_string();
                let of_what = (of("case"), of("step"), of("attempt"));
                // Reads may be resent, and repeated cases have new ids.
                if event["request"]["method"] != "GET"
                    && !is_again(serde_json::from_value(event["look"].clone()).unwrap())
                {
                    *sent.entry(of_what).or_default() += 1;
                }
            }
        }
        in_doubt += doubted.len();
        for ((case, step, _), times) in sent {
            assert!(times == 1 || doubted.contains(&case), "{case} {step} was sent {times} times");
        }
    }
    assert!(in_doubt > 0, "no kill met a request under way");
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_made_a_payment_can_be_left_alone() {
    let folder = TempDir::new().unwrap();
    let (bank, _) = target(folder.path()).await;
    assert_eq!(ended(begin(folder.path(), "out")).0, Some(0));
    let out = folder.path().join("out");
    // A kill during the last case: it is marked as being sent, and has no verdict.
    let mut record: Vec<String> =
        crate::support::read_record(out.join("record.jsonl")).unwrap().lines().map(str::to_owned).collect();
    record.pop();
    let at = record.iter().rposition(|line| line.contains("\"case\":\"periodic.months")).unwrap();
    let case: Value = serde_json::from_str(&record[at]).unwrap();
    let case = case["case"].as_str().unwrap().to_owned();
    let is_answer = |event: &Value| event["case"] == case.as_str() && event["event"] != "sending";
    record.retain(|line| !is_answer(&serde_json::from_str::<Value>(line).unwrap()));
    let text = record.join("\n") + "\n{\"event\":\"verd";
    for (policy, verdict, exit) in [("leave", "inconclusive", Some(3)), ("send", "pass", Some(0))] {
        fs::write(out.join("record.jsonl"), &text).unwrap();
        let (code, said) = ended(resume(folder.path(), "out", &["--in-doubt", policy]));
        assert_eq!(code, exit, "{said}");
        assert_eq!(verdicts(&out)[&case].1, verdict);
        let events = events(&out);
        let resumed = events.iter().find(|event| event["event"] == "resumed").unwrap();
        assert_eq!(resumed["in_doubt"], serde_json::json!([case]));
        let sent =
            events.iter().filter(|event| event["event"] == "exchange" && event["case"] == case.as_str());
        assert_eq!(sent.count(), usize::from(policy == "send"));
    }
    // The bank sees the resent request as a new one.
    let id = |events: Vec<Value>| {
        let exchange =
            events.into_iter().find(|event| event["event"] == "exchange" && event["case"] == case.as_str());
        let headers = exchange.unwrap()["request"]["headers"].clone();
        let headers = headers.as_array().unwrap().clone();
        headers.into_iter().find(|header| header[0] == "X-Request-Id").unwrap()[1].clone()
    };
    let again = id(events(&out));
    assert_eq!(ended(begin(folder.path(), "fresh")).0, Some(0));
    assert_ne!(id(events(&folder.path().join("fresh"))), again);
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_lost_its_target_asks_again_what_was_not_answered() {
    let folder = TempDir::new().unwrap();
    let (first, address) = target(folder.path()).await;
    assert_eq!(ended(begin(folder.path(), "whole")).0, Some(0));
    let expected = verdicts(&folder.path().join("whole"));
    let child = begin(folder.path(), "out");
    let out = folder.path().join("out");
    while !crate::support::read_record(out.join("record.jsonl"))
        .is_ok_and(|text| text.matches("verdict").count() > 50)
    {
        thread::sleep(Duration::from_millis(2));
    }
    first.shutdown().await.unwrap();
    let (exit, _) = ended(child);
    let lost = verdicts(&out).into_values().filter(|(_, verdict)| verdict == "error").count();
    assert!(exit == Some(3) && lost > 20, "{exit:?}, {lost} cases without an answer");
    let second = bank(address).await;
    let (exit, said) = ended(resume(folder.path(), "out", &[]));
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(verdicts(&out), expected);
    second.shutdown().await.unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_asked_to_end_leaves_a_whole_record_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let (bank, _) = target(folder.path()).await;
    assert_eq!(ended(begin(folder.path(), "whole")).0, Some(0));
    let expected = verdicts(&folder.path().join("whole"));
    for signal in ["INT", "TERM"] {
        let out = folder.path().join(signal);
        let child = begin(folder.path(), signal);
        let has_begun = || {
            crate::support::read_record(out.join("record.jsonl"))
                .is_ok_and(|text| text.matches("verdict").count() > 20)
        };
        while !has_begun() {
            thread::sleep(Duration::from_millis(2));
        }
        let kill =
            Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap();
        assert!(kill.success());
        let (exit, said) = ended(child);
        assert_eq!(exit, Some(3), "{signal}: {said}");
        let stopped = events(&out);
        let last = stopped.last().unwrap();
        assert_eq!(
            (&last["event"], &last["stopped_early"]),
            (&"run-finished".into(), &true.into()),
            "{signal}"
        );
        assert!(verdicts(&out).len() < expected.len() && out.join("junit.xml").exists(), "{signal}");
        let (exit, said) = ended(resume(folder.path(), signal, &[]));
        assert_eq!(exit, Some(0), "{said}");
        assert_eq!(verdicts(&out), expected, "{signal}");
        assert!(!out.join("run.lock").exists());
    }
    bank.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_only_as_it_began() {
    let folder = TempDir::new().unwrap();
    let (bank, _) = target(folder.path()).await;
    assert_eq!(ended(begin(folder.path(), "out")).0, Some(0));
    let path = |name: &str| folder.path().join(name);
    let record = crate::support::read_record(path("out/record.jsonl")).unwrap();
    let profile = fs::read_to_string(path("bank.toml")).unwrap();
    fs::write(path("waivers.toml"), "[[waiver]]\ncases = \"basket\"\nowner = \"a\"\nreason = \"b\"\nticket = \"c\"\nexpires = \"2031-01-01\"\n").unwrap();
    let mut table = Vec::new();
    let mut resumed = |more: &[&str]| {
        let (exit, said) = ended(resume(folder.path(), "out", more));
        assert_eq!(exit, Some(2), "{said}");
        table.push(said.lines().next().unwrap().to_owned());
    };
    resumed(&["--seed", "6"]);
    resumed(&["--waivers", "waivers.toml"]);
    fs::write(path("bank.toml"), profile.replace("NO1400004200179", "NO1400004200187")).unwrap();
    resumed(&[]);
    // The same bank at another address. The record would have the same address for both.
    let other = self::bank(([127, 0, 0, 1], 0).into()).await;
    fs::write(path("bank.toml"), profile.replace(&bank.base_url(), &other.base_url())).unwrap();
    resumed(&[]);
    other.shutdown().await.unwrap();
    fs::write(path("bank.toml"), &profile).unwrap();
    // A killed run with a changed line.
    let killed = &record[..=record.trim_end().rfind('\n').unwrap()];
    fs::write(path("out/record.jsonl"), killed.replacen("\"suite_sha256\":\"", "\"suite_sha256\":\"0", 1))
        .unwrap();
    resumed(&[]);
    // A finished run with a changed line.
    fs::write(path("out/record.jsonl"), record.replacen("\"suite_sha256\":\"", "\"suite_sha256\":\"0", 1))
        .unwrap();
    resumed(&[]);
    fs::write(path("out/record.jsonl"), "").unwrap();
    resumed(&[]);
    fs::remove_file(path("out/record.jsonl")).unwrap();
    fs::remove_file(path("out/record.jsonl.gz")).unwrap();
    resumed(&[]);
    assert_eq!(table.len(), 8);
    for (said, expected) in table.iter().zip([
        "error: the argument '--resume <DIR>' cannot be used with '--seed <N>'",
        "error: cannot resume: the waivers changed from `none` to `",
        "error: cannot resume: the profile values and mask key changed from `",
        "error: cannot resume: the target address changed from `http://127.0.0.1:",
        "error: cannot resume: the case files changed from `0",
        "error: out/record.jsonl: line ",
        "error: out/record.jsonl: the record does not start with `run-started`",
        "error: out/record.jsonl: cannot read the record: ",
    ]) {
        assert!(said.starts_with(expected), "{said}");
    }
    bank.shutdown().await.unwrap();
}

/// Shards with the same name of the profile, in two folders, at two addresses.
#[tokio::test(flavor = "multi_thread")]
async fn shards_of_two_banks_are_not_one_run() {
    let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (first, _) = target(one.path()).await;
    let (second, _) = target(other.path()).await;
    let shard = |folder: &Path, shard: &str| {
        let arguments = ["--target", "bank.toml", "--seed", "5", "--now", NOW, "--only", "basket.payment*"];
        let (exit, said) =
            ended(start(folder, &[&arguments[..], &["--shard", shard, "--out", "out"]].concat()));
        assert_eq!(exit, Some(0), "{said}");
        folder.join("out").to_str().unwrap().to_owned()
    };
    let out = one.path().join("merged");
    let merge = |parts: [&str; 2]| {
        let output = command().arg("merge").args(parts).arg("--out").arg(&out).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let parts = (shard(one.path(), "1/2"), shard(other.path(), "2/2"));
    let (exit, said) = merge([&parts.0, &parts.1]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(
        said.contains("the same target address")
            && !["record.jsonl", "record.jsonl.gz"].iter().any(|name| out.join(name).exists()),
        "{said}"
    );
    fs::rename(&parts.0, one.path().join("1")).unwrap();
    let second_of_one = shard(one.path(), "2/2");
    let (exit, said) = merge([one.path().join("1").to_str().unwrap(), &second_of_one]);
    assert_eq!(exit, Some(0), "{said}");
    first.shutdown().await.unwrap();
    second.shutdown().await.unwrap();
}
