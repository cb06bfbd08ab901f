//! The commands for somebody who debugs signatures: what they print is a signed request that the bank accepts, and what is wrong with one
//! is named.

use std::{fs, process::Command};

use tempfile::TempDir;
use xs2aspec_reference::{Config, start};

fn xs2aspec(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xs2aspec")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The header fields in what `sign` prints.
fn fields(printed: &str) -> Vec<(String, String)> {
    let lines = printed.split("\n\n").last().unwrap().lines();
    lines
        .map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())).unwrap())
        .collect()
}

/// A whole request in a file.
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
    assert!(said.contains("test key that everybody knows"), "{said}");
    assert!(printed.contains("added    Date, X-Request-ID\n"), "{printed}");
    assert!(printed.contains(" GMT\\n\n  | x-request-id: "), "line ends are shown: {printed}");
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
    let (_, printed, _) = xs2aspec(&signing);
    let right = fields(&printed);
    let verify = |fields: &[(String, String)], body: &str, more: &[&str]| {
        fs::write(path("request"), message(fields, body)).unwrap();
        let (exit, said, wrong) =
            xs2aspec(&[&["sign", "--verify", "--request", &path("request")][..], more].concat());
        (exit, said + &wrong)
    };
    let (exit, said) = verify(&right, "{\"a\": 1}", &[]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.ends_with("the request is signed as the document wants it\n"), "{said}");

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
    assert!(said.contains("NO  signature: is by the key of the certificate, over another text"), "{said}");
    let signed = printed
        .split("  | ")
        .skip(1)
        .collect::<String>()
        .split("\n\n")
        .next()
        .unwrap()
        .replace("\\n\n", "\n");
    fs::write(path("signed"), signed).unwrap();
    let (_, said) = verify(&other, "{\"a\": 1}", &["--signed", &path("signed")]);
    assert!(said.contains("is over the text that was given; differs from byte"), "{said}");
    assert!(said.contains("expected \"another\", found \"synthetic\""), "{said}");

    let (exit, said) = verify(&[("no-header".into(), String::new())], "", &[]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("NO  TPP-Signature-Certificate: is not there"), "{said}");
    fs::write(path("request"), "no request\nat all").unwrap();
    let (exit, _, wrong) = xs2aspec(&["sign", "--verify", "--request", &path("request")]);
    assert_eq!(
        (exit, wrong.contains("request:1: expected METHOD PATH HTTP/1.1")),
        (Some(2), true),
        "{wrong}"
    );
}

#[test]
fn certificates_are_explained() {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys");
    let (exit, said, _) = xs2aspec(&["inspect-cert", &format!("{keys}/tpp.cert.pem")]);
    assert_eq!(exit, Some(0));
    for part in [
        "organisation id  PSDXX-TEST-1",
        "RSA, 2048 bits",
        "role             PSP_PI (payment initiation)",
        "<- usual",
        "[forward, spaced]",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (_, authority, _) = xs2aspec(&["inspect-cert", &format!("{keys}/ca.cert.pem")]);
    assert!(authority.contains("there are no qcStatements"), "{authority}");
    let folder = TempDir::new().unwrap();
    let profile = folder.path().join("bank.toml");
    let choices = "[choices]\n\"key-id.serial\" = \"lower\"\n\"key-id.issuer\" = \"forward\"";
    fs::write(&profile, format!("name = \"my bank\"\nbase-url = \"http://127.0.0.1\"\n{choices}")).unwrap();
    let target = profile.to_str().unwrap();
    let (_, declared, _) = xs2aspec(&["inspect-cert", &format!("{keys}/tpp.cert.pem"), "--target", target]);
    let serial = said.lines().find_map(|line| line.strip_prefix("serial number")).unwrap();
    let serial = serial.split_whitespace().next().unwrap().to_lowercase();
    let expected =
        format!("SN={serial},CA=O=xs2aspec test material,CN=xs2aspec test CA   [as my bank declares it]");
    assert!(declared.contains(&expected), "{declared}");
    let (exit, _, wrong) = xs2aspec(&["inspect-cert", &format!("{keys}/tpp.key.pem")]);
    assert_eq!((exit, wrong.contains("expected a PEM block `CERTIFICATE`")), (Some(2), true), "{wrong}");
}
