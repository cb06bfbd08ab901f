//! A conforming client gets exit code 0 in the session that the book shows, and the book is right about the
//! reference bank.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::Duration,
};

use chrono::Datelike;
use serde_json::{Value, json};
use tempfile::TempDir;
use xs2aspec_signing::{Options, Signer, digest::Algorithm, listed_headers, signature_header};

use super::Running;
use crate::support::{CERTIFICATE, KEY, REFERENCE, xs2aspec};

/// The options of the bank in the book's session.
const SESSION: &str = "--variation json.unknown-members/answered --busy 5";
const BOOK: &str = include_str!("../../../../../docs/src/clients.md");
const SEED: &str = include_str!("../../../../bank/seed.json");

const NCBCT: &str = "/v1/payments/norwegian-cross-border-credit-transfers";
const PERIODIC: &str = "/v1/periodic-payments/norwegian-domestic-credit-transfers";
const PRIVATE: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";
const SIGNED: [&str; 6] =
    ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];

/// A small conforming client.
struct Client {
    address: String,
    signer: Signer,
}

/// The headers that identify a PSU.
type Psu<'a> = &'a [(&'a str, &'a str)];

const AS_PRIVATE: Psu<'static> = &[("PSU-ID", PRIVATE), ("PSU-Context", "PRIVATE")];
const AS_CORPORATE: Psu<'static> = &[
    ("PSU-ID", "7b1e4d2a-9c80-4f36-a5d4-1f0e2d3c4b5a"),
    ("PSU-Corporate-ID", "AGR-310000019"),
    ("PSU-Context", "CORPORATE"),
];

impl Client {
    fn new(url: &str) -> Self {
        let address = url.trim_start_matches("http://").to_owned();
        Self { address, signer: Signer::from_pem(KEY, CERTIFICATE).unwrap() }
    }

    /// Sends a request, and resends it if the bank asks for that.
    fn call(&self, method: &str, path: &str, psu: Psu<'_>, body: Option<&Value>) -> (u16, Value) {
        loop {
            let (status, wait, body) = self.send(method, path, psu, body);
            if status != 429 {
                return (status, body);
            }
            thread::sleep(Duration::from_secs(wait.expect("Retry-After")));
        }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        psu: Psu<'_>,
        body: Option<&Value>,
    ) -> (u16, Option<u64>, Value) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut fields = vec![
            ("Host", self.address.clone()),
            ("Connection", "close".to_owned()),
            ("Date", chrono::Utc::now().format("%a, %d %b %Y %H:%M:%S GMT").to_string()),
            ("X-Request-ID", uuid::Uuid::new_v4().to_string()),
        ];
        if !path.contains("/sandbox/") {
            fields.extend([
                ("x-accept-fix", "amount-as-string".to_owned()),
                ("TPP-Session-ID", "session-1".to_owned()),
                ("TPP-Redirect-URI", "https://tpp.example/return".to_owned()),
                ("PSU-IP-Address", "192.0.2.10".to_owned()),
            ]);
        }
        fields.extend(psu.iter().map(|(name, value)| (*name, (*value).to_owned())));
        if !body.is_empty() {
            fields.push(("Content-Type", "application/json".to_owned()));
            fields.push(("Content-Length", body.len().to_string()));
        }
        if !body.is_empty() && !path.contains("baskets") {
            fields.push(("Digest", Algorithm::Sha256.header_value(body.as_bytes())));
        }
        let options = Options { listed: listed_headers(&SIGNED, &fields), ..Options::default() };
        let signed = signature_header::sign(&self.signer, &fields, &options).unwrap();
        fields.push(("TPP-Signature-Certificate", self.signer.certificate().header_value()));
        fields.push(("Signature", signed.value));
        let head =
            fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect::<Vec<_>>().concat();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(format!("{method} {path} HTTP/1.1\r\n{head}\r\n{body}").as_bytes()).unwrap();
        read(stream)
    }
}

/// Reads the status, Retry-After and the body of a response.
fn read(stream: TcpStream) -> (u16, Option<u64>, Value) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let (mut length, mut wait) = (0, None);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "retry-after" => wait = value.parse().ok(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status, wait, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn payment(amount: &str, debtor: &str) -> Value {
    json!({
        "instructedAmount": {"amount": amount, "currency": "NOK"},
        "creditorName": "Synthetic Creditor Ltd",
        "creditorAccount": {"iban": "DE93999999990000000001", "currency": "EUR"},
        "debtorAccount": {"iban": debtor, "currency": "NOK"},
        "regulatoryReportingCode": "14",
        "regulatoryReportingInformation": "Purchase of synthetic goods",
    })
}

/// Calls everything that the plan requires. Returns the statuses.
fn session(client: &Client) -> Vec<u16> {
    let mut start = (chrono::Utc::now() + chrono::TimeDelta::days(30)).date_naive();
    while start.weekday().number_from_monday() > 5 {
        start = start.succ_opt().unwrap();
    }
    let series = json!({
        "instructedAmount": {"amount": "1234.50", "currency": "NOK"},
        "creditorName": "Synthetic Creditor AS",
        "creditorAccount": {"iban": "NO5597100000036", "currency": "NOK"},
        "debtorAccount": {"iban": "NO1400004200179", "currency": "NOK"},
        "startDate": start.to_string(),
        "frequency": "Monthly",
    });
    let first = payment("150000.00", "NO1400004200179");
    let second = payment("150001.00", "NO1400004200179");
    let of_company = payment("150002.00", "NO1100004200330");
    let read = "/v1/accounts/acc-private-0001/transactions/20250211-0000001";
    let mut all = vec![
        client.call("GET", "/v1/sandbox/customers?withAccounts=true&withAgreements=true", &[], None),
        client.call("POST", NCBCT, AS_PRIVATE, Some(&first)),
        client.call("POST", NCBCT, AS_PRIVATE, Some(&second)),
        client.call("POST", NCBCT, AS_CORPORATE, Some(&of_company)),
        client.call("POST", PERIODIC, AS_PRIVATE, Some(&series)),
        client.call("GET", read, &[], None),
        // The bank rejects a duplicate payment, as the client requests.
        client.call("POST", &format!("{NCBCT}?allowLogicalDuplicate=false"), AS_PRIVATE, Some(&first)),
    ];
    let id = |at: usize| all[at].1["paymentId"].as_str().unwrap().to_owned();
    let ids = [id(1), id(2)];
    let psu = &AS_PRIVATE[..1];
    all.push(client.call("POST", "/v1/signing-baskets", psu, Some(&json!({ "paymentIds": ids }))));
    all.push(client.call("GET", &format!("{NCBCT}/{}/status", ids[0]), &[], None));
    all.into_iter().map(|(status, _)| status).collect()
}

/// Records the session of the book. Returns the exit code and the output of `serve`.
fn recorded(out: &Path, bank: &str) -> (Option<i32>, String) {
    let out = out.to_str().unwrap();
    let bank: Vec<&str> = bank.split(' ').filter(|word| !word.is_empty()).collect();
    let running = Running::bank(&[&["--record", out][..], &bank].concat());
    let statuses = session(&Client::new(&running.url));
    assert_eq!(statuses, [200, 201, 201, 201, 201, 200, 409, 201, 200]);
    running.end()
}

fn report(records: &[&Path], more: &[&str]) -> (Option<i32>, String) {
    let out = TempDir::new().unwrap();
    let records = records.iter().map(|path| path.to_str().unwrap());
    let arguments: Vec<&str> = ["client", "report"].into_iter().chain(records).collect();
    xs2aspec(&[&arguments[..], &["--out", out.path().to_str().unwrap()], more].concat())
}

#[test]
fn a_conforming_client_shows_everything_in_the_session_of_the_book() {
    assert!(BOOK.contains(&format!("--record reports/serve {SESSION}\n")), "{SESSION}");
    let folder = TempDir::new().unwrap();
    let (code, said) = recorded(folder.path(), SESSION);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = report(&[folder.path()], &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the client conforms: ") && !said.contains("not shown"), "{said}");
    // The client signed in one way, and saw one status of acceptance.
    assert!(said.contains("signature.bare is shown") && said.contains("success/201 is shown"), "{said}");
    // Giving the same record twice is not new evidence.
    let (code, said) = report(&[folder.path(), folder.path()], &[]);
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn records_of_several_banks_count_together() {
    let (plain, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    recorded(plain.path(), "");
    let (code, said) = report(&[plain.path()], &[]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("too-many") && said.contains("unlisted-members"), "{said}");
    recorded(other.path(), SESSION);
    let (code, said) = report(&[plain.path(), other.path()], &[]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_the_book_says_of_the_reference_bank_is_so() {
    let (_, after) = BOOK.split_once("## Test data").unwrap();
    let section = after.split("\n## ").next().unwrap();
    let quoted: BTreeSet<&str> = section.split('`').skip(1).step_by(2).collect();
    let is_value =
        |text: &&&str| text.bytes().any(|byte| byte.is_ascii_digit()) && !text.contains(['/', ' ']);
    let values: Vec<&&str> = quoted.iter().filter(is_value).collect();
    assert!(values.len() > 25, "{values:?}");
    for value in values {
        assert!(SEED.contains(&format!("{value:?}")) || REFERENCE.contains(&format!("{value:?}")), "{value}");
    }
    // The book lists all initial data of the bank.
    let seed: Value = serde_json::from_str(SEED).unwrap();
    for (list, key) in [
        ("psus", "psuId"),
        ("psus", "identity"),
        ("accounts", "resourceId"),
        ("accounts", "iban"),
        ("payments", "paymentId"),
    ] {
        let all = seed[list].as_array().unwrap();
        assert!(!all.is_empty());
        for value in all.iter().map(|one| one[key].as_str().unwrap()) {
            assert!(quoted.contains(value), "{list}: {value}");
        }
    }
    for transaction in seed["transactions"].as_array().unwrap() {
        let id = transaction["details"]["transactionId"].as_str().unwrap();
        assert!(quoted.contains(id), "{id}");
    }
}
