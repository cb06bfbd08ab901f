//! A TPP for the tests, which signs requests and sends them over TCP.

#[path = "../../../../bank/src/tests/certificate.rs"]
mod certificate;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use xs2aspec_reference::{Bank, Clock, Config, start};

use certificate::{ISSUER, SERIAL};
pub(crate) use certificate::{Signer, signer};

pub(crate) const PRIVATE_PSU: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";
pub(crate) const CORPORATE_PSU: &str = "7b1e4d2a-9c80-4f36-a5d4-1f0e2d3c4b5a";
pub(crate) const CORPORATE_ID: &str = "AGR-310000019";

pub(crate) const BASKET: &str = "/v1/signing-baskets";
pub(crate) const NCBCT: &str = "/v1/payments/norwegian-cross-border-credit-transfers";
pub(crate) const PERIODIC: &str = "/v1/periodic-payments/norwegian-domestic-credit-transfers";
pub(crate) const CUSTOMERS: &str = "/v1/sandbox/customers";
pub(crate) const TRANSACTION: &str = "/v1/accounts/acc-corporate-0001/transactions/20250211-0000001";

/// Returns the time of every bank in these tests.
pub(crate) fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2025-03-01T12:00:00Z").unwrap().to_utc()
}

/// Starts a bank that conforms, or has this fault.
pub(crate) async fn bank(fault: Option<&str>) -> Bank {
    let fault = fault.map(|name| name.parse().unwrap());
    start(Config { faults: fault.into_iter().collect(), now: Clock::at(Some(noon())), ..Config::default() })
        .await
        .unwrap()
}

/// A valid request, until the test changes it.
#[derive(Clone)]
pub(crate) struct Call {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Call {
    pub(crate) fn ncbct() -> Self {
        Self::post(NCBCT, &ncbct_body())
    }

    pub(crate) fn periodic() -> Self {
        Self::post(PERIODIC, &periodic_body())
    }

    pub(crate) fn basket(ids: &[String]) -> Self {
        Self::post(BASKET, &json!({ "paymentIds": ids }))
    }

    pub(crate) fn customers() -> Self {
        let headers = ["tpp-session-id", "tpp-redirect-uri", "x-accept-fix", "psu-id", "psu-ip-address"];
        headers.iter().fold(Self::of("GET", CUSTOMERS, None), |call, name| call.without(name))
    }

    pub(crate) fn transaction() -> Self {
        Self::get(TRANSACTION)
            .with("psu-id", CORPORATE_PSU)
            .with("psu-corporate-id", CORPORATE_ID)
            .with("psu-context", "CORPORATE")
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::of("GET", path, None)
    }

    /// Returns a request for test data, with the headers of the customer list.
    pub(crate) fn sandbox(method: &'static str, path: &str, body: &Value) -> Self {
        Self::customers().method(method).path(path).bytes(body.to_string().into_bytes())
    }

    fn post(path: &str, body: &Value) -> Self {
        Self::of("POST", path, Some(body.to_string().into_bytes()))
    }

    fn of(method: &'static str, path: &str, body: Option<Vec<u8>>) -> Self {
        let headers = [
            ("Host", "bank.example"),
            ("Date", "Sat, 01 Mar 2025 12:00:00 GMT"),
            ("X-Request-ID", "6f1c7a52-8f0e-4f0e-9d55-0d4f7d6e2a11"),
            ("TPP-Session-ID", "session-1"),
            ("TPP-Redirect-URI", "https://tpp.example/back"),
            ("X-Accept-Fix", "amount-as-string"),
            ("PSU-ID", PRIVATE_PSU),
            ("PSU-IP-Address", "192.0.2.10"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let call = Self { method, path: path.to_owned(), headers, body: None };
        match body {
            Some(body) => call.bytes(body),
            None => call,
        }
    }

    /// Sets the body, and its Digest except for the basket, which has none.
    pub(crate) fn bytes(mut self, body: Vec<u8>) -> Self {
        let digest = format!("SHA-256={}", STANDARD.encode(Sha256::digest(&body)));
        self.body = Some(body);
        if self.path.starts_with(BASKET) { self } else { self.with("Digest", &digest) }
    }

    /// Sets a field of the JSON body, or removes it if `value` is null.
    pub(crate) fn member(self, name: &str, value: Value) -> Self {
        let mut body: Value = serde_json::from_slice(self.body.as_deref().unwrap()).unwrap();
        if value.is_null() {
            body.as_object_mut().unwrap().remove(name).unwrap();
        } else {
            body[name] = value;
        }
        self.bytes(body.to_string().into_bytes())
    }

    /// Sets a field if the body is a JSON object.
    pub(crate) fn with_member(self, name: &str, value: Value) -> Self {
        let body = self.body.as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let Some(mut body) = body.filter(Value::is_object) else { return self };
        body[name] = value;
        self.bytes(body.to_string().into_bytes())
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        let mut call = self.without(name);
        call.headers.push((name.to_owned(), value.to_owned()));
        call
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Returns the body as a string.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone().unwrap_or_default()).unwrap()
    }

    /// Returns the value of a header that is present.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.value(name).unwrap()
    }

    /// Returns a Digest of the body with its hash in hexadecimal.
    pub(crate) fn hexadecimal_digest(&self) -> String {
        let hash = Sha256::digest(self.body.as_deref().unwrap_or_default());
        hash.iter().fold("SHA-256=".to_owned(), |text, byte| text + &format!("{byte:02x}"))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Adds certificate and signature over the headers that must be signed.
    pub(crate) fn signed(self) -> Self {
        let names = ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];
        let names: Vec<&str> = names.into_iter().filter(|name| self.value(name).is_some()).collect();
        self.signed_over(&names, signer())
    }

    /// Adds certificate and signature over these headers. The signer may differ from the one in the
    /// certificate.
    pub(crate) fn signed_over(self, names: &[&str], by: &Signer) -> Self {
        let lines: Vec<String> =
            names.iter().map(|name| format!("{name}: {}", self.value(name).unwrap_or_default())).collect();
        let header = format!(
            r#"keyId="SN={SERIAL},CA={ISSUER}",algorithm="rsa-sha256",headers="{}",signature="{}""#,
            names.join(" "),
            by.sign(lines.join("\n").as_bytes()),
        );
        let certificate = signer().certificate_base64();
        self.with("TPP-Signature-Certificate", &certificate).with("Signature", &header)
    }

    /// Signs and sends the request.
    pub(crate) async fn send(self, bank: &Bank) -> Reply {
        self.signed().send_as_it_is(bank).await
    }

    /// Sends the request without a signature. Only its length is added.
    pub(crate) async fn send_as_it_is(self, bank: &Bank) -> Reply {
        let bytes = self.wire();
        let mut stream = TcpStream::connect(bank.address()).await.unwrap();
        exchange(&mut stream, &bytes).await
    }

    /// Returns the bytes of the request.
    pub(crate) fn wire(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        let body = self.body.as_deref();
        if let Some(body) = body {
            write!(head, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()).unwrap();
        }
        head.push_str("\r\n");
        [head.as_bytes(), body.unwrap_or_default()].concat()
    }
}

/// Sends bytes and reads one response. The connection stays open.
pub(crate) async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> Reply {
    stream.write_all(bytes).await.unwrap();
    let mut received = Vec::new();
    loop {
        if let Some(reply) = Reply::parse(&received) {
            return reply;
        }
        let read = stream.read_buf(&mut received).await.unwrap();
        assert!(read > 0, "the bank closed the connection after {:?}", String::from_utf8_lossy(&received));
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Value,
}

impl Reply {
    fn parse(received: &[u8]) -> Option<Self> {
        let end = received.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8(received[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Self { status, head, body: Value::Null };
        let length: usize = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
        let body = received.get(end + 4..end + 4 + length)?;
        if length > 0 {
            reply.body = serde_json::from_slice(body).unwrap();
        }
        Some(reply)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the code of the first message.
    pub(crate) fn code(&self) -> &str {
        self.body["tppMessages"][0]["code"].as_str().unwrap_or_default()
    }

    /// Returns the text of the first message.
    pub(crate) fn text(&self) -> &str {
        self.body["tppMessages"][0]["text"].as_str().unwrap_or_default()
    }

    /// Returns the rule that the first message names.
    pub(crate) fn rule(&self) -> &str {
        let text = self.text();
        text.split_once(": ").map_or(text, |(rule, _)| rule)
    }

    /// Returns status, code and rule.
    pub(crate) fn refusal(&self) -> (u16, &str, &str) {
        (self.status, self.code(), self.rule())
    }

    /// Returns the id of a created payment.
    pub(crate) fn payment_id(&self) -> String {
        assert_eq!(self.status, 201, "{self:?}");
        self.body["paymentId"].as_str().unwrap().to_owned()
    }
}

fn ncbct_body() -> Value {
    json!({
        "instructedAmount": { "amount": "125000.00", "currency": "NOK" },
        "creditorName": "Synthetic Creditor",
        "creditorAccount": { "iban": "NO6100004200594", "currency": "NOK" },
        "debtorAccount": { "iban": "NO1400004200179", "currency": "NOK" },
        "regulatoryReportingCode": "14",
        "regulatoryReportingInformation": "Machine parts"
    })
}

fn periodic_body() -> Value {
    json!({
        "instructedAmount": { "amount": "250.00", "currency": "NOK" },
        "creditorName": "Synthetic Creditor",
        "creditorAccount": { "bban": "00004200411", "currency": "NOK" },
        "debtorAccount": { "bban": "00004200179", "currency": "NOK" },
        "startDate": "2025-04-15",
        "frequency": "MonthlyVariable",
        "monthsOfExecution": [4, 8, 11]
    })
}
