//! A small record in memory, for handmade records or a single bank.

use xs2aspec_record::{CaseEvents, CaseVerdict, Entry, Event, Role, entries};

pub use crate::error::RunError;
use crate::{
    reporter::{CaseReport, Reporter},
    stream,
    summary::{RunSummary, SummaryBuilder},
};

/// A run with all its cases.
#[derive(Debug)]
pub struct Run {
    summary: RunSummary,
    cases: Vec<CaseEvents>,
}

impl Run {
    /// Reads the events of a record.
    pub fn of(events: &[Event]) -> Result<Self, RunError> {
        let (mut builder, mut cases) = (SummaryBuilder::default(), Vec::new());
        for entry in entries(events) {
            builder.add(&entry)?;
            if let Entry::Case(case) = entry {
                cases.push(case);
            }
        }
        Ok(Self { summary: builder.finish()?, cases })
    }

    /// Returns the summary of the run.
    pub fn summary(&self) -> &RunSummary {
        &self.summary
    }

    /// Returns a case with its exchanges.
    pub fn report<'a>(&'a self, verdict: &'a CaseVerdict) -> CaseReport<'a> {
        let case = self.cases.iter().find(|case| case.case == verdict.case);
        CaseReport { verdict, exchanges: case.map_or(&[], |case| &case.exchanges) }
    }

    /// Shows the cases to reporters that write only at the end.
    pub fn show(&self, reporters: &mut [&mut dyn Reporter]) {
        for case in &self.cases {
            stream::show_case(&self.summary, case, reporters);
        }
    }

    /// Renders a report.
    pub fn draw(&self, reporter: &mut dyn Reporter) -> Vec<u8> {
        let mut drawn = Vec::new();
        let mut draw = || {
            reporter.begin(&self.summary, &mut drawn)?;
            self.cases.iter().try_for_each(|case| reporter.show(&self.summary, case, &mut drawn))?;
            reporter.finish(&self.summary, &mut drawn)
        };
        // Writing to memory does not fail.
        drop(draw());
        drawn
    }

    /// Returns every verdict, including those of controls.
    pub fn verdicts(&self) -> impl Iterator<Item = &CaseVerdict> {
        self.cases.iter().filter_map(|case| case.verdict.as_ref())
    }

    /// Returns the verdicts of the selected cases, which are the ones that count.
    pub fn selected(&self) -> impl Iterator<Item = &CaseVerdict> {
        self.verdicts().filter(|verdict| verdict.role == Role::Selected)
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Exit, Reason, RunFinished, Verdict, WaiverState};

    use super::*;
    use crate::sample::{self, Sample};

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
        insta::assert_snapshot!(run.summary().conclusion(), @"the run did not finish, 1 of 3 selected cases have a verdict; the result is inconclusive");
        let mut sample = Sample::new(3);
        sample.verdict("periodic.months/one", Verdict::Fail);
        let events = sample.stopped_early();
        insta::assert_snapshot!(Run::of(&events).unwrap().summary().conclusion(), @"the run stopped early, 1 of 3 selected cases have a verdict; does not conform: at least one clause is violated");
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
            broken(&|events| events.insert(2, events[1].clone())),
            broken(&|events| events.retain(|event| !matches!(event, Event::Clause(_)))),
            broken(&|events| drop(events.remove(last - 2))),
        ];
        insta::assert_snapshot!(table.join("\n"), @"
        expected `run-started` as the first event, found no event
        expected `run-started` as the first event, found clause
        unexpected `run-started`, event 3 of the record
        the record has the clause `amount.digits` twice
        the record does not contain the clause `basket.mix` of the case `basket.mix/periodic`
        `run-finished` counts pass 4, fail 1, inconclusive 1, not-applicable 1, observed 1, error 1, but the record has pass 3, fail 1, inconclusive 1, not-applicable 1, observed 1, error 1
        ");
    }
    #[test]
    fn what_the_end_says_follows_from_the_verdicts() {
        let ended = |mut events: Vec<Event>, edit: &dyn Fn(&mut RunFinished)| {
            let Some(Event::RunFinished(finished)) = events.last_mut() else { panic!("a finished run") };
            edit(finished);
            Run::of(&events).err()
        };
        let mixed = || sample::mixed();
        assert_eq!(ended(mixed(), &|_| {}), None);
        assert_eq!(ended(mixed(), &|end| end.exit = 0), Some(RunError::Exit { said: 0, found: 1 }));
        // A run that lost cases does not conform.
        let mut lost = Sample::new(2);
        lost.verdict("periodic.months/one", Verdict::Pass);
        assert_eq!(ended(lost.finished(), &|end| end.exit = 0), Some(RunError::Exit { said: 0, found: 3 }));
        let mut stopped = Sample::new(1);
        stopped.verdict("periodic.months/one", Verdict::Pass);
        let goes_on = |end: &mut RunFinished| end.stopped_early = false;
        assert_eq!(ended(stopped.stopped_early(), &goes_on), Some(RunError::Exit { said: 3, found: 0 }));
        // A waived violation must be named by a waiver in force.
        let waived = || {
            let mut sample = Sample::new(1);
            let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
            (verdict.verdict, verdict.reason) =
                (Verdict::Waived, Some(Reason::InWords { says: "known".into() }));
            sample.finished()
        };
        let case = || "periodic.months/one".to_owned();
        assert_eq!(ended(waived(), &|_| {}), None);
        assert_eq!(ended(waived(), &|end| end.waivers.clear()), Some(RunError::NotWaived { case: case() }));
        let other = |end: &mut RunFinished| end.waivers[0].cases[0].push('x');
        assert_eq!(ended(waived(), &other), Some(RunError::NotWaived { case: case() }));
        let expired = |end: &mut RunFinished| end.waivers[0].state = WaiverState::Expired;
        assert_eq!(ended(waived(), &expired), Some(RunError::Exit { said: 0, found: 1 }));
    }
}
