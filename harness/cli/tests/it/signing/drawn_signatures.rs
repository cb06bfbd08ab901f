//! Thousands of signatures: the reference bank accepts what the caller signs, and rejects it after a change
//! of one bit. The two sides share neither code nor a cryptographic library.
//!
//! `cargo test --release -p xs2aspec --test it drawn_signatures -- --ignored` runs a million of each.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use http::Request;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config as TestConfig, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::json;
use tokio::runtime;
use xs2aspec_reference::{Config, InProcessBank};
use xs2aspec_signing::{
    Options, Signer, Wrap,
    digest::Algorithm,
    encoded_word,
    encoded_word::{Charset, Encoding},
    listed_headers,
    signature_header::sign,
};

use crate::support::{CERTIFICATE, KEY};

/// The number of requests after which a new bank is started, since a bank keeps every payment.
const PER_BANK: usize = 5_000;

/// The random values of one request.
#[derive(Debug, Clone)]
struct Drawn {
    is_payment: bool,
    id: u128,
    redirect: String,
    time: i64,
    amount: u32,
    is_sha_512: bool,
    wrap: Wrap,
    /// The part in which a bit is flipped, and the bit.
    part: u8,
    bit: usize,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    use proptest::prelude::*;
    let wrap = prop_oneof![
        4 => Just(Wrap::WhenNeeded),
        1 => Just(Wrap::Always(Charset::Utf8, Encoding::B)),
        1 => Just(Wrap::Always(Charset::Utf8, Encoding::Q)),
        1 => Just(Wrap::Always(Charset::Iso8859_1, Encoding::B)),
    ];
    let who = (any::<bool>(), any::<u128>(), "[a-z0-9/._~-]{0,40}", 0..4_102_444_800i64);
    let what = (1..50_000u32, any::<bool>(), wrap, any::<u8>(), any::<u32>());
    (who, what).prop_map(|((is_payment, id, redirect, time), (amount, is_sha_512, wrap, part, bit))| Drawn {
        is_payment,
        id,
        redirect,
        time,
        amount,
        is_sha_512,
        wrap,
        part,
        bit: bit as usize,
    })
}

/// A request and its headers.
struct Signed {
    fields: Vec<(&'static str, String)>,
    body: Vec<u8>,
    path: &'static str,
}

impl Signed {
    fn new(drawn: &Drawn, signer: &Signer) -> Self {
        let date = chrono::DateTime::from_timestamp(drawn.time, 0).unwrap();
        let mut fields = vec![
            ("Accept", "application/json".to_owned()),
            (
                "X-Request-ID",
                uuid::Builder::from_random_bytes(drawn.id.to_be_bytes()).into_uuid().to_string(),
            ),
            ("Date", date.format("%a, %d %b %Y %H:%M:%S GMT").to_string()),
        ];
        let (mut body, mut path) = (Vec::new(), "/v1/sandbox/customers");
        if drawn.is_payment {
            path = "/v1/payments/norwegian-cross-border-credit-transfers";
            body = json!({
                "instructedAmount": {"currency": "EUR", "amount": format!("{}.{:02}", drawn.amount, drawn.bit % 100)},
                "debtorAccount": {"iban": "NO1400004200179", "currency": "NOK"},
                "creditorName": "Synthetic Creditor",
                "creditorAccount": {"iban": "DE93999999990000000001", "currency": "EUR"},
            })
            .to_string()
            .into_bytes();
            let algorithm = if drawn.is_sha_512 { Algorithm::Sha512 } else { Algorithm::Sha256 };
            fields.extend([
                ("x-accept-fix", "amount-as-string".to_owned()),
                ("TPP-Session-ID", "1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11".to_owned()),
                ("TPP-Redirect-URI", format!("https://tpp.example/{}", drawn.redirect)),
                ("PSU-ID", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f".to_owned()),
                ("PSU-IP-Address", "192.0.2.10".to_owned()),
                ("Content-Type", "application/json".to_owned()),
                ("Digest", algorithm.header_value(&body)),
            ]);
        }
        let due = ["date", "digest", "x-request-id", "psu-id", "tpp-redirect-uri"];
        let listed = listed_headers(&due, &fields);
        let options = Options { listed, wrap: drawn.wrap, ..Options::default() };
        let signature = sign(signer, &fields, &options).unwrap().value;
        fields.push(("TPP-Signature-Certificate", signer.certificate().header_value()));
        fields.push(("Signature", signature));
        Self { fields, body, path }
    }

    fn value(&mut self, name: &str) -> &mut String {
        &mut self.fields.iter_mut().find(|(known, _)| *known == name).unwrap().1
    }

    /// Flips one bit in what is signed or in the signature. Returns the part for the message.
    fn changed(mut self, drawn: &Drawn) -> (&'static str, Self) {
        let turned = |bytes: &mut [u8], lowest: usize| {
            let at = drawn.bit % bytes.len();
            // The lowest bits of a letter or digit give another visible character. Higher bits may not.
            bytes[at] ^= 1 << ((drawn.bit / 7) % lowest);
        };
        let part = match drawn.part % if drawn.is_payment { 5 } else { 3 } {
            0 => {
                let value = self.value("Signature");
                let plain = encoded_word::unwrap(value).unwrap_or_else(|| value.clone());
                let (before, after) = plain.split_once("signature=\"").unwrap();
                let mut bytes = BASE64_STANDARD.decode(after.trim_end_matches('"')).unwrap();
                turned(&mut bytes, 8);
                *value = format!("{before}signature=\"{}\"", BASE64_STANDARD.encode(bytes));
                "Signature"
            }
            part @ (1 | 2) => {
                let name = if part == 1 { "Date" } else { "X-Request-ID" };
                let mut bytes = self.value(name).clone().into_bytes();
                turned(&mut bytes, 1);
                *self.value(name) = String::from_utf8(bytes).unwrap();
                name
            }
            3 => {
                let value = self.value("Digest").clone();
                let (token, hash) = value.split_once('=').unwrap();
                let mut bytes = BASE64_STANDARD.decode(hash).unwrap();
                turned(&mut bytes, 8);
                *self.value("Digest") = format!("{token}={}", BASE64_STANDARD.encode(bytes));
                "Digest"
            }
            _ => {
                turned(&mut self.body, 8);
                "body"
            }
        };
        (part, self)
    }

    async fn status(self, bank: &InProcessBank) -> (u16, String) {
        let method = if self.body.is_empty() { "GET" } else { "POST" };
        let mut request = Request::builder().method(method).uri(self.path);
        for (name, value) in &self.fields {
            request = request.header(*name, value);
        }
        let answer = bank.answer(request.body(self.body).unwrap()).await;
        (answer.status().as_u16(), String::from_utf8_lossy(answer.body()).into_owned())
    }
}

/// Sends this many requests, half of them on each of two threads. Each is sent unchanged, and then with one
/// bit flipped.
fn requests(count: usize) {
    let signer = Arc::new(Signer::from_pem(KEY, CERTIFICATE).unwrap());
    std::thread::scope(|scope| {
        for half in 0..2u8 {
            let signer = Arc::clone(&signer);
            scope.spawn(move || {
                let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[half; 32]);
                let mut runner = TestRunner::new_with_rng(TestConfig::default(), rng);
                let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let strategy = drawn();
                let mut bank = InProcessBank::open(&Config::default());
                for number in 0..count / 2 {
                    if number % PER_BANK == PER_BANK - 1 {
                        bank = InProcessBank::open(&Config::default());
                    }
                    let drawn = strategy.new_tree(&mut runner).unwrap().current();
                    let (status, said) = runtime.block_on(Signed::new(&drawn, &signer).status(&bank));
                    assert!((200..300).contains(&status), "{drawn:?}: {status} {said}");
                    let (part, changed) = Signed::new(&drawn, &signer).changed(&drawn);
                    let (status, said) = runtime.block_on(changed.status(&bank));
                    assert!((400..500).contains(&status), "{part} of {drawn:?}: {status} {said}");
                }
            });
        }
    });
}

#[test]
fn what_is_signed_is_accepted_and_a_changed_bit_is_refused() {
    requests(4_000);
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn a_million_signed_requests() {
    requests(1_000_000);
}
