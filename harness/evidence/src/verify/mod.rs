//! Verifies a bundle: every digest, the hash chain, the signature, and the reports, which are rendered again.
//! Needs only the bundle.

mod archive;

use std::io::{self, BufRead, BufReader, Cursor, Read};

use serde_json::Value;
use xs2aspec_record::{
    Exit, HashChain, ReadError,
    lines::{NextLine, read_line},
};
use xs2aspec_report::{
    format::Report,
    stream::{self, ReportsError},
    summary::RunSummary,
    text,
};

use crate::{
    bundle::{self, CHAIN, Contents, DIGESTS, PROFILE, PUBLIC_KEY, Program, RECORD, STATEMENT},
    envelope::PublicKey,
};

pub use archive::{Archive, OpenError};

/// The result of verifying a bundle.
#[derive(Debug, Default)]
pub struct Verified {
    /// Mismatches, each with its place in the bundle. If there are any, nothing else is reliable.
    pub broken: Vec<String>,
    /// The proven statements.
    pub proven: Vec<String>,
    /// The statements that are not proven.
    pub not_proven: Vec<String>,
    /// True if a key that the caller trusts signed the bundle. Otherwise nothing is proven.
    pub is_trusted: bool,
    /// Summary of the run, if the record can be read.
    pub summary: Option<RunSummary>,
}

/// Verifies each byte of a bundle. `trusted` is the key that should have signed it. Without one, the key in
/// the bundle is used, which proves nothing about its owner. `own` is this program. Only files that it wrote
/// itself must equal those that it would write again.
pub fn verify(archive: &Archive, trusted: Option<&PublicKey>, own: &Program) -> Result<Verified, OpenError> {
    let mut verified = Verified::default();
    let statement = signature(archive, trusted, &mut verified)?;
    match &archive.error {
        Some(error) => verified.broken.push(error.clone()),
        None => archive.check(&listed(statement.as_ref()), &mut verified.broken)?,
    }
    let changed = digests(archive, statement.as_ref(), &mut verified);
    let is_chained = chain(archive, &changed, &mut verified.broken)?;
    match stream::summary(archive.record()) {
        Ok(summary) => {
            content(archive, &summary, statement.as_ref(), own, &changed, &mut verified)
                .map_err(|error| OpenError::Read(io::Error::other(error)))?;
            verified.summary = Some(summary);
        }
        // The changed line was already reported.
        Err(ReportsError::Record(ReadError::Chain { .. })) if !is_chained => {}
        Err(error) => verified.broken.push(format!("{RECORD}: {error}")),
    }
    for name in changed {
        if !verified.broken.iter().any(|broken| broken.starts_with(&format!("{name}: "))) {
            verified.broken.push(format!("{name}: it is not the file that was signed"));
        }
    }
    Ok(verified)
}

/// Returns the names of all members, in order: those in the signed statement, or those of this version
/// without a valid statement.
fn listed(statement: Option<&Value>) -> Vec<String> {
    let Some(subjects) = statement.and_then(|statement| statement["subject"].as_array()) else {
        return bundle::names().into_iter().map(str::to_owned).collect();
    };
    let named = subjects.iter().map(|subject| subject["name"].as_str().unwrap_or_default().to_owned());
    named.chain([STATEMENT.to_owned()]).collect()
}

/// Returns the statement if its signature is valid.
fn signature(
    archive: &Archive,
    trusted: Option<&PublicKey>,
    verified: &mut Verified,
) -> io::Result<Option<Value>> {
    if archive.member(PUBLIC_KEY).is_none() || archive.member(STATEMENT).is_none() {
        return Ok(None);
    }
    let text = |name| archive.whole(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let pem = text(PUBLIC_KEY)?;
    let brought = PublicKey::from_pem(&pem);
    match &brought {
        Err(error) => verified.broken.push(format!("{PUBLIC_KEY}: {error}")),
        Ok(key) if key.pem() != pem => {
            verified.broken.push(format!("{PUBLIC_KEY}: it is not in the form that `bundle` writes"));
        }
        Ok(_) => {}
    }
    let Some(key) = trusted.or(brought.as_ref().ok()) else { return Ok(None) };
    Ok(match key.open(&text(STATEMENT)?) {
        Err(error) => {
            verified.broken.push(format!("{STATEMENT}: {error}"));
            None
        }
        Ok(statement) => {
            let (scheme, id) = (key.scheme(), key.id());
            if brought.as_ref().is_ok_and(|brought| brought.id() != id) {
                verified.broken.push(format!("{PUBLIC_KEY}: it is not the key that signed the statement"));
            }
            verified.is_trusted = trusted.is_some();
            if verified.is_trusted {
                verified.proven.push(format!(
                    "the key that you trust, {id} ({scheme}), signed the statement, and {PUBLIC_KEY} is that key"
                ));
            } else {
                verified.proven.push(format!("the key {id} ({scheme}) signed the statement"));
                verified.not_proven.push(
                    "whose key that is: it comes with the bundle, and anyone who changes the bundle can replace it; pass the key \
                     that you trust with --key"
                        .to_owned(),
                );
            }
            serde_json::from_slice(&statement).ok()
        }
    })
}

/// Compares each member with its digest in the statement. Returns the names of those that differ.
fn digests(archive: &Archive, statement: Option<&Value>, verified: &mut Verified) -> Vec<String> {
    let Some(statement) = statement else { return Vec::new() };
    let subjects = statement["subject"].as_array().map_or(&[][..], Vec::as_slice);
    let mut changed = Vec::new();
    for member in archive.members.iter().filter(|member| member.name != STATEMENT) {
        let subject = subjects.iter().find(|subject| subject["name"] == member.name.as_str());
        let expected = subject.and_then(|subject| subject["digest"]["sha256"].as_str());
        if expected != Some(&member.sha256) {
            changed.push(member.name.clone());
        }
    }
    if changed.is_empty() {
        verified.proven.push(format!(
            "no byte of the {} files of the bundle has changed since then (SHA-256)",
            archive.members.len().saturating_sub(1)
        ));
    }
    changed
}

/// Follows the hash chain through the record. Returns true if it is intact.
fn chain(archive: &Archive, changed: &[String], broken: &mut Vec<String>) -> io::Result<bool> {
    let (mut record, mut links) = (archive.content(RECORD), archive.content(CHAIN));
    let (mut chain, mut line, mut found) = (HashChain::default(), Vec::new(), Vec::new());
    for number in 1.. {
        let next = (read_line(&mut record, &mut line)?, read_line(&mut links, &mut found)?);
        if next == (NextLine::End, NextLine::End) {
            break;
        }
        let is_whole = next == (NextLine::Line, NextLine::Line);
        if !is_whole || found.strip_suffix(b"\n") != Some(chain.add(&line).as_bytes()) {
            let is_changed = |name: &str| changed.iter().any(|other| other == name);
            broken.push(if is_changed(CHAIN) && !is_changed(RECORD) {
                format!("{CHAIN}: line {number} does not match the record")
            } else {
                format!("{RECORD}: line {number} is not the line that was recorded")
            });
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares the members with the record. Reports the differing lines of members with a wrong digest.
fn content(
    archive: &Archive,
    summary: &RunSummary,
    statement: Option<&Value>,
    own: &Program,
    changed: &[String],
    verified: &mut Verified,
) -> Result<(), ReportsError> {
    let program = program(&archive.whole(DIGESTS).map_err(ReadError::Io)?);
    let is_own = program == *own;
    let contents = Contents::read(archive.record())?;
    let mut expected: Vec<(&str, Box<dyn Read>)> = Vec::new();
    let found = archive.whole(PROFILE).map_err(ReadError::Io)?;
    let recorded = profile_of(archive.content(RECORD)).map_err(ReadError::Io)?;
    if !serde_json::from_slice(&found).is_ok_and(|found: Value| found == recorded) {
        expected.push((PROFILE, Box::new(Cursor::new(bundle::profile(summary)))));
    }
    // Another version may render reports differently.
    if program.name == own.name {
        expected.push((DIGESTS, Box::new(Cursor::new(contents.digests(summary, &program)))));
        let known = Report::ALL.into_iter().filter(|report| archive.member(report.file()).is_some());
        for (report, file) in bundle::drawn(&|| archive.record(), summary, &known.collect::<Vec<_>>())? {
            expected.push((report.file(), Box::new(file)));
        }
    }
    let is_changed = |name: &str| changed.iter().any(|other| other == name);
    let mut others = Vec::new();
    for (name, expected) in expected {
        let line = differing_line(BufReader::new(expected), archive.content(name)).map_err(ReadError::Io)?;
        let Some(line) = line else { continue };
        if !is_own && name != PROFILE && !is_changed(name) {
            others.push(name);
            continue;
        }
        // A change of the record affects all members derived from it.
        if is_changed(name) || !is_changed(RECORD) {
            verified.broken.push(format!("{name}: line {line} does not match the record"));
        }
    }
    if let Some(statement) = statement.filter(|_| verified.broken.is_empty() && changed.is_empty()) {
        let listed = listed(Some(statement));
        let members = listed.iter().filter(|name| *name != STATEMENT);
        let members = members.filter_map(|name| archive.member(name));
        let members = members.map(|member| (member.name.as_str(), member.sha256.as_str()));
        let says_so = contents.statement(summary, members, &program) == *statement;
        let result = statement["predicate"]["result"].as_str().unwrap_or_default();
        if result != "FAILED" && summary.exit() == Exit::Violation {
            verified.broken.push(format!("{STATEMENT}: it says {result}, but the record says otherwise"));
        } else if is_own && !says_so {
            verified.broken.push(format!("{STATEMENT}: the statement does not match the record"));
        } else if program.name == own.name && !says_so {
            others.push(STATEMENT);
        }
    }
    drawn_again(archive, &program, own, &others, verified);
    verified.proven.push("the hash chain covers every line of the record".to_owned());
    if summary.complete() {
        verified.proven.push(format!(
            "each of the {} selected cases has exactly one verdict",
            summary.totals().counts().total()
        ));
    } else {
        verified.not_proven.push(format!("the verdicts of the missing cases: {}", summary.conclusion()));
    }
    verified.not_proven.push(
        "that the target sent these responses at these times: the holder of the key can write another record, and the clock is that of \
         the machine"
            .to_owned(),
    );
    Ok(())
}

/// Reports which of the reports equal those that this program renders.
fn drawn_again(
    archive: &Archive,
    program: &Program,
    own: &Program,
    others: &[&str],
    verified: &mut Verified,
) {
    let who = text::short(&program.name);
    if program.name != own.name {
        verified.not_proven.push(format!(
            "that the reports match the record: {who} rendered them, and this is {}",
            own.name
        ));
        return;
    }
    let known = bundle::names();
    let unknown =
        archive.members.iter().map(|member| member.name.as_str()).filter(|name| !known.contains(name));
    let unknown: Vec<String> = unknown.map(text::short).collect();
    if others.is_empty() && unknown.is_empty() {
        verified
            .proven
            .push("the reports, rendered again from the record, equal those of the bundle".to_owned());
    }
    if !others.is_empty() {
        verified.not_proven.push(format!(
            "the agreement of {} with the record: written by another build of {who} (SHA-256 {}), and this one renders the record differently",
            others.join(", "),
            text::short(&program.sha256)
        ));
    }
    if !unknown.is_empty() {
        verified.not_proven.push(format!(
            "the agreement of {} with the record: this build of {who} does not write such files",
            unknown.join(", ")
        ));
    }
}

/// Returns the profile event of a record as raw JSON, including fields that this version does not know.
fn profile_of(mut record: impl BufRead) -> io::Result<Value> {
    let mut line = Vec::new();
    while read_line(&mut record, &mut line)? == NextLine::Line {
        let event: Value = serde_json::from_slice(&line).unwrap_or_default();
        if event["event"] == "profile" {
            let mut profile = event;
            profile.as_object_mut().and_then(|members| members.remove("event"));
            return Ok(profile);
        }
    }
    Ok(Value::Null)
}

fn program(digests: &[u8]) -> Program {
    let said: Value = serde_json::from_slice(digests).unwrap_or_default();
    let text = |name: &str| said["bundled_by"][name].as_str().unwrap_or_default().to_owned();
    Program { name: text("name"), sha256: text("sha256") }
}

/// Returns the number of the first line that differs, from 1. The inputs may consist of a single long line.
fn differing_line(mut expected: impl BufRead, mut found: impl BufRead) -> io::Result<Option<usize>> {
    let mut line = 1;
    loop {
        let (one, other) = (expected.fill_buf()?, found.fill_buf()?);
        let length = one.len().min(other.len());
        let at = one.iter().zip(other).position(|(one, other)| one != other);
        line += one[..at.unwrap_or(length)].split(|byte| *byte == b'\n').count() - 1;
        if at.is_some() || length == 0 {
            let is_end = one.is_empty() && other.is_empty();
            return Ok((!is_end).then_some(line));
        }
        expected.consume(length);
        found.consume(length);
    }
}

#[cfg(test)]
mod tests;
