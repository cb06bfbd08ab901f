//! A run as evidence: one archive with the record, what it was made with, the reports, and a signed statement about all of them.
//!
//! The archive is a plain tar (POSIX ustar) that is written in exactly one way: the same members give the same bytes, and a byte that
//! differs is a change.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{
    Event, Exit, Verdict,
    digest::{hex, sha256},
};

use xs2aspec_report::{Run, RunError, demanded, format::Report};

use crate::envelope::{EnvelopeError, SigningKey};

/// The record, as it stands in the folder of a run.
pub const RECORD: &str = "record.jsonl";
/// The hash chain over the lines of the record.
pub const CHAIN: &str = "record.chain";
/// How the target was asked and judged, masked.
pub const PROFILE: &str = "profile.json";
/// Digests of what the run was made with.
pub const DIGESTS: &str = "digests.json";
/// The public half of the key that signed.
pub const PUBLIC_KEY: &str = "public-key.pem";
/// The signed statement.
pub const STATEMENT: &str = "statement.dsse.json";

/// Type of the statement (in-toto attestation framework, version 1).
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Type of what it says (in-toto attestation predicates, test result 0.1).
pub const PREDICATE_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// Bytes that a bundle has at most: it is made, and verified, in memory.
pub const LARGEST: u64 = 1 << 30;

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The events are no run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run has not come to its end.
    #[error("the run did not come to its end: `run --resume` goes on with it")]
    Unfinished,
    /// The key.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// More than can be verified.
    #[error("expected a bundle of at most {} MB, found that it would have {}", LARGEST / 1_000_000, .0 / 1_000_000)]
    Large(u64),
    /// The archive.
    #[error("the archive cannot be written: {0}")]
    Archive(#[from] std::io::Error),
}

/// The program that made a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name and version.
    pub name: String,
    /// SHA-256 of its executable, in hex.
    pub sha256: String,
}

/// Makes the bundle of a run. `record` is the text of its record, of which `events` are the lines.
pub fn bundle(
    record: &str,
    events: &[Event],
    program: &Program,
    key: &SigningKey,
) -> Result<Vec<u8>, BundleError> {
    let run = Run::of(events)?;
    if run.summary().finish().is_none() {
        return Err(BundleError::Unfinished);
    }
    let mut members = vec![
        (RECORD, record.as_bytes().to_vec()),
        (CHAIN, chain(record.as_bytes()).into_bytes()),
        (PROFILE, profile(&run).into_bytes()),
        (DIGESTS, digests(&run, events, program).into_bytes()),
    ];
    members.extend(Report::ALL.map(|report| (report.file(), report.draw(&run, events))));
    members.push((PUBLIC_KEY, key.public()?.pem().into_bytes()));
    let said = statement(&run, &members, program).to_string();
    members.push((STATEMENT, key.seal(said.as_bytes())?.into_bytes()));
    let bytes = archive(&members)?;
    match bytes.len() as u64 {
        length if length > LARGEST => Err(BundleError::Large(length)),
        _ => Ok(bytes),
    }
}

/// The names of all members that this version writes, in their order. Others may have more or fewer: their statements say which.
pub fn names() -> Vec<&'static str> {
    let reports = Report::ALL.map(Report::file);
    let mut names = vec![RECORD, CHAIN, PROFILE, DIGESTS];
    names.extend(reports);
    names.extend([PUBLIC_KEY, STATEMENT]);
    names
}

/// The archive of these members.
pub fn archive(members: &[(&str, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_path(name)?;
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_cksum();
        builder.append(&header, content.as_slice())?;
    }
    builder.into_inner()
}

/// The hash chain over the lines of a record: each line of the chain is SHA-256, in hex, over the one before and the line of the record
/// with its end. The first line has none before.
pub fn chain(record: &[u8]) -> String {
    let mut link = String::new();
    let mut chain = String::new();
    for line in record.split_inclusive(|byte| *byte == b'\n') {
        let mut hash = Sha256::new();
        hash.update(&link);
        hash.update(line);
        link = hex(&hash.finalize());
        chain.push_str(&link);
        chain.push('\n');
    }
    chain
}

/// `profile.json`.
pub fn profile(run: &Run<'_>) -> String {
    // Texts alone: this cannot fail.
    let said =
        run.summary().profile().map(|profile| serde_json::to_string_pretty(profile).unwrap_or_default());
    said.unwrap_or_else(|| "null".to_owned()) + "\n"
}

/// `digests.json`: of the document, of the suite, of each statement of the totals, each case file and each case, and of the program.
pub fn digests(run: &Run<'_>, events: &[Event], program: &Program) -> String {
    let start = run.summary().start();
    let mut clauses = BTreeMap::new();
    let mut files = BTreeMap::new();
    let mut cases = BTreeMap::new();
    for event in events {
        match event {
            Event::Clause(clause) => {
                drop(
                    clauses
                        .insert(clause.id.clone(), sha256(&serde_json::to_vec(clause).unwrap_or_default())),
                );
            }
            Event::Source(source) => drop(files.insert(source.file.clone(), sha256(source.text.as_bytes()))),
            // What was asked, and what was expected.
            Event::Verdict(verdict) => {
                let asked = json!([
                    verdict.case,
                    verdict.clause,
                    verdict.operation,
                    verdict.expected,
                    verdict.changes,
                    verdict.place,
                ]);
                drop(cases.insert(verdict.case.clone(), sha256(asked.to_string().as_bytes())));
            }
            _ => {}
        }
    }
    let digests = json!({
        "document_sha256": start.document_sha256,
        "suite_sha256": start.suite_sha256,
        "profile_sha256": start.profile_sha256,
        "ran_by": start.tool,
        "bundled_by": {"name": program.name, "sha256": program.sha256},
        "clauses": clauses,
        "case_files": files,
        "cases": cases,
    });
    format!("{digests:#}\n")
}

/// The statement about these members.
pub(crate) fn statement(run: &Run<'_>, members: &[(&str, Vec<u8>)], program: &Program) -> Value {
    let start = run.summary().start();
    let subject: Vec<Value> =
        members.iter().map(|(name, content)| described(name, &sha256(content))).collect();
    let names = |words: &[Verdict]| -> Vec<&str> {
        run.selected()
            .filter(|verdict| words.contains(&verdict.verdict))
            .map(|verdict| verdict.case.as_str())
            .collect()
    };
    let mut suite = described("case files, clauses and fixtures", &start.suite_sha256);
    suite["annotations"] = demanded::named(run.summary()).into_iter().collect::<Value>();
    let warned = names(&[Verdict::Waived]);
    let result = match run.summary().exit() {
        Exit::Conforms if warned.is_empty() => "PASSED",
        Exit::Conforms => "WARNED",
        _ => "FAILED",
    };
    json!({
        "_type": STATEMENT_TYPE,
        "subject": subject,
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": result,
            "configuration": [
                described("document under test", &start.document_sha256),
                suite,
                described(&format!("profile of {}", start.target), &start.profile_sha256),
                described(&program.name, &program.sha256),
            ],
            "passedTests": names(&[Verdict::Pass, Verdict::Observed]),
            "warnedTests": warned,
            "failedTests": names(&[Verdict::Fail, Verdict::Inconclusive, Verdict::Error]),
        },
    })
}

/// A resource descriptor of the attestation framework.
fn described(name: &str, sha256: &str) -> Value {
    json!({"name": name, "digest": {"sha256": sha256}})
}
