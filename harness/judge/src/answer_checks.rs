//! How often the checks on answers of a run looked at some, for each clause that the document demands.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_record::{AnswerCheck, AnswerChecks, Body, Exchange};
use xs2aspec_suite::{Case, Strength, Suite};

/// Counts the answers of a run.
#[derive(Debug)]
pub(crate) struct AnswerTally<'a> {
    suite: &'a Suite,
    checks: BTreeMap<&'a str, AnswerCheck>,
    /// Clauses of the bodies of refusals alone.
    of_refusals: BTreeSet<&'a str>,
}

impl<'a> AnswerTally<'a> {
    /// No answers yet.
    pub(crate) fn new(suite: &'a Suite) -> Self {
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

    /// A clause that is checked on answers of this operation, or of all, if the document demands it.
    fn add_check(&mut self, clause: &'a str, operation: Option<&str>) {
        let strength = self.suite.clauses().get(clause).map(|clause| &clause.strength);
        if matches!(strength, Some(Strength::Stated | Strength::Derived(_))) {
            let check = self.checks.entry(clause).or_default();
            clause.clone_into(&mut check.clause);
            check.operations.extend(operation.map(str::to_owned));
        }
    }

    /// Takes an exchange of a case of the suite.
    pub(crate) fn add(&mut self, exchange: &Exchange) {
        match self.suite.case(&exchange.case) {
            Some(case) => self.add_of(case, exchange),
            None => self.add_answer(exchange, None),
        }
    }

    /// Takes an exchange of this case.
    pub(crate) fn add_of(&mut self, case: &Case, exchange: &Exchange) {
        self.add_answer(exchange, operation_of(case, &exchange.step));
    }

    /// Takes an exchange of a request for this operation. Its answer may be masked: that changes no member.
    fn add_answer(&mut self, exchange: &Exchange, operation: Option<&str>) {
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

    /// What was counted.
    pub(crate) fn finish(self) -> AnswerChecks {
        AnswerChecks { checks: self.checks.into_values().collect() }
    }
}

/// The operation of a step of a case.
fn operation_of<'a>(case: &'a Case, step: &str) -> Option<&'a str> {
    if step == "request" {
        return Some(case.request.operation());
    }
    let name = step.split_once('/').map_or(step, |(name, _)| name);
    case.before.iter().find(|before| before.name == name).map(|before| before.request.operation())
}
