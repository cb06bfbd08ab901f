//! The events of a record, indexed: for what looks at several cases at once, and to draw reports of a record that is in memory.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use xs2aspec_record::{CaseVerdict, Counts, Event, Exchange, Finding, Role, Verdict};

pub use crate::summary::RunError;
use crate::{
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
};

/// A run, as its record tells it. Verdicts come in the order of case ids, whatever the order in which cases ended.
#[derive(Debug)]
pub struct Run<'a> {
    summary: RunSummary,
    exchanges: BTreeMap<u64, &'a Exchange>,
    by_case: BTreeMap<&'a str, BTreeSet<u64>>,
    verdicts: BTreeMap<&'a str, &'a CaseVerdict>,
}

impl<'a> Run<'a> {
    /// Indexes the events of a record. A run that was killed has no `run-finished`; it is read all the same.
    pub fn of(events: &'a [Event]) -> Result<Self, RunError> {
        let mut run = Self {
            summary: RunSummary::begin(events.first())?,
            exchanges: BTreeMap::new(),
            by_case: BTreeMap::new(),
            verdicts: BTreeMap::new(),
        };
        let mut sources = BTreeMap::new();
        for event in events.iter().skip(1) {
            run.summary.add(event)?;
            match event {
                Event::Source(source) => once("source", &mut sources, source.file.as_str(), source)?,
                Event::Exchange(exchange) => {
                    once("exchange", &mut run.exchanges, exchange.number, exchange)?;
                    run.by_case.entry(exchange.case.as_str()).or_default().insert(exchange.number);
                }
                Event::Verdict(verdict) => {
                    once("verdict of", &mut run.verdicts, verdict.case.as_str(), verdict)?;
                }
                _ => {}
            }
        }
        run.verdicts.values().try_for_each(|verdict| run.summary.count(verdict))?;
        run.summary.check()?;
        Ok(run)
    }

    /// What the record says of the run as a whole.
    pub fn summary(&self) -> &RunSummary {
        &self.summary
    }

    /// A case with what was sent for it, exchanges in the order in which they were sent.
    pub fn report(&self, verdict: &'a CaseVerdict) -> CaseReport<'a> {
        let numbers = self.by_case.get(verdict.case.as_str()).into_iter().flatten();
        CaseReport {
            verdict,
            exchanges: numbers.filter_map(|number| self.exchanges.get(number).copied()).collect(),
        }
    }

    /// Shows reports every selected case, and controls that are a violation, in the order of their ids.
    pub fn show(&self, reporters: &mut [&mut dyn Reporter]) {
        for verdict in self.verdicts() {
            if verdict.role == Role::Control && !verdict.is_broken_control() {
                continue;
            }
            let report = self.report(verdict);
            for reporter in reporters.iter_mut() {
                reporter.show(&self.summary, &report);
            }
        }
    }

    /// The bytes of a report that keeps its parts in memory.
    pub fn draw(&self, reporter: &mut dyn Reporter) -> Vec<u8> {
        self.show(&mut [reporter]);
        reporter.render(&self.summary)
    }

    /// Every verdict, those of controls included.
    pub fn verdicts(&self) -> impl Iterator<Item = &'a CaseVerdict> {
        self.verdicts.values().copied()
    }

    /// Verdicts of the selected cases: those that count.
    pub fn selected(&self) -> impl Iterator<Item = &'a CaseVerdict> {
        self.verdicts().filter(|verdict| verdict.role == Role::Selected)
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

#[cfg(test)]
mod tests {
    use xs2aspec_record::Exit;

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
        assert_eq!(run.summary().totals().counts().total(), run.selected().count());
        assert!(run.summary().complete());
        assert_eq!(run.summary().exit(), Exit::Violation);
        assert_eq!(run.summary().conclusion(), Exit::Violation.sentence());
    }

    #[test]
    fn a_killed_run_is_readable_and_never_conforms() {
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Pass);
        let events = sample.killed();
        let run = Run::of(&events).unwrap();
        assert_eq!((run.summary().complete(), run.summary().exit()), (false, Exit::CouldNotTell));
        insta::assert_snapshot!(run.summary().conclusion(), @"the run did not finish, 1 of 3 selected cases have a verdict; the others could not be told");
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Fail);
        let events = sample.stopped_early();
        insta::assert_snapshot!(Run::of(&events).unwrap().summary().conclusion(), @"the run stopped early, 1 of 3 selected cases have a verdict; does not conform: at least one clause is broken");
        let events = Sample::new(3).finished();
        assert_eq!(Run::of(&events).unwrap().summary().exit(), Exit::NothingRan);
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
