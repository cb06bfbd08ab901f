//! An exploration writes the same as a run: a record from which every report is rendered, and whose responses
//! can be rejudged. So does the clean bank of `prove`.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;
use wiremock::ResponseTemplate;

use crate::support::{chained, command, stub, xs2aspec};

const FAULT: &str = "periodic.months.duplicate/only-adjacent";

fn explore(out: &str, more: &[&str]) -> (Option<i32>, String) {
    let fixed = ["explore", "--seed", "1", "--now", "2030-01-31T12:00:00Z", "--out", out];
    xs2aspec(&[&fixed, more].concat())
}

fn events(folder: &Path) -> Vec<Value> {
    let record = crate::support::read_record(folder.join("record.jsonl")).unwrap();
    record.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the events of a kind.
fn all<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn an_exploration_leaves_a_record_like_that_of_a_run() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = out.to_str().unwrap();
    let arguments = ["--only", "periodic", "--fault", FAULT, "--budget", "1500"];
    let (exit, said) = explore(path, &arguments);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("BROKEN  periodic.months.duplicate\n"), "{said}");

    // Each generated case has an id, a file in the record, a control and exchanges.
    let events = events(&out);
    assert_eq!(events[0]["drawn"], true);
    let verdicts = all(&events, "verdict");
    let drawn: Vec<_> = verdicts.iter().filter(|verdict| verdict["area"] == "explored").collect();
    assert!(drawn.len() > 500, "{}", drawn.len());
    let sources = all(&events, "source");
    for verdict in &drawn {
        let id = verdict["case"].as_str().unwrap();
        assert!(id.starts_with(&format!("{}/drawn-", verdict["clause"].as_str().unwrap())), "{id}");
        let file = sources.iter().find(|source| source["file"] == verdict["place"]["file"]);
        let text = file.unwrap_or_else(|| panic!("{id} has no source"))["text"].as_str().unwrap();
        let line = verdict["place"]["line"].as_u64().unwrap();
        let line = text.lines().nth(usize::try_from(line).unwrap() - 1).unwrap();
        assert_eq!(line, format!("  - clause: {}", verdict["clause"].as_str().unwrap()));
        assert_eq!(verdict["control"]["case"], "periodic.path/plain", "{id}");
    }
    let exchanges = all(&events, "exchange");
    let numbers: BTreeSet<u64> =
        exchanges.iter().filter_map(|exchange| exchange["number"].as_u64()).collect();
    assert_eq!(numbers.len(), exchanges.len(), "each request has a number of its own");
    let failing: Vec<_> = drawn.iter().filter(|verdict| verdict["verdict"] == "fail").collect();
    assert!(failing.iter().any(|verdict| verdict["case"].as_str().unwrap().ends_with("-smallest")));
    for verdict in failing {
        let shown = exchanges.iter().find(|one| one["number"] == verdict["exchange"]);
        assert_eq!(shown.unwrap()["case"], verdict["case"]);
    }
    let finished = events.last().unwrap();
    assert_eq!(finished["exit"], 1);
    assert_eq!(finished["exchanges"], exchanges.len());

    // Every report is rendered from it, and names the command that generates the same requests.
    for (format, file) in [("junit", "junit.xml"), ("html", "report.html"), ("markdown", "summary.md")] {
        let again = command().args(["report", path, "--format", format]).output().unwrap();
        assert!(again.stdout == fs::read(out.join(file)).unwrap(), "{format}");
    }
    let (_, terminal) = xs2aspec(&["report", path, "--format", "terminal"]);
    let again = "again   xs2aspec explore --fault periodic.months.duplicate/only-adjacent --only periodic --seed 1 --budget 1500 --out reports/again";
    assert!(terminal.contains(again), "{terminal}");
    assert!(terminal.contains("next    xs2aspec explain periodic.months.duplicate\n"), "{terminal}");

    // Rejudging gives the same verdicts, and other ones for edited responses.
    let (exit, said) = xs2aspec(&["rejudge", path]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains(" 0 changed, 0 could not be rejudged"), "{said}");
    let key = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys/tpp.key.pem");
    let tar = folder.path().join("evidence.tar");
    let bundle = ["bundle", path, "--key", key, "--out", tar.to_str().unwrap()];
    assert_eq!(xs2aspec(&bundle).0, Some(0));
    // Only the record describes a generated case.
    let (exit, said) = xs2aspec(&["verify", tar.to_str().unwrap()]);
    assert_eq!(exit, Some(3), "{said}");
    let untold = format!("; {} of {} verdicts could not be rejudged", drawn.len(), verdicts.len());
    assert!(said.lines().nth(1).unwrap().contains(&untold), "{untold}: {said}");
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let wrong = all(&events, "verdict")
        .into_iter()
        .find(|one| one["expected"] == "refused" && one["verdict"] == "pass");
    let number = wrong.unwrap()["exchange"].as_u64().unwrap();
    let edited: String = record
        .split_inclusive('\n')
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            if event["event"] == "exchange" && event["number"] == number {
                event["response"]["status"] = 201.into();
            }
            event.to_string() + "\n"
        })
        .collect();
    fs::write(out.join("record.jsonl"), chained(&edited)).unwrap();
    let (exit, said) = xs2aspec(&["rejudge", path]);
    assert_eq!(exit, Some(1), "{said}");
}

/// If the target rejects the baseline request of an operation, one request shows that, and everything else is
/// inconclusive.
#[tokio::test(flavor = "multi_thread")]
async fn where_no_plain_request_is_accepted_nothing_is_drawn() {
    let server = stub::server(ResponseTemplate::new(400)).await;
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let (exit, said) =
        tokio::task::block_in_place(|| explore(out, &["--target", &server.uri(), "--budget", "500"]));
    assert_eq!(exit, Some(3), "{said}");
    assert!(
        said.contains("no request was generated; the target accepted no baseline request, after "),
        "{said}"
    );
    assert!(said.contains(" 0 violations"), "{said}");
    let asked = stub::received(&server).await;
    assert!((1..20).contains(&asked), "{asked}");
}

#[test]
fn the_clean_bank_of_a_proof_leaves_a_record_like_that_of_a_run() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let arguments =
        ["prove", "--depth", "quick", "--only", "error.body/problem", "--out", out.to_str().unwrap()];
    let (exit, said) = xs2aspec(&arguments);
    assert_eq!(exit, Some(0), "{said}");
    let clean = out.join("clean");
    let events = events(&clean);
    let selected = all(&events, "verdict").iter().filter(|one| one["role"] == "selected").count();
    assert_eq!(events[0]["cases"], selected);
    assert!(!all(&events, "exchange").is_empty());
    for file in ["record.jsonl.gz", "junit.xml", "report.html", "summary.md", "results.sarif"] {
        assert!(clean.join(file).is_file(), "{file}");
    }
    let (exit, said) = xs2aspec(&["rejudge", clean.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains(" 0 changed, 0 could not be rejudged"), "{said}");
    // The matrix is next to it, as usual.
    for file in ["matrix.tsv", "cases.tsv", "summary.md"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}
