//! `serve --record` and `client report`: what a client has shown and violated. The client is the suite
//! itself, with requests that are valid, or invalid on purpose.

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

/// Runs these cases against a recorded bank with these arguments.
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

/// Runs `client report` on a record. Returns the exit code and the output.
fn report(record: &Path) -> (Option<i32>, String) {
    let out = record.join("client");
    xs2aspec(&["client", "report", record.to_str().unwrap(), "--out", out.to_str().unwrap()])
}

/// Returns the group of lines in which the report names an item or a clause.
fn says<'a>(said: &'a str, item: &str) -> &'a str {
    let mut group = "";
    for line in said.lines() {
        if !line.starts_with(' ') {
            group = line.split(':').next().unwrap_or_default().split(',').next().unwrap_or_default();
        }
        let rest =
            if line.starts_with(' ') { line } else { line.split_once(':').map_or("", |(_, rest)| rest) };
        let first = rest.trim().split(' ').next();
        let is_listed = group.starts_with("shown") && rest.split([',', '(']).any(|one| one.trim() == item);
        if first == Some(item) || is_listed {
            return group;
        }
    }
    panic!("{item}: {said}")
}

#[test]
fn a_client_that_keeps_the_document_conforms_in_what_it_showed() {
    let folder = TempDir::new().unwrap();
    let plain =
        ["ncbct.path/plain", "basket.body/plain", "customers.path/plain", "signature.wrap.utf-8-base64"];
    let (code, said) = recorded(folder.path(), &plain, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("next: xs2aspec client report"), "{said}");
    let record = Record::read(folder.path());
    assert_eq!(record.broken_by(End::Client), Vec::<&str>::new());
    assert!(record.exchanges.len() > 4 && !record.text.contains("keyId=\\\"SN="));

    let (code, said) = report(folder.path());
    assert_eq!(code, Some(3), "it did not show everything: {said}");
    assert!(said.contains("the client conforms as far as it was tested: "), "{said}");
    assert!(said.contains(&format!("; {} exchanges", record.exchanges.len())), "{said}");
    for item in [
        "call/ncbct",
        "call/basket",
        "no-breach/ncbct",
        "signature.bare",
        "signature.wrapped",
        "request-id.unique",
        "success/201",
    ] {
        assert_eq!(says(&said, item), "shown", "{item}");
    }
    for item in ["too-many", "unlisted-members", "refused"] {
        assert_eq!(says(&said, item), "not shown", "{item}");
    }
    // The bank uses another status.
    assert_eq!(says(&said, "success/200"), "skipped");
    assert!(said.contains("not shown, with `xs2aspec serve --record DIR --busy 5`:"), "{said}");
    let out = folder.path().join("client");
    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    assert!(summary.contains("the client of reference bank"), "{summary}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("the client conforms as far as it was tested"), "the statement is in the report");
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
    for clause in ["ncbct.creditor-name.length", "periodic.months.duplicate"] {
        assert_eq!(says(&said, clause), "violated", "{clause}");
    }
    // Each violation comes first and once, with its count and with what to send instead.
    assert_eq!(said.matches("violated: periodic.months.duplicate  (1 exchange)").count(), 1, "{said}");
    assert_eq!(said.matches("request/body/monthsOfExecution: got").count(), 1, "{said}");
    assert!(
        said.starts_with("violated: ") && said.contains("   | send at most 70 characters in creditorName"),
        "{said}"
    );
    // The client continued after a rejection.
    assert_eq!(says(&said, "refused"), "shown", "{said}");
    let junit = fs::read_to_string(folder.path().join("client/junit.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("ncbct.creditor-name.length"), "{junit}");
    assert!(
        junit.contains("the client violated it: request/body/creditorName: ")
            && !junit.contains("the bank violated")
    );
    let again = format!("= again   xs2aspec client report {}", folder.path().display());
    assert!(junit.contains(&again) && junit.contains("= next    xs2aspec explain "));
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
    // A bank with a fault may reject valid requests.
    let folder = TempDir::new().unwrap();
    let fault = ["--fault", "periodic.months.duplicate/only-adjacent"];
    let (code, said) = recorded(folder.path(), &["header.psu-id.unknown"], &fault);
    assert_eq!(code, Some(0), "it warns of the client at most: {said}");
}

/// Sends a request with these header lines to the reference bank. Returns the exit code of the recording, and
/// the record.
fn sent(path: &str, lines: &str) -> (Option<i32>, Record) {
    let folder = TempDir::new().unwrap();
    let bank = Running::bank(&["--record", folder.path().to_str().unwrap()]);
    let mut stream = TcpStream::connect(bank.url.trim_start_matches("http://")).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{lines}X-Request-ID: r-1\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    let (code, _) = bank.end();
    (code, Record::read(folder.path()))
}

#[test]
fn paths_of_no_operation_are_named_and_nothing_conforms_that_was_not_judged() {
    for (path, clauses, expected) in [
        ("/sandbox/customers", "version.path-prefix", 1),
        ("/v1/sandbox/customer", "customers.path", 1),
        ("/v1/accounts/a/transactions", "service.signed", 1),
        ("/v1/signing-baskets/a/status", "service.signed", 1),
        ("/v1/payments/norwegian-cross-border-credit-transfers/a", "service.signed", 1),
        ("/favicon.ico", "", 4),
    ] {
        let (code, record) = sent(path, "Host: a\r\n");
        assert_eq!(
            (code, record.broken_by(End::Client).join(" ").as_str()),
            (Some(expected), clauses),
            "{path}"
        );
    }
}

#[test]
fn a_malformed_head_and_a_missing_host_are_the_clients() {
    const PATH: &str = "/v1/accounts/a/transactions";
    for (lines, says) in [("X-A: b\r\n", "no Host"), ("Host: a\r\nX-A : b\r\n", "X-A :")] {
        let (code, record) = sent(PATH, lines);
        assert_eq!(
            (code, record.broken_by(End::Client)),
            (Some(1), vec!["http.field-lines", "service.signed"])
        );
        assert!(record.findings.iter().any(|finding| finding.actual.contains(says)), "{says}");
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
        assert_eq!(says(&said, item), "shown", "{bank:?}");
    }
}

#[test]
fn a_record_that_is_none_and_one_of_another_document_are_refused() {
    let folder = TempDir::new().unwrap();
    let (code, said) = report(folder.path());
    assert_eq!(code, Some(2), "{said}");
    fs::write(folder.path().join("record.jsonl"), "{\"event\":\"nothing\"}\n").unwrap();
    assert_eq!(report(folder.path()).0, Some(2));
    let archive = folder.path().join("traffic.har");
    fs::write(&archive, "{\"log\":{\"entries\":[]}}").unwrap();
    let (code, said) = report(&archive);
    assert_eq!(code, Some(2));
    assert!(said.contains(&format!("xs2aspec judge {}", archive.display())), "{said}");
    // A run violates rules on purpose.
    let out = folder.path().join("run");
    let (_, said) =
        xs2aspec(&["run", "--quiet", "--only", "customers.path/plain", "--out", out.to_str().unwrap()]);
    let (code, refusal) = report(&out);
    assert_eq!(code, Some(2), "{said}{refusal}");
    assert!(refusal.contains("no traffic of a client"), "{refusal}");
}

#[test]
fn what_is_declared_absent_is_skipped_and_levels_count() {
    let folder = TempDir::new().unwrap();
    let lower = ["ncbct.path/plain", "listed.case/ncbct/purposeCode/lower-INVS"];
    let (code, said) = recorded(folder.path(), &lower, &["-W", "listed.case"]);
    assert_eq!(code, Some(0), "{said}");
    let record = folder.path().to_str().unwrap();
    let out = folder.path().join("client");
    let with = |more: &[&str]| {
        xs2aspec(&[&["client", "report", record, "--out", out.to_str().unwrap()], more].concat())
    };
    let (code, said) = with(&[]);
    assert_eq!((code, says(&said, "listed.case")), (Some(3), "warning"), "{said}");
    assert!(said.contains("no-breach/ncbct (with a warning)"), "{said}");
    for more in [&["-D", "listed.case"][..], &["--deny", "warnings"]] {
        let (code, said) = with(more);
        assert_eq!((code, says(&said, "listed.case")), (Some(1), "violated"), "{said}");
    }
    let (code, said) = with(&["-A", "listed.case", "--without", "corporate,agreements"]);
    assert_eq!((code, says(&said, "corporate-id")), (Some(3), "skipped"), "{said}");
    assert!(!said.contains("listed.case"), "{said}");
    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    let junit = fs::read_to_string(out.join("junit.xml")).unwrap();
    for text in [&summary, &junit] {
        assert!(
            text.contains("--without corporate declares a client that acts for no corporate PSU"),
            "{text}"
        );
    }
    for (more, near) in [(["--without", "corprate"], "corporate"), (["-D", "listed.cas"], "listed.case")] {
        let (code, said) = with(&more);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&format!("did you mean `{near}`?")), "{said}");
    }
    // `serve` uses the levels of a run.
    let strict = TempDir::new().unwrap();
    let (code, said) = recorded(strict.path(), &lower, &["--deny", "warnings"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = xs2aspec(&["serve", "-D", "listed.case"]);
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn a_judged_archive_shows_how_its_client_signed() {
    let folder = TempDir::new().unwrap();
    let wire = folder.path().join("traffic.http");
    fs::write(&wire, SIGNED_IN_TWO_WAYS).unwrap();
    let judged = folder.path().join("judged");
    let (code, said) = xs2aspec(&["judge", wire.to_str().unwrap(), "--out", judged.to_str().unwrap()]);
    assert!(matches!(code, Some(0..=3)), "{said}");
    let (_, said) = report(&judged);
    for item in ["signature.bare", "signature.wrapped"] {
        assert_eq!(says(&said, item), "shown", "{said}");
    }
}

/// Two raw HTTP requests: one signs with a plain header, the other with an encoded-word.
const SIGNED_IN_TWO_WAYS: &str = "\
GET /v1/sandbox/customers HTTP/1.1\nHost: bank.example\nX-Request-ID: 1\nSignature: keyId=\"SN=1,CA=CN=a\"\n\n\
HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\n\n[]\n\
GET /v1/sandbox/customers HTTP/1.1\nHost: bank.example\nX-Request-ID: 2\nSignature: =?utf-8?B?a2V5SWQ9?=\n\n\
HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\n\n[]\n";
