//! The caller's side against the published test values of the draft (draft-cavage-http-signatures-10, appendix C).

use aws_lc_rs::signature::{RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, UnparsedPublicKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use xs2aspec_signing::{RequestTarget, digest, signing_string};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/vectors/cavage10.json")).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn fields(vectors: &Value) -> Vec<(&str, &str)> {
    let headers = vectors["request"]["headers"].as_array().unwrap();
    headers.iter().map(|field| (text(&field[0]), text(&field[1]))).collect()
}

#[test]
fn signing_strings_are_those_of_the_draft() {
    let vectors = vectors();
    let target = RequestTarget {
        method: text(&vectors["request"]["method"]).to_owned(),
        path: text(&vectors["request"]["path"]).to_owned(),
    };
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        // Without a `headers` parameter the list is `date` alone (draft, section 2.1).
        let listed: Vec<&str> = case["headers_param"].as_str().unwrap_or("date").split(' ').collect();
        let ours = signing_string(&listed, &fields(&vectors), Some(&target)).unwrap();
        assert_eq!(ours, text(&case["signing_string"]), "{}", case["id"]);
    }
}

#[test]
fn signatures_of_the_draft_verify() {
    let vectors = vectors();
    let key = pem::parse(text(&vectors["public_key_pem"])).unwrap();
    // The draft's key has 1024 bits, which only the algorithm for old signatures takes.
    let key = UnparsedPublicKey::new(&RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, key.contents());
    for case in vectors["cases"].as_array().unwrap() {
        let signature = BASE64_STANDARD.decode(text(&case["signature"])).unwrap();
        let signed = text(&case["signing_string"]);
        key.verify(signed.as_bytes(), &signature).unwrap();
        key.verify(format!("{signed}\n").as_bytes(), &signature).unwrap_err();
    }
}

#[test]
fn the_digest_of_the_draft_is_the_digest_of_its_body() {
    let vectors = vectors();
    let body = text(&vectors["request"]["body"]);
    let fields = fields(&vectors);
    let (_, stated) = fields.iter().find(|(name, _)| *name == "Digest").unwrap();
    assert_eq!(digest::Algorithm::Sha256.header_value(body.as_bytes()), *stated);
}
