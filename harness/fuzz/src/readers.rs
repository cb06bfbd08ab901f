//! The parsers of untrusted input. For any bytes, each must terminate without a panic.

use std::{
    fs,
    path::PathBuf,
    sync::LazyLock,
    sync::atomic::{AtomicUsize, Ordering},
};

use http::Request;
use tokio::runtime::{Builder, Runtime};
use xs2aspec_evidence::{
    bundle::Program,
    verify::{Archive, verify},
};
use xs2aspec_judge::{Profile, judge, waiver};
use xs2aspec_reference::{Config, InProcessBank};
use xs2aspec_report::{
    Run,
    format::{Report, annotations::Github, terminal::Terminal},
    reporter::Reporter,
    stream, text,
};
use xs2aspec_runner::exchange;
use xs2aspec_signing::{
    Certificate,
    diagnosis::{self, Parameters, Received},
    encoded_word, material,
    name::Template,
    qualified::Statements,
};
use xs2aspec_suite::{AnswerRules, ProfileSpec, Suite, Tree};

/// A reader and its name, which is also that of its fuzz target and its corpus.
pub type Reader = (&'static str, fn(&[u8]));

/// All readers.
pub const ALL: [Reader; 8] = [
    ("bank", bank),
    ("bundle", bundle),
    ("caller", caller),
    ("case", case),
    ("profile", profile),
    ("record", record),
    ("response", response),
    ("waivers", waivers),
];

const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// The reference bank's parsers of headers and bodies. The bank must respond to every request, and never with
/// a server error. The input is Signature, Digest, certificate and body, separated by NUL.
pub fn bank(bytes: &[u8]) {
    static BANK: LazyLock<InProcessBank> = LazyLock::new(|| InProcessBank::open(&Config::default()));
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
    // Bytes that a header cannot contain do not get here.
    let Ok(request) = request.body(body.to_vec()) else { return };
    let answer = RUNTIME.block_on(BANK.answer(request));
    assert!((400..500).contains(&answer.status().as_u16()), "{answer:?}");
}

/// An evidence bundle.
pub fn bundle(bytes: &[u8]) {
    let own = Program { name: "xs2aspec 0.1.0".to_owned(), sha256: String::new() };
    with_file(bytes, |path| {
        let Ok(archive) = Archive::open(path) else { return };
        let verified = verify(&archive, None, &own).expect("a file that can be read");
        assert!(!verified.broken.is_empty() || verified.summary.is_some());
    });
}

/// The TPP's parsers of Signature, keyId, Digest, encoded words, certificates and keys.
pub fn caller(bytes: &[u8]) {
    drop(Certificate::from_der(bytes));
    drop(Certificate::from_pem(bytes));
    drop(Statements::read(bytes));
    let text = String::from_utf8_lossy(bytes);
    drop(material::unlocked(&text, Some("passphrase")));
    Parameters::read(&text);
    encoded_word::unwrap(&text);
    let mut parts = text.splitn(3, '\0');
    let certificate = Certificate::from_pem(CERTIFICATE).expect("a certificate");
    if let Ok(template) = Template::read(&text) {
        drop(template.write(&certificate.issuer()));
    }
    // The text as the issuer in keyId.
    let named = format!("keyId=\"SN=1,CA={text}\"");
    let certificate = certificate.header_value();
    let fields = [
        ("Signature".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("Digest".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("Date".to_owned(), parts.next().unwrap_or_default().to_owned()),
        ("TPP-Signature-Certificate".to_owned(), certificate),
    ];
    let latin_1 = ["date".to_owned()];
    let received = |fields: &[(String, String)]| {
        diagnosis::examine(&Received {
            signed_headers: &latin_1,
            certificate_header: Some("TPP-Signature-Certificate"),
            fields,
            latin_1: &latin_1,
            body: bytes,
            target: None,
            signed: Some(&text),
        })
    };
    received(&fields);
    let mut fields = fields;
    fields[0].1 = named;
    received(&fields);
}

/// A case file, with two clauses and a baseline.
pub fn case(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let tree = Tree::of(&[
        ("cases/clauses/a.yaml", CLAUSES),
        ("cases/a/b.yaml", text),
        ("fixtures/requests/periodic.yaml", include_str!("../../../fixtures/requests/periodic.yaml")),
        ("fixtures/tables/t.csv", "code,digits\nNOK,2\nJPY,0\n"),
    ]);
    match Suite::load(tree) {
        Ok(suite) => assert!(!suite.cases().is_empty()),
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
}

const CLAUSES: &str = "clauses:
  - {id: periodic.path, says: a, line: 224, quote: POST, strength: stated}
  - {id: periodic.months, says: b, line: 240, quote: months, strength: stated}
title: t
";

/// A bank profile. Profiles that would run a command are not read.
pub fn profile(bytes: &[u8]) {
    if bytes.windows(7).any(|word| matches!(word, b"prepare" | b"command")) || bytes.contains(&b'\\') {
        return;
    }
    with_file(bytes, |path| {
        if let Ok(profile) = Profile::read(path, ProfileSpec::embedded()) {
            profile.sha256();
            drop(profile.authorize(false));
        }
    });
}

/// A list of waivers.
pub fn waivers(bytes: &[u8]) {
    with_file(bytes, |path| drop(waiver::read(path)));
}

fn with_file(bytes: &[u8], read: impl FnOnce(&std::path::Path)) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) % 64;
    let path: PathBuf = std::env::temp_dir().join(format!("xs2aspec-reader-{}-{number}", std::process::id()));
    fs::write(&path, bytes).expect("a file");
    read(&path);
    drop(fs::remove_file(&path));
}

/// A record, and every report of it.
pub fn record(bytes: &[u8]) {
    let Ok(events) = xs2aspec_record::read(bytes) else { return };
    let Ok(run) = Run::of(&events) else { return };
    for mut reporter in Report::ALL.into_iter().filter_map(|report| report.reporter(None)) {
        assert!(!run.draw(reporter.as_mut()).is_empty());
    }
    let mut archive = Vec::new();
    drop(stream::report(
        xs2aspec_record::RecordReader::new(std::io::Cursor::new(bytes)),
        run.summary(),
        (Report::Har, None),
        &mut archive,
    ));
    assert!(!archive.is_empty());
    assert!(!text::short(&run.summary().conclusion()).is_empty());
    assert!(run.selected().count() <= run.verdicts().count());
    for reporter in [&mut Terminal::default() as &mut dyn Reporter, &mut Github::default()] {
        drop(run.draw(reporter));
    }
}

/// A response of any operation: its number, then the bytes of the connection.
pub fn response(bytes: &[u8]) {
    static RULES: LazyLock<AnswerRules> =
        LazyLock::new(|| AnswerRules::load(&Tree::embedded()).expect("the embedded spec can be read"));
    let Some((first, rest)) = bytes.split_first() else { return };
    let mut seen = None;
    let ended = RUNTIME.block_on(exchange::read_answer(rest, &mut seen));
    let (Ok(()), Some(answer)) = (ended, seen) else { return };
    let operations: Vec<&str> = RULES.operations().collect();
    let operation = operations[usize::from(*first) % operations.len()];
    let examined = judge::examine(operation, |_| None, &answer, &RULES, &xs2aspec_judge::Levels::default());
    assert_eq!(examined.got.status, answer.status);
}
