//! What of a bundle can be believed: every digest, the chain, the signature, and the reports drawn again. Needs nothing but the bundle.

mod archive;

use std::collections::BTreeMap;

use serde_json::Value;
use xs2aspec_record::{Event, Exit};

use crate::{
    Run,
    bundle::{self, CHAIN, DIGESTS, PROFILE, PUBLIC_KEY, Program, RECORD, STATEMENT},
    envelope::PublicKey,
    files::Report,
    text,
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
    own: &Program,
    changed: Vec<String>,
    verified: &mut Verified,
) {
    let of = |name: &str| members.get(name).map_or(&[][..], Vec::as_slice);
    let program = program(of(DIGESTS));
    let is_own = program == *own;
    let mut expected: Vec<(&str, Vec<u8>)> = Vec::new();
    if profile_of(of(RECORD)) != serde_json::from_slice(of(PROFILE)).ok() {
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
        if result != "FAILED" && run.head().exit() == Exit::Violation {
            verified.broken.push(format!("{STATEMENT}: it says {result}, and the record says otherwise"));
        } else if is_own && !says_so {
            verified.broken.push(format!("{STATEMENT}: the statement does not say what the record says"));
        } else if program.name == own.name && !says_so {
            others.push(STATEMENT);
        }
    }
    drawn_again(members, &program, own, &others, verified);
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
fn profile_of(record: &[u8]) -> Option<Value> {
    let mut lines = record.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut profile: Value = lines.find(|line: &Value| line["event"] == "profile").unwrap_or_default();
    if let Some(members) = profile.as_object_mut() {
        members.remove("event");
    }
    Some(profile)
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

    fn tool() -> Program {
        Program { name: "xs2aspec 0.1.0".into(), sha256: "ab".repeat(32) }
    }

    fn made(events: &[Event], key: &crate::envelope::SigningKey) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        let record = String::from_utf8(writer.finish().unwrap()).unwrap();
        bundle::bundle(&record, events, &tool(), key).unwrap()
    }

    /// The archive of these members, listed in a statement that the key signs.
    fn signed(
        bytes: &[u8],
        key: &crate::envelope::SigningKey,
        edit: impl Fn(&mut Vec<(String, Vec<u8>)>),
    ) -> Vec<u8> {
        let mut members = archive::read(bytes).unwrap();
        let (_, envelope) = members.pop().unwrap();
        let opened = key.public().unwrap().open(&String::from_utf8(envelope).unwrap()).unwrap();
        let mut statement: Value = serde_json::from_slice(&opened).unwrap();
        edit(&mut members);
        let subjects = members.iter().map(|(name, content)| {
            serde_json::json!({"name": name, "digest": {"sha256": bundle::sha256(content)}})
        });
        statement["subject"] = subjects.collect();
        members.push((STATEMENT.into(), key.seal(statement.to_string().as_bytes()).unwrap().into_bytes()));
        written(&members)
    }

    fn written(members: &[(String, Vec<u8>)]) -> Vec<u8> {
        let list: Vec<_> = members.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
        bundle::archive(&list).unwrap()
    }

    #[test]
    fn the_members_are_those_that_were_signed() {
        let key = ed25519();
        let bytes = made(&sample::mixed(), &key);
        let holds = |bytes: &[u8]| {
            let verified = verify(bytes, None, &tool());
            assert_eq!(verified.broken, Vec::<String>::new());
            verified.not_proven.join("\n")
        };
        // Of a version with a report more, of one with a report less, and of one with another order.
        let more =
            signed(&bytes, &key, |members| members.insert(6, ("results.sarif".into(), b"{}".to_vec())));
        assert!(holds(&more).contains("that results.sarif say what the record says"), "{}", holds(&more));
        let less = signed(&bytes, &key, |members| drop(members.remove(8)));
        assert!(!holds(&less).contains("what the record says"), "{}", holds(&less));
        holds(&signed(&bytes, &key, |members| members.swap(4, 5)));
        // What no bundle can do without.
        for (at, name) in [(0, RECORD), (1, CHAIN), (2, PROFILE), (3, DIGESTS), (9, PUBLIC_KEY)] {
            let lacks = signed(&bytes, &key, |members| drop(members.remove(at)));
            let broken = verify(&lacks, None, &tool()).broken;
            assert!(broken.contains(&format!("the archive: `{name}` is missing")), "{name}: {broken:?}");
        }
        // What was signed and is not there, or is there and was not signed.
        let edited = |edit: &dyn Fn(&mut Vec<(String, Vec<u8>)>)| {
            let mut members = archive::read(&more).unwrap();
            edit(&mut members);
            verify(&written(&members), None, &tool()).broken.join("\n")
        };
        let broken = edited(&|members| drop(members.remove(6)));
        assert!(broken.contains("`results.sarif` is missing"), "{broken}");
        let broken = edited(&|members| members[6].1.push(b' '));
        assert_eq!(broken, "results.sarif: it is not the file that was signed");
        let broken = edited(&|members| members.insert(7, ("more.txt".into(), vec![1])));
        assert!(broken.contains("`more.txt` does not belong there"), "{broken}");
    }

    #[test]
    fn another_build_may_draw_other_reports_and_its_own_must_be_as_it_draws_them() {
        let key = ed25519();
        let other = signed(&made(&sample::mixed(), &key), &key, |members| members[5].1.push(b'\n'));
        let broken = verify(&other, None, &tool()).broken.join("\n");
        assert!(
            broken.contains("summary.md: line ") && broken.contains(" is not what the record says"),
            "{broken}"
        );
        let build = Program { sha256: "cd".repeat(32), ..tool() };
        let verified = verify(&other, None, &build);
        assert_eq!(verified.broken, Vec::<String>::new());
        let said = verified.not_proven.join("\n");
        assert!(
            said.contains("that summary.md say what the record says: another build of xs2aspec 0.1.0"),
            "{said}"
        );
        let whole = verify(&made(&sample::mixed(), &key), None, &build);
        assert!(
            whole.proven.iter().any(|said| said.starts_with("the reports, drawn again")),
            "{:?}",
            whole.proven
        );
    }

    #[test]
    fn a_key_that_did_not_sign_and_a_result_that_is_not_the_records_are_named() {
        let key = ed25519();
        let bytes = made(&sample::mixed(), &key);
        let other = ed25519().public().unwrap().pem();
        let swapped = signed(&bytes, &key, |members| members[9].1 = other.clone().into_bytes());
        let broken = verify(&swapped, Some(&key.public().unwrap()), &tool()).broken;
        assert_eq!(broken, ["public-key.pem: it is not the key that signed the statement"]);
        // Whatever program it names.
        let mut members = archive::read(&bytes).unwrap();
        let opened = key.public().unwrap().open(&String::from_utf8(members[10].1.clone()).unwrap()).unwrap();
        let passed = String::from_utf8(opened).unwrap().replace("\"FAILED\"", "\"PASSED\"");
        members[10].1 = key.seal(passed.as_bytes()).unwrap().into_bytes();
        let elsewhere = Program { name: "xs2aspec 9.9.9".into(), ..tool() };
        for program in [tool(), elsewhere] {
            let broken = verify(&written(&members), None, &program).broken;
            assert_eq!(broken, ["statement.dsse.json: it says PASSED, and the record says otherwise"]);
        }
    }

    #[test]
    fn what_was_not_changed_holds() {
        let key = ed25519();
        let bytes = made(&sample::mixed(), &key);
        let verified = verify(&bytes, None, &tool());
        assert_eq!(verified.broken, Vec::<String>::new());
        assert_eq!((verified.proven.len(), verified.not_proven.len()), (5, 2));
        let trusted = key.public().unwrap();
        let verified = verify(&bytes, Some(&trusted), &tool());
        assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 1));
        let other = ed25519().public().unwrap();
        let broken = verify(&bytes, Some(&other), &tool()).broken.join("\n");
        assert!(broken.starts_with("statement.dsse.json: it is signed by the key "), "{broken}");
        // Another version draws no reports again, and says so.
        let verified = verify(&bytes, None, &Program { name: "xs2aspec 9.9.9".into(), ..tool() });
        assert_eq!((verified.broken.len(), verified.not_proven.len()), (0, 3));
    }

    #[test]
    fn a_run_without_an_end_is_not_bundled_and_one_that_stopped_is_not_complete() {
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Pass);
        let error = bundle::bundle("", &sample.killed(), &tool(), &ed25519()).unwrap_err().to_string();
        assert!(error.starts_with("the run did not come to its end"), "{error}");
        let verified = verify(&made(&sample.stopped_early(), &ed25519()), None, &tool());
        assert!(verified.broken.is_empty());
        assert!(verified.not_proven.iter().any(|said| said.contains("1 of 3 selected cases")));
    }

    #[test]
    fn a_pass_beside_findings_is_no_record() {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Fail).verdict = Verdict::Pass;
        let broken = verify(&made(&sample.finished(), &ed25519()), None, &tool()).broken.join("\n");
        assert!(
            broken.contains("the verdict of `periodic.months/one` is `pass` beside 1 finding"),
            "{broken}"
        );
    }

    /// A change of the bundle's bytes, by what it does to the parsed members.
    fn edited(bytes: &[u8], edit: impl Fn(&mut Vec<(String, Vec<u8>)>)) -> String {
        let mut members = archive::read(bytes).unwrap();
        edit(&mut members);
        verify(&written(&members), None, &tool()).broken.join("\n")
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
        junit.xml: line 187 is not what the record says
        --
        summary.md: line 1 is not what the record says
        ");
    }
}
