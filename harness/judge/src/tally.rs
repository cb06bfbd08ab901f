//! The numbers of a run: verdicts, checks on answers, and times, counted event by event.

use std::collections::BTreeMap;

use xs2aspec_record::{AnswerChecks, CaseVerdict, Event, Exchange, Stopwatch, Times, Totals};
use xs2aspec_suite::{Case, Suite};

use crate::{answer_checks::AnswerTally, strength::strength};

/// What was counted so far.
#[derive(Debug)]
pub struct Tally<'a> {
    suite: &'a Suite,
    totals: Totals,
    answers: AnswerTally<'a>,
    stopwatch: Stopwatch,
    exchanges: u64,
    /// Whether the answers are those of no bank, so that nothing was checked on them.
    are_foreign: bool,
    /// Verdicts of an earlier part of the run that count unless the case has another one.
    open: BTreeMap<String, CaseVerdict>,
}

impl<'a> Tally<'a> {
    /// Nothing was counted. Answers that take longer than `slow_ms` are slow.
    pub fn new(suite: &'a Suite, slow_ms: Option<u64>) -> Self {
        Self {
            suite,
            totals: Totals::default(),
            answers: AnswerTally::new(suite),
            stopwatch: Stopwatch::new(slow_ms),
            exchanges: 0,
            are_foreign: false,
            open: BTreeMap::new(),
        }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::RunStarted(start) => self.totals.start(start),
            Event::Clause(clause) => self.totals.clause(clause),
            Event::Exchange(exchange) => self.add_exchange(exchange),
            Event::Verdict(verdict) => {
                self.open.remove(&verdict.case);
                self.verdict(verdict);
            }
            _ => {}
        }
    }

    /// Takes an exchange of a case of the suite.
    pub fn add_exchange(&mut self, exchange: &Exchange) {
        self.exchange(exchange, |answers| answers.add(exchange));
    }

    /// Takes an exchange of a drawn case.
    pub fn add_of(&mut self, case: &Case, exchange: &Exchange) {
        self.exchange(exchange, |answers| answers.add_of(case, exchange));
    }

    fn exchange(&mut self, exchange: &Exchange, count: impl FnOnce(&mut AnswerTally<'a>)) {
        self.exchanges += 1;
        self.stopwatch.add(std::slice::from_ref(exchange));
        if !self.are_foreign {
            count(&mut self.answers);
        }
    }

    fn verdict(&mut self, verdict: &CaseVerdict) {
        if let Some(clause) = self.suite.clauses().get(&verdict.clause) {
            self.totals.add(verdict, strength(clause).0);
        }
    }

    /// Takes a verdict of an earlier part that may get another one.
    pub fn add_open(&mut self, verdict: CaseVerdict) {
        self.open.insert(verdict.case.clone(), verdict);
    }

    /// No answer counts as one that was checked: something else than a bank gives them.
    pub fn leave_out_answers(&mut self) {
        self.are_foreign = true;
        self.answers = AnswerTally::new(self.suite);
    }

    /// Returns the verdicts, counted.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns how many exchanges there were.
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// Counts what is left, and returns the checks on answers and the times, once.
    pub fn end(&mut self) -> (AnswerChecks, Times) {
        for verdict in std::mem::take(&mut self.open).into_values() {
            self.verdict(&verdict);
        }
        let checks = std::mem::replace(&mut self.answers, AnswerTally::new(self.suite)).finish();
        checks.checks.iter().for_each(|check| self.totals.check(check));
        let times = std::mem::take(&mut self.stopwatch).finish();
        self.totals.times(&times);
        (checks, times)
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Verdict;
    use xs2aspec_suite::Tree;

    use super::*;
    use crate::blank::left_in_doubt;

    #[test]
    fn a_verdict_of_an_earlier_part_counts_until_the_case_has_another_one() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let verdict = |case: &Case, verdict| CaseVerdict { verdict, ..left_in_doubt(case) };
        let (one, other) = (&suite.cases()[0], &suite.cases()[1]);
        let mut tally = Tally::new(&suite, None);
        tally.add_open(verdict(one, Verdict::Error));
        tally.add_open(verdict(other, Verdict::Error));
        tally.add(&Event::Verdict(verdict(one, Verdict::Pass)));
        tally.end();
        let counts = tally.totals().counts();
        assert_eq!((counts.pass, counts.error), (1, 1));
    }
}
