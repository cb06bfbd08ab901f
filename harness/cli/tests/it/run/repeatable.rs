//! Equal seed, run id, clock and target give equal records, in whatever order requests end. Records with
//! equal times give equal reports.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::Path,
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;
use xs2aspec_record::Verdict;
use xs2aspec_reference::{Bank, Clock, Config};

use crate::support::{self, MASK_KEY, REFERENCE, chained, command, execute, is_again, printed, recorded};

const NOW: &str = "2030-01-31T12:00:00Z";

/// The fields of a record with times and durations.
const TIMING: [&str; 2] = ["at", "micros"];

fn xs2aspec(arguments: &[&str]) -> Vec<u8> {
    let output = execute(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Removes times and their order from a record.
fn without_times(folder: &Path) -> String {
    let events = support::by_case(folder);
    let events = by_case(events.iter().map(|event| serde_json::to_value(event).unwrap()).collect());
    let mut text = String::new();
    let mut times = 0;
    for mut event in events {
        for name in TIMING {
            if let Some(value) = event.get_mut(name) {
                times += usize::from(*value != 0);
                *value = 0.into();
            }
        }
        // These depend on the lines with times, and on how often baseline requests were resent.
        for name in ["chain", "times"] {
            event.as_object_mut().unwrap().remove(name);
        }
        if let Some(exchanges) = event.get_mut("exchanges") {
            *exchanges = 0.into();
        }
        text.push_str(&event.to_string());
        text.push('\n');
    }
    assert!(times > 500, "{times} times in the record");
    chained(&text)
}

/// Returns the events of a record, case by case, with new numbers. The order of events and the number of
/// repeated baseline requests differ from run to run.
fn by_case(events: Vec<Value>) -> Vec<Value> {
    let is_in_between = |event: &Value| {
        event["event"] == "sending" || is_again(serde_json::from_value(event["look"].clone()).unwrap())
    };
    let rank = |event: &Value| match event["event"].as_str().unwrap() {
        "exchange" | "verdict" => 1,
        "order-of-time" | "answer-checks" | "changes" | "run-finished" => 2,
        _ => 0,
    };
    let mut events: Vec<Value> = events.into_iter().filter(|event| !is_in_between(event)).collect();
    let case = |event: &Value| event["case"].as_str().map(str::to_owned);
    events.sort_by_key(|event| {
        let is_verdict = event["event"] == "verdict";
        (rank(event), case(event), is_verdict, event["number"].as_u64())
    });
    for check in events.iter_mut().filter_map(|event| event.get_mut("checks")?.as_array_mut()).flatten() {
        for name in ["answers", "exercised"] {
            check[name] = u64::from(check[name].as_u64() > Some(0)).into();
        }
    }
    let mut numbers = BTreeMap::new();
    for event in events.iter_mut().filter(|event| event["event"] == "exchange") {
        let new = numbers.len() as u64 + 1;
        numbers.insert(event["number"].as_u64().unwrap(), new);
        event["number"] = new.into();
    }
    for event in events.iter_mut().filter(|event| event["event"] == "verdict") {
        if let Some(old) = event["exchange"].as_u64() {
            event["exchange"] = numbers[&old].into();
        }
    }
    events
}

/// Starts a bank at this address, or at a free one. Returns the bank, the address, and the file of its
/// profile.
async fn bank(folder: &Path, address: SocketAddr) -> (Bank, SocketAddr, String) {
    let now = Clock::at(Some(NOW.parse().unwrap()));
    let bank = xs2aspec_reference::start(Config { address, now, ..Config::default() }).await.unwrap();
    let address = bank.base_url().trim_start_matches("http://").parse().unwrap();
    let profile = REFERENCE;
    let profile = profile.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    let target = folder.join("bank.toml");
    fs::write(&target, profile).unwrap();
    (bank, address, target.to_str().unwrap().to_owned())
}

fn run(target: &str, out: &Path, more: &[&str]) {
    let fixed = ["run", "--quiet", "--target", target, "--out", out.to_str().unwrap(), "--depth", "quick"];
    // Some cases depend on each other: a created customer is in the list that other cases read, and a
    // rejection states the number of calls of the day. The order of parallel requests is not determined.
    let alone = ["customers.all", "customers.as-created", "limit.without-psu-ip", "*at-once*"]
        .map(|clause| ["--skip", clause])
        .concat();
    let ids = ["--seed", "9", "--run-id", "nine", "--now", NOW, "--mask-key", MASK_KEY];
    xs2aspec(&[&fixed[..], &ids, &alone, more].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_of_one_seed_run_id_clock_and_target_are_equal_but_for_times() {
    let folder = TempDir::new().unwrap();
    let mut place = ([127, 0, 0, 1], 0).into();
    let mut records = Vec::new();
    let mut reports = Vec::new();
    // The second run has fewer requests in flight, so cases end in another order.
    for (name, jobs) in [("one", "16"), ("two", "5")] {
        let (bank, address, target) = bank(folder.path(), place).await;
        place = address;
        let out = folder.path().join(name);
        run(&target, &out, &["--jobs", jobs]);
        let record = without_times(&out);
        fs::write(out.join("record.jsonl"), &record).unwrap();
        records.push(record);
        let formats = ["junit", "markdown", "html", "ctrf", "har", "sarif", "terminal"];
        reports.push(formats.map(|format| xs2aspec(&["report", out.to_str().unwrap(), "--format", format])));
        bank.shutdown().await.unwrap();
    }
    for (one, two) in records[0].lines().zip(records[1].lines()) {
        assert_eq!(one, two);
    }
    assert_eq!(records[0], records[1]);
    assert!(reports[0] == reports[1], "a report says something else");

    // Three separate shards give the same verdicts. Their requests have their own ids.
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
    let verdicts = |record: &str| -> Vec<Value> {
        let events = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        // Observations show ids that the bank derived from those of the requests.
        let of = events.filter(|event| event["event"] == "verdict").map(|mut event| {
            event.as_object_mut().unwrap().remove("observations");
            event
        });
        of.collect()
    };
    let (whole, parts) = (verdicts(&records[0]), verdicts(&record));
    assert!(whole.len() > 500, "{}", whole.len());
    for (one, other) in whole.iter().zip(&parts) {
        assert_eq!(one, other);
    }
    assert_eq!(whole.len(), parts.len());
    assert_eq!(records[0].lines().count(), record.lines().count());
}

/// Many banks treat an earlier payment as a logical duplicate, unless the TPP allows duplicates.
#[tokio::test(flavor = "multi_thread")]
async fn payments_of_an_earlier_run_make_no_later_one_fail() {
    let folder = TempDir::new().unwrap();
    let freedom = "ncbct.allow-logical-duplicate.meaning/unsaid".parse().unwrap();
    let config = Config { variations: vec![freedom], ..Config::default() };
    let bank = xs2aspec_reference::start(config).await.unwrap();
    let target = folder.path().join("bank.toml");
    fs::write(&target, REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()))).unwrap();
    let target = target.to_str().unwrap();
    // Some amounts have only ten thousand values, so several runs may generate the same one.
    for (out, seed) in [("first", "1"), ("second", "2"), ("third", "3")] {
        let out = folder.path().join(out);
        let of = ["--only", "ncbct", "--only", "amount", "--seed", seed];
        xs2aspec(
            &[&["run", "--quiet", "--target", target, "--out", out.to_str().unwrap()], &of[..]].concat(),
        );
    }
    bank.shutdown().await.unwrap();
}

/// Case files with impossible expectations. Each case fails on every bank, one at each depth, and one is
/// waived.
const FALSE: &str = "title: false
cases:
  - clause: ncbct.path
    name: never
    baseline: ncbct
    change:
      - set: body/creditorName
        to: 7
    control: ncbct.path/plain
    expect: accepted
  - clause: ncbct.path
    name: never-either
    baseline: ncbct
    change:
      - set: body/creditorName
        to: 8
    depth: exhaustive
    control: ncbct.path/plain
    expect: accepted
  - {clause: ncbct.path, name: plain, baseline: ncbct, expect: accepted}
";
const WAIVERS: &str = "[[waiver]]\ncases = \"ncbct.path/never\"\nowner = \"a\"\nreason = \"b\"\nticket = \"c\"\nexpires = \"2090-01-01\"\n";

/// Returns the verdict and the findings of each case of a run.
fn verdicts(folder: &Path) -> BTreeMap<String, (Value, Value)> {
    let record = crate::support::read_record(folder.join("record.jsonl")).unwrap();
    let events = record.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verdicts = events.filter(|event| event["event"] == "verdict" && event["role"] == "selected");
    verdicts
        .map(|event| {
            (
                event["case"].as_str().unwrap().to_owned(),
                (event["verdict"].clone(), event["findings"].clone()),
            )
        })
        .collect()
}

/// The lines `again` and `next` of each kind of failing case work: the same case fails in the same way, and
/// is explained.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_that_runs_a_case_again_comes_to_the_same_verdict() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("my cases/own")).unwrap();
    fs::write(path("my cases/own/false.yaml"), FALSE).unwrap();
    fs::write(path("waivers.toml"), WAIVERS).unwrap();
    let fault = "periodic.months.duplicate/only-adjacent";
    let config = Config { faults: vec![fault.parse().unwrap()], ..Config::default() };
    let bank = xs2aspec_reference::start(config).await.unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    assert_ne!(profile, REFERENCE);
    fs::write(path("my bank.toml"), profile).unwrap();
    let shell = |line: &str| {
        let rest = line.strip_prefix("xs2aspec ").unwrap();
        let script = format!("'{}' {rest}", env!("CARGO_BIN_EXE_xs2aspec"));
        let output = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
        let said = printed(&output);
        (output.status.code(), said)
    };
    let months = "--only periodic.months.duplicate";
    let url = format!("--target {} --only header.psu-id*", bank.base_url());
    tokio::task::block_in_place(|| {
        for (kind, line, least) in [
            ("a fault", format!("{months} --fault {fault}"), 5),
            ("a fault, by another clock", format!("{months} --fault {fault} --now {NOW} --seed 7"), 5),
            ("a profile", format!("{months} --target 'my bank.toml'"), 5),
            ("other cases", "--cases 'my cases'".to_owned(), 1),
            (
                "other cases and a variation",
                "--cases './my cases/' --variation error.body/page".to_owned(),
                1,
            ),
            ("an exhaustive depth", "--cases 'my cases' --depth exhaustive".to_owned(), 2),
            ("waivers", "--cases 'my cases' --depth exhaustive --waivers waivers.toml".to_owned(), 1),
            ("a URL", url, 0),
        ] {
            let (_, said) = shell(&format!("xs2aspec run --quiet --out out {line}"));
            let (blocks, before) = (said.split("\ndeny  ").skip(1), verdicts(&path("out")));
            let blocks: Vec<&str> = blocks.chain(said.strip_prefix("deny  ")).take(3).collect();
            let failing = before.values().filter(|(word, _)| word == "fail").count();
            assert!(failing >= least && blocks.len() >= least.min(1), "{kind}: {said}");
            for block in blocks {
                let find = |start: &str| block.lines().find_map(|line| line.strip_prefix(start));
                let case = find("   = witness ").unwrap().replace(" / ", "/");
                let again = find("   = again   ").unwrap();
                let (code, repeated) = shell(again);
                assert_eq!(code, Some(1), "{kind}: {again}: {repeated}");
                let after = verdicts(&path("reports/again"));
                assert_eq!(after.keys().collect::<Vec<_>>(), [&case], "{kind}: {again}");
                assert_eq!(after[&case], before[&case], "{kind}: {again}");
                // Exactly the same, except that the command for the next repetition names the next folder.
                let beside = again.replace("--out reports/again", "--out reports/again-2");
                assert_ne!(beside, again, "{kind}");
                assert!(
                    repeated.contains(&format!("   = again   {beside}\n")),
                    "{kind}: {again}: {repeated}"
                );
                let next = find("   = next    ").unwrap();
                let (code, explained) = shell(next);
                assert_eq!(code, Some(0), "{kind}: {next}: {explained}");
                assert!(explained.contains(&format!(" of {case}\n")), "{kind}: {next}: {explained}");
                let id = next.split(' ').nth(2).unwrap();
                let of_case = next.replace(&format!("{id} --run out"), &case);
                let (code, explained) = shell(&of_case);
                assert_eq!(code, Some(0), "{kind}: {of_case}: {explained}");
                assert!(
                    explained.contains(&format!("case       {case}\n")),
                    "{kind}: {of_case}: {explained}"
                );
                // The file exists, and contains the case.
                let (file, number) = find("  --> ").unwrap().rsplit_once(':').unwrap();
                let cases = if line.contains("--cases") {
                    folder.path().to_owned()
                } else {
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
                };
                let text = fs::read_to_string(cases.join(file)).unwrap();
                assert!(text.lines().count() >= number.parse().unwrap(), "{kind}: {file}:{number}");
                assert!(explained.contains(&format!("file       {file}:{number}\n")), "{kind}: {explained}");
            }
        }
        // Errors in case files also name the path, both when parsing and when linting.
        fs::write(path("my cases/own/wrong.yaml"), "title: wrong\ncases:\n  - {clause: none}\n").unwrap();
        let said = shell("xs2aspec lint --cases 'my cases'").1;
        assert!(said.starts_with("error: my cases/own/wrong.yaml:3"), "{said}");
        fs::remove_file(path("my cases/own/wrong.yaml")).unwrap();
        fs::write(path("my cases/own/twice.yaml"), FALSE).unwrap();
        let said = shell("xs2aspec lint --cases 'my cases'").1;
        assert!(said.contains("the other one is at my cases/own/false.yaml:3"), "{said}");
        fs::write(
            path("my cases/own/twice.yaml"),
            "title: idle\ncases:\n  - {clause: ncbct.path, name: idle, baseline: ncbct, change: [{set: body/creditorName, to: 7}, {set: body/debtorName, to: 7}], control: ncbct.path/plain, expect: refused}\n",
        )
        .unwrap();
        let said = shell("xs2aspec lint --cases 'my cases'").1;
        assert!(said.contains("my cases/own/twice.yaml:3:"), "{said}");
        fs::write(path("my cases/own/twice.yml"), "").unwrap();
        let said = shell("xs2aspec lint --cases 'my cases'").1;
        assert!(said.contains("my cases/own/twice.yml: not read because of its extension"), "{said}");
    });
    bank.shutdown().await.unwrap();
}

/// A run can be compared with the run that it overwrites. Without `--out`, it overwrites none.
#[test]
fn the_run_before_may_stand_where_the_next_one_is_written() {
    let folder = TempDir::new().unwrap();
    let run = |line: &str| {
        let output = command()
            .current_dir(folder.path())
            .args(["run", "--quiet", "--seed", "1", "--now", NOW, "--only", "periodic.months*"])
            .args(line.split(' ').filter(|word| !word.is_empty()))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let folder = said.lines().find_map(|line| line.strip_prefix("reports in ")).unwrap_or_default();
        (output.status.code(), folder.split(' ').next().unwrap().to_owned(), said)
    };
    let fault = "--fault periodic.months.duplicate/only-adjacent";
    for (out, base) in [("", ""), ("", "/record.jsonl"), ("", "/record.jsonl.gz"), ("--out same", "/../same")]
    {
        let (code, first, said) = run(out);
        assert_eq!(code, Some(0), "{said}");
        let (code, second, said) = run(&format!("{out} {fault} --base {first}{base}"));
        assert_eq!(code, Some(1), "{said}");
        let (verdicts, _) = recorded(&folder.path().join(&second), &said);
        let denied = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail).count();
        assert!(denied > 10, "{base}: {said}");
        let sentence = format!("cases: {denied} newly failing, 0 fixed");
        assert!(said.contains(&sentence), "{base}: {said}");
        let (code, third, said) = run(&format!("{out} --base {second}{base}"));
        assert_eq!(code, Some(0), "{said}");
        let sentence = format!("cases: 0 newly failing, {denied} fixed");
        assert!(said.contains(&sentence), "{base}: {said}");
        let folders: BTreeSet<_> = [first, second, third].into();
        assert_eq!(folders.len(), if out.is_empty() { 3 } else { 1 }, "{folders:?}");
    }
}

/// A run without `--out` has a folder of its own, and `latest` leads to the last full one.
#[test]
fn latest_leads_to_the_last_full_run() {
    let folder = TempDir::new().unwrap();
    let ran = |line: &str| {
        let output = command().current_dir(folder.path()).args(line.split(' ')).output().unwrap();
        (output.status.code(), printed(&output))
    };
    let latest = || fs::read_link(folder.path().join("reports/latest")).ok();
    let runs = || fs::read_dir(folder.path().join("reports")).map_or(0, Iterator::count);
    assert_eq!(ran("run --quiet --only no.such.case").0, Some(2));
    assert_eq!((latest(), runs()), (None, 0), "a run that did not start leaves no folder");
    // Few cases, but selected without `--only`.
    let full = "run --quiet --requests 60 --seed 1";
    let fault = "--fault basket.response.basket-id.absent/answer-missing";
    let (_, said) = ran(&format!("{full} {fault}"));
    let first = latest().unwrap();
    assert!(said.contains(&format!("reports in reports/{}", first.display())), "{said}");
    assert_eq!(ran("run --quiet --only periodic.months.duplicate").0, Some(0));
    assert_eq!((latest(), runs()), (Some(first.clone()), 3), "a run of a few cases leaves it alone");
    for _ in 0..2 {
        let (_, said) = ran(&format!("run --quiet --failed {fault}"));
        assert!(said.contains("reports/again") || said.contains("nothing failed"), "{said}");
        assert_eq!(latest(), Some(first.clone()));
    }
    ran(full);
    let second = latest().unwrap();
    assert_ne!(first, second);
    for line in [
        "report reports/latest --format junit",
        "rejudge reports/latest",
        "diff reports/latest reports/latest",
    ] {
        let (code, said) = ran(line);
        assert_eq!(code, Some(0), "{line}: {said}");
    }
    // A system without links.
    fs::remove_file(folder.path().join("reports/latest")).unwrap();
    fs::write(folder.path().join("reports/latest"), format!("{}\n", first.display())).unwrap();
    let (code, said) = ran(&format!("diff reports/{} reports/latest", first.display()));
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(ran("run --quiet --resume reports/latest").0, Some(0));
    let kept = folder.path().join("reports").join(first).join("record.jsonl.gz");
    assert!(kept.is_file(), "a resumed run is compressed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_that_comes_again_on_the_same_day_accuses_no_bank_of_what_it_remembers() {
    let folder = TempDir::new().unwrap();
    let bank = xs2aspec_reference::start(Config::default()).await.unwrap();
    let profile = REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"", bank.base_url()));
    let target = folder.path().join("bank.toml");
    fs::write(&target, profile).unwrap();
    let out = folder.path().join("out");
    let (target, out) = (target.to_str().unwrap(), out.to_str().unwrap());
    let only =
        ["ncbct.allow-logical-duplicate", "ncbct.creditor-name"].map(|clause| ["--only", clause]).concat();
    for time in 1..=5 {
        let line = ["run", "--quiet", "--seed", "1", "--target", target, "--out", out];
        let output = tokio::task::block_in_place(|| execute(&[&line[..], &only].concat()));
        let said = printed(&output);
        let (verdicts, _) = recorded(Path::new(out), &said);
        let is_other = |word: &Verdict| !matches!(word, Verdict::Pass | Verdict::Observed);
        let others: Vec<_> = verdicts.iter().filter(|one| is_other(&one.verdict)).collect();
        assert!(output.status.code() == Some(0) && others.is_empty(), "{time}: {said}");
    }
    // The same holds for repeated runs of one command.
    let line = ["run", "--quiet", "--repeat", "4", "--seed", "1", "--target", target, "--out", out];
    let output = tokio::task::block_in_place(|| execute(&[&line[..], &only].concat()));
    let said = printed(&output);
    assert!(output.status.code() == Some(0) && !said.contains("warn  "), "{said}");
}
