//! Rejudging needs only the exchanges of a record. It gives the same verdicts with the same cases, and new
//! ones with other cases.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::support::{chained, copy_folder, xs2aspec};

/// Runs, and asserts this exit code.
fn run(folder: &Path, more: &[&str], expected: i32) -> PathBuf {
    let out = folder.join("out");
    let fixed = ["run", "--quiet", "--seed", "1", "--out", out.to_str().unwrap()];
    let (exit, said) = xs2aspec(&[&fixed, more].concat());
    assert_eq!(exit, Some(expected), "{said}");
    out
}

/// The bank responds with 503 to a name that is too long, and correctly to every other request.
const UNAVAILABLE: &str = "http.no-server-error/ncbct-creditor-name-length-refused-with-503";

#[test]
fn a_request_that_gets_503_each_time_shows_a_server_that_fails() {
    let folder = TempDir::new().unwrap();
    let out = run(folder.path(), &["--fault", UNAVAILABLE, "--only", "ncbct.creditor-name"], 1);
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let failing = record.lines().filter(|line| line.contains(r#""verdict":"fail""#));
    let mut named = 0;
    for verdict in failing {
        assert!(verdict.contains(r#""clause":"http.no-server-error""#), "{verdict}");
        assert!(
            verdict.contains("got 503 three times, while the baseline request is accepted")
                || verdict.contains("503"),
            "{verdict}"
        );
        named += 1;
    }
    assert!(named > 3, "{named}");
}

#[test]
fn the_same_cases_come_to_the_same_verdicts() {
    let folder = TempDir::new().unwrap();
    for (more, expected) in [
        (&["--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic"][..], 1),
        (&["--fault", "basket.status.worst/received", "--depth", "quick"], 1),
        (&["--fault", UNAVAILABLE, "--only", "ncbct.creditor-name"], 1),
        (&["--variation", "http.response-headers/gzip", "--depth", "quick"], 0),
        (&["--variation", "payment.response.transaction-status/rejects", "--depth", "quick"], 0),
    ] {
        let out = run(folder.path(), more, expected);
        let (exit, said) = xs2aspec(&["rejudge", out.to_str().unwrap()]);
        assert_eq!(exit, Some(0), "{more:?}: {said}");
        assert!(said.contains(" 0 changed, 0 could not be rejudged"), "{more:?}: {said}");
    }
}

#[test]
fn other_cases_come_to_other_verdicts_and_say_why() {
    let folder = TempDir::new().unwrap();
    let cases = folder.path().join("cases");
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases"), &cases);
    let out = run(folder.path(), &["--only", "periodic.months.duplicate", "--only", "periodic.months"], 0);
    let file = cases.join("periodic/months-of-execution.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let judged = |text: &str| {
        fs::write(&file, text).unwrap();
        xs2aspec(&["rejudge", out.to_str().unwrap(), "--cases", cases.to_str().unwrap()])
    };
    assert_eq!(judged(&text).0, Some(0));
    let (exit, said) = judged(&text.replace("expect: refused", "expect: accepted"));
    assert_eq!(exit, Some(1), "{said}");
    assert!(
        said.contains("periodic.months.duplicate/adjacent: pass -> fail: it expected `refused`, and expects `accepted` now; a new finding: periodic.months.duplicate: expected acceptance (2xx), got 400"),
        "{said}"
    );
    let (exit, said) = judged(&text.replace("adjacent: { months: [3, 3]", "adjacent: { months: [4, 4]"));
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("periodic.months.duplicate/adjacent: could not be rejudged: the case has changed: its change to the baseline was"),
        "{said}"
    );
    // A record from before records contained profiles.
    let record = out.join("record.jsonl");
    let without: String = crate::support::read_record(&record)
        .unwrap()
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("{\"event\":\"profile\""))
        .collect();
    fs::write(&record, chained(&without)).unwrap();
    let (exit, said) = judged(&text);
    assert_eq!((exit, said.contains("the record has no `profile`")), (Some(2), true), "{said}");
}
