use serde_json::{Value, json};

use super::*;
use crate::profile::{TEST_CERTIFICATE, TEST_KEY};
use xs2aspec_suite::{SigningSpec, Tree};

#[test]
fn blanks_stand_between_parameters_and_nowhere_else() {
    assert_eq!(
        spaced("keyId=\"SN=1,CA=CN=x\",signature=\"AA==\""),
        "keyId = \"SN=1,CA=CN=x\" , signature = \"AA==\""
    );
}

fn spec() -> SigningSpec {
    SigningSpec::load(&Tree::embedded()).unwrap()
}

fn signer_with(encoding: CertificateEncoding) -> Result<RequestSigner, RequestSignerError> {
    let signer = Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).unwrap();
    RequestSigner::new(signer, encoding, &spec().signed_headers)
}

fn request_signer() -> RequestSigner {
    signer_with(CertificateEncoding::default()).unwrap()
}

fn signed(signing: Value) -> String {
    let headers = [("Date", "now"), ("X-Request-ID", "r"), ("PSU-ID", "p")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let signing = serde_json::from_value(signing).unwrap();
    let target = RequestTarget { method: "POST".into(), path: "/v1/x?y=z".into() };
    request_signer().signature(&headers, Some(target), &signing).unwrap()
}

/// The hashes of an empty file from `sha256sum`, `sha1sum` and `md5sum`. All except the first are in base64.
#[test]
fn a_digest_can_have_the_wrong_encoding_or_another_algorithm() {
    let hash = "SHA-256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(RequestSigner::digest("sha-256.hexadecimal", b"").unwrap(), hash);
    let near = |name: &str| RequestSigner::digest(&format!("sha-256.{name}"), b"").unwrap();
    assert_eq!(near("other-case"), "SHA-256=47dEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_eq!(near("other-begin"), "SHA-256=4rDEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_eq!(near("other-end"), "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFQ=");
    let whole = RequestSigner::digest("sha-512", b"").unwrap();
    let near = RequestSigner::digest("sha-512.other-begin", b"").unwrap();
    assert!(near != whole && near[10..] == whole[10..], "{near}");
    let near = RequestSigner::digest("sha-512.other-end", b"").unwrap();
    assert!(near != whole && near[..near.len() - 4] == whole[..whole.len() - 4], "{near}");
    let alone = RequestSigner::digest("sha-256.alone", b"").unwrap();
    assert_eq!(alone, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_eq!(RequestSigner::digest("sha-1", b"").unwrap(), "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
    let longest = RequestSigner::digest("sha-384", b"").unwrap();
    assert!(longest.starts_with("OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P2"), "{longest}");
    assert_eq!(RequestSigner::digest("md5", b"").unwrap(), "1B2M2Y8AsgTpgAmY7PhCfg==");
    assert_eq!(RequestSigner::digest("sha-224", b""), None);
}

fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = value.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

/// Returns the parameters in which a header differs from the valid one.
fn differing(value: &str) -> Vec<&'static str> {
    let legal = signed(json!({}));
    let names = ["keyId", "algorithm", "headers", "signature"];
    names.into_iter().filter(|name| parameter(&legal, name) != parameter(value, name)).collect()
}

#[test]
fn each_way_of_signing_differs_in_what_it_says_and_in_nothing_else() {
    let table: [(Value, &[&str]); 19] = [
        (json!({"wrap": "never"}), &[]),
        (json!({"headers": ["date", "x-request-id", "psu-id"]}), &[]),
        (json!({"signed-as": {"x-request-id": "r"}}), &[]),
        (json!({"algorithm": "none"}), &["algorithm"]),
        (json!({"key-id": "SN=1"}), &["keyId"]),
        (json!({"stated-headers": ["date", "digest"]}), &["headers"]),
        (json!({"signature": "AA=="}), &["signature"]),
        (json!({"corrupted": true}), &["signature"]),
        (json!({"written": "url-safe"}), &["signature"]),
        (json!({"written": "hexadecimal"}), &["signature"]),
        (json!({"line-feed": true}), &["signature"]),
        (json!({"signed-as": {"X-Request-ID": "s"}}), &["signature"]),
        (json!({"signed-as": {"psu-corporate-id": ""}}), &["headers", "signature"]),
        (json!({"key": "other"}), &["signature"]),
        (json!({"certificate": "other"}), &["keyId"]),
        (json!({"without": ["key-id"]}), &["keyId"]),
        (json!({"without": ["algorithm"]}), &["algorithm"]),
        (json!({"without": ["headers", "signature"]}), &["headers", "signature"]),
        (json!({"wrap": "signature-alone"}), &["signature"]),
    ];
    for (signing, expected) in table {
        assert_eq!(differing(&signed(signing.clone())), expected, "{signing}");
    }
}

#[test]
fn a_parameter_that_is_left_out_is_not_there() {
    let value = signed(json!({"without": ["headers"], "stated-headers": ["date"]}));
    assert_eq!(parameter(&value, "headers"), None);
    assert!(parameter(&value, "signature").is_some());
}

#[test]
fn the_signature_alone_is_wrapped() {
    let legal = signed(json!({}));
    let alone = signed(json!({"wrap": "signature-alone"}));
    let word = parameter(&alone, "signature").unwrap();
    let text = word.strip_prefix("=?utf-8?B?").and_then(|rest| rest.strip_suffix("?=")).unwrap();
    assert_eq!(BASE64_STANDARD.decode(text).unwrap(), parameter(&legal, "signature").unwrap().as_bytes());
}

#[test]
fn the_parts_of_both_certificates_are_known_and_differ() {
    let request_signer = request_signer();
    for part in ["", "serial", "subject", "pem"] {
        assert_ne!(
            request_signer.certificate(None, part),
            request_signer.certificate(Some(Party::Other), part),
            "{part}"
        );
    }
    let key_id = format!(
        "SN={},CA={}",
        request_signer.certificate(None, "serial").unwrap(),
        request_signer.certificate(None, "issuer").unwrap()
    );
    assert_eq!(parameter(&signed(json!({})), "keyId"), Some(key_id.as_str()));
    let pem = BASE64_STANDARD.decode(request_signer.certificate(None, "pem").unwrap()).unwrap();
    let read = Certificate::from_pem(&pem).unwrap();
    assert_eq!(Some(read.header_value()), request_signer.certificate(None, ""));
    assert_eq!(request_signer.certificate(None, "validity"), None);
}

#[test]
fn a_profile_declares_the_forms_and_an_unknown_one_names_those_that_are_known() {
    let forms = |choices: &[(&str, &str)]| {
        let choices = choices.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        CertificateEncoding::of(&choices.collect(), &spec().choices).map_err(RequestSignerError::from)
    };
    let usual = forms(&[("payment.success-status", "201"), ("key-id.serial", "any")]).unwrap();
    assert_eq!(usual, forms(&[]).unwrap());
    let declared = forms(&[
        ("key-id.serial", "lower"),
        ("key-id.issuer", "forward, spaced"),
        ("certificate.form", "base64 of PEM"),
    ]);
    let own = signer_with(declared.unwrap()).unwrap();
    let usual = request_signer();
    let part = |request_signer: &RequestSigner, part| request_signer.certificate(None, part).unwrap();
    assert_eq!(part(&own, "serial"), part(&usual, "serial").to_lowercase());
    assert!(part(&own, "issuer").contains(", ") && part(&usual, "issuer") != part(&own, "issuer"));
    assert_eq!(part(&own, ""), part(&usual, "pem"));
    let issuer = |text: &str| {
        let forms = forms(&[("key-id.issuer", text)])?;
        signer_with(forms).map(|request_signer| part(&request_signer, "issuer"))
    };
    assert_eq!(issuer("CN={CN} of {O}").unwrap(), "CN=xs2aspec test CA of xs2aspec test material");
    assert_eq!(issuer("CN=Our CA, O=Ours").unwrap(), "CN=Our CA, O=Ours");
    for (text, says) in [
        ("CN={CN}, L={L}", "the issuer of the certificate has no attribute for `{L}`, only O, CN"),
        ("CN={CN", "found a single brace"),
        ("{ORG}", "expected in `{ORG}` a type such as CN"),
    ] {
        let error = issuer(text).unwrap_err().to_string();
        let start = "`[choices]` of the target profile: \"key-id.issuer\": ";
        assert!(error.starts_with(start) && error.contains(says), "{text}: {error}");
    }
    for (key, known) in [
        ("key-id.serial", "`lower`"),
        ("key-id.issuer", "`forward`"),
        ("certificate.form", "`base64 of PEM`"),
    ] {
        let error = forms(&[(key, "synthetic")]).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(known) && error.contains("`synthetic`"), "{error}");
    }
}
