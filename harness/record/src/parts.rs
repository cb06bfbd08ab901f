//! Reads the concatenated records of the shards of a run as one run.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::{
    case_events::CaseEvents,
    clauses::{AnswerCheck, AnswerChecks},
    digest::sha256,
    event::{Event, RunFinished, RunStarted, TargetProfile},
    exit::Exit,
    stopwatch::Stopwatch,
    totals::Totals,
    verdict::{Role, Strength},
    waiver::{WaiverSeen, WaiverState},
};

/// An error in a set of records that should be all shards of one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// A shard is missing or occurs twice.
    #[error("expected one record of each of {of} shards, found {found} of shard {number}")]
    Shards {
        /// Number of the shard, from 1.
        number: u32,
        /// Number of records of this shard.
        found: usize,
        /// Number of shards.
        of: u32,
    },
    /// Two records differ in a property that all shards must share.
    #[error("expected runs with the same {what}, found `{one}` and `{other}`")]
    Differ {
        /// The property that differs.
        what: &'static str,
        /// Its value in the first record.
        one: String,
        /// Its value in another record.
        other: String,
    },
    /// A selected case has two verdicts.
    #[error("expected each case once, found two verdicts of `{0}`")]
    Twice(String),
}

/// The parts of a record, each from `run-started` to `run-finished`, combined into the events of one run.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The start of the combined run.
    start: RunStarted,
    /// Delay of each part after the earliest one, in microseconds.
    later: Vec<u64>,
    /// The closing events of all parts.
    ends: Vec<Event>,
    /// Number of parts that were started so far.
    begun: usize,
    /// The profile of the first part.
    profile: Option<TargetProfile>,
    /// Digests of the lines before the cases.
    introduced: HashSet<String>,
    strengths: HashMap<String, Strength>,
    totals: Totals,
    stopwatch: Stopwatch,
}

impl Parts {
    /// Combines parts with these starts and closing events.
    pub(crate) fn new(starts: &[RunStarted], ends: Vec<Event>) -> Result<Self, PartsError> {
        check(starts)?;
        let moments = || starts.iter().map(|start| start.now.parse::<DateTime<Utc>>().unwrap_or_default());
        let first = moments().min().unwrap_or_default();
        let later =
            moments().map(|now| (now - first).num_microseconds().and_then(|late| late.try_into().ok()));
        let slow_ms = ends.iter().find_map(|event| match event {
            Event::RunFinished(finish) => finish.times.slow_ms,
            _ => None,
        });
        let start = RunStarted {
            cases: starts[0].planned.unwrap_or_default(),
            said_by_name: starts.iter().map(|start| start.said_by_name).sum(),
            planned: None,
            shard: None,
            now: starts.iter().map(|start| start.now.clone()).min().unwrap_or_default(),
            ..starts[0].clone()
        };
        let mut totals = Totals::default();
        totals.start(&start);
        Ok(Self {
            start,
            later: later.map(Option::unwrap_or_default).collect(),
            ends,
            begun: 0,
            profile: None,
            introduced: HashSet::new(),
            strengths: HashMap::new(),
            totals,
            stopwatch: Stopwatch::new(slow_ms),
        })
    }

    /// Adds the next event before the cases, parsed from `line`. Returns it unless an earlier part contained
    /// it. The profile returned is that of the last part.
    pub(crate) fn introduce(&mut self, event: Event, line: &[u8]) -> Result<Option<Event>, PartsError> {
        let is_new = self.introduced.insert(sha256(line));
        match &event {
            Event::RunStarted(_) => {
                self.begun += 1;
                return Ok((self.begun == 1).then(|| Event::RunStarted(self.start.clone())));
            }
            Event::Profile(profile) => {
                let first = self.profile.get_or_insert_with(|| profile.clone());
                let is_last = self.begun == self.later.len();
                return other_value(first, profile).map_or(Ok(Some(event).filter(|_| is_last)), Err);
            }
            Event::Clause(clause) if is_new => {
                self.totals.clause(clause);
                self.strengths.insert(clause.id.clone(), clause.strength);
            }
            _ => {}
        }
        Ok(Some(event).filter(|_| is_new))
    }

    /// Returns one of the runs of a case, given by part. A control runs in each shard that needs it. A
    /// selected run takes precedence, then the first.
    pub(crate) fn case(
        &mut self,
        runs: BTreeMap<usize, CaseEvents>,
    ) -> Result<Option<CaseEvents>, PartsError> {
        let is_selected =
            |case: &CaseEvents| case.verdict.as_ref().map(|verdict| verdict.role == Role::Selected);
        if let Some(twice) = runs.values().filter(|case| is_selected(case) == Some(true)).nth(1) {
            return Err(PartsError::Twice(twice.case.clone()));
        }
        let kept = runs.into_iter().rev().max_by_key(|(_, case)| is_selected(case));
        Ok(kept.map(|(part, mut case)| {
            for exchange in &mut case.exchanges {
                exchange.at = exchange.at.saturating_add(self.later[part]);
            }
            self.stopwatch.add(&case.exchanges);
            if let Some(verdict) = &case.verdict
                && let Some(strength) = self.strengths.get(&verdict.clause)
            {
                self.totals.add(verdict, *strength);
            }
            case
        }))
    }

    /// Returns the events after the cases. The run has no end if a part has none.
    pub(crate) fn end(mut self) -> Vec<Event> {
        let (mut again, mut checks) = (Vec::new(), BTreeMap::new());
        let (mut finished, mut parts) = (RunFinished::default(), 0);
        for event in self.ends {
            match event {
                Event::AskedAlone(_) | Event::RefusedSince(_) | Event::Located(_) => again.push(event),
                // The sums may exceed those of a single run because each shard sends the controls that it
                // needs.
                Event::AnswerChecks(part) => part.checks.iter().for_each(|check| check.add_to(&mut checks)),
                Event::RunFinished(part) => {
                    parts += 1;
                    add(&mut finished, part);
                }
                _ => {}
            }
        }
        let checks: Vec<AnswerCheck> =
            checks.into_values().inspect(|check| self.totals.check(check)).collect();
        // A finding that no part of a whole run shows does not exist.
        for waiver in &mut finished.waivers {
            waiver.state = match waiver.state {
                WaiverState::NotAsked if !self.start.is_whole() => WaiverState::NotAsked,
                WaiverState::NotAsked if !waiver.findings.is_empty() => WaiverState::Unmatched,
                WaiverState::NotAsked if !waiver.cases.is_empty() => WaiverState::Passing,
                state => state,
            };
        }
        finished.times = self.stopwatch.finish();
        self.totals.times(&finished.times);
        finished.counts = self.totals.counts();
        let is_complete = !finished.stopped_early && finished.counts.total() == self.start.cases;
        let exit = Exit::with(&self.totals, &finished.waivers);
        let exit = if exit == Exit::Conforms && !is_complete { Exit::CouldNotTell } else { exit };
        finished.exit = exit.code();
        let finished = Some(finished).filter(|_| parts == self.later.len()).map(Event::RunFinished);
        again.into_iter().chain([Event::AnswerChecks(AnswerChecks { checks })]).chain(finished).collect()
    }
}

/// Formats one property of the start of a run.
type Said = fn(&RunStarted) -> String;

/// The properties that all parts of a run must share.
const SAME: [(&str, Said); 15] = [
    ("number of shards", |start| start.part().unwrap_or_default().1.to_string()),
    ("suite", |start| start.suite_sha256.clone()),
    ("document", |start| start.document_sha256.clone()),
    ("version of xs2aspec", |start| start.tool.clone()),
    ("target", |start| start.target.clone()),
    // The reference bank has another address in each shard.
    ("target address", |start| start.named_address().unwrap_or("that of the reference bank").to_owned()),
    ("levels", |start| {
        let rules = start.levels.iter().map(|rule| format!("{} {}", rule.level.word(), rule.pattern));
        rules.collect::<Vec<_>>().join(", ")
    }),
    ("profile", |start| start.profile_sha256.clone()),
    ("fault", |start| format!("{:?}", start.fault)),
    ("variations", |start| start.variations.join(", ")),
    ("waivers", |start| start.waivers_sha256.clone().unwrap_or_else(|| "none".to_owned())),
    ("depth", |start| start.depth.clone()),
    ("number of requests", |start| format!("{:?}", start.requests)),
    ("patterns", |start| format!("{:?} {:?}", start.only, start.skip)),
    ("plan", |start| format!("{:?}", start.planned)),
];

/// Returns an error unless these are the starts of all parts of one run.
fn check(starts: &[RunStarted]) -> Result<(), PartsError> {
    let first = &starts[0];
    for (start, (what, of)) in starts.iter().flat_map(|start| SAME.map(|same| (start, same))) {
        let (one, other) = (of(first), of(start));
        if one != other {
            return Err(PartsError::Differ { what, one, other });
        }
    }
    let (_, of) = first.part().unwrap_or_default();
    let mut numbers = BTreeMap::new();
    for (number, _) in starts.iter().filter_map(RunStarted::part) {
        *numbers.entry(number).or_default() += 1;
    }
    for number in 1..=of.max(1) {
        let found = numbers.get(&number).copied().unwrap_or_default();
        if found != 1 {
            return Err(PartsError::Shards { number, found, of });
        }
    }
    Ok(())
}

/// Returns an error if a profile value differs between two parts that share a mask key. Parts that share a
/// pseudonym share a key. Values masked with different keys cannot be compared.
fn other_value(one: &TargetProfile, other: &TargetProfile) -> Option<PartsError> {
    let (one, other) = (&one.values, &other.values);
    // Among unmasked values, only a URL may contain a tilde.
    let is_pseudonym = |text: &String| text.contains('~') && !text.contains('/');
    let has_one_key = one.iter().any(|(name, text)| is_pseudonym(text) && other.get(name) == Some(text));
    let differs = one.iter().find(|(name, text)| is_pseudonym(text) && other.get(*name) != Some(*text));
    let (name, text) = differs.filter(|_| has_one_key)?;
    let shown = |text: &str| format!("{name} = {text}");
    let other = shown(other.get(name).map_or("", String::as_str));
    Some(PartsError::Differ { what: "profile values", one: shown(text), other })
}

/// Adds the end of a part to that of the run.
fn add(finished: &mut RunFinished, part: RunFinished) {
    finished.exchanges += part.exchanges;
    finished.retries += part.retries;
    finished.micros = finished.micros.max(part.micros);
    finished.stopped_early |= part.stopped_early;
    for waiver in part.waivers {
        let is_same =
            |known: &&mut WaiverSeen| known.place == waiver.place && known.named() == waiver.named();
        match finished.waivers.iter_mut().find(is_same) {
            Some(known) => combine(known, waiver),
            None => finished.waivers.push(waiver),
        }
    }
}

/// Combines the state of a waiver with that from another part. A waiver that is in force in one part is in
/// force.
fn combine(known: &mut WaiverSeen, other: WaiverSeen) {
    if other.state > known.state {
        known.state = other.state;
        known.cases = other.cases;
    } else if other.state == known.state {
        known.cases.extend(other.cases);
    }
}

#[cfg(test)]
mod tests;
