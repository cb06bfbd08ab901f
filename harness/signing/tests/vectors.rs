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

/// The parts of a text between separators that are not escaped.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut escaped) = (vec![String::new()], false);
    for letter in text.chars() {
        if letter == separator && !escaped {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(letter);
        }
        escaped = letter == '\\' && !escaped;
    }
    parts
}

/// A name as a list of RDNs, each with its values sorted: they have no order (RFC 4514, section 2.2). One blank behind a comma, and
/// those around a plus sign, belong to the form.
fn name(text: &str, spaced: bool) -> Vec<Vec<String>> {
    let rdns = split(text, ',').into_iter().enumerate().map(|(at, rdn)| {
        let rdn = if spaced && at > 0 { rdn.strip_prefix(' ').unwrap().to_owned() } else { rdn };
        let mut values = split(&rdn.replace(" + ", "+"), '+');
        values.sort_unstable();
        values
    });
    rdns.collect()
}

#[test]
fn issuer_names_are_written_as_openssl_writes_them() {
    use xs2aspec_signing::{Certificate, certificate::NameForm};
    let certificate =
        Certificate::from_pem(include_str!("../../../fixtures/vectors/issuers/special.pem")).unwrap();
    let theirs = include_str!("../../../fixtures/vectors/issuers/special.openssl.txt");
    let theirs: Vec<&str> = theirs.lines().collect();
    assert_eq!(theirs.len(), NameForm::ALL.len());
    for (form, theirs) in NameForm::ALL.into_iter().zip(theirs) {
        let spaced = matches!(form, NameForm::Rfc4514Spaced | NameForm::ForwardSpaced);
        let (ours, theirs) = (name(&certificate.issuer(form), spaced), name(theirs, spaced));
        assert_eq!(ours, theirs, "{form}");
        assert!(ours.len() == 4 && ours.iter().any(|rdn| rdn.len() == 2));
    }
    assert_eq!(certificate.serial_hex(), "F1E2D3C4B5A697");
}
