//! The command that `xs2aspec curl` prints sends the same request as the runner.

use std::process::Command;

use tempfile::TempDir;
use wiremock::{MockServer, Request, ResponseTemplate};
use xs2aspec_suite::{Suite, Tree};

use crate::support::{command, execute, stub};

/// Starts a server that accepts every request.
async fn server() -> MockServer {
    let answer = |request: &Request| {
        let body = if request.url.path().contains("payments") {
            "{\"paymentId\":\"p-1\",\"transactionStatus\":\"RCVD\",\"_links\":{}}"
        } else {
            "[]"
        };
        ResponseTemplate::new(201).set_body_raw(body, "application/json")
    };
    stub::server(answer).await
}

fn xs2aspec(arguments: &[&str]) -> String {
    let output = execute(arguments);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the requests after the first `seen`, without the headers for the connection.
async fn received(server: &MockServer, seen: usize) -> Vec<Request> {
    let mut requests = server.received_requests().await.unwrap().split_off(seen);
    for request in &mut requests {
        request.headers.remove("connection");
    }
    requests
}

#[tokio::test]
async fn the_printed_line_sends_what_the_runner_sends() {
    let server = server().await;
    let url = server.uri();
    let folder = TempDir::new().unwrap();
    let same = ["--target", &url, "--seed", "7", "--run-id", "same", "--now", "2030-01-31T12:00:00Z"];
    for case in [
        "ncbct.path/plain",
        "periodic.months.duplicate/adjacent",
        "customers.with-accounts/true/with-agreements-false",
        "header.psu-geo-location.ncbct/PSU-Geo-Location/empty",
        "ncbct.remittance-unstructured.utf-8/greek",
        "json.utf-8/ncbct/latin-1-byte",
        "http.no-server-error/ncbct/after-a-byte-order-mark",
        "basket.body/plain",
    ] {
        let line = xs2aspec(&[&["curl", case][..], &same].concat());
        assert!(!line.contains("PRIVATE KEY") && line.lines().count() == 1, "{line}");
        let seen = stub::received(&server).await;
        let sent = Command::new("bash").args(["-c", &line]).output().unwrap();
        assert!(sent.status.success(), "curl has to be installed: {}", String::from_utf8_lossy(&sent.stderr));
        let by_curl = received(&server, seen).await.pop().unwrap();

        let seen = stub::received(&server).await;
        let out = folder.path().to_str().unwrap();
        let run = ["run", "--quiet", "--only", case, "--jobs", "1", "--out", out];
        command().args([&run[..], &same].concat()).output().unwrap();
        let by_runner = received(&server, seen).await;
        let parts =
            |one: &Request| (one.method.clone(), one.url.clone(), one.headers.clone(), one.body.clone());
        assert!(
            by_runner.iter().any(|request| parts(request) == parts(&by_curl)),
            "{case}\n{line}\n{by_curl:#?}\n{by_runner:#?}"
        );
    }
}

#[test]
fn what_is_no_single_case_is_refused() {
    for (case, says) in [
        ("periodic.months.duplicate", "`periodic.months.duplicate` matches "),
        ("nope", "`nope` matches no case"),
        // Only the URL of the target is known.
        ("transaction.path/plain", "add [transaction] account-id = "),
    ] {
        let output = command().args(["curl", case, "--target", "http://127.0.0.1:1"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && !said.contains("--only"), "{said}");
    }
}

/// A case id that is the start of other ids still works.
#[tokio::test]
async fn every_case_can_be_named_by_its_id() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let ids: Vec<&str> = suite.cases().iter().map(|case| case.id.as_str()).collect();
    let is_beginning = |id: &str| {
        let longer = ids.iter().filter_map(|other| other.strip_prefix(id));
        longer.into_iter().any(|rest| rest.starts_with(['.', '/']))
    };
    let beginnings: Vec<&str> = ids.iter().copied().filter(|id| is_beginning(id)).collect();
    let mistake = "ncbct.allow-logical-duplicate.type/allowLogicalDuplicate/wrong-words";
    assert!(beginnings.contains(&mistake), "{beginnings:?}");
    let server = server().await;
    let url = server.uri();
    // Some thousand ids start other ids, so test each 700th.
    for id in beginnings.into_iter().step_by(700).chain([mistake]) {
        let output = command().args(["curl", id, "--target", &url]).output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        // The case is found, even if the target lacks a value for it.
        assert!(!said.contains("lists them"), "{id}: {said}");
        assert!(said.contains("curl -") || said.contains("the target profile"), "{id}: {said}");
    }
}
