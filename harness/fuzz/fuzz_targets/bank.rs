//! The bank's readers of headers and bodies: whatever is sent is answered, and never by a failure inside.

#![no_main]

use std::sync::LazyLock;

use http::Request;
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};
use xs2aspec_reference::{Config, Indoors};

const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));
static BANK: LazyLock<Indoors> = LazyLock::new(|| Indoors::open(&Config::default()));

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(4, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let certificate: String = CERTIFICATE.lines().filter(|line| !line.contains([' ', '-'])).collect();
    let (signature, digest, other, body) = (next(), next(), next(), next());
    let certificate = if other.is_empty() { certificate.as_bytes() } else { other };
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
        .header("digest", digest);
    // Bytes that no header may have do not come here.
    let Ok(request) = request.body(body.to_vec()) else { return };
    let answer = RUNTIME.block_on(BANK.answer(request));
    assert!((400..500).contains(&answer.status().as_u16()), "{answer:?}");
});
