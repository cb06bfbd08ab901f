//! The steps of a run, each on its own: for benchmarks of their duration, and for counting their
//! instructions, which are the same in every run.

use std::{hint::black_box, io};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use xs2aspec_judge::{
    judge,
    levels::Levels,
    profile::{TEST_CERTIFICATE, TEST_KEY},
};
use xs2aspec_record::{Event, RecordReader, RecordWriter};
use xs2aspec_report::{format::Report, stream};
use xs2aspec_runner::exchange::Answer;
use xs2aspec_signing::Signer;
use xs2aspec_suite::{AnswerRules, Suite, Tree};

/// A prepared step. A call runs the step alone.
pub type Step = Box<dyn FnMut()>;

/// Prepares a step. An error means that the embedded test material cannot be read, which is a bug.
pub type Make = fn() -> Result<Step, String>;

/// All steps, by name.
pub const STEPS: [(&str, Make); 10] = [
    ("sign, RSA-2048", || sign(TEST_KEY, TEST_CERTIFICATE)),
    ("verify, RSA-2048", || verify(TEST_KEY, TEST_CERTIFICATE)),
    ("read the whole suite", || Ok(Box::new(|| drop(black_box(Suite::load(Tree::embedded())))))),
    ("judge an answer", || Ok(judging())),
    ("record an exchange", recording),
    ("junit.xml of the example", || drawing(Report::Junit)),
    ("summary.md of the example", || drawing(Report::Markdown)),
    ("report.html of the example", || drawing(Report::Html)),
    ("ctrf.json of the example", || drawing(Report::Ctrf)),
    ("exchanges.har of the example", || drawing(Report::Har)),
];

/// Prepares the step with this name.
///
/// # Errors
///
/// If there is no such step, or it cannot be prepared.
pub fn step(name: &str) -> Result<Step, String> {
    let (_, make) = STEPS.iter().find(|(known, _)| *known == name).ok_or("no such step")?;
    make()
}

/// The record of a run with a violation, from the examples.
const RECORD: &str = include_str!("../../../reports/examples/record.jsonl");

/// The response to a payment.
pub const CREATED: &str = r#"{"paymentId":"5a1c6a10-6c3e-8a51-93f1-0d7d2d6e2f2a","transactionStatus":"RCVD","transactionFees":{"currency":"NOK","amount":"50.00"},"transactionFeeIndicator":true,"_links":{"self":{"href":"/v1/payments/a","verbs":["GET","DELETE"]},"status":{"href":"/v1/payments/a/status","verbs":["GET"]}}}"#;

/// Text as long as a signing string with all headers that must be signed.
const SIGNED: &[u8] = &[b'x'; 320];

fn judging() -> Step {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let answer = Answer { status: 201, headers, body: CREATED.into() };
    let levels = Levels::default();
    let rules = AnswerRules::load(&Tree::embedded()).expect("the embedded spec can be read");
    Box::new(move || drop(black_box(judge::examine("ncbct", |_| None, &answer, &rules, &levels))))
}

fn example() -> Result<Vec<Event>, String> {
    xs2aspec_record::read(RECORD.as_bytes()).map_err(|error| error.to_string())
}

fn recording() -> Result<Step, String> {
    let exchange = example()?.into_iter().find(|event| matches!(event, Event::Exchange(_)));
    let exchange = exchange.ok_or("the example has no exchange")?;
    let mut writer = RecordWriter::new(io::sink());
    Ok(Box::new(move || drop(black_box(writer.write(&exchange)))))
}

fn drawing(report: Report) -> Result<Step, String> {
    let open = || RecordReader::new(io::Cursor::new(RECORD));
    let summary = stream::summary(open()).map_err(|error| error.to_string())?;
    Ok(Box::new(move || {
        black_box(stream::report(open(), &summary, (report, None), &mut io::sink()))
            .expect("the example is a record");
    }))
}

/// Prepares signing with this key, as the suite does.
///
/// # Errors
///
/// If the key does not match the certificate.
pub fn sign(key: &str, certificate: &str) -> Result<Step, String> {
    let signer = Signer::from_pem(key, certificate).map_err(|error| error.to_string())?;
    // The signer caches signatures, so each text must be different.
    let mut text = SIGNED.to_vec();
    Ok(Box::new(move || {
        for byte in &mut text {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        drop(black_box(signer.sign(black_box(&text))));
    }))
}

/// Prepares verifying a signature by this key, as the reference bank does.
///
/// # Errors
///
/// If the key does not match the certificate.
pub fn verify(key: &str, certificate: &str) -> Result<Step, String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let signer = Signer::from_pem(key, certificate).map_err(|error| wrong(&error))?;
    let signature = signer.sign(SIGNED).map_err(|error| wrong(&error))?;
    let signature = BASE64_STANDARD.decode(&signature).map_err(|error| wrong(&error))?;
    let public = signer.certificate().rsa_public_key().ok_or("a key that is not for RSA")?.to_vec();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public);
    key.verify(SIGNED, &signature).map_err(|error| wrong(&error))?;
    Ok(Box::new(move || _ = black_box(key.verify(black_box(SIGNED), &signature))))
}
