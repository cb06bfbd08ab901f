//! The totals of a run: verdicts, checks of responses, and times, counted event by event.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{
    AnswerCheck, AnswerChecks, Body, CaseVerdict, Event, Exchange, Stopwatch, Times, Totals,
};
use xs2aspec_suite::{Case, Strength, Suite};

use crate::levels::strength;

/// The totals so far.
#[derive(Debug)]
pub struct Tally<'a> {
    suite: &'a Suite,
    totals: Totals,
    answers: AnswerTally<'a>,
    stopwatch: Stopwatch,
    exchanges: u64,
    /// True if the responses come from something other than a bank, so no checks are counted.
    are_foreign: bool,
    /// Verdicts of an earlier part of the run that count unless the case gets another one.
    open: BTreeMap<String, CaseVerdict>,
}

impl<'a> Tally<'a> {
    /// Returns an empty tally. Responses that take longer than `slow_ms` are slow.
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

    /// Counts an event.
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

    /// Counts an exchange of a case of the suite.
    pub fn add_exchange(&mut self, exchange: &Exchange) {
        self.exchange(self.suite.case(&exchange.case), exchange);
    }

    /// Counts an exchange of a generated case.
    pub fn add_of(&mut self, case: &Case, exchange: &Exchange) {
        self.exchange(Some(case), exchange);
    }

    fn exchange(&mut self, case: Option<&Case>, exchange: &Exchange) {
        self.exchanges += 1;
        self.stopwatch.add(std::slice::from_ref(exchange));
        if !self.are_foreign {
            self.answers.add(case, exchange);
        }
    }

    fn verdict(&mut self, verdict: &CaseVerdict) {
        if let Some(clause) = self.suite.clauses().get(&verdict.clause) {
            self.totals.add(verdict, strength(clause).0);
        }
    }

    /// Adds a verdict of an earlier part that may be replaced.
    pub fn add_open(&mut self, verdict: CaseVerdict) {
        self.open.insert(verdict.case.clone(), verdict);
    }

    /// Discards the checks of responses, because the responses come from something other than a bank.
    pub fn leave_out_answers(&mut self) {
        self.are_foreign = true;
        self.answers = AnswerTally::new(self.suite);
    }

    /// Returns the totals of the verdicts.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the number of exchanges.
    pub fn exchanges(&self) -> u64 {
        self.exchanges
    }

    /// Counts the remaining verdicts and returns the checks of responses and the times. Must be called once.
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

/// Counts the responses that were checked, for each required clause.
#[derive(Debug)]
struct AnswerTally<'a> {
    suite: &'a Suite,
    checks: BTreeMap<&'a str, AnswerCheck>,
    /// Clauses that apply only to the bodies of rejections.
    of_refusals: BTreeSet<&'a str>,
}

impl<'a> AnswerTally<'a> {
    /// Returns an empty tally.
    fn new(suite: &'a Suite) -> Self {
        let rules = suite.answers();
        let mut tally = Self { suite, checks: BTreeMap::new(), of_refusals: BTreeSet::new() };
        for operation in rules.operations() {
            for clause in rules.clauses_of(operation) {
                tally.add_check(clause, Some(operation));
            }
        }
        for operation in rules.operations() {
            for clause in rules.clauses_of_refusals(operation) {
                if tally.of_refusals.contains(clause) || !tally.checks.contains_key(clause) {
                    tally.of_refusals.insert(clause);
                    tally.add_check(clause, Some(operation));
                }
            }
        }
        tally.add_check(rules.server_error(), None);
        tally
    }

    /// Adds a clause that is checked on responses of this operation, or of all, if the document requires it.
    fn add_check(&mut self, clause: &'a str, operation: Option<&str>) {
        let strength = self.suite.clauses().get(clause).map(|clause| &clause.strength);
        if matches!(strength, Some(Strength::Stated | Strength::Derived(_))) {
            let check = self.checks.entry(clause).or_default();
            clause.clone_into(&mut check.clause);
            check.operations.extend(operation.map(str::to_owned));
        }
    }

    /// Counts the response of an exchange. Masking does not change which fields it has.
    fn add(&mut self, case: Option<&Case>, exchange: &Exchange) {
        let operation = case.and_then(|case| operation_of(case, &exchange.step));
        let Some(answer) = exchange.response.as_ref().filter(|_| exchange.failure.is_none()) else { return };
        if let Some(check) = self.checks.get_mut(self.suite.answers().server_error()) {
            check.answers += 1;
            check.exercised += 1;
        }
        let Some(operation) = operation.filter(|name| self.suite.answers().has(name)) else { return };
        let Some(Body::Text(text)) = &answer.body else { return };
        let Ok(document) = serde_json::from_str(text) else { return };
        let is_success = (200..300).contains(&answer.status);
        if is_success {
            let checks = self.checks.iter_mut().filter(|(clause, _)| !self.of_refusals.contains(*clause));
            for (_, check) in checks.filter(|(_, check)| check.operations.iter().any(|one| one == operation))
            {
                check.answers += 1;
            }
        }
        for clause in self.suite.answers().exercised(operation, answer.status, &document) {
            let is_otherwise = self
                .suite
                .answers()
                .otherwise(clause, |name| exchange.request.header(name).map(str::to_owned))
                .is_some();
            if let Some(check) = self.checks.get_mut(clause).filter(|_| !is_otherwise) {
                check.exercised += 1;
                check.answers += u64::from(!is_success);
            }
        }
    }

    /// Returns the counts.
    fn finish(self) -> AnswerChecks {
        AnswerChecks { checks: self.checks.into_values().collect() }
    }
}

/// Returns the operation of a step of a case.
fn operation_of<'a>(case: &'a Case, step: &str) -> Option<&'a str> {
    if step == "request" {
        return Some(case.request.operation());
    }
    let name = step.split_once('/').map_or(step, |(name, _)| name);
    case.before.iter().find(|before| before.name == name).map(|before| before.request.operation())
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
