//! Signed requests for the tests.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use xs2aspec_bank::operation::Operation;

use super::super::table;
use crate::rules::is_of_every_second;
use crate::test_certificate::{ISSUER, SERIAL, Signer, signer};

pub(super) const SIGNED: [&str; 6] =
    ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];

/// A request without its signature.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    method: &'static str,
    pub(super) path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    /// True if certificate and signature are added on sending.
    is_to_be_signed: bool,
}

impl Probe {
    /// Returns a request with every header, parameter and field of the operation.
    pub(super) fn full(operation: Operation) -> Self {
        let (method, path) = match operation {
            Operation::Basket => ("POST", "/v1/signing-baskets".to_owned()),
            Operation::Customers => {
                ("GET", format!("{}?withAccounts=true&withAgreements=true", operation.route()))
            }
            Operation::Transaction => ("GET", transaction("20250211-0000001")),
            Operation::Ncbct | Operation::Periodic => {
                ("POST", format!("{}?allowLogicalDuplicate=true", operation.route()))
            }
            _ => ("GET", operation.route().replace("{paymentId}", "payment-pending-0001")),
        };
        let headers_of =
            if Operation::SPECIFIED.contains(&operation) { operation } else { Operation::Transaction };
        let fields = table::fields().into_iter().filter(|field| field.operation == headers_of);
        let headers = fields
            .map(|field| (field.name, value(field.name)))
            .chain([("date", "Thu, 31 Jan 2030 12:00:00 GMT".to_owned()), ("host", "localhost".to_owned())]);
        let own = |name: &&str| !matches!(*name, "signature" | "tpp-signature-certificate" | "digest");
        let headers = headers.filter(|(name, _)| own(name)).collect();
        Self { method, path, headers, body: None, is_to_be_signed: true }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        // A signature that the test sets is not replaced.
        self.is_to_be_signed &= !matches!(name, "signature" | "tpp-signature-certificate");
        self
    }

    /// Adds another line of a header.
    pub(super) fn and(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Removes a header. Certificate and signature are not added again.
    pub(super) fn without(mut self, name: &str) -> Self {
        if matches!(name, "signature" | "tpp-signature-certificate") {
            self = self.signed();
        }
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    pub(super) fn at(self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Sets the body, and its Digest if the operation has one.
    pub(super) fn with_body(self, body: &Value) -> Self {
        self.with_bytes(body.to_string().into_bytes())
    }

    pub(super) fn with_bytes(mut self, bytes: Vec<u8>) -> Self {
        let digest = format!("SHA-256={}", STANDARD.encode(Sha256::digest(&bytes)));
        self.body = Some(bytes);
        if self.path.starts_with("/v1/signing-baskets") { self } else { self.with("digest", &digest) }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the list of headers of rule 2 that the request has.
    pub(super) fn list(&self) -> String {
        let names = SIGNED.into_iter().filter(|name| self.header(name).is_some());
        names.collect::<Vec<_>>().join(" ")
    }

    /// Returns the signing string of a list of headers.
    pub(super) fn signing_string(&self, list: &str) -> String {
        let line = |name: &str| {
            if name == "(request-target)" {
                return format!("{name}: {} {}", self.method.to_lowercase(), self.path);
            }
            let lines = self.headers.iter().filter(|(known, _)| *known == name);
            format!("{name}: {}", lines.map(|(_, value)| value.trim()).collect::<Vec<_>>().join(", "))
        };
        list.to_ascii_lowercase().split(' ').map(line).collect::<Vec<_>>().join("\n")
    }

    /// Adds certificate and signature, unless the test has set them.
    pub(super) fn signed(self) -> Self {
        if !self.is_to_be_signed {
            return self;
        }
        let list = self.list();
        let signature = sign(&self.signing_string(&list), signer());
        self.signed_by(&header(&key_id(), &list, &signature))
    }

    /// Adds the usual certificate and this Signature header.
    pub(super) fn signed_by(self, signature: &str) -> Self {
        let certificate = signer().certificate_base64();
        self.with("tpp-signature-certificate", &certificate).with("signature", signature)
    }

    pub(super) fn uri(&self) -> Uri {
        self.path.parse().unwrap()
    }

    pub(super) fn fields(&self) -> HeaderMap {
        let field = |(name, value): &(&'static str, String)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        self.headers.iter().map(field).collect()
    }

    /// Returns the request as a bank receives it.
    pub(super) fn request(&self) -> Request<Vec<u8>> {
        let mut request =
            Request::builder().method(self.method).uri(self.uri()).body(self.bytes().to_vec()).unwrap();
        *request.headers_mut() = self.fields();
        request
    }
}

pub(super) fn transaction(id: &str) -> String {
    format!("/v1/accounts/acc-corporate-0001/transactions/{id}")
}

pub(super) fn key_id() -> String {
    format!("SN={SERIAL},CA={ISSUER}")
}

pub(super) fn header(key_id: &str, list: &str, signature: &str) -> String {
    format!(r#"keyId="{key_id}",algorithm="rsa-sha256",headers="{list}",signature="{signature}""#)
}

/// Signs a string. Signatures are cached, because signing takes most of the time.
pub(super) fn sign(text: &str, by: &Signer) -> String {
    static KNOWN: Mutex<Option<HashMap<(bool, String), String>>> = Mutex::new(None);
    let key = (std::ptr::eq(by, signer()), text.to_owned());
    let mut known = KNOWN.lock().unwrap();
    let known = known.get_or_insert_default();
    known.entry(key).or_insert_with(|| by.sign(text.as_bytes())).clone()
}

/// Returns a valid value of a header.
fn value(name: &str) -> String {
    let value = match name {
        "x-accept-fix" => "amount-as-string",
        // An id that makes the request one of every second.
        "x-request-id" => {
            return (0..9)
                .map(|n| format!("probe-{n}"))
                .find(|id| is_of_every_second(id.as_bytes()))
                .unwrap();
        }
        "tpp-session-id" => "session-1",
        "tpp-redirect-uri" => "https://tpp.example/back",
        "tpp-redirect-preferred" => "true",
        "psu-id" => "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f",
        "x-psu-identity" => "01819000391",
        "psu-corporate-id" => "AGR-310000019",
        "psu-context" => "PRIVATE",
        "psu-ip-address" => "192.0.2.10",
        "psu-http-method" => "POST",
        "psu-device-id" => "99435c7e-ad88-49ec-a2ad-99ddcb1f5555",
        _ => "x",
    };
    value.to_owned()
}

/// Returns valid bodies of an operation, with the most fields first.
pub(super) fn bodies(operation: Operation) -> Vec<Value> {
    let address = json!({
        "street": "Street", "buildingNumber": "1", "postalCode": "0001", "city": "City", "country": "NO"
    });
    let mut full = json!({
        "instructedAmount": { "amount": "250000.00", "currency": "NOK" },
        "creditorName": "Synthetic",
        "creditorAccount": { "iban": "NO6100004200594", "bban": "00004200594", "currency": "NOK" },
        "creditorAddress": address,
        "debtorAccount": { "iban": "NO1400004200179", "bban": "00004200179", "currency": "NOK" },
        "remittanceInformationUnstructured": "Text",
        "purposeCode": "OTHR"
    });
    let more = match operation {
        Operation::Basket => return vec![json!({ "paymentIds": ["payment-pending-0001"] })],
        Operation::Ncbct => json!({
            "creditorAgent": "TESTDEFF", "requestedExecutionDate": "2030-03-01",
            "regulatoryReportingCode": "14", "regulatoryReportingInformation": "Text"
        }),
        Operation::Periodic => json!({
            "ultimateDebtor": "Synthetic", "startDate": "2030-03-15", "executionRule": "following",
            "endDate": "2099-12-31", "frequency": "MonthlyVariable", "monthsOfExecution": [2, 8],
            "dayOfExecution": "1"
        }),
        _ => return vec![],
    };
    full.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let without = |pointers: &[&str]| {
        pointers.iter().fold(full.clone(), |mut body, pointer| {
            remove(&mut body, pointer);
            body
        })
    };
    let international = without(&["/creditorAccount/bban", "/debtorAccount/bban"]);
    let domestic = without(&["/creditorAccount/iban", "/debtorAccount/iban"]);
    let mut ends_early = full.clone();
    ends_early["endDate"] = json!("2030-03-01");
    let mut ends_in_time = full.clone();
    ends_in_time["frequency"] = json!("Monthly");
    let mut turned = serde_json::Map::new();
    turned.insert("creditorName".to_owned(), full["creditorName"].clone());
    turned.extend(full.as_object().unwrap().clone());
    let others = [without(&["/monthsOfExecution"]), ends_early, ends_in_time, Value::Object(turned)];
    [full.clone(), international, domestic].into_iter().chain(others).collect()
}

pub(super) fn remove(body: &mut Value, pointer: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if let Some(members) = body.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.shift_remove(name);
    }
}

/// Sets a field if its parent object exists.
pub(super) fn set(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if let Some(members) = body.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.insert(name.to_owned(), value);
    }
}
