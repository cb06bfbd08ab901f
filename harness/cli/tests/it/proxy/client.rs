//! `serve --record` and `client-report`: what a client has shown, and what it has broken. The client is the
//! suite itself, whose requests are right or wrong on purpose.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use tempfile::TempDir;
use xs2aspec_record::End;

use super::{Record, Running, profile};
use crate::support::{command, printed, xs2aspec};

/// What a client of these cases leaves in the record of a bank with these arguments.
fn recorded(out: &Path, cases: &[&str], bank: &[&str]) -> (Option<i32>, String) {
    let folder = TempDir::new().unwrap();
    let bank = Running::bank(&[&["--record", out.to_str().unwrap()], bank].concat());
    let output = command()
        .args(["run", "--quiet", "--jobs", "1", "--target", &profile(folder.path(), &bank.url, "")])
        .arg("--out")
        .arg(folder.path().join("run"))
        .args(cases.iter().flat_map(|only| ["--only", only]))
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0..=3)), "{}", printed(&output));
    bank.end()
}

/// The report of a record: exit code, and what was said.
fn report(record: &Path) -> (Option<i32>, String) {
    let out = record.join("client");
    xs2aspec(&["client-report", record.to_str().unwrap(), "--out", out.to_str().unwrap()])
}

/// What the report says of an item: its line, in which the item stands after the word for its state.
fn says<'a>(said: &'a str, item: &str) -> &'a str {
    let is_of = |line: &&str| line.get(16..).is_some_and(|rest| rest.split(' ').next() == Some(item));
    said.lines().find(is_of).unwrap_or_else(|| panic!("{item}: {said}"))
}

#[test]
fn a_client_that_keeps_the_document_conforms_in_what_it_showed() {
    let folder = TempDir::new().unwrap();
    let plain =
        ["ncbct.path/plain", "basket.body/plain", "customers.path/plain", "signature.wrap.utf-8-base64"];
    let (code, said) = recorded(folder.path(), &plain, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("next: xs2aspec client-report"), "{said}");
    let record = Record::read(folder.path());
    assert_eq!(record.broken_by(End::Client), Vec::<&str>::new());
    assert!(record.exchanges.len() > 4 && !record.text.contains("keyId=\\\"SN="));

    let (code, said) = report(folder.path());
    assert_eq!(code, Some(3), "it did not show everything: {said}");
    assert!(said.contains("the client conforms in what it showed: "), "{said}");
    for item in [
        "call/ncbct",
        "call/basket",
        "no-breach/ncbct",
        "signature.bare",
        "signature.wrapped",
        "request-id.unique",
        "success/201",
    ] {
        assert!(says(&said, item).starts_with("shown "), "{item}: {said}");
    }
    for item in ["success/200", "too-many", "unlisted-members", "refused"] {
        assert!(says(&said, item).starts_with("not shown "), "{item}: {said}");
    }
    assert!(says(&said, "too-many").contains("--busy 5"), "{said}");
    let out = folder.path().join("client");
    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    assert!(summary.contains("the client of reference bank"), "{summary}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("the client conforms in what it showed"), "the statement is in the report");
    let junit = fs::read_to_string(out.join("junit.xml")).unwrap();
    assert!(junit.contains("client.call/ncbct") || junit.contains("call/ncbct"), "{junit}");
}

#[test]
fn a_client_that_breaks_the_document_is_told_what_and_where() {
    let folder = TempDir::new().unwrap();
    let wrong = ["ncbct.path/plain", "ncbct.creditor-name.length", "periodic.months.duplicate/adjacent"];
    let (code, said) = recorded(folder.path(), &wrong, &[]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = report(folder.path());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the client does not conform: "), "{said}");
    assert!(says(&said, "no-breach/ncbct").starts_with("broken "), "{said}");
    assert!(said.contains("deny ncbct.creditor-name.length"), "{said}");
    assert!(says(&said, "no-breach/periodic").starts_with("broken "), "{said}");
    assert!(said.contains("deny periodic.months.duplicate"), "{said}");
    // Each thing is told once, with how often it was seen.
    assert_eq!(
        said.matches("the client broke periodic.months.duplicate  (1 exchange, ").count(),
        1,
        "{said}"
    );
    assert_eq!(said.matches("request/body/monthsOfExecution: expected").count(), 1, "{said}");
    // A refusal was met, and the client went on.
    assert!(says(&said, "refused").starts_with("shown "), "{said}");
    let junit = fs::read_to_string(folder.path().join("client/junit.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("ncbct.creditor-name.length"), "{junit}");
    assert!(
        junit.contains("the client broke it: request/body/creditorName: ")
            && !junit.contains("the bank broke")
    );
    let again = format!("= again   xs2aspec client-report {}", folder.path().display());
    assert!(
        junit.contains(&again) && junit.contains("= next    xs2aspec explain ncbct.creditor-name.length")
    );
}

#[test]
fn what_the_reference_bank_rejects_its_client_did() {
    for (case, clause) in [
        ("payment.unknown", "payment.unknown"),
        ("transaction.path.unknown", "transaction.path.unknown"),
        ("header.psu-id.unknown", "header.psu-id.unknown"),
        ("limit.consent-age/*", "limit.consent-age"),
    ] {
        let folder = TempDir::new().unwrap();
        let (code, said) = recorded(folder.path(), &[case], &[]);
        assert_eq!(code, Some(1), "{case}: {said}");
        let record = Record::read(folder.path());
        assert!(record.broken_by(End::Client).contains(&clause), "{case}: {said}");
        let (code, said) = report(folder.path());
        assert_eq!(code, Some(1), "{case}: {said}");
    }
    // A bank with a fault may reject what is right.
    let folder = TempDir::new().unwrap();
    let fault = ["--fault", "periodic.months.duplicate/only-adjacent"];
    recorded(folder.path(), &["header.psu-id.unknown"], &fault);
    assert!(!Record::read(folder.path()).broken_by(End::Client).contains(&"header.psu-id.unknown"));
}

#[test]
fn paths_of_no_operation_are_named_and_nothing_conforms_that_was_not_judged() {
    let send = |path: &str| {
        let folder = TempDir::new().unwrap();
        let bank = Running::bank(&["--record", folder.path().to_str().unwrap()]);
        let mut stream = TcpStream::connect(bank.url.trim_start_matches("http://")).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        let (code, said) = bank.end();
        let broken: Vec<String> =
            Record::read(folder.path()).broken_by(End::Client).into_iter().map(str::to_owned).collect();
        (code, broken.join(" "), said)
    };
    for (path, clauses, expected) in [
        ("/sandbox/customers", "version.path-prefix", 1),
        ("/v1/sandbox/customer", "customers.path", 1),
        ("/v1/accounts/a/transactions", "service.signed", 1),
        ("/favicon.ico", "", 4),
    ] {
        let (code, broken, said) = send(path);
        assert_eq!((code, broken.as_str()), (Some(expected), clauses), "{path}: {said}");
    }
}

#[test]
fn banks_that_use_their_freedoms_let_a_client_show_more() {
    let plain = ["ncbct.path/plain", "periodic.path/plain", "customers.path/plain"];
    for (bank, item) in [
        (&["--variation", "json.unknown-members/answered"][..], "unlisted-members"),
        (&["--variation", "payment.success-status/ok"], "success/200"),
        (&["--busy", "3"], "too-many"),
    ] {
        let folder = TempDir::new().unwrap();
        recorded(folder.path(), &plain, bank);
        let (_, said) = report(folder.path());
        assert!(says(&said, item).starts_with("shown "), "{bank:?}: {said}");
    }
}

#[test]
fn a_record_that_is_none_and_one_of_another_document_are_refused() {
    let folder = TempDir::new().unwrap();
    let (code, said) = report(folder.path());
    assert_eq!(code, Some(2), "{said}");
    fs::write(folder.path().join("record.jsonl"), "{\"event\":\"nothing\"}\n").unwrap();
    assert_eq!(report(folder.path()).0, Some(2));
}
