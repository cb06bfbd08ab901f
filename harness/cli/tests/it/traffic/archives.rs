//! Archives of a browser and of a proxy, and requests and answers as they went over the wire.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{recorded, xs2aspec};

const FOLDER: &str = "../../fixtures/traffic";

/// End and clause of each thing that is wrong.
type Wrong = Vec<(String, String)>;

/// What is said of a file, and what each of its exchanges broke.
fn judged(file: &str, more: &[&str]) -> (Option<i32>, String, Vec<Wrong>) {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/{file}");
    let (exit, said) = xs2aspec(&[&["judge", &path, "--out", out.to_str().unwrap()], more].concat());
    let (verdicts, _) = recorded(&out, &said);
    let found = verdicts.iter().map(|verdict| {
        let of = |finding: &xs2aspec_record::Finding| (finding.end.word().to_owned(), finding.clause.clone());
        verdict.findings.iter().map(of).collect()
    });
    (exit, said, found.collect())
}

fn pairs(found: &[(&str, &str)]) -> Vec<(String, String)> {
    found.iter().map(|(end, clause)| ((*end).to_owned(), (*clause).to_owned())).collect()
}

#[test]
fn an_archive_of_a_browser_shows_what_either_end_broke() {
    let (exit, said, found) = judged("chromium.har", &[]);
    let wrong = pairs(&[("client", "periodic.frequency.listed"), ("bank", "periodic.frequency.listed")]);
    let answer = pairs(&[("bank", "customer.customer-type")]);
    assert_eq!(found, [vec![], vec![], wrong, answer, vec![]], "{said}");
    assert_eq!(exit, Some(1), "{said}");
    for words in [
        "the client broke periodic.frequency.listed  (1 exchange)",
        "chromium.har, exchange 3",
        "the bank broke customer.customer-type  (1 exchange)",
        "5 exchanges: the client has 1 violation, the bank has 2 violations; 1 for no operation of the document",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn an_archive_of_a_proxy_shows_what_either_end_broke() {
    let (exit, said, found) = judged("mitmproxy.har", &[]);
    let digest = pairs(&[("client", "digest.wrong-hash")]);
    let failed = pairs(&[
        ("client", "header.tpp-session-id.periodic"),
        ("bank", "http.no-server-error"),
        ("bank", "header.tpp-session-id.periodic"),
    ]);
    assert_eq!(found[..2], [digest, failed], "{said}");
    assert!(found[2].iter().all(|(end, _)| end == "bank") && !found[2].is_empty(), "{said}");
    assert_eq!(exit, Some(1), "{said}");
}

#[test]
fn requests_and_answers_as_they_went_over_the_wire_are_read() {
    let (exit, said, found) = judged("pairs.http", &[]);
    let long =
        pairs(&[("client", "periodic.creditor-name.length"), ("bank", "periodic.creditor-name.length")]);
    assert_eq!(found, [long, vec![]], "{said}");
    assert_eq!(exit, Some(1), "{said}");
}

#[test]
fn one_end_alone_can_be_asked_for() {
    let (_, said, found) = judged("chromium.har", &["--end", "client"]);
    assert!(found.concat().iter().all(|(end, _)| end == "client"), "{said}");
    let (exit, said, _) =
        judged("pairs.http", &["--end", "client", "--allow", "periodic.creditor-name.length"]);
    assert_eq!(exit, Some(0), "{said}");
}

#[test]
fn nothing_of_a_person_is_in_what_is_written() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/chromium.har");
    let (_, said) = xs2aspec(&["judge", &path, "--out", out.to_str().unwrap()]);
    let mut files = 0;
    for entry in std::fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&text);
        files += 1;
        for secret in [
            "NO9386011117947",
            "NO4470070012341",
            "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f",
            "192.0.2.10",
            "Synthetic Person",
            "Synthetic Creditor AS",
            "15847070029",
        ] {
            assert!(!text.contains(secret), "{secret} in {}", path.display());
            assert!(!said.contains(secret), "{secret}: {said}");
        }
        assert!(!text.contains("SN=560B2E6C"), "a signature in {}", path.display());
    }
    assert!(files > 3, "{said}");
}

#[test]
fn reports_say_which_end_broke_what() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let path = format!("{FOLDER}/pairs.http");
    xs2aspec(&["judge", &path, "--out", out.to_str().unwrap()]);
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap();
    let (exit, drawn) = xs2aspec(&["report", "--format", "sarif", out.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{drawn}");
    let sarif: Value = serde_json::from_str(&drawn).unwrap();
    let text = sarif.to_string();
    assert!(text.contains("request/body/creditorName"), "{text}");
    assert!(read("record.jsonl").contains(r#""end":"client""#));
}
