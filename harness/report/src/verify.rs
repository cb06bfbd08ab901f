//! What of a bundle can be believed: every digest, the chain, the signature, and the reports drawn again. Needs nothing but the bundle.

use std::{collections::BTreeMap, io::Read};

use serde_json::Value;
use xs2aspec_record::Event;

use crate::{
    Run,
    bundle::{self, CHAIN, DIGESTS, PROFILE, PUBLIC_KEY, Program, RECORD, STATEMENT},
    envelope::PublicKey,
    files::Report,
    text,
};

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
/// taken, which everybody can bring. `tool` is the name and version of this program: it draws only its own reports again.
pub fn verify(bytes: &[u8], trusted: Option<&PublicKey>, tool: &str) -> Verified {
    let mut verified = Verified::default();
    let list = archive(bytes, &mut verified.broken);
    let members: Members = list.into_iter().collect();
    let statement = signature(&members, trusted, &mut verified);
    let changed = digests(&members, statement.as_ref(), &mut verified);
    let record = members.get(RECORD).map_or(&[][..], Vec::as_slice);
    chain(record, members.get(CHAIN).map_or(&[][..], Vec::as_slice), &changed, &mut verified.broken);
    match xs2aspec_record::read(record) {
        Ok(events) => verified.events = events,
        Err(error) => verified.broken.push(format!("{RECORD}: {error}")),
    }
    let events = std::mem::take(&mut verified.events);
    match Run::of(&events) {
        Ok(run) => content(&members, &run, &events, statement.as_ref(), tool, changed, &mut verified),
        Err(error) => verified.broken.push(format!("{RECORD}: {error}")),
    }
    verified.events = events;
    verified
}

/// The members of the archive, once each and in order, and nothing besides.
fn archive(bytes: &[u8], broken: &mut Vec<String>) -> Vec<(String, Vec<u8>)> {
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    if let Err(error) = read(bytes, &mut members) {
        let place = members.last().map_or("at its start".to_owned(), |(name, _)| format!("after `{name}`"));
        broken.push(format!("the archive {place}: {error}"));
        return members;
    }
    let found: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    let expected = bundle::names();
    for name in &expected {
        match found.iter().filter(|other| other == &name).count() {
            0 => broken.push(format!("the archive: `{name}` is missing")),
            1 => {}
            times => broken.push(format!("the archive: `{name}` is there {times} times")),
        }
    }
    for name in found.iter().filter(|name| !expected.contains(name)) {
        broken.push(format!("the archive: `{}` does not belong there", text::short(name)));
    }
    if broken.is_empty() && found != expected {
        let at = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        let name = at.map_or("", |at| found[at]);
        broken.push(format!("the archive: `{name}` does not stand in its place"));
    }
    let list: Vec<(&str, Vec<u8>)> =
        members.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let written = bundle::archive(&list).unwrap_or_default();
    if broken.is_empty() && written != bytes {
        let at = written.iter().zip(bytes).position(|(written, found)| written != found);
        broken.push(frame(&members, at.unwrap_or(written.len().min(bytes.len()))));
    }
    members
}

fn read(bytes: &[u8], members: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for entry in tar::Archive::new(bytes).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        if entry.size() != content.len() as u64 {
            return Err(std::io::Error::other(format!("`{}` is cut off", text::short(&name))));
        }
        members.push((name, content));
    }
    Ok(())
}

/// Where in an archive a byte stands that is no content of a member.
fn frame(members: &[(String, Vec<u8>)], at: usize) -> String {
    let mut start = 0;
    for (name, content) in members {
        let end = start + 512 + content.len().next_multiple_of(512);
        if at < start + 512 {
            return format!("the archive: byte {} of the header of `{name}` is another", at - start);
        }
        if at < end {
            return format!(
                "the archive: byte {at}, between the end of `{name}` and the next member, is another"
            );
        }
        start = end;
    }
    format!("the archive: byte {at}, after the last member, is another")
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
            if trusted.is_some() {
                verified
                    .proven
                    .push(format!("the key that you trust, {id} ({scheme}), signed the statement"));
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
        if expected != Some(&bundle::sha256(content)) {
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
    tool: &str,
    changed: Vec<String>,
    verified: &mut Verified,
) {
    let of = |name: &str| members.get(name).map_or(&[][..], Vec::as_slice);
    let program = program(of(DIGESTS));
    let is_own = program.name == tool;
    let mut expected = vec![(PROFILE, bundle::profile(run).into_bytes())];
    if is_own {
        expected.push((DIGESTS, bundle::digests(run, events, &program).into_bytes()));
        expected.extend(Report::ALL.map(|report| (report.file(), report.draw(run, events))));
    }
    let is_changed = |name: &str| changed.iter().any(|other| other == name);
    for (name, expected) in &expected {
        let found = of(name);
        if found == expected.as_slice() {
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
    if let Some(statement) = statement.filter(|_| is_own && verified.broken.is_empty()) {
        let rest: Vec<(&str, Vec<u8>)> = bundle::names()
            .into_iter()
            .filter(|name| *name != STATEMENT)
            .map(|name| (name, of(name).to_vec()))
            .collect();
        if bundle::statement(run, &rest, &program) != *statement {
            verified.broken.push(format!("{STATEMENT}: the statement does not say what the record says"));
        }
    }
    if is_own {
        verified.proven.push("the reports, drawn again from the record, are those of the bundle".to_owned());
    } else {
        verified.not_proven.push(format!(
            "that the reports say what the record says: {} drew them, and this is {tool}",
            text::short(&program.name)
        ));
    }
    verified.proven.push("the hash chain runs through every line of the record".to_owned());
    if run.head().complete() {
        verified.proven.push(format!(
            "each of the {} cases that were selected has exactly one verdict",
            run.head().start().cases
        ));
    } else {
        verified.not_proven.push(format!("what the missing cases come to: {}", run.head().conclusion()));
    }
    verified.not_proven.push(
        "that the record tells what the target answered, and when: who holds the key can write another record, and the clock is that of \
         the machine"
            .to_owned(),
    );
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
mod tests {
    use xs2aspec_record::{Verdict, Writer};

    use super::*;
    use crate::{
        envelope::tests::ed25519,
        sample::{self, Sample},
    };

    const TOOL: &str = "xs2aspec 0.1.0";

    fn made(events: &[Event], key: &crate::envelope::SigningKey) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        let record = String::from_utf8(writer.finish().unwrap()).unwrap();
        let program = Program { name: TOOL.into(), sha256: "ab".repeat(32) };
        bundle::bundle(&record, events, &program, key).unwrap()
    }

    #[test]
    fn what_was_not_changed_holds() {
        let key = ed25519();
        let bytes = made(&sample::mixed(), &key);
        let verified = verify(&bytes, None, TOOL);
        assert_eq!(verified.broken, Vec::<String>::new());
        assert_eq!((verified.proven.len(), verified.not_proven.len()), (5, 2));
        let trusted = key.public().unwrap();
        let verified = verify(&bytes, Some(&trusted), TOOL);
        assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 1));
        let other = ed25519().public().unwrap();
        let broken = verify(&bytes, Some(&other), TOOL).broken.join("\n");
        assert!(broken.starts_with("statement.dsse.json: it is signed by the key "), "{broken}");
        // Another version draws no reports again, and says so.
        let verified = verify(&bytes, None, "xs2aspec 9.9.9");
        assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 3));
    }

    #[test]
    fn a_run_without_an_end_is_not_bundled_and_one_that_stopped_is_not_complete() {
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Pass);
        let program = Program { name: TOOL.into(), sha256: String::new() };
        let error = bundle::bundle("", &sample.killed(), &program, &ed25519()).unwrap_err().to_string();
        assert!(error.starts_with("the run did not come to its end"), "{error}");
        let verified = verify(&made(&sample.stopped_early(), &ed25519()), None, TOOL);
        assert!(verified.broken.is_empty());
        assert!(verified.not_proven.iter().any(|said| said.contains("1 of 3 selected cases")));
    }

    /// A change of the bundle's bytes, by what it does to the parsed members.
    fn edited(bytes: &[u8], edit: impl Fn(&mut Vec<(String, Vec<u8>)>)) -> String {
        let mut members = Vec::new();
        read(bytes, &mut members).unwrap();
        edit(&mut members);
        let list: Vec<(&str, Vec<u8>)> =
            members.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
        verify(&bundle::archive(&list).unwrap(), None, TOOL).broken.join("\n")
    }

    #[test]
    fn members_that_are_dropped_doubled_turned_or_added_are_named() {
        let bytes = made(&sample::mixed(), &ed25519());
        let table = [
            edited(&bytes, |members| drop(members.remove(4))),
            edited(&bytes, |members| members.push(members[4].clone())),
            edited(&bytes, |members| members.swap(4, 5)),
            edited(&bytes, |members| members.push(("more.txt".into(), vec![1]))),
            edited(&bytes, |members| drop(members.pop())),
        ];
        for (broken, expected) in table.iter().zip([
            "the archive: `junit.xml` is missing",
            "the archive: `junit.xml` is there 2 times",
            "the archive: `summary.md` does not stand in its place",
            "the archive: `more.txt` does not belong there",
            "the archive: `statement.dsse.json` is missing",
        ]) {
            assert!(broken.contains(expected), "{broken}");
        }
    }

    #[test]
    fn lines_that_are_changed_dropped_turned_or_doubled_are_named() {
        let bytes = made(&sample::mixed(), &ed25519());
        let lines = |edit: &dyn Fn(&mut Vec<String>), member: usize| {
            edited(&bytes, |members| {
                let text = String::from_utf8(members[member].1.clone()).unwrap();
                let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
                edit(&mut lines);
                members[member].1 = lines.concat().into_bytes();
            })
        };
        let table = [
            lines(&|lines| drop(lines.remove(9)), 0),
            lines(&|lines| lines.insert(9, lines[8].clone()), 0),
            lines(&|lines| lines.swap(8, 11), 0),
            lines(&|lines| lines[12].insert(20, ' '), 0),
            lines(&|lines| drop(lines.remove(3)), 1),
            lines(&|lines| lines.swap(1, 2), 7),
            lines(&|lines| drop(lines.pop()), 4),
            lines(&|lines| lines.swap(0, 1), 5),
        ];
        insta::assert_snapshot!(table.join("\n--\n"), @"
        record.jsonl: line 10 is not the line that was recorded
        --
        record.jsonl: line 10 is not the line that was recorded
        record.jsonl: expected one clause `transaction.path`, found two
        --
        record.jsonl: line 9 is not the line that was recorded
        --
        record.jsonl: line 13 is not the line that was recorded
        --
        record.chain: line 4 does not follow from the record
        --
        ctrf.json: line 2 is not what the record says
        --
        junit.xml: line 182 is not what the record says
        --
        summary.md: line 1 is not what the record says
        ");
    }
}
