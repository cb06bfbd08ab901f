//! The one count of verdicts. Exit code, `JUnit`, summary and progress are all taken from it, so that they
//! cannot disagree.

use std::collections::BTreeMap;

use crate::{
    clauses::{AnswerCheck, DemandedClauses},
    counts::Counts,
    event::{ClauseText, RunStarted},
    level::{Level, LevelRule},
    times::Times,
    verdict::{CaseVerdict, Role, Strength},
};

/// Verdicts of the selected cases, counted whole, by operation and by strength of the case's clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    counts: Counts,
    by_operation: BTreeMap<String, Counts>,
    by_strength: BTreeMap<Strength, Counts>,
    clauses: DemandedClauses,
    broken_controls: usize,
    denies_warnings: bool,
    denies_flaky: bool,
    /// Answers that took longer than the target profile allows.
    slow: u64,
}

impl Totals {
    /// Takes the beginning of the run, which says whether warnings and flaky cases are violations.
    pub fn start(&mut self, start: &RunStarted) {
        self.denies_warnings = LevelRule::denies(&start.levels, LevelRule::WARNINGS);
        self.denies_flaky = LevelRule::denies(&start.levels, LevelRule::FLAKY);
    }

    /// Takes a clause of the document; only those that it demands have a state. One whose breach is only
    /// noted is left out of what the run says.
    pub fn clause(&mut self, clause: &ClauseText) {
        match clause.level().level {
            _ if !clause.strength.is_demanded() => {}
            Level::Note => self.clauses.leave_out(&clause.id),
            Level::Warn | Level::Deny => self.clauses.demand(&clause.id),
        }
    }

    /// Takes what a check on answers saw.
    pub fn check(&mut self, check: &AnswerCheck) {
        self.clauses.check(check);
    }

    /// Takes how long the target took.
    pub fn times(&mut self, times: &Times) {
        self.slow = times.slow();
    }

    /// Whether some answers took longer than the target profile allows, which is a warning.
    pub fn is_slow(&self) -> bool {
        self.slow > 0
    }

    /// What is known of each demanded clause.
    pub fn clauses(&self) -> &DemandedClauses {
        &self.clauses
    }

    /// Counts a verdict whose clause has this strength. Controls that nobody selected are not counted, but
    /// what they say of clauses is.
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

    /// All selected cases.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Controls that nobody selected and that break something themselves.
    pub fn broken_controls(&self) -> usize {
        self.broken_controls
    }

    /// By operation of the judged request, in alphabetical order.
    pub fn by_operation(&self) -> &BTreeMap<String, Counts> {
        &self.by_operation
    }

    /// By strength of the case's clause, firmest first.
    pub fn by_strength(&self) -> &BTreeMap<Strength, Counts> {
        &self.by_strength
    }

    /// Whether warnings are violations.
    pub fn denies_warnings(&self) -> bool {
        self.denies_warnings
    }

    /// Returns true if flaky cases are violations.
    pub fn denies_flaky(&self) -> bool {
        self.denies_flaky
    }

    /// Returns true if more than 1 % of all cases are flaky, so that the run says nothing.
    pub fn is_flaky(&self) -> bool {
        self.counts.flaky * 100 > self.counts.total()
    }

    /// Cases of stated, derived and choice clauses that could not be judged; of what is expected or observed
    /// nothing is demanded.
    pub fn demanded_inconclusive(&self) -> usize {
        self.by_strength
            .iter()
            .filter(|(strength, _)| strength.is_demanded() || **strength == Strength::Choice)
            .map(|(_, counts)| counts.inconclusive)
            .sum()
    }
}
