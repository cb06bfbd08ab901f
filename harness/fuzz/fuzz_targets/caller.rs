//! The caller's readers of Signature, keyId, Digest, encoded words, certificates and keys: no bytes make them panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xs2aspec_signing::{
    Certificate,
    diagnosis::{self, Parameters, Received},
    encoded_word, material,
    qualified::Statements,
};

const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");

fuzz_target!(|bytes: &[u8]| {
    drop(Certificate::from_der(bytes));
    drop(Certificate::from_pem(bytes));
    drop(Statements::read(bytes));
    let text = String::from_utf8_lossy(bytes);
    drop(material::unlocked(&text, Some("passphrase")));
    Parameters::read(&text);
    encoded_word::unwrap(&text);
    let mut parts = text.splitn(3, '\0');
    let certificate = Certificate::from_pem(CERTIFICATE).expect("a certificate").header_value();
    let fields = [
        ("Signature".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("Digest".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("Date".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("TPP-Signature-Certificate".to_owned(), certificate),
    ];
    diagnosis::examine(&Received { fields: &fields, body: bytes, target: None, signed: Some(&text) });
});
