//! `run --requests N`: the most effective cases, within N requests.

use std::{fs, path::Path};

use tempfile::TempDir;
use xs2aspec_record::{Event, RunFinished, RunStarted, Verdict};
use xs2aspec_reference::{Busy, Config, start};

use crate::support::{REFERENCE, by_case, command, recorded, xs2aspec};

/// Returns the first and the last event of a record.
fn ends(out: &Path) -> (RunStarted, RunFinished) {
    let (mut start, mut finish) = (None, None);
    for event in by_case(out) {
        match event {
            Event::RunStarted(started) => start = Some(started),
            Event::RunFinished(finished) => finish = Some(finished),
            _ => {}
        }
    }
    (start.unwrap(), finish.unwrap())
}

#[test]
fn no_more_is_sent_than_was_said_and_what_was_not_asked_is_left_out() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    for requests in [60, 300] {
        let number = requests.to_string();
        let line = ["run", "--quiet", "--requests", &number, "--seed", "1", "--out", out.to_str().unwrap()];
        let (exit, said) = xs2aspec(&line);
        assert_eq!(exit, Some(0), "{said}");
        let (start, finish) = ends(&out);
        let sent = finish.exchanges;
        assert!(sent <= requests && sent * 10 > requests * 8, "{sent} of {requests}: {said}");
        assert_eq!(start.requests, Some(requests));
        assert!(!said.contains(" 0 skipped"), "{said}");
        assert!(
            said.contains(&format!("--requests {requests}: the {} most effective of ", start.cases)),
            "{said}"
        );
        // Nothing was held back: the run sent as many requests as planned.
        let (verdicts, _) = recorded(&out, &said);
        assert!(verdicts.iter().all(|one| one.verdict != Verdict::NotApplicable), "{said}");
    }
    let (exit, said) = xs2aspec(&["run", "--requests", "1", "--only", "periodic.months"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("`--requests 1` is too low"), "{said}");
}

/// A target that is often unavailable costs unplanned requests, which reduce the number of cases.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_sent_again_count_as_well() {
    let folder = TempDir::new().unwrap();
    let busy = Busy { unavailable: Some(12), ..Busy::default() };
    let bank = start(Config { busy, ..Config::default() }).await.unwrap();
    let profile =
        REFERENCE.replace("http://127.0.0.1\"", &format!("{}\"\nlimits.retries = 3", bank.base_url()));
    fs::write(folder.path().join("bank.toml"), profile).unwrap();
    let line = ["run", "--quiet", "--target", "bank.toml", "--requests", "80", "--out", "out"];
    let run = || command().current_dir(folder.path()).args(line).output().unwrap();
    let output = tokio::task::block_in_place(run);
    let said = String::from_utf8(output.stdout).unwrap();
    let (_, finish) = ends(&folder.path().join("out"));
    assert!(finish.exchanges <= 80, "{said}");
    let (verdicts, _) = recorded(&folder.path().join("out"), &said);
    assert!(verdicts.iter().all(|one| one.verdict != Verdict::Fail), "{said}");
}

#[test]
fn parts_of_the_choice_are_merged_into_one_run() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (shard, out) in [("1/2", path("1")), ("2/2", path("2"))] {
        let line = ["run", "--quiet", "--seed", "3", "--requests", "200", "--shard", shard, "--out", &out];
        let (exit, said) = xs2aspec(&line);
        assert_eq!(exit, Some(0), "{said}");
    }
    let (exit, said) = xs2aspec(&["merge", &path("1"), &path("2"), "--out", &path("all")]);
    assert_eq!(exit, Some(0), "{said}");
    let whole = path("whole");
    let (exit, said) = xs2aspec(&["run", "--quiet", "--seed", "3", "--requests", "200", "--out", &whole]);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(ends(Path::new(&path("all"))).0.cases, ends(Path::new(&whole)).0.cases);
    let (exit, said) = xs2aspec(&["rejudge", &path("all")]);
    assert_eq!(exit, Some(0), "{said}");
}

/// With `--fail-fast`, the first violation ends the run. Cases that failed last time run first, then those
/// most likely to find a violation.
#[test]
fn the_first_violation_comes_soon() {
    let folder = TempDir::new().unwrap();
    // Ordered by id, half of the cases would run before it.
    let fault = "periodic.months.duplicate/only-adjacent";
    let run = |out: &str, more: &[&str]| {
        let out = folder.path().join(out);
        let mut line = vec!["run", "--quiet", "--seed", "1", "--jobs", "2", "--fail-fast", "--fault", fault];
        line.extend(["--out", out.to_str().unwrap()]);
        line.extend(more);
        let (exit, said) = xs2aspec(&line);
        assert_eq!(exit, Some(1), "{said}");
        ends(&out).1.exchanges
    };
    let first = run("first", &[]);
    assert!(first < 600, "{first} requests to the first violation");
    let base = folder.path().join("first");
    let again = run("again", &["--base", base.to_str().unwrap()]);
    assert!(again <= first && again < 60, "{again} requests, {first} before");
}
