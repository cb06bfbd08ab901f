//! A thousand edits of a failing record. An edited record never passes as conforming.
//!
//! Half of the edits leave counts, exit code and hash chain unchanged. The other half makes all three match,
//! as an attacker would. An honest signer then bundles every readable record.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::Arc,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use xs2aspec_evidence::{
    bundle::{self, Program},
    envelope::SigningKey,
    verify::{self, Archive},
};
use xs2aspec_judge::Rejudged;
use xs2aspec_record::{Exit, HashChain, RecordReader, outputs::Output};
use xs2aspec_report::{merge, stream};
use xs2aspec_suite::{Suite, Tree};

use crate::support::{FIXED, KEY, xs2aspec};

/// A record as events, each with its line.
struct Record {
    events: Vec<Value>,
    lines: HashMap<String, String>,
}

impl Record {
    /// Returns the lines of these events. Unedited events keep the line of the run.
    fn written(&self, events: &[Value]) -> String {
        let line = |event: &Value| {
            let text = event.to_string();
            self.lines.get(&text).cloned().unwrap_or(text) + "\n"
        };
        events.iter().map(line).collect()
    }
}

/// Runs with failures. The run is a shard, so that `merge` reads it.
fn failing(folder: &Path) -> Record {
    let out = folder.join("run");
    let (exit, said) = xs2aspec(
        &[
            &FIXED[..],
            &[
                "--fault",
                "periodic.months.duplicate/only-adjacent",
                "--only",
                "periodic.months.duplicate/3-apart",
                "--only",
                "header.psu-context.format",
                "--shard",
                "1/1",
                "--out",
                out.to_str().unwrap(),
            ],
        ]
        .concat(),
    );
    assert_eq!(exit, Some(1), "{said}");
    let record = crate::support::read_record(out.join("record.jsonl")).unwrap();
    let events: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = events.iter().map(Value::to_string).zip(record.lines().map(str::to_owned)).collect();
    Record { events, lines }
}

/// Pseudorandom numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

fn is(event: &Value, kind: &str) -> bool {
    event["event"] == kind
}

/// Returns the indexes of the events of this kind.
fn all(events: &[Value], kind: &str) -> Vec<usize> {
    (0..events.len()).filter(|at| is(&events[*at], kind)).collect()
}

/// Returns a random event. Each kind is equally likely.
fn any(events: &[Value], numbers: &mut Numbers) -> usize {
    let kinds = [
        "run-started",
        "profile",
        "clause",
        "exchange",
        "verdict",
        "verdict",
        "answer-checks",
        "run-finished",
    ];
    let of_kind = all(events, kinds[numbers.below(kinds.len())]);
    if of_kind.is_empty() { 0 } else { *numbers.of(&of_kind) }
}

/// Collects pointers to all fields and items of a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut below = |name: String, value: &Value| {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(value, &place, found);
        found.push(place);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| below(name.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| below(at.to_string(), value)),
        _ => {}
    }
}

/// Returns a random place in an event, other than its kind.
fn place(event: &Value, numbers: &mut Numbers) -> String {
    let mut found = Vec::new();
    places(event, "", &mut found);
    found.retain(|place| place != "/event");
    numbers.of(&found).clone()
}

fn remove(event: &mut Value, place: &str) {
    let (parent, name) = place.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/").replace("~0", "~");
    match event.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.remove(&name)),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!("a member has a parent"),
    }
}

/// Returns fields that have a meaning in some event.
fn telling() -> Vec<(&'static str, Value)> {
    let waiver = json!({
        "pattern": "periodic", "owner": "a", "reason": "b", "ticket": "c", "expires": "2031-01-01",
        "place": "waivers.toml:1", "state": "in-force", "cases": ["periodic.months.duplicate/adjacent"],
    });
    vec![
        ("unconfirmed", json!(true)),
        ("drawn", json!(true)),
        ("stopped_early", json!(true)),
        ("traffic", json!("judge")),
        ("on_purpose", json!(true)),
        ("verdict", json!("pass")),
        ("role", json!("control")),
        ("exit", json!(0)),
        ("format", json!(4)),
        ("format", json!(3)),
        ("tool", json!("xs2aspec 99.0.0")),
        ("suite_sha256", json!("0")),
        ("strength", json!("observed")),
        ("depth", json!("quick")),
        ("requests", json!(3)),
        ("shard", json!("1/2")),
        ("planned", json!(1)),
        ("only", json!(["certificate.validity"])),
        ("skip", json!(["periodic.months.duplicate"])),
        ("levels", json!([{"pattern": "periodic.months.duplicate", "level": "note", "by": "command-line"}])),
        ("set", json!({"level": "note", "by": "profile"})),
        ("waivers", json!([waiver])),
        ("absence", json!({"kind": "declared"})),
        ("same_as", json!("periodic.path/plain")),
        ("other_cases", json!("cases")),
        ("reason", json!("nothing")),
        ("findings", json!([])),
        ("checks", json!([])),
        ("rejected_is_refusal", json!(true)),
        ("nothing", json!(null)),
    ]
}

/// Returns another value to replace this one.
fn retyped(value: &Value, numbers: &mut Numbers) -> Value {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!("x"),
        json!([]),
        json!({}),
        json!("pass"),
    ];
    match value {
        Value::Bool(is) if numbers.below(2) == 0 => json!(!is),
        Value::Number(number) if numbers.below(2) == 0 => json!(number.as_u64().unwrap_or_default() + 1),
        Value::Array(items) if numbers.below(2) == 0 && !items.is_empty() => json!(items[1..]),
        Value::String(text) if numbers.below(2) == 0 => json!(format!("{text}x")),
        _ => numbers.of(&others).clone(),
    }
}

const WORDS: [&str; 8] =
    ["pass", "fail", "warn", "waived", "inconclusive", "not-applicable", "observed", "error"];

/// Changes one or all failing verdicts into something else.
fn flip(events: &mut Vec<Value>, numbers: &mut Numbers) {
    let failing: Vec<usize> =
        all(events, "verdict").into_iter().filter(|at| events[*at]["verdict"] == "fail").collect();
    let word = if numbers.below(2) == 0 { "pass" } else { *numbers.of(&WORDS) };
    let ways = [
        numbers.below(2),
        numbers.below(3),
        numbers.below(3),
        numbers.below(3),
        numbers.below(4),
        numbers.below(4),
    ];
    let chosen = if ways[0] == 0 { failing.clone() } else { vec![*numbers.of(&failing)] };
    for at in &chosen {
        let verdict = &mut events[*at];
        verdict["verdict"] = word.into();
        if ways[1] > 0 {
            verdict.as_object_mut().unwrap().remove("findings");
        }
        if ways[2] == 0 {
            verdict["unconfirmed"] = true.into();
        }
        if ways[3] == 0 || word == "inconclusive" {
            verdict["reason"] = "it could not be told".into();
        }
        if word == "not-applicable" {
            verdict["absence"] = json!({"kind": "declared"});
        }
        if ways[4] == 0 {
            verdict["role"] = "control".into();
        }
    }
    if ways[5] == 0 {
        let cases: Vec<Value> = chosen.iter().map(|at| events[*at]["case"].clone()).collect();
        events.retain(|event| !(is(event, "exchange") && cases.contains(&event["case"])));
    }
}

const KINDS: [&str; 12] = [
    "field removed",
    "field added",
    "field retyped",
    "event dropped",
    "event moved",
    "event doubled",
    "events merged",
    "verdict flipped",
    "failing cases dropped",
    "fields swapped",
    "verdicts flipped and start changed",
    "findings deleted",
];

/// Edits a record. `kind` selects the edit.
fn edit(kind: usize, events: &mut Vec<Value>, numbers: &mut Numbers) {
    match kind {
        0 => {
            let at = any(events, numbers);
            let place = place(&events[at], numbers);
            remove(&mut events[at], &place);
        }
        1 => {
            let at = any(events, numbers);
            let (name, value) = numbers.of(&telling()).clone();
            events[at][name] = value;
        }
        2 => {
            let at = any(events, numbers);
            let place = place(&events[at], numbers);
            let value = events[at].pointer_mut(&place).unwrap();
            *value = retyped(value, numbers);
        }
        3 => drop(events.remove(numbers.below(events.len()))),
        4 => {
            let event = events.remove(any(events, numbers));
            events.insert(numbers.below(events.len()), event);
        }
        5 => {
            let event = events[any(events, numbers)].clone();
            events.insert(numbers.below(events.len()), event);
        }
        6 => {
            let (one, other) = (any(events, numbers), any(events, numbers));
            let more = events[other].as_object().unwrap().clone();
            events[one].as_object_mut().unwrap().extend(more);
            if one != other {
                events.remove(other);
            }
        }
        7 => flip(events, numbers),
        8 => {
            let failing: Vec<Value> = events
                .iter()
                .filter(|event| event["verdict"] == "fail")
                .map(|event| event["case"].clone())
                .collect();
            let one = numbers.of(&failing).clone();
            let is_all = numbers.below(2) == 0;
            let is_gone = |case: &Value| if is_all { failing.contains(case) } else { *case == one };
            events.retain(|event| !is_gone(&event["case"]));
            if numbers.below(3) == 0 {
                events[0]["drawn"] = true.into();
                events[0]["cases"] = 0.into();
            }
        }
        9 => {
            let verdicts = all(events, "verdict");
            let (one, other) = (*numbers.of(&verdicts), *numbers.of(&verdicts));
            let names = [
                "case",
                "clause",
                "verdict",
                "changes",
                "operation",
                "control",
                "exchange",
                "findings",
                "role",
            ];
            let name = *numbers.of(&names);
            let (first, second) = (events[one][name].clone(), events[other][name].clone());
            (events[one][name], events[other][name]) = (second, first);
        }
        10 => {
            flip(events, numbers);
            let (name, value) = numbers.of(&telling()).clone();
            events[0][name] = value;
        }
        11 => {
            for at in all(events, "verdict") {
                events[at].as_object_mut().unwrap().remove("findings");
                if numbers.below(2) == 0 && events[at]["verdict"] == "fail" {
                    events[at]["verdict"] = (*numbers.of(&WORDS)).into();
                }
            }
        }
        _ => unreachable!("there are as many kinds"),
    }
}

/// Makes counts, exit code and numbers match the verdicts, as an attacker would.
fn mend(events: &mut [Value]) {
    let selected: Vec<String> = events
        .iter()
        .filter(|event| is(event, "verdict") && event["role"] == "selected")
        .map(|event| event["verdict"].as_str().unwrap_or_default().to_owned())
        .collect();
    let is_drawn = events.first().is_some_and(|start| start["drawn"] == true);
    if let Some(start) = events.first_mut().filter(|start| is(start, "run-started")) {
        start["cases"] = if is_drawn { 0.into() } else { selected.len().into() };
        if start["planned"].is_u64() {
            start["planned"] = selected.len().into();
        }
    }
    let Some(finished) = events.iter_mut().rfind(|event| is(event, "run-finished")) else { return };
    for word in WORDS {
        finished["counts"][word] = selected.iter().filter(|found| *found == word).count().into();
    }
    let has = |words: &[&str]| selected.iter().any(|word| words.contains(&word.as_str()));
    let exit = if has(&["fail"]) { Exit::Violation } else { Exit::Conforms };
    let exit =
        if exit == Exit::Conforms && has(&["error", "inconclusive"]) { Exit::CouldNotTell } else { exit };
    finished["exit"] = exit.code().into();
}

/// Returns the lines of a record with a valid hash chain, in its format.
fn chained(events: &[Value]) -> String {
    let format = events.first().map_or(0, |start| start["format"].as_u64().unwrap_or_default());
    let (mut chain, mut text) = (HashChain::default(), String::new());
    for event in events {
        let mut event = event.clone();
        let is_last = is(&event, "run-finished");
        if let Some(members) = event.as_object_mut().filter(|_| is_last) {
            members.remove("chain");
            if format == 4 {
                members.insert("chain".to_owned(), chain.link().into());
            }
        }
        let mut line = event.to_string().into_bytes();
        if is_last && format > 4 {
            chain.seal(&mut line);
        }
        line.push(b'\n');
        chain.add(&line);
        text.push_str(std::str::from_utf8(&line).unwrap());
    }
    text
}

/// Reads records like the commands do, without starting them.
struct Readers {
    suite: Arc<Suite>,
    key: SigningKey,
    program: Program,
    folder: TempDir,
}

/// The results of reading a record.
struct Read {
    /// The exit code that `report` prints, if it reads the record.
    report: Option<Exit>,
    /// The error of `report`, if it does not read the record.
    refused: Option<String>,
    /// The exit code of `merge`.
    merge: Option<Exit>,
    rejudged: Option<Rejudged>,
    /// The exit code of `verify` for a bundle by an honest signer.
    verify: Exit,
}

impl Readers {
    fn new() -> Self {
        Self {
            suite: Arc::new(Suite::load(Tree::embedded()).unwrap()),
            key: SigningKey::from_pem(KEY).unwrap(),
            program: Program {
                name: concat!("xs2aspec ", env!("CARGO_PKG_VERSION")).to_owned(),
                sha256: "ab".repeat(32),
            },
            folder: TempDir::new().unwrap(),
        }
    }

    fn read(&self, text: &str) -> Read {
        let open = || RecordReader::new(std::io::Cursor::new(text.as_bytes()));
        let summary = stream::summary(open()).map(|summary| summary.exit());
        let refused = summary.as_ref().err().map(ToString::to_string);
        let report = summary.ok();
        // If `report` says that the record does not conform, so does `verify`, which prints the same.
        let conforms = report == Some(Exit::Conforms);
        let rejudged =
            if conforms { xs2aspec_judge::rejudge(&self.suite, || Ok(open()), &[]).ok() } else { None };
        Read {
            report,
            refused,
            merge: if conforms { self.merged(text) } else { None },
            verify: if conforms { self.verify(text) } else { Exit::Violation },
            rejudged,
        }
    }

    /// Returns the exit code of a shard that is merged alone.
    fn merged(&self, text: &str) -> Option<Exit> {
        let [shard, whole] = ["shard.jsonl", "merged.jsonl"].map(|name| self.folder.path().join(name));
        fs::write(&shard, text).unwrap();
        merge::merge(&[shard], &mut Output::create(&whole).unwrap()).ok().map(|summary| summary.exit())
    }

    /// Returns the exit code of `bundle` followed by `verify`.
    fn verify(&self, text: &str) -> Exit {
        let (record, bundle) =
            (self.folder.path().join("record.jsonl"), self.folder.path().join("evidence.tar"));
        fs::write(&record, text).unwrap();
        let out = fs::File::create(&bundle).unwrap();
        if bundle::bundle(&record, &self.program, &self.key, out).is_err() {
            return Exit::BadInput;
        }
        let archive = Archive::open(&bundle).unwrap();
        let trusted = self.key.public().unwrap();
        let verified = verify::verify(&archive, Some(&trusted), &self.program).unwrap();
        let rejudged = xs2aspec_judge::rejudge(&self.suite, || Ok(archive.record()), &[]);
        match rejudged {
            Err(_) => Exit::CouldNotTell,
            Ok(rejudged) if rejudged.is_edited() || !verified.broken.is_empty() => Exit::Violation,
            Ok(rejudged) if !rejudged.is_whole() => Exit::CouldNotTell,
            Ok(_) => Exit::Conforms,
        }
    }
}

#[test]
fn edits_of_a_failing_record_never_conform() {
    never_conform(200);
}

#[test]
#[ignore = "two minutes with optimisation"]
fn a_thousand_edits_of_a_failing_record_never_conform() {
    never_conform(1000);
}

fn never_conform(count: usize) {
    let folder = TempDir::new().unwrap();
    let record = failing(folder.path());
    let honest = &record.events;
    let readers = Readers::new();
    // The unedited record is valid and does not conform, even with a new hash chain.
    for text in [record.written(honest), chained(honest)] {
        assert_eq!(readers.read(&text).report, Some(Exit::Violation));
        assert_eq!(readers.verify(&text), Exit::Conforms, "its verdicts follow from its responses");
    }
    let mut numbers = Numbers(7);
    let (mut edits, mut convincing, mut readable) = ([0_usize; KINDS.len()], [0_usize; KINDS.len()], 0);
    let mut refused = BTreeMap::<String, usize>::new();
    while edits.iter().sum::<usize>() < count {
        let kind = edits.iter().sum::<usize>() / 2 % KINDS.len();
        let mut events = honest.clone();
        edit(kind, &mut events, &mut numbers);
        if events == *honest {
            continue;
        }
        let what = |text: &str| {
            let differs = |(one, other): &(&str, String)| *one != other;
            let honest = honest.iter().map(Value::to_string);
            let line = text.lines().zip(honest).find(differs).map(|(line, _)| line.to_owned());
            format!("{}: {:.2000}", KINDS[kind], line.unwrap_or_default())
        };
        // A careless edit.
        let careless = record.written(&events);
        let is_cut = !events.last().is_some_and(|event| is(event, "run-finished"));
        let summary = stream::summary(RecordReader::new(std::io::Cursor::new(careless.as_bytes())));
        let exit = summary.map(|summary| summary.exit());
        assert!(exit.is_err() || is_cut, "no reader takes it for a record: {}", what(&careless));
        assert!(!matches!(exit, Ok(Exit::Conforms)), "{}", what(&careless));
        edits[kind] += 1;
        // An edit by an attacker.
        mend(&mut events);
        let careful = chained(&events);
        let read = readers.read(&careful);
        readable += usize::from(read.report.is_some());
        if let Some(why) = read.refused {
            let why = why.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            *refused.entry(why).or_default() += 1;
        }
        if read.report == Some(Exit::Conforms) {
            convincing[kind] += 1;
            assert_ne!(read.verify, Exit::Conforms, "`verify` believes it: {}", what(&careful));
            let is_told = read.rejudged.is_none_or(|rejudged| {
                rejudged.is_edited() || !rejudged.changed.is_empty() || !rejudged.is_whole()
            });
            assert!(is_told, "`rejudge` does not tell: {}", what(&careful));
        }
        assert!(read.merge != Some(Exit::Conforms) || read.report == Some(Exit::Conforms));
        edits[kind] += 1;
    }
    // The attacks are effective: many records are readable, and `report` alone does not notice some of them.
    assert!(readable * 20 > count * 3, "{readable}: {refused:#?}");
    assert!(convincing.iter().sum::<usize>() * 25 > count, "{convincing:?}");
}
