//! Bundles a run as evidence: one archive with the record, digests of its inputs, the reports, and a signed
//! statement about these files.
//!
//! The archive is a tar (POSIX ustar) written in exactly one way, then compressed with gzip. Equal members
//! give an equal tar, so any differing byte of it is a change.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufWriter, Read, Seek, Write},
    path::Path,
};

use serde_json::{Value, json};
use xs2aspec_record::{
    Entry, Event, Exit, HashChain, ReadError, RecordReader, Role, Verdict, compressed,
    digest::{measured, sha256},
    lines::{NextLine, read_line},
};
use xs2aspec_report::{
    demanded,
    format::Report,
    stream::{self, ReportsError},
    summary::RunSummary,
};

use crate::{
    envelope::{EnvelopeError, SigningKey},
    slice::Slice,
};

/// The record, as in the folder of a run.
pub const RECORD: &str = "record.jsonl";
/// The hash chain over the lines of the record.
pub const CHAIN: &str = "record.chain";
/// The masked profile, as far as it affects requests and verdicts.
pub const PROFILE: &str = "profile.json";
/// Digests of the inputs of the run.
pub const DIGESTS: &str = "digests.json";
/// The public half of the signing key.
pub const PUBLIC_KEY: &str = "public-key.pem";
/// The signed statement.
pub const STATEMENT: &str = "statement.dsse.json";

/// Type of the statement (in-toto attestation framework, version 1).
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Type of the predicate (in-toto attestation predicates, test result 0.1).
pub const PREDICATE_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// Maximum length of a bundle, in bytes. Bundles are processed piece by piece, so the limit bounds the time,
/// not the memory.
pub const LARGEST: u64 = 1 << 34;

/// The reason why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The record is invalid or cannot be read.
    #[error(transparent)]
    Record(#[from] ReportsError),
    /// The run is unfinished.
    #[error("the run is unfinished: resume it with `run --resume`")]
    Unfinished,
    /// The key is invalid.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The bundle would be too large to verify.
    #[error("expected a bundle of at most {} MB, but it would have {} MB", LARGEST / 1_000_000, .0 / 1_000_000)]
    Large(u64),
    /// A file cannot be read or written.
    #[error("the archive cannot be written: {0}")]
    Archive(#[from] io::Error),
}

/// The program that wrote a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name and version.
    pub name: String,
    /// SHA-256 of its executable, in hex.
    pub sha256: String,
}

/// Writes the bundle of the run with this record.
pub fn bundle(
    record: &Path,
    program: &Program,
    key: &SigningKey,
    out: impl Write,
) -> Result<(), BundleError> {
    let file = compressed::open_record(record)?;
    let open = || RecordReader::new(Slice::whole(&file));
    let summary = stream::summary(open())?;
    if summary.finish().is_none() {
        return Err(BundleError::Unfinished);
    }
    let contents = Contents::read(open()).map_err(ReportsError::from)?;
    let chain = chain(Slice::whole(&file).buffered())?;
    let mut members = vec![
        Member::of_file(RECORD, file.try_clone()?)?,
        Member::of_file(CHAIN, chain)?,
        Member::of_text(PROFILE, profile(&summary)),
        Member::of_text(DIGESTS, contents.digests(&summary, program)),
    ];
    for (report, file) in drawn(&open, &summary, &Report::ALL)? {
        members.push(Member::of_file(report.file(), file)?);
    }
    members.push(Member::of_text(PUBLIC_KEY, key.public()?.pem()));
    let subjects = members.iter().map(|member| (member.name, member.sha256.as_str()));
    let said = contents.statement(&summary, subjects, program).to_string();
    members.push(Member::of_text(STATEMENT, key.seal(said.as_bytes())?));
    let length = members.iter().map(|member| 512 + member.length.next_multiple_of(512)).sum::<u64>() + 1024;
    if length > LARGEST {
        return Err(BundleError::Large(length));
    }
    let mut archive = tar::Builder::new(compressed::packer(out));
    for member in members {
        append(&mut archive, member.name, member.length, member.content)?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// A member of a bundle that is being written.
struct Member {
    name: &'static str,
    length: u64,
    sha256: String,
    content: Box<dyn Read>,
}

impl Member {
    fn of_text(name: &'static str, text: String) -> Self {
        let (length, sha256) = (text.len() as u64, sha256(text.as_bytes()));
        Self { name, length, sha256, content: Box::new(io::Cursor::new(text)) }
    }

    fn of_file(name: &'static str, mut file: File) -> io::Result<Self> {
        file.rewind()?;
        let (length, sha256) = measured(&mut file)?;
        file.rewind()?;
        Ok(Self { name, length, sha256, content: Box::new(file) })
    }
}

/// Appends a member to an archive in its canonical form.
pub fn append<W: Write>(
    archive: &mut tar::Builder<W>,
    name: &str,
    length: u64,
    content: impl Read,
) -> io::Result<()> {
    archive.append(&header(name, length)?, content.take(length))
}

/// Returns the header of a member.
pub(crate) fn header(name: &str, length: u64) -> io::Result<tar::Header> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(length);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_cksum();
    Ok(header)
}

/// Renders reports, each to an unnamed file.
pub(crate) fn drawn<'a>(
    open: &dyn Fn() -> RecordReader<'a>,
    summary: &RunSummary,
    reports: &[Report],
) -> Result<Vec<(Report, File)>, ReportsError> {
    let draw = |report: &Report| {
        let file = tempfile::tempfile().map_err(ReportsError::Draw)?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        stream::report(open(), summary, (*report, Some(&std::env::temp_dir())), &mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error).and_then(|mut file| {
            file.rewind()?;
            Ok(file)
        });
        Ok((*report, file.map_err(ReportsError::Draw)?))
    };
    reports.iter().map(draw).collect()
}

/// Returns the names of all members that this version writes, in order. Other versions may write others,
/// which their statements list.
pub fn names() -> Vec<&'static str> {
    let reports = Report::ALL.map(Report::file);
    let mut names = vec![RECORD, CHAIN, PROFILE, DIGESTS];
    names.extend(reports);
    names.extend([PUBLIC_KEY, STATEMENT]);
    names
}

/// Returns the hash chain over the lines of a record, one link per line, in an unnamed file.
fn chain(mut record: impl BufRead) -> io::Result<File> {
    let mut out = BufWriter::new(tempfile::tempfile()?);
    let (mut chain, mut line) = (HashChain::default(), Vec::new());
    while read_line(&mut record, &mut line)? == NextLine::Line {
        writeln!(out, "{}", chain.add(&line))?;
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Returns the content of `profile.json`.
pub fn profile(summary: &RunSummary) -> String {
    // Cannot fail, because the value contains only strings.
    let said = summary.profile().map(|profile| serde_json::to_string_pretty(profile).unwrap_or_default());
    said.unwrap_or_else(|| "null".to_owned()) + "\n"
}

/// Data about the cases of a record that a bundle contains in addition to the record.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Digests by id or file.
    clauses: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    cases: BTreeMap<String, String>,
    passed: Vec<String>,
    warned: Vec<String>,
    failed: Vec<String>,
}

impl Contents {
    /// Reads the data from a record.
    pub(crate) fn read(record: RecordReader<'_>) -> Result<Self, ReadError> {
        let mut contents = Self::default();
        for entry in record {
            contents.add(entry?);
        }
        Ok(contents)
    }

    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Run(Event::Clause(clause)) => {
                let digest = sha256(&serde_json::to_vec(&clause).unwrap_or_default());
                self.clauses.insert(clause.id, digest);
            }
            Entry::Run(Event::Source(source)) => {
                self.files.insert(source.file, sha256(source.text.as_bytes()));
            }
            Entry::Run(_) => {}
            Entry::Case(case) => {
                let Some(verdict) = case.verdict else { return };
                // The digest covers the request and the expectation.
                let asked = json!([
                    verdict.case,
                    verdict.clause,
                    verdict.operation,
                    verdict.expected,
                    verdict.changes,
                    verdict.place,
                ]);
                self.cases.insert(verdict.case.clone(), sha256(asked.to_string().as_bytes()));
                if verdict.role == Role::Selected {
                    match verdict.verdict {
                        Verdict::Pass | Verdict::Flaky | Verdict::Observed => self.passed.push(verdict.case),
                        Verdict::Warn | Verdict::Waived => self.warned.push(verdict.case),
                        Verdict::Fail | Verdict::Inconclusive | Verdict::Error => {
                            self.failed.push(verdict.case);
                        }
                        Verdict::NotApplicable => {}
                    }
                }
            }
        }
    }

    /// Returns the content of `digests.json`: digests of the document, the suite, each clause, each case
    /// file, each case, and the program.
    pub(crate) fn digests(&self, summary: &RunSummary, program: &Program) -> String {
        let start = summary.start();
        let digests = json!({
            "document_sha256": start.document_sha256,
            "suite_sha256": start.suite_sha256,
            "profile_sha256": start.profile_sha256,
            "ran_by": start.tool,
            "bundled_by": {"name": program.name, "sha256": program.sha256},
            "clauses": self.clauses,
            "case_files": self.files,
            "cases": self.cases,
        });
        format!("{digests:#}\n")
    }

    /// Returns the statement about these members and their digests.
    pub(crate) fn statement<'a>(
        &self,
        summary: &RunSummary,
        members: impl Iterator<Item = (&'a str, &'a str)>,
        program: &Program,
    ) -> Value {
        let start = summary.start();
        let subject: Vec<Value> = members.map(|(name, sha256)| described(name, sha256)).collect();
        let mut suite = described("case files, clauses and fixtures", &start.suite_sha256);
        suite["annotations"] = demanded::named(summary).into_iter().collect::<Value>();
        let result = match summary.exit() {
            Exit::Conforms if self.warned.is_empty() => "PASSED",
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
                "passedTests": self.passed,
                "warnedTests": self.warned,
                "failedTests": self.failed,
            },
        })
    }
}

/// Returns a resource descriptor of the attestation framework.
fn described(name: &str, sha256: &str) -> Value {
    json!({"name": name, "digest": {"sha256": sha256}})
}
