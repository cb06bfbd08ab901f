//! The one count of verdicts. Exit code, `JUnit`, summary and progress all use it, so they cannot disagree.

use std::collections::BTreeMap;

use crate::{
    clauses::{AnswerCheck, DemandedClauses},
    counts::Counts,
    event::{ClauseText, RunStarted},
    level::{Level, LevelRule},
    times::Times,
    verdict::{CaseVerdict, Role, Strength},
};

/// Verdicts of the selected cases, counted in total, by operation, and by strength of the clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    counts: Counts,
    by_operation: BTreeMap<String, Counts>,
    by_strength: BTreeMap<Strength, Counts>,
    clauses: DemandedClauses,
    broken_controls: usize,
    denies_warnings: bool,
    denies_flaky: bool,
    /// Number of responses that took longer than the target profile allows.
    slow: u64,
}

impl Totals {
    /// Adds the start of the run, which decides if warnings and flaky cases are violations.
    pub fn start(&mut self, start: &RunStarted) {
        self.denies_warnings = LevelRule::denies(&start.levels, LevelRule::WARNINGS);
        self.denies_flaky = LevelRule::denies(&start.levels, LevelRule::FLAKY);
    }

    /// Adds a clause of the document. Only required clauses have a state. A clause of level `note` counts as
    /// skipped.
    pub fn clause(&mut self, clause: &ClauseText) {
        match clause.level().level {
            _ if !clause.strength.is_demanded() => {}
            Level::Note => self.clauses.leave_out(&clause.id),
            Level::Warn | Level::Deny => self.clauses.demand(&clause.id),
        }
    }

    /// Adds the counts of a response check.
    pub fn check(&mut self, check: &AnswerCheck) {
        self.clauses.check(check);
    }

    /// Adds the response times of the target.
    pub fn times(&mut self, times: &Times) {
        self.slow = times.slow();
    }

    /// Returns true if some responses took longer than the target profile allows, which is a warning.
    pub fn is_slow(&self) -> bool {
        self.slow > 0
    }

    /// Returns the state of each required clause.
    pub fn clauses(&self) -> &DemandedClauses {
        &self.clauses
    }

    /// Counts a verdict whose clause has this strength. Unselected controls are not counted, but their
    /// results for clauses are.
    pub fn add(&mut self, verdict: &CaseVerdict, strength: Strength) {
        self.clauses.add(verdict);
        self.broken_controls += usize::from(verdict.is_broken_control());
        if verdict.role == Role::Control {
            return;
        }
        self.counts.add(verdict.verdict);
        self.by_operation.entry(verdict.operation.clone()).or_default().add(verdict.verdict);
        self.by_strength.entry(strength).or_default().add(verdict.verdict);
    }

    /// Returns the counts of all selected cases.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the number of unselected controls that violate a clause by themselves.
    pub fn broken_controls(&self) -> usize {
        self.broken_controls
    }

    /// Returns the counts by operation of the judged request, in alphabetical order.
    pub fn by_operation(&self) -> &BTreeMap<String, Counts> {
        &self.by_operation
    }

    /// Returns the counts by strength of the clause, firmest first.
    pub fn by_strength(&self) -> &BTreeMap<Strength, Counts> {
        &self.by_strength
    }

    /// Returns true if warnings are violations.
    pub fn denies_warnings(&self) -> bool {
        self.denies_warnings
    }

    /// Returns true if flaky cases are violations.
    pub fn denies_flaky(&self) -> bool {
        self.denies_flaky
    }

    /// Returns true if more than 1 % of all cases are flaky, which makes the run inconclusive.
    pub fn is_flaky(&self) -> bool {
        self.counts.flaky * 100 > self.counts.total()
    }

    /// Returns the number of cases of stated, derived and choice clauses that could not be judged. Expected
    /// and observed clauses require nothing.
    pub fn demanded_inconclusive(&self) -> usize {
        self.by_strength
            .iter()
            .filter(|(strength, _)| strength.is_demanded() || **strength == Strength::Choice)
            .map(|(_, counts)| counts.inconclusive)
            .sum()
    }
}
