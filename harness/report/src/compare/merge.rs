//! The records of shards as one record, once it is sure that they are the parts of one run and that none is missing.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{
    AnswerCheck, AnswerChecks, CaseVerdict, Event, Exit, Role, RunFinished, RunStarted, Strength, Totals,
    WaiverSeen, WaiverState, settled,
};

/// Why records are not the parts of one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// No record, or one that is not of a shard.
    #[error("record {number} of those given is not of a shard: `run --shard K/N` makes those")]
    NoShard {
        /// Which record, from 1.
        number: usize,
    },
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

/// One record of all shards.
pub fn merge(records: &[Vec<Event>]) -> Result<Vec<Event>, MergeError> {
    let starts = starts(records)?;
    let first = starts[0];
    let mut merged = Merged::default();
    for (start, record) in starts.iter().zip(records) {
        merged.add(start, record)?;
    }
    let verdicts: Vec<&CaseVerdict> =
        merged.verdicts.values().filter(|one| one.role == Role::Selected).collect();
    let planned = first.planned.unwrap_or_default();
    if verdicts.len() != planned {
        return Err(MergeError::Missing { planned, found: verdicts.len() });
    }
    let said_by_name = verdicts.iter().filter(|verdict| verdict.same_as.is_some()).count();
    let mut totals = Totals::default();
    for text in merged.texts.values() {
        if let Event::Clause(clause) = text {
            totals.clause(clause);
        }
    }
    for verdict in merged.verdicts.values() {
        let strength = merged.strengths.get(&verdict.clause).copied().unwrap_or(Strength::Untestable);
        totals.add(verdict, strength);
    }
    let checks = AnswerChecks { checks: merged.checks.into_values().collect() };
    checks.checks.iter().for_each(|check| totals.check(check));
    let finished = RunFinished {
        counts: totals.counts(),
        exchanges: merged.exchanges,
        asked_again: merged.asked_again,
        retries: merged.retries,
        micros: merged.micros,
        stopped_early: false,
        exit: Exit::with(&totals, &merged.waivers).code(),
        waivers: merged.waivers,
    };
    let now = starts.iter().map(|start| start.now.clone()).min().unwrap_or_default();
    let started =
        RunStarted { cases: planned, said_by_name, planned: None, shard: None, now, ..first.clone() };
    let mut events = vec![Event::RunStarted(started)];
    events.extend(merged.texts.into_values());
    events.extend(merged.sent);
    events.extend(merged.verdicts.into_values().map(Event::Verdict));
    events.push(Event::AnswerChecks(checks));
    events.push(Event::RunFinished(finished));
    Ok(settled(events))
}

/// The beginnings of all records, which are those of all parts of one run.
fn starts(records: &[Vec<Event>]) -> Result<Vec<&RunStarted>, MergeError> {
    let mut starts = Vec::new();
    let mut shards = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let Some(Event::RunStarted(start)) = record.first() else {
            return Err(MergeError::NoShard { number: number + 1 });
        };
        let shard = start.shard.as_deref().and_then(|shard| shard.split_once('/'));
        let shard =
            shard.and_then(|(number, of)| Some((number.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
        shards.push(shard.ok_or(MergeError::NoShard { number: number + 1 })?);
        starts.push(start);
    }
    let (first, of) = match (starts.first(), shards.first()) {
        (Some(first), Some((_, of))) => (*first, *of),
        _ => return Err(MergeError::NoShard { number: 1 }),
    };
    for (start, (_, other)) in starts.iter().zip(&shards) {
        let same = [
            ("number of shards", of.to_string(), other.to_string()),
            ("suite", first.suite_sha256.clone(), start.suite_sha256.clone()),
            ("document", first.document_sha256.clone(), start.document_sha256.clone()),
            ("version of xs2aspec", first.tool.clone(), start.tool.clone()),
            ("target", first.target.clone(), start.target.clone()),
            ("profile", first.profile_sha256.clone(), start.profile_sha256.clone()),
            ("fault", format!("{:?}", first.fault), format!("{:?}", start.fault)),
            ("seed", first.seed.to_string(), start.seed.to_string()),
            ("depth", first.depth.clone(), start.depth.clone()),
            (
                "patterns",
                format!("{:?} {:?}", first.only, first.skip),
                format!("{:?} {:?}", start.only, start.skip),
            ),
            ("plan", format!("{:?}", first.planned), format!("{:?}", start.planned)),
        ];
        if let Some((what, one, other)) = same.into_iter().find(|(_, one, other)| one != other) {
            return Err(MergeError::Differ { what, one, other });
        }
    }
    for number in 1..=of {
        let found = shards.iter().filter(|(shard, _)| *shard == number).count();
        if found != 1 {
            return Err(MergeError::Shards { number, found, of });
        }
    }
    Ok(starts)
}

#[derive(Default)]
struct Merged {
    /// Clauses and sources, by kind and id.
    texts: BTreeMap<(u8, String), Event>,
    strengths: BTreeMap<String, Strength>,
    sent: Vec<Event>,
    verdicts: BTreeMap<String, CaseVerdict>,
    /// Checks on answers by clause. Controls are asked in each shard that needs them, so that these may be more than one run has.
    checks: BTreeMap<String, AnswerCheck>,
    waivers: Vec<WaiverSeen>,
    exchanges: u64,
    asked_again: u64,
    retries: u64,
    micros: u64,
}

impl Merged {
    fn add(&mut self, start: &RunStarted, record: &[Event]) -> Result<(), MergeError> {
        let Some(Event::RunFinished(finish)) = record.last().filter(|_| !stopped(record)) else {
            return Err(MergeError::Unfinished { shard: start.shard.clone().unwrap_or_default() });
        };
        // A control runs in each shard that needs it, and is told once: where it was asked for, else where it came first.
        let mut kept = BTreeSet::new();
        for event in record {
            let Event::Verdict(verdict) = event else { continue };
            match self.verdicts.get(&verdict.case).map(|known| known.role) {
                Some(Role::Selected) if verdict.role == Role::Selected => {
                    return Err(MergeError::Twice(verdict.case.clone()));
                }
                Some(Role::Selected) => {}
                Some(Role::Control) if verdict.role == Role::Control => {}
                known => {
                    if known.is_some() {
                        self.sent.retain(
                            |event| !matches!(event, Event::Exchange(sent) if sent.case == verdict.case),
                        );
                    }
                    let mut verdict = verdict.clone();
                    verdict.exchange = verdict.exchange.map(|number| number + self.exchanges);
                    kept.insert(verdict.case.clone());
                    self.verdicts.insert(verdict.case.clone(), verdict);
                }
            }
        }
        for event in record {
            match event {
                Event::Profile(_) => drop(self.texts.insert((2, String::new()), event.clone())),
                Event::Clause(clause) => {
                    self.strengths.insert(clause.id.clone(), clause.strength);
                    self.texts.insert((0, clause.id.clone()), event.clone());
                }
                Event::Source(source) => drop(self.texts.insert((1, source.file.clone()), event.clone())),
                Event::Exchange(exchange) if kept.contains(&exchange.case) => {
                    let mut exchange = exchange.clone();
                    exchange.number += self.exchanges;
                    self.sent.push(Event::Exchange(exchange));
                }
                Event::AnswerChecks(checks) => {
                    checks.checks.iter().for_each(|check| check.add_to(&mut self.checks));
                }
                _ => {}
            }
        }
        for waiver in &finish.waivers {
            match self
                .waivers
                .iter_mut()
                .find(|known| known.place == waiver.place && known.pattern == waiver.pattern)
            {
                Some(known) => combine(known, waiver),
                None => self.waivers.push(waiver.clone()),
            }
        }
        self.exchanges += finish.exchanges;
        self.asked_again += finish.asked_again;
        self.retries += finish.retries;
        self.micros = self.micros.max(finish.micros);
        Ok(())
    }
}

fn stopped(record: &[Event]) -> bool {
    !matches!(record.last(), Some(Event::RunFinished(finish)) if !finish.stopped_early)
}

/// What has come of a waiver in two shards: what is red in one is red, and what is in force in one is in force.
fn combine(known: &mut WaiverSeen, other: &WaiverSeen) {
    let rank = |state: WaiverState| match state {
        WaiverState::Expired => 4,
        WaiverState::Passing => 3,
        WaiverState::InForce => 2,
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
