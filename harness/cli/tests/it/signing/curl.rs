//! The line that `xs2aspec curl` prints sends, run in a shell, what the runner sends.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
    thread,
    time::Duration,
};

use tempfile::TempDir;
use xs2aspec_suite::{Suite, Tree};

use crate::support::{command, execute};

/// A request as it arrived: its first line, its header fields by their names in small letters, and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arrived {
    line: String,
    fields: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A server that keeps what it is sent and accepts everything.
fn server() -> (String, mpsc::Receiver<Arrived>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            thread::spawn(move || serve(stream.unwrap(), &sender));
        }
    });
    (url, receiver)
}

fn serve(mut stream: TcpStream, sender: &mpsc::Sender<Arrived>) {
    let mut bytes = Vec::new();
    loop {
        while let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let mut lines = head.lines();
            let line = lines.next().unwrap().to_owned();
            let fields: BTreeMap<String, String> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            let length = fields.get("content-length").map_or(0, |length| length.parse().unwrap());
            if bytes.len() < end + 4 + length {
                break;
            }
            let body = bytes[end + 4..end + 4 + length].to_vec();
            bytes.drain(..end + 4 + length);
            let id = if line.contains("payments") {
                "{\"paymentId\":\"p-1\",\"transactionStatus\":\"RCVD\",\"_links\":{}}"
            } else {
                "[]"
            };
            sender.send(Arrived { line, fields, body }).unwrap();
            let answer = format!(
                "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{id}",
                id.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk) {
            Ok(read) if read > 0 => bytes.extend_from_slice(&chunk[..read]),
            _ => return,
        }
    }
}

fn xs2aspec(arguments: &[&str]) -> String {
    let output = execute(arguments);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything that has arrived by now.
fn arrived(receiver: &mpsc::Receiver<Arrived>) -> Vec<Arrived> {
    let mut all = Vec::new();
    while let Ok(one) = receiver.recv_timeout(Duration::from_millis(200)) {
        all.push(one);
    }
    all
}

#[test]
fn the_printed_line_sends_what_the_runner_sends() {
    let (url, receiver) = server();
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
        arrived(&receiver);
        let sent = Command::new("bash").args(["-c", &line]).output().unwrap();
        assert!(sent.status.success(), "curl has to be installed: {}", String::from_utf8_lossy(&sent.stderr));
        let mut by_curl = arrived(&receiver).pop().unwrap();

        let out = folder.path().to_str().unwrap();
        let run = ["run", "--quiet", "--only", case, "--jobs", "1", "--out", out];
        command().args([&run[..], &same].concat()).output().unwrap();
        // How a client keeps its connection is its own affair.
        by_curl.fields.remove("connection");
        let by_runner: Vec<Arrived> = arrived(&receiver)
            .into_iter()
            .map(|mut arrived| {
                arrived.fields.remove("connection");
                arrived
            })
            .collect();
        assert!(by_runner.contains(&by_curl), "{case}\n{line}\n{by_curl:#?}\n{by_runner:#?}");
    }
}

#[test]
fn what_is_no_single_case_is_refused() {
    for (case, says) in [
        ("periodic.months.duplicate", "`periodic.months.duplicate` is "),
        ("nope", "`nope` matches no case"),
        // The target is known by its URL only.
        ("transaction.path/plain", "add [transaction] account-id = "),
    ] {
        let output = command().args(["curl", case, "--target", "http://127.0.0.1:1"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && !said.contains("--only"), "{said}");
    }
}

/// Ids that are the beginning of others are ids all the same.
#[test]
fn every_case_can_be_named_by_its_id() {
    let suite = Suite::load(Tree::embedded()).unwrap();
    let ids: Vec<&str> = suite.cases().iter().map(|case| case.id.as_str()).collect();
    let is_beginning = |id: &str| {
        let longer = ids.iter().filter_map(|other| other.strip_prefix(id));
        longer.into_iter().any(|rest| rest.starts_with(['.', '/']))
    };
    let beginnings: Vec<&str> = ids.iter().copied().filter(|id| is_beginning(id)).collect();
    let mistake = "ncbct.allow-logical-duplicate.type/allowLogicalDuplicate/wrong-words";
    assert!(beginnings.contains(&mistake), "{beginnings:?}");
    let (url, _receiver) = server();
    // Some thousand have one in a surrounding: each 50th of them.
    for id in beginnings.into_iter().step_by(50).chain([mistake]) {
        let output = command().args(["curl", id, "--target", &url]).output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        // It is found; whether this target has what it takes is another question.
        assert!(!said.contains("name one"), "{id}: {said}");
        assert!(said.contains("curl -") || said.contains("the target profile"), "{id}: {said}");
    }
}
