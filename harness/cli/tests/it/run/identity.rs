//! Each run has its own request ids and amounts, so nothing that a bank remembers decides a verdict.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, Exchange, Reason};
use xs2aspec_reference::{Bank, Config, Style, start};

use crate::support::{MASK_KEY, REFERENCE, command, printed, recorded};

const FAULT: &str = "periodic.months.duplicate/only-adjacent";
const MONTHS: [&str; 2] = ["--only", "periodic.months.duplicate"];
const SEED: [&str; 2] = ["--seed", "7"];

/// A folder with the profile of a bank that runs as long as the test.
struct Place {
    folder: TempDir,
    bank: Bank,
}

impl Place {
    /// Starts a bank with these variations and faults. `profile` edits its profile.
    async fn with(config: Config, profile: impl Fn(String) -> String) -> Self {
        let bank = start(config).await.unwrap();
        let text = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
        assert_ne!(text, REFERENCE);
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("bank.toml"), profile(text)).unwrap();
        Self { folder, bank }
    }

    /// Starts a bank that rejects each X-Request-ID that it has seen before, with or without a fault.
    async fn strict(fault: Option<&str>) -> Self {
        let style: Style = "strict".parse().unwrap();
        let faults = fault.iter().map(|name| name.parse().unwrap()).collect();
        let variations = style.variations().to_vec();
        let config = Config { faults, variations, ..Config::default() };
        // This bank makes the other choice.
        let choice = ["\"psu-identity.alone\" = \"accept\"", "\"psu-identity.alone\" = \"refuse\""];
        assert!(REFERENCE.contains(choice[0]));
        Self::with(config, |text| text.replace(choice[0], choice[1])).await
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command();
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    /// Runs cases against the bank. Returns the exit code and what was printed.
    fn run(&self, out: &str, more: &[&str]) -> (Option<i32>, String) {
        let fixed = ["run", "--quiet", "--target", "bank.toml", "--out", out];
        let output = self.command(&[&fixed[..], more].concat()).output().unwrap();
        (output.status.code(), printed(&output))
    }

    fn exchanges(&self, out: &str) -> Vec<Exchange> {
        recorded(&self.path(out), "no record").1
    }

    /// Returns the verdicts and reasons of the cases in a record whose ids start with `beginning`.
    fn verdicts(&self, out: &str, beginning: &str) -> Vec<(String, String, Option<Reason>)> {
        let (verdicts, _) = recorded(&self.path(out), "no record");
        let of = verdicts.into_iter().filter(|verdict| verdict.case.starts_with(beginning));
        let word = |word: xs2aspec_record::Verdict| word.word().to_owned();
        of.map(|one| (one.case, word(one.verdict), one.reason)).collect()
    }

    /// Returns the first event of a record.
    fn started(&self, out: &str) -> Value {
        let text = crate::support::read_record(self.path(out).join("record.jsonl")).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    }
}

/// Returns the distinct values of X-Request-ID in a record.
fn request_ids(exchanges: &[Exchange]) -> BTreeSet<String> {
    let ids = exchanges.iter().filter_map(|exchange| exchange.request.header("X-Request-ID"));
    ids.map(str::to_owned).collect()
}

/// Cases that never repeat an X-Request-ID on purpose.
const PLAIN: [&str; 6] = ["--only", "ncbct.path", "--only", "transaction.path", "--only", "basket.body"];

#[tokio::test(flavor = "multi_thread")]
async fn runs_with_one_seed_share_no_request_id() {
    let place = Place::with(Config::default(), |text| text).await;
    tokio::task::block_in_place(|| {
        let mut all = BTreeSet::new();
        let mut sent = 0;
        for out in ["one", "two", "three"] {
            let (exit, said) = place.run(out, &[&PLAIN[..], &SEED].concat());
            assert_eq!(exit, Some(0), "{said}");
            let ids = request_ids(&place.exchanges(out));
            assert!(ids.len() > 10, "{ids:?}");
            sent += ids.len();
            all.extend(ids);
        }
        assert_eq!(all.len(), sent, "a request id was sent twice");
        assert_ne!(place.started("one")["run_id"], place.started("two")["run_id"]);
        assert_eq!(place.started("one")["seed"], place.started("two")["seed"]);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_id_and_a_seed_reproduce_a_run_and_parts_of_it_differ() {
    let place = Place::with(Config::default(), |text| text).await;
    let sent = |out: &str, more: &[&str]| {
        let now = ["--now", "2030-01-31T12:00:00Z"];
        let line =
            ["run", "--quiet", "--jobs", "1", "--run-id", "ci-7", "--mask-key", MASK_KEY, "--out", out];
        let output = place.command(&[&line[..], &PLAIN, &SEED, &now, more].concat()).output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
        assert_eq!(place.started(out)["run_id"], "ci-7");
        let base = place.started(out)["base_url"].as_str().unwrap().to_owned();
        let authority = base.trim_start_matches("http://").to_owned();
        let exchanges = place.exchanges(out);
        let bytes: Vec<String> = exchanges
            .iter()
            .map(|exchange| {
                let sent = serde_json::to_string(&exchange.request).unwrap();
                format!("{} {} {}", exchange.case, exchange.step, sent.replace(&authority, "AUTHORITY"))
            })
            .collect();
        (bytes, request_ids(&exchanges))
    };
    tokio::task::block_in_place(|| {
        let ((one, ids), (two, _)) = (sent("one", &[]), sent("two", &[]));
        assert!(one.len() > 20);
        assert_eq!(one, two);
        let (_, of_first) = sent("part-1", &["--shard", "1/2"]);
        let (_, of_second) = sent("part-2", &["--shard", "2/2"]);
        for (name, other) in [("whole", &ids), ("other part", &of_second)] {
            assert!(!of_first.is_empty() && of_first.is_disjoint(other), "{name}");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repetition_finds_the_fault_again_and_leaves_the_run_alone() {
    let place = Place::strict(Some(FAULT)).await;
    tokio::task::block_in_place(|| {
        let (exit, said) = place.run("reports/latest", &[&MONTHS[..], &["--seed", "7"]].concat());
        assert_eq!(exit, Some(1), "{said}");
        let failed = |out: &str| {
            let verdicts = place.verdicts(out, "periodic.months.duplicate");
            verdicts.into_iter().filter(|one| one.1 == "fail").map(|one| one.0).collect::<BTreeSet<_>>()
        };
        let first = failed("reports/latest");
        assert!(first.len() > 10, "{said}");
        let record = || {
            crate::support::read_record(place.path("reports/latest/record.jsonl"))
                .map(String::into_bytes)
                .unwrap()
        };
        let before = record();

        let again = said.lines().find_map(|line| line.strip_prefix("   = again   xs2aspec ")).unwrap();
        let script = format!("'{}' {again}", env!("CARGO_BIN_EXE_xs2aspec"));
        for time in ["first", "second"] {
            let shell = Command::new("sh").current_dir(place.folder.path()).args(["-c", &script]).output();
            let shell = shell.unwrap();
            assert_eq!(shell.status.code(), Some(1), "{time}: {again}: {}", printed(&shell));
            assert_eq!(failed("reports/again").len(), 1, "{time}: {again}");
        }
        for time in ["first", "second"] {
            let (exit, said) = place.run("reports/latest", &["--failed", "--seed", "7"]);
            assert_eq!((exit, failed("reports/again")), (Some(1), first.clone()), "{time}: {said}");
        }
        assert!(record() == before, "a repetition changed the run that it repeats");
        // Repeating a repetition does not change that one, either.
        let (exit, said) = place.run("reports/again", &["--failed"]);
        assert_eq!((exit, failed("reports/again-2")), (Some(1), first), "{said}");
        assert!(said.contains(" --out reports/again\n"), "{said}");

        let (_, said) = place.run("times", &[&MONTHS[..], &["--repeat", "2", "--seed", "11"]].concat());
        assert!(said.contains(" had the same verdict, 0 did not"), "{said}");
    });
}

/// A run id that is given twice is the user's mistake. It must still not acquit the bank.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_run_id_acquits_no_bank() {
    let place = Place::strict(Some(FAULT)).await;
    tokio::task::block_in_place(|| {
        let given = [&MONTHS[..], &SEED, &["--run-id", "same"]].concat();
        let failed = |out: &str| {
            let verdicts = place.verdicts(out, "periodic.months.duplicate");
            verdicts.iter().filter(|verdict| verdict.1 == "fail").count()
        };
        let (exit, said) = place.run("one", &given);
        assert!(exit == Some(1) && failed("one") > 10, "{said}");
        // The bank rejects the first ids of each control, and accepts new ones.
        let (exit, said) = place.run("two", &given);
        assert_eq!((exit, failed("two")), (Some(1), failed("one")), "{said}");
        // The bank has seen these ids, too.
        let (exit, said) = place.run("three", &given);
        assert_eq!((exit, failed("three")), (Some(3), 0), "{said}");
        let passed = place.verdicts("three", "periodic.months.duplicate");
        assert!(passed.iter().all(|verdict| verdict.1 != "pass"), "{passed:?}");
    });
}

/// A conforming bank is not accused if a run id repeats.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_run_id_accuses_no_bank() {
    let place = Place::strict(None).await;
    tokio::task::block_in_place(|| {
        let line = ["--depth", "quick", "--skip", "limits", "--skip", "transaction.shown-to"];
        let given = [&line[..], &SEED, &["--run-id", "same"]].concat();
        assert_eq!(place.run("one", &given).0, Some(0));
        let (exit, said) = place.run("two", &given);
        assert!(matches!(exit, Some(0 | 3)), "{said}");
        let (verdicts, _) = recorded(&place.path("two"), &said);
        let denied = |one: &&CaseVerdict| one.verdict == xs2aspec_record::Verdict::Fail;
        let accused: Vec<&str> = verdicts.iter().filter(denied).map(|one| one.case.as_str()).collect();
        assert!(verdicts.len() > 1000 && accused.is_empty(), "{accused:?}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_run_accuse_nobody_one_after_the_other_or_at_once() {
    for is_parallel in [false, true] {
        let place = Place::strict(None).await;
        let parts = ["1/3", "2/3", "3/3"];
        tokio::task::block_in_place(|| {
            let start = |part: &str| {
                let out = format!("part-{}", &part[..1]);
                let fixed = ["run", "--quiet", "--target", "bank.toml", "--depth", "quick", "--seed", "5"];
                let mut command = place.command(&[&fixed[..], &["--shard", part, "--out", &out]].concat());
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            };
            let end = |child: std::process::Child| {
                let output = child.wait_with_output().unwrap();
                assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
            };
            if is_parallel {
                let children = parts.map(start);
                for child in children {
                    end(child);
                }
            } else {
                for part in parts {
                    end(start(part));
                }
            }
            let merge = ["merge", "part-1", "part-2", "part-3", "--out", "merged"];
            let output = place.command(&merge).output().unwrap();
            let said = printed(&output);
            assert!(output.status.code() == Some(0) && said.contains("conforms"), "{said}");
            // One of the runs sent the calls of the daily quota.
            let calls = |out: &str| {
                let is_call = |one: &&Exchange| one.request.header("PSU-IP-Address").is_none();
                let exchanges = place.exchanges(out);
                let of = exchanges.iter().filter(|one| one.operation.as_deref() == Some("transaction"));
                of.filter(is_call).count()
            };
            let calls = ["part-1", "part-2", "part-3"].map(calls);
            assert_eq!(calls.iter().filter(|calls| **calls > 0).count(), 1, "{calls:?}");
        });
        place.bank.shutdown().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_repeats_no_id_that_may_have_been_sent() {
    let place = Place::strict(None).await;
    tokio::task::block_in_place(|| {
        let key = ["--mask-key", MASK_KEY];
        let (exit, said) = place.run("whole", &[&MONTHS[..], &SEED, &key, &["--jobs", "1"]].concat());
        assert_eq!(exit, Some(0), "{said}");
        let sent = request_ids(&place.exchanges("whole"));
        // A kill loses the second half of the record.
        let text = crate::support::read_record(place.path("whole/record.jsonl")).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.truncate(lines.len() - 40);
        fs::write(place.path("whole/record.jsonl"), lines.join("\n") + "\n").unwrap();
        let kept = request_ids(&exchanges_of(&lines));
        let output = place
            .command(&["run", "--quiet", "--target", "bank.toml", "--resume", "whole", key[0], key[1]])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
        let new: BTreeSet<String> =
            request_ids(&place.exchanges("whole")).difference(&kept).cloned().collect();
        assert!(!new.is_empty() && new.is_disjoint(&sent), "{new:?}");
        assert_eq!(
            place.started("whole")["run_id"],
            serde_json::from_str::<Value>(lines[0]).unwrap()["run_id"]
        );
    });
}

/// Returns the exchanges of a record without an end.
fn exchanges_of(lines: &[&str]) -> Vec<Exchange> {
    let events = lines.iter().map(|line| serde_json::from_str::<xs2aspec_record::Event>(line).unwrap());
    let exchange = |event| match event {
        xs2aspec_record::Event::Exchange(exchange) => Some(exchange),
        _ => None,
    };
    events.filter_map(exchange).collect()
}

/// The commands other than `run` that send requests.
#[tokio::test(flavor = "multi_thread")]
async fn other_commands_send_new_ids_each_time() {
    let place = Place::strict(None).await;
    tokio::task::block_in_place(|| {
        let curl = |_: usize| {
            let line = ["curl", "ncbct.path/plain", "--target", "bank.toml"];
            let output = place.command(&[&line[..], &SEED].concat()).output().unwrap();
            assert!(output.status.success(), "{}", printed(&output));
            let line = printed(&output);
            let id = line.split("X-Request-Id: ").nth(1).unwrap();
            id.split('\'').next().unwrap().to_owned()
        };
        let ids: BTreeSet<String> = (0..3).map(curl).collect();
        assert_eq!(ids.len(), 3, "{ids:?}");
        for time in ["first", "second"] {
            let output = place.command(&["doctor", "--target", "bank.toml"]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{time}: {}", printed(&output));
        }
        let mut explored = Vec::new();
        for out in ["one", "two"] {
            let line =
                ["explore", "--target", "bank.toml", "--budget", "200", "--only", "ncbct", "--out", out];
            let output = place.command(&[&line[..], &SEED].concat()).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{out}: {}", printed(&output));
            explored.push(request_ids(&place.exchanges(out)));
        }
        assert!(!explored[0].is_empty() && explored[0].is_disjoint(&explored[1]));
    });
}

/// Starts a bank that uses this status for a call beyond the quota.
async fn with_quota(code: &str, is_unused: bool) -> Place {
    let variations = if code.is_empty() { vec![] } else { vec![code.parse().unwrap()] };
    let config = Config { variations, ..Config::default() };
    let unused = "quota-unused = true\n";
    assert!(REFERENCE.contains(unused));
    Place::with(config, |text| if is_unused { text } else { text.replace(unused, "") }).await
}

const QUOTA: [&str; 4] = ["--only", "limits", "--only", "header.psu-ip-address.transaction"];

/// The profile may declare that the calls are unused, which was true before the first run of the day.
#[tokio::test(flavor = "multi_thread")]
async fn a_quota_that_another_run_used_up_accuses_nobody() {
    for (code, is_unused) in [
        ("", false),
        ("limit.without-psu-ip.code/forbidden", false),
        ("limit.without-psu-ip.code/bad-request", false),
        ("", true),
        ("limit.without-psu-ip.code/forbidden", true),
        ("limit.without-psu-ip.code/bad-request", true),
    ] {
        let place = with_quota(code, is_unused).await;
        tokio::task::block_in_place(|| {
            let (exit, said) = place.run("one", &QUOTA);
            assert_eq!(exit, Some(0), "{code}: {said}");
            let (exit, said) = place.run("two", &QUOTA);
            assert_eq!(exit, Some(3), "{code}: {said}");
            let open = place.verdicts("two", "limit.without-psu-ip");
            let open: Vec<_> = open.iter().filter(|verdict| verdict.1 == "inconclusive").collect();
            assert!(open.len() > 10, "{code}: {open:?}");
            for (case, _, reason) in open {
                assert_eq!(*reason, Some(Reason::DailyCalls), "{code}: {case}");
            }
            let gate = place.command(&["diff", "one", "two", "--gate", "new"]).output().unwrap();
            let said = printed(&gate);
            assert_eq!(gate.status.code(), Some(0), "{code}: {said}");
            assert!(!said.contains("Fixed ("), "{code}: {said}");
        });
    }
}

/// The profile is about the first run. The command knows that its second run finds the calls used up.
#[tokio::test(flavor = "multi_thread")]
async fn a_quota_that_is_declared_unused_is_relied_on_once() {
    for code in ["", "limit.without-psu-ip.code/forbidden"] {
        let place = with_quota(code, true).await;
        tokio::task::block_in_place(|| {
            let (exit, said) = place.run("times", &[&QUOTA[..], &["--repeat", "2"]].concat());
            assert_eq!(exit, Some(3), "{code}: {said}");
            for (out, verdict) in [("times/1", "pass"), ("times/2", "inconclusive")] {
                let fourth = place.verdicts(out, "limit.without-psu-ip.four/fourth");
                assert_eq!(fourth[0].1, verdict, "{code} {out}: {said}");
            }
        });
    }
}

/// The calls out of four that a bank rejects, and with which status.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_left_must_be_accepted() {
    for (allowed, is_unused, verdict) in [
        ("limit.without-psu-ip.four/three", true, "fail"),
        ("limit.without-psu-ip.four/three", false, "inconclusive"),
    ] {
        let config = Config { faults: vec![allowed.parse().unwrap()], ..Config::default() };
        let unused = "quota-unused = true\n";
        let change = |text: String| if is_unused { text } else { text.replace(unused, "") };
        let place = Place::with(config, change).await;
        tokio::task::block_in_place(|| {
            let (exit, said) = place.run("out", &QUOTA);
            let fourth = place.verdicts("out", "limit.without-psu-ip.four/fourth");
            assert_eq!(fourth[0].1, verdict, "{allowed}: {said}");
            assert_eq!(exit, Some(if is_unused { 1 } else { 3 }), "{allowed}: {said}");
            let again = place.command(&["rejudge", "out"]).output().unwrap();
            // Verdicts that depend on other requests are not rejudged.
            assert_eq!(again.status.code(), Some(if is_unused { 0 } else { 3 }), "{}", printed(&again));
        });
    }
}

#[test]
fn a_run_id_that_is_none_is_an_error() {
    for (line, code) in [(["--run-id", "a b"], 2), (["--run-id", ""], 2)] {
        let output = command().args(["run"]).args(line).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", printed(&output));
    }
    for more in [["--repeat", "2"].as_slice(), &["--watch"], &["--resume", "out"]] {
        let output = command().args(["run", "--run-id", "a"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}
