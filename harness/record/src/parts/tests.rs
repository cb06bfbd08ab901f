use super::*;
use crate::{
    AskedAlone, Came, CaseSource, CaseVerdict, ClauseText, Entry, Exchange, Got, Level, LevelRule,
    LevelSource, OperationTimes, ReadError, RecordReader, RecordWriter, RefusedSince, Repeated, Resumed,
    Times, Verdict, verdict::sample,
};

/// Returns the start of a shard of a plan of three cases.
fn start(shard: &str) -> RunStarted {
    RunStarted {
        format: RunStarted::FORMAT,
        tool: "xs2aspec 0.2.0".into(),
        target: "bank".into(),
        depth: "standard".into(),
        now: "2030-01-01T00:00:01Z".into(),
        cases: 1,
        said_by_name: 1,
        shard: Some(shard.into()),
        planned: Some(3),
        ..RunStarted::default()
    }
}

fn clause(id: &str) -> Event {
    let text = format!(r#"{{"id":"{id}","says":"","strength":"stated","line":1,"section":""}}"#);
    Event::Clause(serde_json::from_str::<ClauseText>(&text).unwrap())
}

fn source(text: &str) -> Event {
    Event::Source(CaseSource { file: "cases/a.yaml".into(), text: text.into() })
}

fn profile(psu: &str, iban: &str) -> Event {
    let values = [("psu.id", psu), ("iban", iban), ("url", "https://bank.test/~x")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Event::Profile(TargetProfile { values, ..TargetProfile::default() })
}

/// Returns an exchange that starts `at` microseconds after the run and takes as long.
fn exchange(number: u64, case: &str, at: u64) -> Event {
    let text = format!(
        r#"{{"number":{number},"case":"{case}","step":"request","operation":"ncbct","at":{at},"micros":{at},
            "request":{{"method":"GET","url":"/","headers":[]}},"response":{{"status":200,"headers":[]}}}}"#
    );
    Event::Exchange(serde_json::from_str::<Exchange>(&text).unwrap())
}

fn verdict(case: &str, role: Role, number: u64) -> Event {
    let sample = sample("a", Verdict::Pass);
    Event::Verdict(CaseVerdict { case: case.into(), role, exchange: Some(number), ..sample })
}

fn waiver(place: &str, state: WaiverState, cases: &[&str]) -> WaiverSeen {
    let text = format!(
        r#"{{"pattern":"a","owner":"","reason":"","ticket":"","expires":"","place":"{place}","state":"not-asked"}}"#
    );
    let cases = cases.iter().map(|case| (*case).to_owned()).collect();
    WaiverSeen { state, cases, ..serde_json::from_str(&text).unwrap() }
}

fn checks(answers: u64) -> Event {
    let check = AnswerCheck { clause: "a".into(), operations: vec![], answers, exercised: 1 };
    Event::AnswerChecks(AnswerChecks { checks: vec![check] })
}

fn finished(waivers: Vec<WaiverSeen>, micros: u64) -> Event {
    let times = Times { slow_ms: Some(0), operations: vec![OperationTimes::default()] };
    Event::RunFinished(RunFinished {
        exchanges: 2,
        retries: 1,
        micros,
        waivers,
        times,
        ..RunFinished::default()
    })
}

fn end() -> Event {
    Event::RunFinished(RunFinished::default())
}

fn alone(since: u64) -> Event {
    Event::AskedAlone(AskedAlone {
        clause: "a".into(),
        at: "status".into(),
        case: "a/1".into(),
        since,
        until: 0,
        requests: 1,
        again: Repeated::Kept,
        came: Some(Came::Got(Got::status(201))),
        earlier: None,
    })
}

fn refused(since: u64) -> Event {
    let (plain, clause, came) = ("a/0".to_owned(), "a".to_owned(), Came::Got(Got::status(403)));
    Event::RefusedSince(RefusedSince { plain, clause, until: 0, since, came, again: None, is_broken: false })
}

/// Returns the concatenated bytes of these records.
fn joined(parts: &[Vec<Event>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        let mut writer = RecordWriter::new(&mut bytes);
        for event in part {
            writer.write(event).unwrap();
        }
    }
    bytes
}

fn read(parts: &[Vec<Event>]) -> Result<Vec<Entry>, ReadError> {
    RecordReader::new(std::io::Cursor::new(joined(parts))).collect()
}

/// Changes the start of a shard.
type Edit<'a> = &'a dyn Fn(&mut RunStarted);

/// Reads two empty shards. `edit` changes the start of the second one.
fn differing(edit: impl Fn(&mut RunStarted)) -> Option<PartsError> {
    let mut second = start("2/2");
    edit(&mut second);
    let parts = [vec![Event::RunStarted(start("1/2")), end()], vec![Event::RunStarted(second), end()]];
    match read(&parts) {
        Err(ReadError::Parts(error)) => Some(error),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

#[test]
fn the_records_of_all_shards_are_read_as_that_of_one_run() {
    let one = vec![
        Event::RunStarted(start("1/2")),
        profile("~a1", "~b1"),
        clause("a"),
        source("a: 1"),
        exchange(1, "a/2", 5),
        verdict("a/2", Role::Selected, 1),
        exchange(3, "a/0", 7),
        verdict("a/0", Role::Control, 3),
        exchange(5, "a/1", 6),
        verdict("a/1", Role::Control, 5),
        alone(1),
        refused(3),
        checks(2),
        finished(
            vec![
                waiver("w:1", WaiverState::NotAsked, &["a/2"]),
                waiver("w:2", WaiverState::Passing, &["a/2"]),
                waiver("w:3", WaiverState::NotAsked, &[]),
            ],
            10,
        ),
    ];
    let earlier = RunStarted { now: "2030-01-01T00:00:00Z".into(), said_by_name: 2, ..start("2/2") };
    let resumed = Event::Resumed(Resumed { now: String::new(), kept: 1, in_doubt: vec![] });
    let two = vec![
        Event::RunStarted(earlier.clone()),
        // These values were masked with another key.
        profile("~a2", "~b2"),
        clause("a"),
        clause("b"),
        source("a: 1"),
        exchange(2, "a/0", 9),
        verdict("a/0", Role::Control, 2),
        exchange(4, "a/1", 8),
        verdict("a/1", Role::Selected, 4),
        finished(vec![], 99),
        resumed.clone(),
        exchange(6, "a/3", 4),
        verdict("a/3", Role::Selected, 6),
        alone(2),
        refused(4),
        checks(3),
        finished(
            vec![
                waiver("w:1", WaiverState::NotAsked, &["a/1"]),
                waiver("w:2", WaiverState::InForce, &["a/1"]),
                waiver("w:4", WaiverState::Unmatched, &[]),
            ],
            20,
        ),
    ];
    let entries = read(&[one, two]).unwrap();
    let expected = RunStarted { cases: 3, said_by_name: 3, shard: None, planned: None, ..earlier };
    let introduced = [
        Event::RunStarted(expected),
        clause("a"),
        source("a: 1"),
        profile("~a2", "~b2"),
        clause("b"),
        resumed,
    ];
    assert_eq!(entries[..6], introduced.map(Entry::Run));
    let cases = entries[6..10].iter().map(|entry| {
        let Entry::Case(case) = entry else { panic!("{entry:?}") };
        let sent: Vec<_> = case.exchanges.iter().map(|exchange| (exchange.number, exchange.at)).collect();
        (case.case.as_str(), case.verdict.as_ref().unwrap().role, sent)
    });
    // The first part started a second later, and times count from the earliest start.
    let expected = [
        ("a/0", Role::Control, vec![(3, 1_000_007)]),
        ("a/1", Role::Selected, vec![(4, 8)]),
        ("a/2", Role::Selected, vec![(1, 1_000_005)]),
        ("a/3", Role::Selected, vec![(6, 4)]),
    ];
    assert!(cases.eq(expected));
    assert_eq!(entries[10..14], [alone(1), refused(3), alone(2), refused(4)].map(Entry::Run));
    let [Entry::Run(checked), Entry::Run(Event::RunFinished(end))] = &entries[14..] else {
        panic!("{:?}", &entries[14..])
    };
    let Event::AnswerChecks(checked) = checked else { panic!("{checked:?}") };
    assert_eq!((checked.checks[0].answers, checked.checks[0].exercised), (5, 2));
    assert_eq!((end.exchanges, end.retries, end.micros, end.counts.pass), (4, 2, 20, 3));
    // All counted responses took longer than 0 ms.
    let [OperationTimes { answers: 4, slow: 4, .. }] = end.times.operations[..] else {
        panic!("{:?}", end.times)
    };
    let waivers: Vec<_> =
        end.waivers.iter().map(|seen| (seen.place.as_str(), seen.state, &seen.cases[..])).collect();
    let cases = |cases: &[&str]| cases.iter().map(|case| (*case).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        waivers,
        [
            ("w:1", WaiverState::Passing, &cases(&["a/2", "a/1"])[..]),
            ("w:2", WaiverState::InForce, &cases(&["a/1"])),
            ("w:3", WaiverState::NotAsked, &[]),
            ("w:4", WaiverState::Unmatched, &[]),
        ]
    );
    assert_eq!(end.exit, Exit::Violation.code(), "a waiver is stale");
}

#[test]
fn a_violation_in_one_shard_is_one_of_the_run() {
    let part = |shard: &str, case: &str, word: Verdict| {
        let verdict = CaseVerdict { case: case.into(), ..sample("a", word) };
        vec![Event::RunStarted(start(shard)), clause("a"), Event::Verdict(verdict), end()]
    };
    let exit = |word: Verdict| {
        let third = CaseVerdict { case: "a/3".into(), ..sample("a", Verdict::Pass) };
        let mut second = part("2/2", "a/2", word);
        second.insert(3, Event::Verdict(third));
        let entries = read(&[part("1/2", "a/1", Verdict::Pass), second]).unwrap();
        let Some(Entry::Run(Event::RunFinished(end))) = entries.last() else { panic!("{entries:?}") };
        (end.exit, end.counts.total())
    };
    assert_eq!(exit(Verdict::Pass), (Exit::Conforms.code(), 3));
    assert_eq!(exit(Verdict::Inconclusive), (Exit::CouldNotTell.code(), 3));
    assert_eq!(exit(Verdict::Error), (Exit::CouldNotTell.code(), 3));
    // Only two of three cases have a verdict.
    let entries = read(&[part("1/2", "a/1", Verdict::Pass), part("2/2", "a/2", Verdict::Pass)]).unwrap();
    let Some(Entry::Run(Event::RunFinished(end))) = entries.last() else { panic!("{entries:?}") };
    assert_eq!(end.exit, Exit::CouldNotTell.code());
}

#[test]
fn shards_that_differ_are_not_parts_of_one_run() {
    assert_eq!(differing(|_| ()), None);
    let rule = || LevelRule { pattern: "a".into(), level: Level::Warn, by: LevelSource::CommandLine };
    let at = |url: &str| (vec!["--target".to_owned()], url.to_owned());
    let table: [(&str, Edit<'_>); 16] = [
        ("number of shards", &|start| start.shard = Some("2/3".into())),
        ("suite", &|start| start.suite_sha256 = "x".into()),
        ("document", &|start| start.document_sha256 = "x".into()),
        ("version of xs2aspec", &|start| start.tool = "x".into()),
        ("target", &|start| start.target = "x".into()),
        ("target address", &|start| (start.arguments, start.base_url) = at("http://other")),
        ("levels", &|start| start.levels.push(rule())),
        ("profile", &|start| start.profile_sha256 = "x".into()),
        ("fault", &|start| start.fault = Some("x".into())),
        ("variations", &|start| start.variations.push("x".into())),
        ("waivers", &|start| start.waivers_sha256 = Some("x".into())),
        ("depth", &|start| start.depth = "quick".into()),
        ("number of requests", &|start| start.requests = Some(7)),
        ("patterns", &|start| start.only.push("x".into())),
        ("patterns", &|start| start.skip.push("x".into())),
        ("plan", &|start| start.planned = Some(4)),
    ];
    for (expected, edit) in table {
        let found = differing(edit);
        let is = matches!(&found, Some(PartsError::Differ { what, .. }) if *what == expected);
        assert!(is, "{expected}: {found:?}");
    }
    // The reference bank has another address in each shard.
    assert_eq!(differing(|start| start.base_url = "http://other".into()), None);
}

#[test]
fn each_shard_is_there_once() {
    let part = |shard: &str| vec![Event::RunStarted(start(shard)), end()];
    for (shards, expected) in [
        (&["1/3", "2/3", "3/3"][..], None),
        (&["3/3", "1/3", "2/3"], None),
        (&["1/3", "3/3"], Some((2, 0))),
        (&["1/3", "2/3"], Some((3, 0))),
        (&["1/2", "1/2"], Some((1, 2))),
        (&["1/2", "2/2", "2/2"], Some((2, 2))),
        (&["1", "2"], Some((1, 0))),
        (&["3/2", "4/2"], Some((1, 0))),
    ] {
        let parts: Vec<_> = shards.iter().map(|shard| part(shard)).collect();
        let found = match read(&parts) {
            Err(ReadError::Parts(PartsError::Shards { number, found, .. })) => Some((number, found)),
            other => other.map(|_| None).unwrap(),
        };
        assert_eq!(found, expected, "{shards:?}");
    }
}

#[test]
fn a_selected_case_has_one_verdict() {
    let part = |shard: &str, role: Role| {
        vec![Event::RunStarted(start(shard)), clause("a"), verdict("a/1", role, 1), end()]
    };
    let read = |one: Role, other: Role| read(&[part("1/2", one), part("2/2", other)]);
    let twice = read(Role::Selected, Role::Selected);
    assert!(matches!(twice, Err(ReadError::Parts(PartsError::Twice(case))) if case == "a/1"));
    for (one, other) in [(Role::Selected, Role::Control), (Role::Control, Role::Selected)] {
        assert!(read(one, other).is_ok());
    }
}

#[test]
fn parts_with_one_mask_key_have_the_same_values() {
    let part = |shard: &str, profile: Event| vec![Event::RunStarted(start(shard)), profile, end()];
    let read = |other: Event| read(&[part("1/2", profile("~a1", "~b1")), part("2/2", other)]);
    for same in [profile("~a1", "~b1"), profile("~a2", "~b2")] {
        assert!(read(same).is_ok());
    }
    let Err(ReadError::Parts(error)) = read(profile("~a1", "~b2")) else { panic!("no error") };
    let expected = "expected runs with the same profile values, found `iban = ~b1` and `iban = ~b2`";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn each_part_has_its_own_chain_and_end() {
    let part = |shard: &str| vec![Event::RunStarted(start(shard)), source("one"), source("two"), end()];
    let parts = [part("1/2"), part("2/2")];
    let text = String::from_utf8(joined(&parts)).unwrap();
    let read =
        |text: &str| RecordReader::new(std::io::Cursor::new(text.as_bytes())).collect::<Result<Vec<_>, _>>();
    assert_eq!(read(&text).unwrap().len(), 5);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (at, end) in [(1, 4), (2, 4), (5, 8), (6, 8)] {
        let mut edited: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        edited[at] = edited[at].replace("cases/a", "cases/b");
        assert!(matches!(read(&edited.concat()), Err(ReadError::Chain { line }) if line == end), "{at}");
        edited.remove(at);
        assert!(matches!(read(&edited.concat()), Err(ReadError::Chain { line }) if line == end - 1), "{at}");
    }
    let without_end = [&lines[..3], &lines[4..]].concat().concat();
    assert!(matches!(read(&without_end), Err(ReadError::StartedTwice { line: 4 })));
    // Only a shard may be followed by another record.
    let whole = |part: &str| text.replace(&format!("\"shard\":\"{part}\","), "");
    for edited in [whole("1/2"), whole("2/2")] {
        assert!(!matches!(read(&edited), Ok(_) | Err(ReadError::Parts(_))));
    }
    let whole = joined(&[vec![Event::RunStarted(RunStarted { shard: None, ..start("") }), end()]]);
    let twice = read(std::str::from_utf8(&whole.repeat(2)).unwrap());
    assert!(matches!(twice, Err(ReadError::AfterEnd { line: 3 })));
    // The last part was killed, so the run has no end.
    let killed = read(&lines[..7].concat()).unwrap();
    assert!(!killed.iter().any(|entry| matches!(entry, Entry::Run(Event::RunFinished(_)))), "{killed:?}");
}
