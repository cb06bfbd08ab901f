//! Targets whose state goes wrong at some request. All failures since then are one finding, whatever clauses
//! the cases have.

use std::sync::atomic::{AtomicUsize, Ordering};

use xs2aspec_record::Verdict;

use super::turn::{Gateway, Ran, run, turned};

/// Starts a bank that sends this response to matching requests, after `at` of them.
fn since(at: usize, is_one: fn(&str) -> bool, answer: Vec<u8>) -> Gateway {
    let seen = AtomicUsize::new(0);
    Gateway::start(None, move |request| {
        let is_later = seen.fetch_add(1, Ordering::SeqCst) >= at;
        (is_later && is_one(&String::from_utf8_lossy(request))).then(|| answer.clone())
    })
}

/// Returns the lines that start a finding.
fn findings(ran: &Ran) -> Vec<&str> {
    ran.said.lines().filter(|line| line.starts_with("deny  ") || line.starts_with("warn  ")).collect()
}

#[test]
fn what_was_made_and_is_not_there_from_some_request_on_is_one_finding() {
    let error = r#"{"tppMessages":[{"category":"ERROR","code":"RESOURCE_UNKNOWN"}]}"#;
    let is_read = |text: &str| text.starts_with("GET /v1/payments/");
    let forgets = since(60, is_read, turned("404 Not Found", "application/json", error));
    // A rejected deletion is another failure.
    let others = ["--skip", "payment.deletion"];
    let only = ["--only", "ncbct.purpose*", "--only", "state", "--jobs", "4"];
    let ran = run(&forgets.url, &[&only[..], &others].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    let found = findings(&ran);
    assert!(found.len() == 1 && found[0].starts_with("deny  basket.payment-status "), "{}", ran.said);
    assert!(ran.said.contains("\n   = order   it began between requests "), "{}", ran.said);
    let failing = ran.verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Fail);
    assert!(failing.clone().count() >= 1, "{}", ran.said);
}

#[test]
fn what_the_profile_names_and_is_not_there_from_some_request_on_is_one_warning() {
    let error = r#"{"tppMessages":[{"category":"ERROR","code":"RESOURCE_UNKNOWN"}]}"#;
    let is_read = |text: &str| text.starts_with("GET /v1/accounts/");
    let forgets = since(30, is_read, turned("404 Not Found", "application/json", error));
    let ran = run(&forgets.url, &["--only", "transaction.path.unknown", "--only", "header.*.transaction"]);
    assert_eq!(ran.code, Some(3), "{}", ran.said);
    let found = findings(&ran);
    assert!(found.len() == 1 && found[0].starts_with("warn  transaction.path "), "{}", ran.said);
}

#[test]
fn an_answer_that_is_none_of_the_operation_from_some_request_on_is_a_violation() {
    let is_read = |text: &str| text.starts_with("GET /v1/accounts/");
    let bare = since(30, is_read, turned("200 OK", "application/json", r#"{"transactionId":"1"}"#));
    let ran = run(&bare.url, &["--only", "transaction.path.unknown", "--only", "header.*.transaction"]);
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    let found = findings(&ran);
    assert!(found.iter().any(|line| line.starts_with("deny  transaction.wrapper ")), "{}", ran.said);
}

#[test]
fn a_token_that_is_over_at_some_request_is_said_once_and_is_no_violation() {
    let error = r#"{"tppMessages":[{"category":"ERROR","code":"TOKEN_EXPIRED"}]}"#;
    let over = since(60, |_| true, turned("401 Unauthorized", "application/json", error));
    let ran = run(&over.url, &["--only", "ncbct.purpose*", "--only", "ncbct.creditor-name*"]);
    assert_eq!((ran.code, findings(&ran).len()), (Some(3), 0), "{}", ran.said);
    let lines: Vec<&str> = ran
        .said
        .lines()
        .filter(|line| line.contains("the target began to reject requests that it had accepted"))
        .collect();
    assert!(lines.len() == 1 && lines[0].starts_with("between requests "), "{}", ran.said);
    assert!(lines[0].contains("ncbct.path/plain") && lines[0].contains("401"), "{}", lines[0]);
}

#[test]
fn what_a_sequence_shows_alone_is_one_finding_with_all_that_is_wrong_beside_other_requests_only() {
    let fault = "payment.stays/five";
    let gateway = Gateway::start(Some(fault), |_| None);
    let only = ["payment.stays", "http.field-names", "error.pdng", "basket.payment-status", "ncbct.purpose*"];
    let only = only.iter().flat_map(|only| ["--only", only]);
    // The bank fails because of parallel requests.
    let arguments: Vec<&str> = ["--jobs", "64"].into_iter().chain(only).collect();
    let ran = run(&gateway.url, &arguments);
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    let found = findings(&ran);
    assert!(found.len() == 1 && found[0].starts_with("deny  payment.stays "), "{}", ran.said);
    let says = "\n   = order   this sequence of requests also fails in isolation; ";
    assert!(ran.said.contains(says), "{}", ran.said);
}

#[test]
fn a_connection_that_ends_while_a_request_is_under_way_says_nothing_if_another_one_is_answered() {
    // A server may close an idle connection at any time (RFC 9112 section 9.5). This one does so for some
    // requests on reused connections.
    let ends = |request: &[u8]| {
        let request = String::from_utf8_lossy(request).to_lowercase();
        let is_alone = request.contains("\nconnection: close\r\n");
        (request.contains("\"purposecode\"") && !is_alone).then(Vec::new)
    };
    let closes = Gateway::start(None, ends);
    let ran = run(&closes.url, &["--only", "ncbct.purpose-code"]);
    assert_eq!((ran.code, findings(&ran).len()), (Some(0), 0), "{}", ran.said);
    // A failure of the bank also shows on the other connection.
    let closes = Gateway::start(Some("ncbct.purpose-code/not-asked-beside-date"), ends);
    let ran = run(&closes.url, &["--only", "ncbct.purpose-code"]);
    assert_eq!(ran.code, Some(1), "{}", ran.said);
    assert!(findings(&ran)[0].starts_with("deny  ncbct.purpose-code "), "{}", ran.said);
}
