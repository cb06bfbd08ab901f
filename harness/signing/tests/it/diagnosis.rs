//! Tests that the diagnosis names the mistakes of signers.

use base64::{Engine, prelude::BASE64_STANDARD};
use proptest::prelude::*;
use xs2aspec_signing::{
    Options, OtherHash, Parameter, RequestTarget, Signer, Wrap,
    certificate::NameForm,
    diagnosis::{self, Finding, Held, Parameters, Received},
    digest::Algorithm,
    encoded_word::{self, Charset, Encoding},
    signature_header::sign,
    signing_string,
};

const KEY: &str = include_str!("../../../../fixtures/keys/tpp.key.pem");
const CERTIFICATE: &str = include_str!("../../../../fixtures/keys/tpp.cert.pem");
const OTHER_CERTIFICATE: &str = include_str!("../../../../fixtures/keys/other.cert.pem");
const CERTIFICATE_HEADER: &str = "TPP-Signature-Certificate";
const BODY: &[u8] = b"{ \"a\": 1 }\n";

fn signer() -> Signer {
    Signer::from_pem(KEY, CERTIFICATE).unwrap()
}

fn target() -> RequestTarget {
    RequestTarget { method: "POST".into(), path: "/v1/payments?a=b".into() }
}

/// Returns a valid request.
fn fields() -> Vec<(String, String)> {
    let digest = Algorithm::Sha256.header_value(BODY);
    let fields = [
        ("Date", "Sat, 21 Nov 2026 09:00:35 GMT"),
        ("Digest", &digest),
        ("X-Request-ID", "c63ec4ff-3e4f-4a20-9c2f-9fdf504160c3"),
        ("TPP-Redirect-URI", "https://tpp.example/Back"),
    ];
    fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
}

/// Returns the headers that are signed if a request has them.
fn due() -> Vec<String> {
    ["date", "digest", "x-request-id", "tpp-redirect-uri"].map(str::to_owned).to_vec()
}

/// Returns the options of a valid signature over all of them.
fn lawful() -> Options {
    Options { listed: due(), ..Options::default() }
}

/// Returns the findings for a request that was signed with these options and changed afterwards.
fn seen(
    options: &Options,
    change: impl FnOnce(&mut Vec<(String, String)>),
    signed: Option<&str>,
) -> Vec<Finding> {
    let mut fields = fields();
    let signature = sign(&signer(), &fields, options).unwrap().value;
    fields.push(("TPP-Signature-Certificate".into(), signer().certificate().header_value()));
    fields.push(("Signature".into(), signature));
    change(&mut fields);
    diagnosis::examine(&Received {
        signed_headers: &due(),
        certificate_header: Some(CERTIFICATE_HEADER),
        fields: &fields,
        latin_1: &[],
        body: BODY,
        target: Some(&target()),
        signed,
    })
}

fn set(fields: &mut [(String, String)], name: &str, value: impl Into<String>) {
    fields.iter_mut().find(|(known, _)| known == name).unwrap().1 = value.into();
}

/// Returns the only violation.
fn wrong(findings: &[Finding]) -> String {
    let wrong: Vec<String> = findings
        .iter()
        .filter(|finding| finding.held == Held::No)
        .map(|finding| format!("{}: {}", finding.part, finding.says))
        .collect();
    assert_eq!(wrong.len(), 1, "{findings:#?}");
    wrong.concat()
}

#[test]
fn a_right_request_holds_in_every_form() {
    for wrap in [
        Wrap::WhenNeeded,
        Wrap::Always(Charset::Utf8, Encoding::B),
        Wrap::Always(Charset::Iso8859_1, Encoding::Q),
    ] {
        let findings = seen(&Options { wrap, ..lawful() }, |_| {}, None);
        assert!(
            findings.len() >= 5 && findings.iter().all(|finding| finding.held == Held::Yes),
            "{findings:#?}"
        );
    }
    let listed = vec![
        "(request-target)".to_owned(),
        "date".into(),
        "digest".into(),
        "x-request-id".into(),
        "tpp-redirect-uri".into(),
    ];
    let options = Options { listed, target: Some(target()), ..lawful() };
    assert!(seen(&options, |_| {}, None).iter().all(|finding| finding.held == Held::Yes));
}

#[test]
fn every_habit_of_signing_is_named() {
    let listed = ["date", "digest", "x-request-id", "tpp-redirect-uri"];
    let right = signing_string(&listed, &fields(), None).unwrap();
    let lines: Vec<&str> = right.lines().collect();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_ne!(
        sorted,
        [lines[0], lines[1], lines[2], lines[3]],
        "the order of the table is not that of the alphabet"
    );
    for (text, habit) in [
        (format!("{right}\n"), "a line end after the last line"),
        (right.replace('\n', "\r\n"), "CRLF"),
        (right.replace('\n', ""), "joined without LF"),
        (right.replace('\n', " "), "joined with spaces"),
        (right.replace(": ", ":"), "no space after the colons"),
        (
            right
                .replace("date: ", "Date: ")
                .replace("digest: ", "Digest: ")
                .replace("x-request-id", "X-Request-ID")
                .replace("tpp-redirect-uri", "TPP-Redirect-URI"),
            "the case of the request",
        ),
        (sorted.join("\n"), "sorted by name"),
        (lines.iter().rev().copied().collect::<Vec<_>>().join("\n"), "reverse order"),
        (
            lines.iter().map(|line| line.split_once(": ").unwrap().1).collect::<Vec<_>>().join("\n"),
            "without their names",
        ),
        (format!("(request-target): post /v1/payments?a=b\n{right}"), "begins with (request-target)"),
        (lines[1..].join("\n"), "it lacks date"),
        (with(3, "tpp-redirect-uri: "), "tpp-redirect-uri is empty"),
        (with(3, "tpp-redirect-uri: https://tpp.example/back"), "tpp-redirect-uri is in lowercase"),
        (
            with(1, &format!("digest: {}", Algorithm::Sha512.header_value(BODY))),
            "digest is the SHA-512 of the body in it",
        ),
        (with(1, &format!("digest: {}", Algorithm::Sha256.base64(BODY))), "digest is without its algorithm"),
        (
            with(0, "date: Sat, 21 Nov 2026 09:00:34 GMT"),
            "1 second earlier: something between client and bank replaced it",
        ),
        (with(0, "date: Sat, 21 Nov 2026 10:00:35 GMT"), "1 hour later"),
        (with(0, "date: 2026-11-21T09:00:35Z"), "the same moment in another format"),
        (
            with(3, "tpp-redirect-uri: https%3A%2F%2Ftpp.example%2FBack"),
            "tpp-redirect-uri is percent-encoded",
        ),
        (with(3, "tpp-redirect-uri: https://tpp.example/Back/"), "with a trailing slash"),
    ] {
        let says = wrong(&seen(&Options { text: Some(text), ..lawful() }, |_| {}, None));
        assert!(
            says.starts_with("signature: covers another text") && says.contains(habit),
            "{habit}: {says}"
        );
    }
    let text = Some("something else".to_owned());
    let says = wrong(&seen(&Options { text, ..lawful() }, |_| {}, None));
    assert!(says.contains("no common mistake explains"), "{says}");
}

/// The key of the certificate made these, but they are not RSA-SHA256 of the signing string.
#[test]
fn what_stands_in_the_padded_block_is_named() {
    let right =
        signing_string(&["date", "digest", "x-request-id", "tpp-redirect-uri"], &fields(), None).unwrap();
    let hash = Algorithm::Sha256.hash(right.as_bytes());
    let digits = hash.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let with = |signature: String| {
        seen(&Options { signature: Parameter::Text(signature), ..lawful() }, |_| {}, None)
    };
    let again = |bytes: &[u8]| signer().sign(bytes).unwrap();
    let other = |hash| signer().sign_with(hash, right.as_bytes()).unwrap();
    let plain = again(right.as_bytes());
    let reversed = BASE64_STANDARD
        .encode(BASE64_STANDARD.decode(&plain).unwrap().into_iter().rev().collect::<Vec<u8>>());
    for (signature, habit) in [
        (again(&hash), "hashed twice"),
        (again(digits.as_bytes()), "the hash in hexadecimal was signed"),
        (again(digits.to_uppercase().as_bytes()), "the hash in hexadecimal was signed"),
        (other(OtherHash::Sha1), "with SHA-1 instead of SHA-256, over the right text"),
        (other(OtherHash::Sha384), "with SHA-384 instead of SHA-256"),
        (other(OtherHash::Sha512), "with SHA-512 instead of SHA-256"),
        (other(OtherHash::Sha256Pss), "the padding of RSASSA-PSS and SHA-256"),
        (reversed, "with its bytes in reverse order"),
        (plain.replace('+', "-").replace('/', "_"), "alphabet for URLs"),
    ] {
        let says = wrong(&with(signature));
        assert!(says.starts_with("signature: ") && says.contains(habit), "{habit}: {says}");
    }
    let unpadded = with(plain.trim_end_matches('=').to_owned());
    assert!(
        unpadded.iter().any(|one| one.held == Held::Open) && unpadded.iter().all(|one| one.held != Held::No)
    );
}

#[test]
fn what_is_open_is_neither_right_nor_wrong() {
    let certificate = signer().certificate().clone();
    let header = certificate.header_value();
    let change = |name: &'static str, value: String| seen(&lawful(), |fields| set(fields, name, value), None);
    let key_id = certificate.key_id(&xs2aspec_signing::KeyIdForm::default());
    let with_key_id =
        |text: String| seen(&Options { key_id: Parameter::Text(text), ..lawful() }, |_| {}, None);
    for (findings, part) in [
        (with_key_id(key_id.replace(",CA=", ", CA=")), "keyId"),
        (with_key_id(key_id.replace("SN=", "SN=0x")), "keyId"),
        (
            seen(&Options { algorithm: Parameter::Text("RSA-SHA256".into()), ..lawful() }, |_| {}, None),
            "algorithm",
        ),
        (change("TPP-Signature-Certificate", header.trim_end_matches('=').to_owned()), CERTIFICATE_HEADER),
        (change("TPP-Signature-Certificate", header.replace('+', "-").replace('/', "_")), CERTIFICATE_HEADER),
    ] {
        let odd: Vec<_> = findings
            .iter()
            .filter(|one| one.held != Held::Yes)
            .map(|one| (one.part.as_str(), one.held))
            .collect();
        assert_eq!(odd, [(part, Held::Open)], "{findings:#?}");
    }
}

#[test]
fn a_text_that_is_given_is_compared_byte_by_byte() {
    let theirs =
        signing_string(&["date", "digest", "x-request-id", "tpp-redirect-uri"], &fields(), None).unwrap();
    let byte = theirs.find("c63ec4ff").unwrap() + 8;
    let theirs = theirs.replace("c63ec4ff", "c63ec4fe");
    let options = Options { text: Some(theirs.clone()), ..lawful() };
    let says = wrong(&seen(&options, |_| {}, Some(&theirs)));
    assert!(says.contains(&format!("covers the given text; differs from byte {byte} (line 3)")), "{says}");
    assert!(says.contains("expected \"f-3e4f") && says.contains("found \"e-3e4f"), "{says}");
}

#[test]
fn every_part_that_differs_is_named() {
    let legal = lawful();
    let sha = |body: &[u8]| Algorithm::Sha256.header_value(body);
    let digest = |value: String| {
        let findings = seen(&legal, |fields| set(fields, "Digest", value), None);
        findings.into_iter().find(|finding| finding.part == "Digest").unwrap()
    };
    let digits =
        Algorithm::Sha256.hash(BODY).iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().concat();
    for (value, habit) in [
        (sha(b""), "an empty body"),
        (sha(b"{ \"a\": 1 }"), "without its trailing white space"),
        (sha(b"{\"a\":1}"), "another format: compact"),
        (sha(b"{ \"a\": 1 }\r\n"), "CRLF instead of LF"),
        (sha(BODY).trim_end_matches('=').to_owned(), "lacks its padding"),
        (format!("SHA-256={}", "ab".repeat(32)), "hexadecimal"),
        (format!("SHA-256={}", Algorithm::Sha512.base64(BODY)), "of the other algorithm"),
        ("MD5=abc".to_owned(), "neither SHA-256 nor SHA-512"),
        (format!("SHA256={}", Algorithm::Sha256.base64(BODY)), "the hyphen of the name is missing"),
        (format!("SHA-256={}", BASE64_STANDARD.encode(digits.to_lowercase())), "hexadecimal (lowercase)"),
        (format!("SHA-256={}", BASE64_STANDARD.encode(&digits)), "hexadecimal (uppercase)"),
        (sha(&Algorithm::Sha256.hash(BODY)), "the hash of the hash"),
        (sha(digits.to_lowercase().as_bytes()), "the hash of the hash in hexadecimal"),
        (sha(b"{\"a\": 1}"), "as Python writes it"),
        (sha(b"{\n  \"a\": 1\n}\n"), "indented by two spaces, followed by a line end"),
        (format!("\"{}\"", sha(BODY)), "in quotation marks"),
    ] {
        let finding = digest(value);
        assert!(finding.held != Held::Yes && finding.says.contains(habit), "{habit}: {}", finding.says);
    }
    let certificate = signer().certificate().clone();
    let key_id =
        |text: String| wrong(&seen(&Options { key_id: Parameter::Text(text), ..lawful() }, |_| {}, None));
    let issuer = certificate.issuer().write(&NameForm::Rfc4514);
    for (text, habit) in [
        (format!("SN={},CA={issuer}", certificate.serial_decimal()), "written in decimal"),
        (format!("SN=1,CA={issuer}"), "expected "),
        (
            format!("SN={},CA={}", certificate.serial_hex(), issuer.replace("test CA", "test CB")),
            "issuer: has CN=xs2aspec test CB where the certificate has CN=xs2aspec test CA",
        ),
        ("my key".to_owned(), "expected SN=<hex serial number>"),
    ] {
        let says = key_id(text);
        assert!(says.starts_with("keyId: ") && says.contains(habit), "{habit}: {says}");
    }
    let listed = ["date", "digest", "x-request-id"].map(str::to_owned).to_vec();
    let says = wrong(&seen(&Options { listed, ..lawful() }, |_| {}, None));
    assert!(says.contains("the request has tpp-redirect-uri, which must be listed"), "{says}");
    let says = wrong(&seen(
        &Options { algorithm: Parameter::Text("hmac-sha256".into()), ..legal.clone() },
        |_| {},
        None,
    ));
    assert!(says.contains("expected rsa-sha256, found hmac-sha256"), "{says}");
    let says = wrong(&seen(&Options { corrupted: true, ..legal.clone() }, |_| {}, None));
    assert!(says.contains("made with another key"), "{says}");
    let foreign = xs2aspec_signing::Certificate::from_pem(OTHER_CERTIFICATE).unwrap().header_value();
    let findings = seen(&legal, |fields| set(fields, "TPP-Signature-Certificate", foreign), None);
    assert!(
        findings.iter().any(|finding| finding.held == Held::No && finding.says.contains("another key")),
        "{findings:#?}"
    );
    for (name, value, habit) in [
        ("TPP-Signature-Certificate", CERTIFICATE.replace('\n', " "), "is a PEM file"),
        ("TPP-Signature-Certificate", "AAAA".to_owned(), "does not contain a certificate"),
        ("Signature", "=?utf-8?X?a?=".to_owned(), "begins like an encoded word but is not one"),
        ("Signature", "keyId=1".to_owned(), "lacks keyId and headers and signature"),
    ] {
        let findings = seen(&legal, |fields| set(fields, name, value), None);
        let found = findings
            .iter()
            .any(|finding| finding.held == Held::No && finding.part == name && finding.says.contains(habit));
        assert!(found, "{habit}: {findings:#?}");
    }
}

#[test]
fn the_length_of_the_body_is_compared() {
    let legal = lawful();
    let length = |text: &str| {
        let text = text.to_owned();
        seen(&legal, |fields| fields.push(("content-length".to_owned(), text)), None)
    };
    assert!(length(&BODY.len().to_string()).iter().all(|finding| finding.held == Held::Yes));
    for found in ["12", "0", "", "11a", "+11"] {
        let says = format!("Content-Length: {found} is not the length of the body (11)");
        assert_eq!(wrong(&length(found)), says);
    }
}

#[test]
fn a_value_beyond_ascii_has_to_be_wrapped() {
    let options = Options { algorithm: Parameter::Text("rsa-sha256 å".into()), ..lawful() };
    let wrapped = seen(&options, |_| {}, None);
    assert!(wrong(&wrapped).starts_with("algorithm: expected rsa-sha256"), "{wrapped:#?}");
    let bare = seen(&Options { wrap: Wrap::Never, ..options }, |_| {}, None);
    let bare: Vec<_> = bare.iter().filter(|finding| finding.held == Held::No).collect();
    assert_eq!(
        bare.iter().map(|finding| finding.part.as_str()).collect::<Vec<_>>(),
        ["Signature", "algorithm"]
    );
    assert!(
        bare[0].says.starts_with("contains characters beyond ASCII in UTF-8 without encoding"),
        "{bare:#?}"
    );
    assert!(bare[0].says.contains("=?utf-8?B?..?="), "{bare:#?}");
}

#[test]
fn values_in_iso_8859_1_are_signed_in_their_own_bytes() {
    let mut fields = fields();
    set(&mut fields, "TPP-Redirect-URI", "https://tpp.example/å");
    let listed = ["date", "digest", "x-request-id", "tpp-redirect-uri"];
    let text = signing_string(&listed, &fields, None).unwrap();
    let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    let made = sign(&signer(), &fields, &lawful()).unwrap().value;
    let right = signer().sign(&bytes).unwrap();
    let (before, _) = made.split_once("signature=\"").unwrap();
    fields.push(("TPP-Signature-Certificate".into(), signer().certificate().header_value()));
    fields.push(("Signature".into(), format!("{before}signature=\"{right}\"")));
    let holds = |latin_1: &[String]| {
        let received = Received {
            signed_headers: &due(),
            certificate_header: Some(CERTIFICATE_HEADER),
            fields: &fields,
            latin_1,
            body: BODY,
            target: None,
            signed: None,
        };
        diagnosis::examine(&received).iter().all(|finding| finding.held == Held::Yes)
    };
    assert!(holds(&["tpp-redirect-uri".to_owned()]));
    assert!(!holds(&[]));
}

#[test]
fn a_quotation_mark_inside_a_parameter_is_named() {
    let key_id = Parameter::Text("SN=1,CA=O=A \\\"B\\\" C".to_owned());
    let findings = seen(&Options { key_id, ..lawful() }, |_| {}, None);
    let named =
        findings.iter().any(|finding| finding.held == Held::No && finding.says.contains("write \\22"));
    assert!(named, "{findings:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_received_is_a_panic(signature in ".{0,400}", digest in ".{0,80}", certificate in "[A-Za-z0-9+/= -]{0,200}") {
        let fields = [("Signature", signature.clone()), ("Digest", digest), ("TPP-Signature-Certificate", certificate)];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        diagnosis::examine(&Received { signed_headers: &due(), certificate_header: Some(CERTIFICATE_HEADER), fields: &fields, latin_1: &[], body: BODY, target: None, signed: None });
        Parameters::read(&signature);
        encoded_word::unwrap(&signature);
        encoded_word::unwrap(&format!("=?utf-8?Q?{signature}?="));
        encoded_word::unwrap(&format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(signature)));
    }

    #[test]
    fn parameters_are_read_as_they_were_written(key_id in "[^\"]{0,60}", headers in "[a-z -]{0,60}", signature in "[A-Za-z0-9+/=]{0,90}") {
        let text = format!("keyId=\"{key_id}\",algorithm=\"rsa-sha256\", headers=\"{headers}\",signature=\"{signature}\"");
        let expected = Parameters {
            key_id: Some(key_id), algorithm: Some("rsa-sha256".into()), headers: Some(headers), signature: Some(signature),
        };
        prop_assert_eq!(Parameters::read(&text), expected);
    }
}

#[test]
fn long_headers_take_no_longer_than_they_are_long() {
    let certificate = signer().certificate().header_value();
    let time = |text: &str| {
        let fields = [
            ("Signature".to_owned(), text.to_owned()),
            ("Digest".to_owned(), text.to_owned()),
            ("TPP-Signature-Certificate".to_owned(), certificate.clone()),
        ];
        let start = std::time::Instant::now();
        diagnosis::examine(&Received {
            signed_headers: &due(),
            certificate_header: Some(CERTIFICATE_HEADER),
            fields: &fields,
            latin_1: &[],
            body: BODY,
            target: None,
            signed: None,
        });
        start.elapsed()
    };
    let compare = |start: &str, part: &str, end: &str| {
        let of = |length: usize| format!("{start}{}{end}", part.repeat(length / part.len()));
        let (short, long) = (of(8 * 1024), of(64 * 1024));
        let short = (0..5).map(|_| time(&short)).min().unwrap();
        let long = (0..5).map(|_| time(&long)).min().unwrap();
        // The input is eight times as long: linear is 8, quadratic is 64. Short times are mostly noise.
        assert!(long < short * 40 + std::time::Duration::from_millis(5), "{part}: {short:?} and {long:?}");
    };
    for part in ["a=\"\",", "=", "\"", ",", "=?", "keyId=\"a\"", "=?utf-8?Q?=20?= "] {
        compare("", part, "");
    }
    for part in ["\\C3", "CN=a,", "CN=a+", "CN=#130161,", "CN=a;", " ", "%20", "/CN=a", "A"] {
        compare("keyId=\"SN=1,CA=", part, "\"");
    }
}
