//! Judges the recorded responses of a run, with the history instead of a target.

use std::collections::HashMap;
use std::sync::Arc;

use xs2aspec_record::CaseEvents;
use xs2aspec_suite::Case;

use crate::{Done, Judge, known::Known, probe::Need, question::Question, view::View};

/// The recorded cases that others depend on, and their new results.
pub(super) struct Replay<'a> {
    judge: &'a Judge,
    /// Cases that others depend on, until they are judged.
    rested_on: HashMap<String, CaseEvents>,
    known: Known,
}

impl<'a> Replay<'a> {
    pub(super) fn new(judge: &'a Judge, rested_on: HashMap<String, CaseEvents>) -> Self {
        Self { judge, rested_on, known: Known::default() }
    }

    /// Judges a case by its recorded exchanges.
    pub(super) fn case(&mut self, case: &Case, events: CaseEvents) -> Arc<Done> {
        if self.rested_on.contains_key(&case.id) {
            self.judge_rested_on(&case.id);
        }
        if let Some(done) = self.known.case(&case.id) {
            return Arc::clone(done);
        }
        Arc::new(self.judged(case, &View::recorded(events)))
    }

    fn judged(&mut self, case: &Case, view: &View) -> Done {
        loop {
            match self.judge.case(case, view, &self.known) {
                Ok(mut done) => {
                    // If the case was resent in company, that result decides.
                    let of = (view, &self.known);
                    if let Ok(Some(verdict)) = self.judge.in_company(case, &[], &done.verdict, of) {
                        done.verdict = verdict;
                    }
                    return done;
                }
                Err(Need::Answer(Question::Case(id))) => self.judge_rested_on(&id),
                Err(need) => unreachable!("a record provides nothing else: {need:?}"),
            }
        }
    }

    /// Judges a case that others depend on. The history may lack it.
    fn judge_rested_on(&mut self, id: &str) {
        let Some(case) = self.judge.suite().case(id) else { return };
        let events = self.rested_on.remove(id);
        let events =
            events.unwrap_or_else(|| CaseEvents { case: id.to_owned(), exchanges: vec![], verdict: None });
        let done = self.judged(case, &View::recorded(events));
        self.known.add(self.judge, Arc::new(done));
    }
}
