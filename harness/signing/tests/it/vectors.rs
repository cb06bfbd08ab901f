//! Tests against the published values of the draft (draft-cavage-http-signatures-10, appendix C).

use aws_lc_rs::signature::{RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, UnparsedPublicKey};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;
use xs2aspec_signing::{Certificate, RequestTarget, certificate::NameForm, digest, signing_string};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../fixtures/vectors/cavage10.json")).unwrap()
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
        // Without a `headers` parameter, the list is `date` alone (draft, section 2.1).
        let listed: Vec<&str> = case["headers_param"].as_str().unwrap_or("date").split(' ').collect();
        let ours = signing_string(&listed, &fields(&vectors), Some(&target)).unwrap();
        assert_eq!(ours, text(&case["signing_string"]), "{}", case["id"]);
    }
}

#[test]
fn signatures_of_the_draft_verify() {
    let vectors = vectors();
    let key = pem::parse(text(&vectors["public_key_pem"])).unwrap();
    // The draft's key has 1024 bits, which only the algorithm for old signatures accepts.
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

/// Returns another program's rendering of the issuer of a certificate.
fn rendering(certificate: &str, tool: &str, form: &str) -> &'static str {
    let renderings = include_str!("../../../../fixtures/vectors/issuers/renderings.tsv");
    let start = [certificate, tool, form, ""].join("\t");
    renderings.lines().find_map(|line| line.strip_prefix(&start)).unwrap()
}

/// Returns a certificate of a fictitious authority with an unusual name.
fn certificate(name: &str) -> Certificate {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors/issuers");
    Certificate::from_pem(std::fs::read(format!("{folder}/{name}.pem")).unwrap()).unwrap()
}

#[test]
fn issuers_are_written_as_java_writes_them_by_the_predecessor_of_rfc_4514() {
    for name in ["components", "identifier", "letters", "mail", "several", "types"] {
        let ours = certificate(name).issuer().write(&NameForm::Rfc4514);
        assert_eq!(ours, rendering(name, "Java", "RFC2253"), "{name}");
    }
    // Java escapes = and # everywhere, as RFC 2253 requires and RFC 4514 does not. A bare quotation mark
    // would end keyId.
    let theirs = rendering("special", "Java", "RFC2253")
        .replace("\\=", "=")
        .replace(" \\#", " #")
        .replace("\\\"", "\\22");
    assert_eq!(certificate("special").issuer().write(&NameForm::Rfc4514), theirs);
    assert!(theirs.contains("\\22Test\\22 \\\\ Bank\\; \\<A\\> = #1"), "{theirs}");
}

#[test]
fn issuers_are_written_as_openssl_writes_them_where_it_writes_rfc_4514() {
    // For types that RFC 4514 does not list, OpenSSL writes its own names. It also reverses the values of an
    // RDN.
    for name in ["components", "encodings", "letters"] {
        for form in NameForm::ALL {
            let ours = certificate(name).issuer().write(&form);
            assert_eq!(ours, rendering(name, "OpenSSL", &form.to_string()), "{name}, {form}");
        }
    }
    assert_eq!(certificate("special").serial_hex(), "F1E2D3C4B5A697");
    assert_eq!(certificate("mail").serial_hex(), "8F01");
}

#[test]
fn values_that_are_encoded_are_so_as_openssl_encodes_them() {
    for name in ["identifier", "mail", "several", "types", "encodings"] {
        let issuer = certificate(name).issuer();
        let theirs = rendering(name, "OpenSSL", "numbers").to_lowercase();
        let mut theirs: Vec<&str> = theirs.split([',', '+']).collect();
        let ours = issuer.attributes().map(|one| format!("{}={}", one.kind(), one.encoded()));
        let mut ours: Vec<String> = ours.collect();
        ours.sort();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{name}");
    }
}
