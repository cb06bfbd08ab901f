//! A run through the proxy equals a run without it, and the proxy records what the run sent and received.

use std::{collections::BTreeMap, fs};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use xs2aspec_record::{CaseVerdict, End, Verdict};

use super::{Record, Running, profile};
use crate::support::{command, printed, recorded, xs2aspec};

/// Baseline requests of all operations, some invalid requests, and requests that are written byte by byte.
const CASES: [&str; 8] = [
    "ncbct.path/plain",
    "periodic.path/plain",
    "customers.path/plain",
    "transaction.path/plain",
    "basket.body/plain",
    "ncbct.creditor-name.length",
    "signature.parameters.key-id",
    "http.field-names/periodic/x-request-id/upper",
];

/// Runs against this profile. Returns the exit code, the verdicts by case, the whole verdicts, and the number
/// of exchanges.
fn run(
    profile: &str,
    out: &std::path::Path,
) -> (Option<i32>, BTreeMap<String, Verdict>, Vec<CaseVerdict>, usize) {
    let output = command()
        .args(["run", "--quiet", "--seed", "1", "--target", profile])
        .arg("--out")
        .arg(out)
        .args(CASES.iter().flat_map(|only| ["--only", only]))
        .output()
        .unwrap();
    let (verdicts, exchanges) = recorded(out, &printed(&output));
    let by_case = verdicts.iter().map(|one| (one.case.clone(), one.verdict)).collect();
    (output.status.code(), by_case, verdicts, exchanges.len())
}

#[test]
fn a_run_through_the_proxy_is_the_run_without_it() {
    let folder = TempDir::new().unwrap();
    let (direct, through, out) =
        (folder.path().join("direct"), folder.path().join("through"), folder.path().join("proxy"));
    let bank = Running::bank(&["--seed", "1"]);
    let (code, expected, ..) = run(&profile(folder.path(), &bank.url, ""), &direct);
    assert_eq!(code, Some(0));
    let other = Running::bank(&["--seed", "1"]);
    let proxy = Running::proxy(&profile(folder.path(), &other.url, ""), &out, &["--quiet"]);
    assert!(proxy.url.starts_with("http://127.0.0.1:"), "{}", proxy.url);
    let (code, found, verdicts, exchanges) = run(&profile(folder.path(), &proxy.url, ""), &through);
    assert_eq!((code, found), (Some(0), expected));
    let (code, said) = proxy.end();

    // The run is a client that violates rules on purpose, and the bank conforms.
    let record = Record::read(&out);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(record.broken_by(End::Bank), Vec::<&str>::new(), "{said}");
    let on_purpose: Vec<&str> = {
        let refused = verdicts.iter().filter(|one| one.expected.starts_with("refus"));
        let mut clauses: Vec<&str> = refused.map(|one| one.clause.as_str()).collect();
        clauses.sort_unstable();
        clauses.dedup();
        clauses
    };
    assert_eq!(record.broken_by(End::Client), on_purpose, "{said}");
    assert!(on_purpose.len() > 1 && record.finished.is_some());
    assert!(record.exchanges.len() >= exchanges, "{} of {exchanges}", record.exchanges.len());
    for clause in on_purpose {
        assert!(
            said.contains(&format!("the client violated {clause}"))
                || said.contains(&format!(", {clause} (")),
            "{said}"
        );
    }
    // Header names keep their case, and the reports are those of any run.
    assert!(record.text.contains("X-REQUEST-ID"));
    for report in ["report.html", "junit.xml", "summary.md", "results.sarif", "record.jsonl.gz"] {
        assert!(out.join(report).metadata().unwrap().len() > 0, "{report}");
    }
}

#[test]
fn nothing_of_persons_and_keys_is_in_the_record() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("proxy");
    let bank = Running::bank(&[]);
    // The proxy knows only the address of the bank.
    let proxy = Running::proxy(&bank.url, &out, &["--quiet"]);
    let values = profile(folder.path(), &proxy.url, "");
    run(&values, &folder.path().join("run"));
    proxy.end();
    let record = Record::read(&out);
    assert!(record.exchanges.len() > 10);
    let is_exchange = |line: &&str| line.starts_with("{\"event\":\"exchange\"");
    let sent: String = record.text.lines().filter(is_exchange).collect();
    assert!(sent.contains("keyId="), "what a Signature holds stays readable");
    for secret in
        ["0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", "NO1400004200179", "DE93999999990000000001", "SN=", "MIID"]
    {
        assert!(!sent.contains(secret), "{secret}");
    }
}

#[test]
fn tls_on_both_sides_has_certificates_of_their_own() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["bank", "proxy"] {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        fs::write(path(&format!("{name}.ca")), authority.pem()).unwrap();
        fs::write(path(&format!("{name}.pem")), params.signed_by(&key, &authority).unwrap().pem()).unwrap();
        fs::write(path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }
    let tls = |name: &str| {
        let (pem, key) = (path(&format!("{name}.pem")), path(&format!("{name}.key")));
        ["--tls-certificate".to_owned(), pem, "--tls-key".to_owned(), key]
    };
    let (of_bank, of_proxy) = (tls("bank"), tls("proxy"));
    let bank = Running::bank(&of_bank.each_ref().map(String::as_str));
    let target = profile(folder.path(), &bank.url, "authorities = \"bank.ca\"");
    let out = folder.path().join("out");
    let proxy = Running::proxy(&target, &out, &of_proxy.each_ref().map(String::as_str));
    assert!(bank.url.starts_with("https:") && proxy.url.starts_with("https:"), "{} {}", bank.url, proxy.url);
    let through = profile(folder.path(), &proxy.url, "authorities = \"proxy.ca\"");
    let (code, verdicts, ..) = run(&through, &folder.path().join("run"));
    assert_eq!(code, Some(0), "{verdicts:?}");
    proxy.end();
    assert!(Record::read(&out).exchanges.len() > 10);
}

#[test]
fn only_test_systems_and_this_machine() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let refused = |arguments: &[&str]| {
        let (code, said) = xs2aspec(&[&["proxy", "--out", out], arguments].concat());
        assert_eq!(code, Some(2), "{said}");
        said
    };
    assert!(refused(&["--target", "https://bank.example"]).contains("`environment = \"sandbox\"`"));
    let production = profile(folder.path(), "https://bank.example", "environment = \"production\"");
    assert!(refused(&["--target", &production]).contains("refusing to forward"));
    // The proxy rejects a production system even behind a tunnel from this machine.
    let tunnel = profile(folder.path(), "http://127.0.0.1:1", "environment = \"production\"");
    assert!(refused(&["--target", &tunnel]).contains("refusing to forward"));
    let said = refused(&["--target", "http://127.0.0.1:1", "--listen", "0.0.0.0:0"]);
    assert!(said.contains("--listen-to-all"), "{said}");
}
