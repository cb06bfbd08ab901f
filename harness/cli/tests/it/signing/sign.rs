//! The commands for debugging signatures: they print a signed request that the bank accepts, and name the
//! fault of an invalid one.

use std::fs;

use tempfile::TempDir;
use xs2aspec_reference::{Config, start};

use crate::support::execute;

fn xs2aspec(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = execute(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the headers that `sign` prints, and nothing else.
fn fields(printed: &str) -> Vec<(String, String)> {
    let lines = printed.lines();
    lines
        .map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap())
        .collect()
}

/// Returns a whole request as in a file.
fn message(fields: &[(String, String)], body: &str) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("POST /v1/payments/a HTTP/1.1\r\n{}\r\n{body}", fields.concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_sign_prints_is_accepted() {
    let bank = start(Config::default()).await.unwrap();
    let url = format!("{}/v1/sandbox/customers", bank.base_url());
    let signing = ["sign", "--method", "GET", "--url", &url, "-H", "Accept: application/json"];
    let (exit, printed, said) = tokio::task::block_in_place(|| xs2aspec(&signing));
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("signed with the public test key"), "{said}");
    assert!(said.contains("added    Date, X-Request-ID\n"), "{said}");
    assert!(said.contains(" GMT\\n\n  | x-request-id: "), "line ends are shown: {said}");
    let mut request = reqwest::Client::new().get(&url);
    for (name, value) in fields(&printed) {
        request = request.header(name, value);
    }
    assert_eq!(request.send().await.unwrap().status(), 200);
    bank.shutdown().await.unwrap();
}

#[test]
fn what_is_wrong_with_a_request_is_named() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("body"), "{\"a\": 1}").unwrap();
    let signing =
        ["sign", "--url", "http://127.0.0.1/v1/a", "--body", &path("body"), "-H", "PSU-ID: synthetic"];
    let (_, printed, explained) = xs2aspec(&signing);
    let right = fields(&printed);
    let verify = |fields: &[(String, String)], body: &str, more: &[&str]| {
        fs::write(path("request"), message(fields, body)).unwrap();
        let (exit, said, wrong) =
            xs2aspec(&[&["sign", "--verify", "--request", &path("request")][..], more].concat());
        (exit, said + &wrong)
    };
    let (exit, said) = verify(&right, "{\"a\": 1}", &[]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.ends_with("the request is signed as the document requires\n"), "{said}");

    let (exit, said) = verify(&right, "{\"a\":1}", &[]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("NO  Digest: expected SHA-256="), "{said}");
    let other: Vec<_> = right
        .iter()
        .map(|(name, value)| {
            (name.clone(), if name == "PSU-ID" { "another".to_owned() } else { value.clone() })
        })
        .collect();
    let (exit, said) = verify(&other, "{\"a\": 1}", &[]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("NO  signature: covers another text, with the right key"), "{said}");
    let signed = explained.split("  | ").skip(1).collect::<String>().replace("\\n\n", "\n");
    let signed = signed.trim_end_matches('\n');
    fs::write(path("signed"), signed).unwrap();
    let (_, said) = verify(&other, "{\"a\": 1}", &["--signed", &path("signed")]);
    assert!(said.contains("covers the given text; differs from byte"), "{said}");
    assert!(said.contains("expected \"another\", found \"synthetic\""), "{said}");

    let (exit, said) = verify(&[("no-header".into(), String::new())], "", &[]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("NO  TPP-Signature-Certificate: is missing"), "{said}");
    fs::write(path("request"), "no request\nat all").unwrap();
    let (exit, _, wrong) = xs2aspec(&["sign", "--verify", "--request", &path("request")]);
    assert_eq!(
        (exit, wrong.contains("request:1: expected METHOD PATH HTTP/1.1")),
        (Some(2), true),
        "{wrong}"
    );
}

#[test]
fn what_sign_writes_verify_reads() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("body"), "{\"a\": 1}").unwrap();
    let request = path("request.http");
    let signing = [
        "sign",
        "--url",
        "http://127.0.0.1:8080/v1/a?b=c",
        "--body",
        &path("body"),
        "-H",
        "PSU-ID: synthetic",
    ];
    let (exit, printed, said) = xs2aspec(&[&signing[..], &["--out", &request]].concat());
    assert_eq!((exit, printed.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains("added    Host, Content-Length, Date, Digest, X-Request-ID\n"), "{said}");
    assert!(
        said.contains(&format!("to verify it, run `xs2aspec sign --verify --request {request}`")),
        "{said}"
    );
    let written = fs::read_to_string(&request).unwrap();
    assert!(written.starts_with("POST /v1/a?b=c HTTP/1.1\r\n"), "{written}");
    assert!(
        written.contains("\r\nHost: 127.0.0.1:8080\r\n") && written.ends_with("\r\n\r\n{\"a\": 1}"),
        "{written}"
    );
    let verify = || xs2aspec(&["sign", "--verify", "--request", &request]);
    let (exit, said, wrong) = verify();
    assert_eq!(exit, Some(0), "{said}{wrong}");

    // Editors add a line end.
    fs::write(&request, format!("{written}\n")).unwrap();
    let (exit, said, _) = verify();
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("NO  Content-Length: 8 is not the length of the body (9)"), "{said}");

    let (exit, printed, _) = xs2aspec(&[&signing[..], &["--out", "-"]].concat());
    assert!(exit == Some(0) && printed.starts_with("POST ") && printed.ends_with("{\"a\": 1}"), "{printed}");
    let (exit, _, wrong) = xs2aspec(&["sign", "-H", "PSU-ID: a", "--out", &request]);
    assert!(exit == Some(2) && wrong.contains("pass --url for its first line"), "{wrong}");
    let (exit, _, wrong) = xs2aspec(&[&signing[..], &["--out", &path("body")]].concat());
    assert!(exit == Some(2) && wrong.contains("body`, which the command reads"), "{wrong}");
    assert_eq!(fs::read_to_string(path("body")).unwrap(), "{\"a\": 1}");
}

#[test]
fn what_no_request_can_have_is_refused() {
    for method in ["", "GE T", "GET\n", "GET/"] {
        let (exit, printed, wrong) = xs2aspec(&["sign", "--method", method, "--url", "http://127.0.0.1/"]);
        assert_eq!((exit, printed.as_str()), (Some(2), ""), "{method:?}");
        assert!(wrong.contains("expected a method such as POST, without spaces"), "{wrong}");
    }
    for header in ["PSU-ID", "PSU ID: a", ": a", "PSU-ID: a\r\nHost: b"] {
        let (exit, printed, wrong) = xs2aspec(&["sign", "-H", header]);
        assert_eq!((exit, printed.as_str()), (Some(2), ""), "{header:?}");
        assert!(wrong.contains("expected `Name: value`"), "{wrong}");
    }
}

#[test]
fn a_name_beyond_ascii_has_to_be_wrapped() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let (key, certificate) =
        (format!("{fixtures}/keys/tpp.key.pem"), format!("{fixtures}/vectors/issuers/encodings.pem"));
    let signing = ["sign", "--url", "http://127.0.0.1/v1/a", "--key", &key, "--certificate", &certificate];
    let (_, written, _) = xs2aspec(&[&signing[..], &["--out", "-"]].concat());
    let (before, word) = written.split_once("Signature: ").unwrap();
    let text = xs2aspec_signing::encoded_word::unwrap(word.trim()).unwrap();
    assert!(text.contains("O=Smør AS"), "{text}");
    let verify = |request: Vec<u8>| {
        fs::write(path("request"), request).unwrap();
        let (exit, said, wrong) = xs2aspec(&["sign", "--verify", "--request", &path("request")]);
        assert_eq!(wrong, "", "{said}");
        (exit, said)
    };
    let (exit, said) = verify(written.clone().into_bytes());
    assert_eq!(exit, Some(0), "{said}");
    let bare = format!("{before}Signature: {text}\r\n\r\n");
    let latin_1 = bare.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    for (bytes, charset) in [(bare.into_bytes(), "UTF-8"), (latin_1, "ISO-8859-1")] {
        let (exit, said) = verify(bytes);
        assert_eq!(exit, Some(1), "{said}");
        let wrong: Vec<&str> = said.lines().filter(|line| line.starts_with("NO")).collect();
        assert_eq!(wrong.len(), 1, "{said}");
        let says = format!(
            "NO  Signature: contains characters beyond ASCII in {charset} without encoding: it must be wrapped"
        );
        assert!(wrong[0].starts_with(&says), "{said}");
    }
}

#[test]
fn certificates_are_explained() {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys");
    let (exit, said, _) = xs2aspec(&["keys", "show", &format!("{keys}/tpp.cert.pem")]);
    assert_eq!(exit, Some(0));
    for part in [
        "organisation id  PSDXX-TEST-1",
        "RSA, 2048 bits",
        "role             PSP_PI (payment initiation)",
        "<- usual",
        "[forward, spaced]",
        "2.5.4.97 is organizationIdentifier: \"PSDXX-TEST-1\"",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (_, authority, _) = xs2aspec(&["keys", "show", &format!("{keys}/ca.cert.pem")]);
    assert!(authority.contains("the certificate has no qcStatements"), "{authority}");
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let choices = "[choices]\n\"key-id.serial\" = \"lower\"\n\"key-id.issuer\" = \"forward\"";
    fs::write(&profile, format!("name = \"my bank\"\nbase-url = \"http://127.0.0.1\"\n{choices}")).unwrap();
    let target = profile.to_str().unwrap();
    let (_, declared, _) = xs2aspec(&["keys", "show", &format!("{keys}/tpp.cert.pem"), "--target", target]);
    let serial = said.lines().find_map(|line| line.strip_prefix("serial number")).unwrap();
    let serial = serial.split_whitespace().next().unwrap().to_lowercase();
    let expected =
        format!("SN={serial},CA=O=xs2aspec test material,CN=xs2aspec test CA   [as declared by my bank]");
    assert!(declared.contains(&expected), "{declared}");
    let inspect = |issuer: &str| {
        let choices = format!("[choices]\n\"key-id.issuer\" = \"{issuer}\"");
        fs::write(&profile, format!("base-url = \"http://127.0.0.1\"\n{choices}")).unwrap();
        let certificate = format!("{keys}/../vectors/issuers/types.pem");
        xs2aspec(&["keys", "show", &certificate, "--target", target])
    };
    let (_, said, _) = inspect("{E};{organizationIdentifier};{CN}");
    assert!(said.contains(",CA=ca@trust.example;PSDXX-TEST-3;Synthetic Person CA   [as"), "{said}");
    assert!(said.contains("2.5.4.97 is organizationIdentifier: \"PSDXX-TEST-3\""), "{said}");
    assert!(said.contains("1.2.840.113549.1.9.1 is emailAddress: \"ca@trust.example\""), "{said}");
    let (exit, _, wrong) = inspect("CN={CN}, L={L}");
    assert!(
        exit == Some(2) && wrong.contains("the issuer of the certificate has no attribute for `{L}`"),
        "{wrong}"
    );
    let (exit, _, wrong) = xs2aspec(&["keys", "show", &format!("{keys}/tpp.key.pem")]);
    assert_eq!((exit, wrong.contains("expected a PEM block `CERTIFICATE`")), (Some(2), true), "{wrong}");
}
