//! The records of shards as one record, once it is sure that they are the parts of one run and that none is
//! missing.

use std::{collections::BTreeMap, io};

use xs2aspec_record::{
    AnswerCheck, AnswerChecks, CaseEvents, Entry, Event, Exit, ReadError, RecordReader, Role, RunFinished,
    RunStarted, Stopwatch, Times, Totals, WaiverSeen, WaiverState,
};

use super::numbering::{Numbering, Sent};
use crate::{
    error::ReportsError,
    summary::{RunSummary, SummaryBuilder},
};

/// Why records are not the parts of one run.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// No record, or one that is not of a shard.
    #[error("record {number} of those given is not of a shard: `run --shard K/N` makes those")]
    NoShard {
        /// Which record, from 1.
        number: usize,
    },
    /// A record that cannot be read.
    #[error("record {number} of those given: {error}")]
    Record {
        /// Which record, from 1.
        number: usize,
        /// Why.
        error: Box<ReportsError>,
    },
    /// The merged record cannot be written.
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
    /// A part is missing, or there twice.
    #[error("expected one record of each of {of} shards, found {found} of shard {number}")]
    Shards {
        /// The shard, from 1.
        number: u32,
        /// How many records are of it.
        found: usize,
        /// How many shards there are.
        of: u32,
    },
    /// Two runs that differ in what must be the same.
    #[error("expected runs with the same {what}, found `{one}` and `{other}`")]
    Differ {
        /// What differs.
        what: &'static str,
        /// In the first record.
        one: String,
        /// In another one.
        other: String,
    },
    /// A run that was killed or stopped.
    #[error("the run of shard {shard} did not come to its end: run it again")]
    Unfinished {
        /// The shard.
        shard: String,
    },
    /// A case with two verdicts.
    #[error("expected each case once, found two verdicts of `{0}`")]
    Twice(String),
    /// Cases without a verdict.
    #[error("expected {planned} cases, found {found}: some are missing")]
    Missing {
        /// Cases of the whole plan.
        planned: usize,
        /// Cases with a verdict.
        found: usize,
    },
}

/// Writes one record of all shards. Each is opened twice: for what it says of the run as a whole, and for its
/// cases.
pub fn merge<'a>(
    shards: &[impl Fn() -> io::Result<RecordReader<'a>>],
    mut tell: impl FnMut(Event) -> io::Result<()>,
) -> Result<(), MergeError> {
    let wrong = |number| move |error| MergeError::Record { number, error: Box::new(error) };
    let mut parts = Vec::new();
    for (shard, number) in shards.iter().zip(1..) {
        parts.push(Part::read(shard().map_err(ReadError::Io)).map_err(wrong(number))?);
    }
    check(&parts)?;
    let mut totals = Totals::default();
    for event in beginning(&parts)? {
        match &event {
            Event::RunStarted(start) => totals.start(start),
            Event::Clause(clause) => totals.clause(clause),
            _ => {}
        }
        tell(event).map_err(MergeError::Write)?;
    }
    let mut cases = Vec::new();
    for (shard, number) in shards.iter().zip(1..) {
        let record = shard().map_err(|error| wrong(number)(ReadError::Io(error).into()))?;
        cases.push(Cases { number, record, next: None });
    }
    let numberings = Numbering::of(parts.iter().map(|part| (part.summary.start(), part.sent.as_slice())));
    cases.iter_mut().try_for_each(Cases::advance)?;
    let finish = parts.first().and_then(|part| part.summary.finish());
    let mut stopwatch = Stopwatch::new(finish.and_then(|finish| finish.times.slow_ms));
    while let Some((part, mut case)) = next_case(&mut cases)? {
        numberings[part].apply(&mut case);
        stopwatch.add(&case.exchanges);
        let clause = case.verdict.as_ref().and_then(|one| Some((one, parts[0].summary.clause(&one.clause)?)));
        if let Some((verdict, clause)) = clause {
            totals.add(verdict, clause.strength);
        }
        case.into_events().try_for_each(&mut tell).map_err(MergeError::Write)?;
    }
    let events = end(&parts, &numberings, totals, stopwatch.finish());
    events.into_iter().try_for_each(tell).map_err(MergeError::Write)
}

/// What one shard says of the run as a whole.
struct Part {
    summary: RunSummary,
    /// Its profile, the document, then the clauses and case files by id.
    texts: BTreeMap<(u8, String), Event>,
    checks: Vec<AnswerCheck>,
    sent: Vec<Sent>,
}

impl Part {
    fn read(record: Result<RecordReader<'_>, ReadError>) -> Result<Self, ReportsError> {
        let (mut builder, mut texts, mut checks) = (SummaryBuilder::default(), BTreeMap::new(), Vec::new());
        let mut sent = Vec::new();
        for entry in record? {
            let entry = entry?;
            builder.add(&entry)?;
            let event = match entry {
                Entry::Case(case) => {
                    sent.extend(case.exchanges.iter().map(Sent::of));
                    continue;
                }
                Entry::Run(event) => event,
            };
            let key = match &event {
                Event::Profile(_) => (0, String::new()),
                // Before the clauses, whose ids are not empty.
                Event::Document(_) => (1, String::new()),
                Event::Clause(clause) => (1, clause.id.clone()),
                Event::Source(source) => (2, source.file.clone()),
                Event::AnswerChecks(found) => {
                    checks.clone_from(&found.checks);
                    continue;
                }
                _ => continue,
            };
            texts.insert(key, event);
        }
        Ok(Self { summary: builder.finish()?, texts, checks, sent })
    }
}

/// Whether these are all parts of one run, each at its end.
fn check(parts: &[Part]) -> Result<(), MergeError> {
    let mut numbers = Vec::new();
    for (part, number) in parts.iter().zip(1..) {
        let shard = part.summary.start().shard.as_deref().and_then(|shard| shard.split_once('/'));
        let shard =
            shard.and_then(|(number, of)| Some((number.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
        numbers.push(shard.ok_or(MergeError::NoShard { number })?);
    }
    let (Some(first), Some((_, of))) = (parts.first(), numbers.first().copied()) else {
        return Err(MergeError::NoShard { number: 1 });
    };
    let first = first.summary.start();
    for (part, (_, other)) in parts.iter().zip(&numbers) {
        let start = part.summary.start();
        let same = [
            ("number of shards", of.to_string(), other.to_string()),
            ("suite", first.suite_sha256.clone(), start.suite_sha256.clone()),
            ("document", first.document_sha256.clone(), start.document_sha256.clone()),
            ("version of xs2aspec", first.tool.clone(), start.tool.clone()),
            ("target", first.target.clone(), start.target.clone()),
            ("address of the target", address(first), address(start)),
            ("levels", levels(first), levels(start)),
            ("profile", first.profile_sha256.clone(), start.profile_sha256.clone()),
            ("fault", format!("{:?}", first.fault), format!("{:?}", start.fault)),
            ("variations", first.variations.join(", "), start.variations.join(", ")),
            ("waivers", waivers(first), waivers(start)),
            ("depth", first.depth.clone(), start.depth.clone()),
            ("number of requests", format!("{:?}", first.requests), format!("{:?}", start.requests)),
            (
                "patterns",
                format!("{:?} {:?}", first.only, first.skip),
                format!("{:?} {:?}", start.only, start.skip),
            ),
            ("plan", format!("{:?}", first.planned), format!("{:?}", start.planned)),
        ];
        let differs = same.into_iter().find(|(_, one, other)| one != other);
        if let Some((what, one, other)) = differs.or_else(|| other_value(&parts[0], part)) {
            return Err(MergeError::Differ { what, one, other });
        }
    }
    for number in 1..=of {
        let found = numbers.iter().filter(|(shard, _)| *shard == number).count();
        if found != 1 {
            return Err(MergeError::Shards { number, found, of });
        }
    }
    for part in parts {
        if part.summary.finish().is_none_or(|finish| finish.stopped_early) {
            let shard = part.summary.start().shard.clone().unwrap_or_default();
            return Err(MergeError::Unfinished { shard });
        }
    }
    Ok(())
}

/// Returns a value of the profile that differs between two parts with one mask key. Parts with a common
/// pseudonym have one key. Values that different keys masked cannot be compared.
fn other_value(one: &Part, other: &Part) -> Option<(&'static str, String, String)> {
    let (one, other) = (&one.summary.profile()?.values, &other.summary.profile()?.values);
    // Of the values that are not masked only a URL may have a tilde.
    let is_pseudonym = |text: &String| text.contains('~') && !text.contains('/');
    let has_one_key = one.iter().any(|(name, text)| is_pseudonym(text) && other.get(name) == Some(text));
    let differs = one.iter().find(|(name, text)| is_pseudonym(text) && other.get(*name) != Some(*text));
    let (name, text) = differs.filter(|_| has_one_key)?;
    let shown = |text: &str| format!("{name} = {text}");
    Some(("profile values", shown(text), shown(other.get(name).map_or("", String::as_str))))
}

/// The address that somebody named. The built-in bank has another one in each shard.
fn address(start: &RunStarted) -> String {
    start.named_address().unwrap_or("that of the built-in bank").to_owned()
}

/// The digest of the waivers.
fn waivers(start: &RunStarted) -> String {
    start.waivers_sha256.clone().unwrap_or_else(|| "none".to_owned())
}

/// The levels that somebody gave, in one line.
fn levels(start: &RunStarted) -> String {
    let rules = start.levels.iter().map(|rule| format!("{} {}", rule.level.word(), rule.pattern));
    rules.collect::<Vec<_>>().join(", ")
}

/// The events before the cases.
fn beginning(parts: &[Part]) -> Result<Vec<Event>, MergeError> {
    let starts = || parts.iter().map(|part| part.summary.start());
    let first = starts().next().ok_or(MergeError::NoShard { number: 1 })?;
    let planned = first.planned.unwrap_or_default();
    let found = parts.iter().map(|part| part.summary.totals().counts().total()).sum();
    // More of them are found where two shards have the same case.
    if found < planned {
        return Err(MergeError::Missing { planned, found });
    }
    let started = RunStarted {
        cases: planned,
        said_by_name: parts.iter().map(|part| part.summary.said_by_name()).sum(),
        planned: None,
        shard: None,
        now: starts().map(|start| start.now.clone()).min().unwrap_or_default(),
        ..first.clone()
    };
    let texts: BTreeMap<_, _> = parts.iter().flat_map(|part| &part.texts).collect();
    Ok([Event::RunStarted(started)].into_iter().chain(texts.into_values().cloned()).collect())
}

/// The cases of one shard, in the order of their ids.
struct Cases<'a> {
    number: usize,
    record: RecordReader<'a>,
    next: Option<CaseEvents>,
}

impl Cases<'_> {
    /// Goes on to the next case with a verdict.
    fn advance(&mut self) -> Result<(), MergeError> {
        self.next = None;
        while self.next.is_none()
            && let Some(entry) = self.record.next()
        {
            match entry {
                Ok(Entry::Case(case)) => self.next = Some(case).filter(|case| case.verdict.is_some()),
                Ok(Entry::Run(_)) => {}
                Err(error) => {
                    return Err(MergeError::Record { number: self.number, error: Box::new(error.into()) });
                }
            }
        }
        Ok(())
    }
}

/// Returns the next case of all shards, with the position of its shard. A control runs in each shard that
/// needs it. Of those, the merged record has the selected one, or else the first.
fn next_case(shards: &mut [Cases<'_>]) -> Result<Option<(usize, CaseEvents)>, MergeError> {
    let Some(id) = shards.iter().filter_map(|shard| shard.next.as_ref()).map(|case| case.case.clone()).min()
    else {
        return Ok(None);
    };
    let is_selected =
        |case: &CaseEvents| case.verdict.as_ref().is_some_and(|verdict| verdict.role == Role::Selected);
    let mut kept: Option<(usize, CaseEvents)> = None;
    for (at, shard) in shards.iter_mut().enumerate() {
        let Some(case) = shard.next.take_if(|case| case.case == id) else { continue };
        shard.advance()?;
        match &kept {
            Some((_, known)) if is_selected(known) && is_selected(&case) => {
                return Err(MergeError::Twice(id));
            }
            Some((_, known)) if is_selected(known) || !is_selected(&case) => {}
            _ => kept = Some((at, case)),
        }
    }
    Ok(kept)
}

/// The events after the cases.
fn end(parts: &[Part], numberings: &[Numbering], mut totals: Totals, times: Times) -> Vec<Event> {
    // Controls are asked in each shard that needs them, so that these may be more than one run has.
    let mut checks = BTreeMap::new();
    parts.iter().flat_map(|part| &part.checks).for_each(|check| check.add_to(&mut checks));
    let checks = AnswerChecks { checks: checks.into_values().collect() };
    checks.checks.iter().for_each(|check| totals.check(check));
    totals.times(&times);
    let mut finished = RunFinished { counts: totals.counts(), times, ..RunFinished::default() };
    for finish in parts.iter().filter_map(|part| part.summary.finish()) {
        finished.exchanges += finish.exchanges;
        finished.retries += finish.retries;
        finished.micros = finished.micros.max(finish.micros);
        for waiver in &finish.waivers {
            let is_same =
                |known: &&mut WaiverSeen| known.place == waiver.place && known.named() == waiver.named();
            match finished.waivers.iter_mut().find(is_same) {
                Some(known) => combine(known, waiver),
                None => finished.waivers.push(waiver.clone()),
            }
        }
    }
    let is_whole = parts.iter().all(|part| part.summary.start().is_whole());
    // What no part of a whole run shows is not there.
    for waiver in
        finished.waivers.iter_mut().filter(|waiver| is_whole && waiver.state == WaiverState::NotAsked)
    {
        if !waiver.findings.is_empty() {
            waiver.state = WaiverState::Unmatched;
        } else if !waiver.cases.is_empty() {
            waiver.state = WaiverState::Passing;
        }
    }
    finished.exit = Exit::with(&totals, &finished.waivers).code();
    let parts = parts.iter().zip(numberings);
    let again = parts.flat_map(|(part, numbering)| numbering.asked_again(part.summary.asked_again()));
    again.chain([Event::AnswerChecks(checks), Event::RunFinished(finished)]).collect()
}

/// Adds what has come of a waiver in another shard: what is in force in one is in force.
fn combine(known: &mut WaiverSeen, other: &WaiverSeen) {
    let rank = |state: WaiverState| match state {
        WaiverState::Expired => 4,
        WaiverState::InForce => 3,
        WaiverState::Passing => 2,
        WaiverState::NotAsked => 1,
        WaiverState::Unmatched => 0,
    };
    if rank(other.state) > rank(known.state) {
        known.state = other.state;
        known.cases.clone_from(&other.cases);
    } else if other.state == known.state {
        known.cases.extend(other.cases.iter().cloned());
    }
}
