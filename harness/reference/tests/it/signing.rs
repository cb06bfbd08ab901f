//! Random headers: the bank rejects each, without a failure and without a delay.

use std::time::{Duration, Instant};

use axum::http::Request;
use proptest::prelude::*;
use tokio::runtime::Builder;
use x509_cert::der::DecodePem as _;
use xs2aspec_reference::{Config, InProcessBank};

const CERTIFICATE: &str = include_str!("../../../../fixtures/keys/tpp.cert.pem");

fn certificate() -> String {
    CERTIFICATE.lines().filter(|line| !line.contains([' ', '-'])).collect()
}

/// Sends a payment with these headers, and returns the status and the time that it took.
fn answered(signature: &[u8], digest: &[u8], certificate: &[u8]) -> Option<(u16, Duration)> {
    let request = Request::post("/v1/payments/norwegian-cross-border-credit-transfers")
        .header("accept", "application/json")
        .header("x-accept-fix", "amount-as-string")
        .header("x-request-id", "c63ec4ff-3e4f-4a20-9c2f-9fdf504160c3")
        .header("tpp-session-id", "1c0f9a52-7a3e-4a53-9a6b-2f6c5c1f0d11")
        .header("tpp-redirect-uri", "https://tpp.example/return")
        .header("psu-id", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f")
        .header("psu-ip-address", "192.0.2.10")
        .header("content-type", "application/json")
        .header("tpp-signature-certificate", certificate)
        .header("signature", signature)
        .header("digest", digest)
        .body(b"{}".to_vec())
        .ok()?;
    let bank = InProcessBank::open(&Config::default());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let start = Instant::now();
    let answer = runtime.block_on(bank.answer(request));
    Some((answer.status().as_u16(), start.elapsed()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_sent_is_refused(
        signature in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..300),
            "(keyId|algorithm|headers|signature|=\\?utf-8\\?[BQ]\\?|\\?=|=|\"|,|SN=[0-9A-F]{0,9},CA=|[A-Za-z=+/\\\\ ]){0,40}".prop_map(String::into_bytes),
        ],
        digest in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..100),
            "(SHA-(256|512|1)?=[A-Za-z0-9+/=]{0,90},?){0,4}".prop_map(String::into_bytes),
        ],
        own in any::<bool>(),
        other in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let certificate = if own { certificate().into_bytes() } else { other };
        if let Some((status, _)) = answered(&signature, &digest, &certificate) {
            prop_assert!((400..500).contains(&status), "{}", status);
        }
    }
}

#[test]
fn long_headers_take_no_longer_than_they_are_long() {
    let own = certificate();
    let read = x509_cert::Certificate::from_pem(CERTIFICATE).unwrap();
    let serial = read.tbs_certificate.serial_number.to_string();
    let quickest = |signature: &str, digest: &str, certificate: &str| {
        let times = (0..5)
            .map(|_| answered(signature.as_bytes(), digest.as_bytes(), certificate.as_bytes()).unwrap().1);
        times.min().unwrap()
    };
    let parts = [
        "a=\"\",",
        "=",
        "\"",
        ",",
        "=?",
        "=?utf-8?Q?=20?= ",
        "keyId=\"SN=1,CA=CN=a\",",
        "headers=\"date ",
        "\\,",
        "\\C3",
        "CN=a,",
        "CN=a+",
        "CN=#130161,",
        "A",
    ];
    for part in parts {
        let of = |length: usize| part.repeat(length / part.len());
        let name = |length: usize| {
            let text = of(length).replace('"', "");
            format!("keyId=\"SN=1,CA={text}\",headers=\"{text}\",signature=\"{text}\"")
        };
        let issuer = |length: usize| {
            let text = of(length).replace('"', "");
            format!("keyId=\"SN={serial},CA={text}\",signature=\"AAAA\"")
        };
        for place in 0..5 {
            let time = |length: usize| match place {
                0 => quickest(&of(length), "SHA-256=a", &own),
                1 => quickest(&name(length / 3), "SHA-256=a", &own),
                2 => quickest("a", &of(length), &own),
                3 => quickest(&issuer(length), "SHA-256=a", &own),
                _ => quickest("a", "SHA-256=a", &of(length)),
            };
            let (short, long) = (time(8 * 1024), time(64 * 1024));
            // For eight times the length, linear time is 8 times as long and quadratic time 64. Short times
            // are mostly noise.
            assert!(
                long < short * 40 + Duration::from_millis(5),
                "{part} in {place}: {short:?} and {long:?}"
            );
        }
    }
}
