//! What of a bundle can be believed: every digest, the chain, the signature, and the reports drawn again. Needs nothing but the bundle.

mod archive;

use std::collections::BTreeMap;

use serde_json::Value;
use xs2aspec_record::{Event, Exit, digest::sha256};

use xs2aspec_report::{Run, format::Report, text};

use crate::{
    bundle::{self, CHAIN, DIGESTS, PROFILE, PUBLIC_KEY, Program, RECORD, STATEMENT},
    envelope::PublicKey,
};

pub use archive::{OpenError, open};

/// What has come of a bundle.
#[derive(Debug, Default)]
pub struct Verified {
    /// What does not hold, each with its place in the bundle. Nothing else can be believed if there is any.
    pub broken: Vec<String>,
    /// What is proven, in plain words.
    pub proven: Vec<String>,
    /// What is not.
    pub not_proven: Vec<String>,
    /// The events of the record, as far as it can be read.
    pub events: Vec<Event>,
}

/// Members of a bundle by name.
type Members = BTreeMap<String, Vec<u8>>;

/// Looks at each byte of a bundle. `trusted` is the key that should have signed it; without one the key that the bundle brings is
/// taken, which everybody can bring. `own` is this program: only what it made itself must be what it would make again.
pub fn verify(bytes: &[u8], trusted: Option<&PublicKey>, own: &Program) -> Verified {
    let mut verified = Verified::default();
    let read = archive::read(bytes);
    let list = match &read {
        Ok(list) | Err((list, _)) => list,
    };
    let members: Members = list.iter().cloned().collect();
    let statement = signature(&members, trusted, &mut verified);
    match &read {
        Err((_, error)) => verified.broken.push(error.clone()),
        Ok(list) => archive::check(bytes, list, &listed(statement.as_ref()), &mut verified.broken),
    }
    let changed = digests(&members, statement.as_ref(), &mut verified);
    let record = members.get(RECORD).map_or(&[][..], Vec::as_slice);
    chain(record, members.get(CHAIN).map_or(&[][..], Vec::as_slice), &changed, &mut verified.broken);
    match xs2aspec_record::read(record) {
        Ok(events) => verified.events = events,
        Err(error) => verified.broken.push(format!("{RECORD}: {error}")),
    }
    let events = std::mem::take(&mut verified.events);
    match Run::of(&events) {
        Ok(run) => content(&members, &run, &events, statement.as_ref(), own, changed, &mut verified),
        Err(error) => verified.broken.push(format!("{RECORD}: {error}")),
    }
    verified.events = events;
    verified
}

/// The names of all members, in their order: those that were signed, or those of this version where none can be believed.
fn listed(statement: Option<&Value>) -> Vec<String> {
    let Some(subjects) = statement.and_then(|statement| statement["subject"].as_array()) else {
        return bundle::names().into_iter().map(str::to_owned).collect();
    };
    let named = subjects.iter().map(|subject| subject["name"].as_str().unwrap_or_default().to_owned());
    named.chain([STATEMENT.to_owned()]).collect()
}

/// The statement, if the signature holds.
fn signature(members: &Members, trusted: Option<&PublicKey>, verified: &mut Verified) -> Option<Value> {
    let text = |name: &str| members.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let brought = PublicKey::from_pem(&text(PUBLIC_KEY)?);
    match &brought {
        Err(error) => verified.broken.push(format!("{PUBLIC_KEY}: {error}")),
        Ok(key) if Some(key.pem()) != text(PUBLIC_KEY) => {
            verified.broken.push(format!("{PUBLIC_KEY}: it is written in another way"));
        }
        Ok(_) => {}
    }
    let key = trusted.or(brought.as_ref().ok())?;
    match key.open(&text(STATEMENT)?) {
        Err(error) => {
            verified.broken.push(format!("{STATEMENT}: {error}"));
            None
        }
        Ok(statement) => {
            let (scheme, id) = (key.scheme(), key.id());
            if brought.as_ref().is_ok_and(|brought| brought.id() != id) {
                verified.broken.push(format!("{PUBLIC_KEY}: it is not the key that signed the statement"));
            }
            if trusted.is_some() {
                verified.proven.push(format!(
                    "the key that you trust, {id} ({scheme}), signed the statement; {PUBLIC_KEY} is that key"
                ));
            } else {
                verified.proven.push(format!("the key {id} ({scheme}) signed the statement"));
                verified.not_proven.push(
                    "whose key that is: it comes with the bundle, and whoever changes the bundle can bring another; give the one \
                     that you trust with --key"
                        .to_owned(),
                );
            }
            serde_json::from_slice(&statement).ok()
        }
    }
}

/// Holds each member against its digest in the statement. The names of those that do not hold.
fn digests(members: &Members, statement: Option<&Value>, verified: &mut Verified) -> Vec<String> {
    let Some(statement) = statement else { return Vec::new() };
    let subjects = statement["subject"].as_array().map_or(&[][..], Vec::as_slice);
    let mut changed = Vec::new();
    for (name, content) in members.iter().filter(|(name, _)| *name != STATEMENT) {
        let subject = subjects.iter().find(|subject| subject["name"] == name.as_str());
        let expected = subject.and_then(|subject| subject["digest"]["sha256"].as_str());
        if expected != Some(&sha256(content)) {
            changed.push(name.clone());
        }
    }
    if changed.is_empty() {
        verified.proven.push(format!(
            "no byte of the {} files of the bundle has changed since then (SHA-256)",
            members.len().saturating_sub(1)
        ));
    }
    changed
}

/// Follows the hash chain through the record.
fn chain(record: &[u8], found: &[u8], changed: &[String], broken: &mut Vec<String>) {
    let expected = bundle::chain(record);
    if expected.as_bytes() == found {
        return;
    }
    let line = line(expected.as_bytes(), found);
    let is_changed = |name: &str| changed.iter().any(|other| other == name);
    broken.push(if is_changed(CHAIN) && !is_changed(RECORD) {
        format!("{CHAIN}: line {line} does not follow from the record")
    } else {
        format!("{RECORD}: line {line} is not the line that was recorded")
    });
}

/// Holds the members against the record, and says where those differ that the digests found to be changed.
fn content(
    members: &Members,
    run: &Run<'_>,
    events: &[Event],
    statement: Option<&Value>,
    own: &Program,
    changed: Vec<String>,
    verified: &mut Verified,
) {
    let of = |name: &str| members.get(name).map_or(&[][..], Vec::as_slice);
    let program = program(of(DIGESTS));
    let is_own = program == *own;
    let mut expected: Vec<(&str, Vec<u8>)> = Vec::new();
    if !serde_json::from_slice(of(PROFILE)).is_ok_and(|found: Value| found == profile_of(of(RECORD))) {
        expected.push((PROFILE, bundle::profile(run).into_bytes()));
    }
    // Another version draws reports as it sees fit.
    if program.name == own.name {
        expected.push((DIGESTS, bundle::digests(run, events, &program).into_bytes()));
        let reports = Report::ALL.into_iter().filter(|report| members.contains_key(report.file()));
        expected.extend(reports.map(|report| (report.file(), report.draw(run, events))));
    }
    let is_changed = |name: &str| changed.iter().any(|other| other == name);
    let mut others = Vec::new();
    for (name, expected) in &expected {
        let found = of(name);
        if found == expected.as_slice() {
            continue;
        }
        if !is_own && *name != PROFILE && !is_changed(name) {
            others.push(*name);
            continue;
        }
        let line = line(expected, found);
        // What was changed in the record shows in everything that follows from it.
        if is_changed(name) || !is_changed(RECORD) {
            verified.broken.push(format!("{name}: line {line} is not what the record says"));
        }
    }
    for name in changed {
        if !verified.broken.iter().any(|broken| broken.starts_with(&format!("{name}: "))) {
            verified.broken.push(format!("{name}: it is not the file that was signed"));
        }
    }
    if let Some(statement) = statement.filter(|_| verified.broken.is_empty()) {
        let rest: Vec<(&str, Vec<u8>)> = listed(Some(statement))
            .iter()
            .filter(|name| *name != STATEMENT)
            .filter_map(|name| members.get_key_value(name))
            .map(|(name, content)| (name.as_str(), content.clone()))
            .collect();
        let says_so = bundle::statement(run, &rest, &program) == *statement;
        let result = statement["predicate"]["result"].as_str().unwrap_or_default();
        if result != "FAILED" && run.summary().exit() == Exit::Violation {
            verified.broken.push(format!("{STATEMENT}: it says {result}, and the record says otherwise"));
        } else if is_own && !says_so {
            verified.broken.push(format!("{STATEMENT}: the statement does not say what the record says"));
        } else if program.name == own.name && !says_so {
            others.push(STATEMENT);
        }
    }
    drawn_again(members, &program, own, &others, verified);
    verified.proven.push("the hash chain runs through every line of the record".to_owned());
    if run.summary().complete() {
        verified.proven.push(format!(
            "each of the {} cases that were selected has exactly one verdict",
            run.summary().totals().counts().total()
        ));
    } else {
        verified.not_proven.push(format!("what the missing cases come to: {}", run.summary().conclusion()));
    }
    verified.not_proven.push(
        "that the record tells what the target answered, and when: who holds the key can write another record, and the clock is that of \
         the machine"
            .to_owned(),
    );
}

/// Says which reports are those that this program draws.
fn drawn_again(
    members: &Members,
    program: &Program,
    own: &Program,
    others: &[&str],
    verified: &mut Verified,
) {
    let who = text::short(&program.name);
    if program.name != own.name {
        verified.not_proven.push(format!(
            "that the reports say what the record says: {who} drew them, and this is {}",
            own.name
        ));
        return;
    }
    let known = bundle::names();
    let unknown = members.keys().map(String::as_str).filter(|name| !known.contains(name));
    let unknown: Vec<String> = unknown.map(text::short).collect();
    if others.is_empty() && unknown.is_empty() {
        verified.proven.push("the reports, drawn again from the record, are those of the bundle".to_owned());
    }
    if !others.is_empty() {
        verified.not_proven.push(format!(
            "that {} say what the record says: another build of {who} (SHA-256 {}) made them, and this one makes others of the same record",
            others.join(", "),
            text::short(&program.sha256)
        ));
    }
    if !unknown.is_empty() {
        verified.not_proven.push(format!(
            "that {} say what the record says: this build of {who} makes no such files",
            unknown.join(", ")
        ));
    }
}

/// The profile of a record as it stands there, whatever this version knows of it.
fn profile_of(record: &[u8]) -> Value {
    let mut lines = record.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut profile: Value = lines.find(|line: &Value| line["event"] == "profile").unwrap_or_default();
    if let Some(members) = profile.as_object_mut() {
        members.remove("event");
    }
    profile
}

fn program(digests: &[u8]) -> Program {
    let said: Value = serde_json::from_slice(digests).unwrap_or_default();
    let text = |name: &str| said["bundled_by"][name].as_str().unwrap_or_default().to_owned();
    Program { name: text("name"), sha256: text("sha256") }
}

/// The first line in which two texts differ, from 1.
fn line(expected: &[u8], found: &[u8]) -> usize {
    let at = expected.iter().zip(found).position(|(expected, found)| expected != found);
    let at = at.unwrap_or(expected.len().min(found.len()));
    expected[..at].split(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests;
