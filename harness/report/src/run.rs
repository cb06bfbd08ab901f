//! The events of a record, indexed. Every report is drawn from a [`Run`] and from nothing else.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use xs2aspec_record::{
    CaseVerdict, Changes, ClauseText, Counts, Event, Exchange, Exit, Finding, Ledger, Resumed, Role,
    RunFinished, RunStarted, Strength, TargetProfile, Verdict, WaiverSeen,
};

/// A run, as its record tells it. Verdicts come in the order of case ids, whatever the order in which cases ended.
#[derive(Debug)]
pub struct Run<'a> {
    start: &'a RunStarted,
    clauses: BTreeMap<&'a str, &'a ClauseText>,
    sources: BTreeMap<&'a str, &'a str>,
    exchanges: BTreeMap<u64, &'a Exchange>,
    by_case: BTreeMap<&'a str, BTreeSet<u64>>,
    verdicts: BTreeMap<&'a str, &'a CaseVerdict>,
    ledger: Ledger,
    profile: Option<&'a TargetProfile>,
    resumed: Vec<&'a Resumed>,
    changes: Option<&'a Changes>,
    finish: Option<&'a RunFinished>,
}

/// Why events are no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// No `run-started` at the beginning.
    #[error("expected `run-started` as the first event, found {found}")]
    NoStart {
        /// What is there instead.
        found: &'static str,
    },
    /// A second `run-started`, or anything after `run-finished`.
    #[error("expected no `{found}` here: it is event {number} of the record")]
    Misplaced {
        /// Kind of the event.
        found: &'static str,
        /// Its number, from 1.
        number: usize,
    },
    /// A clause, source, exchange or verdict that was there before.
    #[error("expected one {what} `{id}`, found two")]
    Twice {
        /// `clause`, `source`, `exchange` or `verdict of`.
        what: &'static str,
        /// Id, file or number.
        id: String,
    },
    /// A case of a clause that the record does not carry, so that its strength is unknown.
    #[error("expected the record to carry the clause `{clause}` of the case `{case}`, found none")]
    UnknownClause {
        /// The clause.
        clause: String,
        /// The case.
        case: String,
    },
    /// The counts of `run-finished` are not those of the verdicts: events were lost or edited.
    #[error("expected the verdicts that `run-finished` counts ({}), found {}", words(.counted), words(.found))]
    Counts {
        /// Counts of `run-finished`.
        counted: Counts,
        /// Counts of the verdicts.
        found: Counts,
    },
}

impl<'a> Run<'a> {
    /// Indexes the events of a record. A run that was killed has no `run-finished`; it is read all the same.
    pub fn of(events: &'a [Event]) -> Result<Self, RunError> {
        let start = match events.first() {
            Some(Event::RunStarted(start)) => start,
            Some(other) => return Err(RunError::NoStart { found: kind(other) }),
            None => return Err(RunError::NoStart { found: "no event" }),
        };
        let mut run = Self {
            start,
            clauses: BTreeMap::new(),
            sources: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            by_case: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            ledger: Ledger::default(),
            profile: None,
            resumed: Vec::new(),
            changes: None,
            finish: None,
        };
        for (number, event) in events.iter().enumerate().skip(1) {
            if run.finish.is_some() {
                return Err(RunError::Misplaced { found: kind(event), number: number + 1 });
            }
            match event {
                Event::RunStarted(_) => {
                    return Err(RunError::Misplaced { found: kind(event), number: number + 1 });
                }
                Event::Clause(clause) => once("clause", &mut run.clauses, clause.id.as_str(), clause)?,
                Event::Source(source) => {
                    once("source", &mut run.sources, source.file.as_str(), source.text.as_str())?;
                }
                Event::Exchange(exchange) => {
                    once("exchange", &mut run.exchanges, exchange.number, exchange)?;
                    run.by_case.entry(exchange.case.as_str()).or_default().insert(exchange.number);
                }
                Event::Verdict(verdict) => {
                    once("verdict of", &mut run.verdicts, verdict.case.as_str(), verdict)?;
                }
                Event::Profile(_) if run.profile.is_some() => {
                    return Err(RunError::Misplaced { found: kind(event), number: number + 1 });
                }
                Event::Profile(profile) => run.profile = Some(profile),
                Event::Resumed(resumed) => run.resumed.push(resumed),
                Event::Changes(changes) => run.changes = Some(changes),
                Event::RunFinished(finish) => run.finish = Some(finish),
            }
        }
        run.count()?;
        Ok(run)
    }

    /// What was run, against what.
    pub fn start(&self) -> &'a RunStarted {
        self.start
    }

    /// How the run ended; `None` if it was killed.
    pub fn finish(&self) -> Option<&'a RunFinished> {
        self.finish
    }

    /// How the target was asked and judged, if the record says so.
    pub fn profile(&self) -> Option<&'a TargetProfile> {
        self.profile
    }

    /// Where the run was interrupted and went on.
    pub fn resumed(&self) -> &[&'a Resumed] {
        &self.resumed
    }

    /// What differs from the run that it was compared with, if it was.
    pub fn changes(&self) -> Option<&'a Changes> {
        self.changes
    }

    /// A clause, by id.
    pub fn clause(&self, id: &str) -> Option<&'a ClauseText> {
        self.clauses.get(id).copied()
    }

    /// Every clause of the record, by id.
    pub fn clauses(&self) -> impl Iterator<Item = &'a ClauseText> {
        self.clauses.values().copied()
    }

    /// The exchanges of a case, in the order in which they were sent.
    pub fn exchanges_of(&self, case: &str) -> Vec<&'a Exchange> {
        self.by_case.get(case).into_iter().flatten().filter_map(|number| self.exchange(*number)).collect()
    }

    /// Strength of a case's clause.
    pub fn strength(&self, verdict: &CaseVerdict) -> Strength {
        // `of` refuses a verdict without its clause.
        self.clause(&verdict.clause).map_or(Strength::Untestable, |clause| clause.strength)
    }

    /// Text of a case file, by the path of [`xs2aspec_record::Place::file`].
    pub fn source(&self, file: &str) -> Option<&'a str> {
        self.sources.get(file).copied()
    }

    /// An exchange, by number.
    pub fn exchange(&self, number: u64) -> Option<&'a Exchange> {
        self.exchanges.get(&number).copied()
    }

    /// How many exchanges took place: as `run-finished` says it, else as many as were written.
    pub fn exchanges(&self) -> u64 {
        let written = u64::try_from(self.exchanges.len()).unwrap_or(u64::MAX);
        self.finish.map_or(written, |finish| finish.exchanges)
    }

    /// Every verdict, those of controls included.
    pub fn verdicts(&self) -> impl Iterator<Item = &'a CaseVerdict> {
        self.verdicts.values().copied()
    }

    /// Verdicts of the selected cases: those that count.
    pub fn selected(&self) -> impl Iterator<Item = &'a CaseVerdict> {
        self.verdicts().filter(|verdict| verdict.role == Role::Selected)
    }

    /// Selected cases with this verdict.
    pub fn with(&self, word: Verdict) -> impl Iterator<Item = &'a CaseVerdict> {
        self.selected().filter(move |verdict| verdict.verdict == word)
    }

    /// Selected cases with this verdict, by their reason; the most frequent reason first.
    pub fn by_reason(&self, word: Verdict) -> Vec<(&'a str, Vec<&'a CaseVerdict>)> {
        let mut groups: BTreeMap<&str, Vec<&CaseVerdict>> = BTreeMap::new();
        for verdict in self.with(word) {
            groups.entry(reason(verdict)).or_default().push(verdict);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
        groups
    }

    /// The one count of verdicts, controls apart.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether every selected case has a verdict and the run came to its end.
    pub fn complete(&self) -> bool {
        self.finish.is_some_and(|finish| !finish.stopped_early)
            && self.ledger.counts().total() == self.start.cases
    }

    /// What the run comes to. A run that is not complete never conforms: the missing cases could not be judged.
    pub fn exit(&self) -> Exit {
        match Exit::with(&self.ledger, self.waivers()) {
            Exit::Conforms if !self.complete() => Exit::CouldNotTell,
            exit => exit,
        }
    }

    /// The waivers of the run, and what has come of them.
    pub fn waivers(&self) -> &'a [WaiverSeen] {
        self.finish.map_or(&[], |finish| &finish.waivers)
    }

    /// The verdict on the whole run, in one sentence; it says so if the run is not complete.
    pub fn conclusion(&self) -> String {
        let exit = Exit::of(&self.ledger);
        if self.complete() && exit != Exit::Violation && self.exit() == Exit::Violation {
            return "does not conform: a waiver does not hold".to_owned();
        }
        if self.complete() {
            return exit.sentence().to_owned();
        }
        let how = match self.finish {
            None => "the run did not finish",
            Some(finish) if finish.stopped_early => "the run stopped early",
            Some(_) => "the run lost cases",
        };
        let rest =
            if exit == Exit::Conforms { "the others could not be told" } else { self.exit().sentence() };
        let done = self.ledger.counts().total();
        format!("{how}, {done} of {} selected cases have a verdict; {rest}", self.start.cases)
    }

    /// Counts the verdicts and holds them against those of `run-finished`.
    fn count(&mut self) -> Result<(), RunError> {
        for (case, verdict) in &self.verdicts {
            let clause = self.clauses.get(verdict.clause.as_str()).ok_or_else(|| {
                RunError::UnknownClause { clause: verdict.clause.clone(), case: (*case).to_owned() }
            })?;
            self.ledger.add(verdict, clause.strength);
        }
        let found = self.ledger.counts();
        match self.finish {
            Some(finish) if finish.counts != found => Err(RunError::Counts { counted: finish.counts, found }),
            _ => Ok(()),
        }
    }
}

/// Why a case has its verdict; a verdict that must have a reason and has none says so.
pub(crate) fn reason(verdict: &CaseVerdict) -> &str {
    verdict.reason.as_deref().unwrap_or("no reason was recorded")
}

/// A finding in words: `expected a refusal (4xx), got 201`, with the place in the answer where that is not the status.
pub(crate) fn mismatch(finding: &Finding) -> String {
    let Finding { expected, actual, at, .. } = finding;
    let words = format!("expected {expected}, got {actual}");
    if at == "status" { words } else { format!("{at}: {words}") }
}

/// Counts in words: `pass 3, fail 1`.
pub(crate) fn words(counts: &Counts) -> String {
    let seen = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let words: Vec<String> =
        seen.map(|verdict| format!("{} {}", verdict.word(), counts.of(verdict))).collect();
    if words.is_empty() { "no verdict".to_owned() } else { words.join(", ") }
}

fn once<K: Ord + ToString, V>(
    what: &'static str,
    map: &mut BTreeMap<K, V>,
    key: K,
    value: V,
) -> Result<(), RunError> {
    match map.entry(key) {
        Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
        Entry::Occupied(entry) => Err(RunError::Twice { what, id: entry.key().to_string() }),
    }
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted(_) => "run-started",
        Event::Profile(_) => "profile",
        Event::Resumed(_) => "resumed",
        Event::Changes(_) => "changes",
        Event::Clause(_) => "clause",
        Event::Source(_) => "source",
        Event::Exchange(_) => "exchange",
        Event::Verdict(_) => "verdict",
        Event::RunFinished(_) => "run-finished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Sample};

    #[test]
    fn order_of_completion_does_not_matter() {
        let events = sample::mixed();
        let mut turned = events.clone();
        let verdicts: Vec<usize> =
            (0..events.len()).filter(|at| matches!(events[*at], Event::Verdict(_))).collect();
        let (first, last) = (verdicts[0], verdicts[verdicts.len() - 1]);
        turned.swap(first, last);
        let order = |events: &[Event]| {
            Run::of(events).unwrap().verdicts().map(|verdict| verdict.case.clone()).collect::<Vec<_>>()
        };
        assert_ne!(events, turned);
        assert_eq!(order(&events), order(&turned));
        assert!(order(&events).is_sorted());
    }

    #[test]
    fn controls_are_kept_and_not_counted() {
        let events = sample::mixed();
        let run = Run::of(&events).unwrap();
        assert_eq!(run.verdicts().count(), run.selected().count() + 1);
        assert_eq!(run.ledger().counts().total(), run.selected().count());
        assert!(run.complete());
        assert_eq!(run.exit(), Exit::Violation);
        assert_eq!(run.conclusion(), Exit::Violation.sentence());
        assert!(run.source("cases/periodic/months-of-execution.yaml").unwrap().starts_with("title"));
    }

    #[test]
    fn a_killed_run_is_readable_and_never_conforms() {
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Pass);
        let events = sample.killed();
        let run = Run::of(&events).unwrap();
        assert_eq!((run.complete(), run.exit()), (false, Exit::CouldNotTell));
        insta::assert_snapshot!(run.conclusion(), @"the run did not finish, 1 of 3 selected cases have a verdict; the others could not be told");
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Fail);
        let events = sample.stopped_early();
        insta::assert_snapshot!(Run::of(&events).unwrap().conclusion(), @"the run stopped early, 1 of 3 selected cases have a verdict; does not conform: at least one clause is broken");
        let events = Sample::new(3).finished();
        assert_eq!(Run::of(&events).unwrap().exit(), Exit::NothingRan);
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let events = sample::mixed();
        let broken = |change: &dyn Fn(&mut Vec<Event>)| {
            let mut events = events.clone();
            change(&mut events);
            Run::of(&events).unwrap_err().to_string()
        };
        let last = events.len();
        let table = [
            broken(&Vec::clear),
            broken(&|events| drop(events.remove(0))),
            broken(&|events| events.insert(2, events[0].clone())),
            broken(&|events| events.push(events[1].clone())),
            broken(&|events| events.insert(2, events[1].clone())),
            broken(&|events| events.insert(last - 1, events[last - 2].clone())),
            broken(&|events| events.retain(|event| !matches!(event, Event::Clause(_)))),
            broken(&|events| drop(events.remove(last - 3))),
        ];
        insta::assert_snapshot!(table.join("\n"), @"
        expected `run-started` as the first event, found no event
        expected `run-started` as the first event, found clause
        expected no `run-started` here: it is event 3 of the record
        expected no `clause` here: it is event 30 of the record
        expected one clause `amount.digits`, found two
        expected one verdict of `periodic.months/two`, found two
        expected the record to carry the clause `basket.mix` of the case `basket.mix/periodic`, found none
        expected the verdicts that `run-finished` counts (pass 4, fail 1, inconclusive 1, not-applicable 1, observed 1, error 1), found pass 3, fail 1, inconclusive 1, not-applicable 1, observed 1, error 1
        ");
    }
}
