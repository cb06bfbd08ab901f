//! The state of each required clause after a run: kept, broken, waived, not tested or skipped.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::verdict::{Absence, CaseVerdict, Role, Verdict};

/// Counts of the responses on which a clause was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCheck {
    /// Clause id.
    pub clause: String,
    /// Operations whose responses are checked. Empty for all operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Responses to which the clause applies.
    pub answers: u64,
    /// Responses that contain the field, value or header of the clause.
    pub exercised: u64,
}

impl AnswerCheck {
    /// Adds the counts of the same check in another part of a run.
    pub fn add_to(&self, checks: &mut BTreeMap<String, Self>) {
        let none = || Self { answers: 0, exercised: 0, ..self.clone() };
        let known = checks.entry(self.clause.clone()).or_insert_with(none);
        known.answers += self.answers;
        known.exercised += self.exercised;
    }
}

/// The response checks of a run, one for each required clause that has one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerChecks {
    /// The checks, sorted by clause id.
    pub checks: Vec<AnswerCheck>,
}

/// The state of a required clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClauseState {
    /// It was tested and not violated.
    Kept,
    /// It was violated, and not every violation is waived.
    Broken,
    /// It was violated, and every violation is waived.
    Waived,
    /// It was not tested because the profile lacks a value, or the result could not be judged.
    NotAsked,
    /// The profile declares that the target lacks what it needs, the command line excluded it, or its level
    /// is `note`.
    LeftOut,
}

impl ClauseState {
    /// Returns the word that every report uses.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kept => "passed",
            Self::Broken => "violated",
            Self::Waived => "waived",
            Self::NotAsked => "not tested",
            Self::LeftOut => "skipped",
        }
    }
}

/// The number of required clauses in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Demanded {
    /// Tested and kept.
    pub kept: usize,
    /// Violated and not waived.
    pub broken: usize,
    /// Violated and waived.
    #[serde(default)]
    pub waived: usize,
    /// Not tested because the profile lacks a value, or not judged.
    pub not_asked: usize,
    /// Declared absent by the profile, or excluded by `--only`, `--skip`, `--depth`, `--requests`, `--shard`
    /// or `--allow`.
    pub left_out: usize,
}

impl Demanded {
    /// Returns the number of required clauses.
    pub fn total(&self) -> usize {
        self.kept + self.broken + self.waived + self.not_asked + self.left_out
    }
}

impl std::fmt::Display for Demanded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waived = if self.waived > 0 { format!(", {} waived", self.waived) } else { String::new() };
        write!(
            f,
            "{} required clauses: {} passed, {} violated{waived}, {} not tested, {} skipped",
            self.total(),
            self.kept,
            self.broken,
            self.not_asked,
            self.left_out
        )
    }
}

/// The required clauses of a run with the results of its cases and response checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemandedClauses {
    demanded: BTreeSet<String>,
    /// The required clauses of level `note`.
    left_out: BTreeSet<String>,
    cases: BTreeMap<String, Cases>,
    checks: BTreeMap<String, AnswerCheck>,
    /// Cases that were not tested or not judged, by operation.
    operations: BTreeMap<String, Unasked>,
}

/// The results of the cases of a clause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cases {
    kept: usize,
    broken: usize,
    waived: usize,
    unasked: Unasked,
}

/// Cases that should have been tested and were not, or could not be judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Unasked {
    /// Number of inconclusive cases and of errors.
    untold: usize,
    /// Number of cases for which the profile lacks a value.
    not_said: usize,
    /// The profile lines that would enable them, each with the number of cases.
    add: BTreeMap<String, usize>,
}

impl Unasked {
    fn add(&mut self, verdict: &CaseVerdict) {
        match (verdict.verdict, &verdict.absence) {
            (Verdict::Inconclusive | Verdict::Error, _) => self.untold += 1,
            (Verdict::NotApplicable, Some(Absence::NotSaid { add })) => {
                self.not_said += 1;
                if let Some(times) = self.add.get_mut(add) {
                    *times += 1;
                } else {
                    self.add.insert(add.clone(), 1);
                }
            }
            _ => {}
        }
    }

    fn is_any(&self) -> bool {
        self.untold + self.not_said > 0
    }

    /// Returns the line that would enable most of them.
    fn first_line(&self) -> Option<&str> {
        let most = self.add.iter().max_by_key(|(_, times)| **times);
        most.map(|(line, _)| line.as_str())
    }
}

impl DemandedClauses {
    /// Adds a clause that the document requires.
    pub fn demand(&mut self, clause: &str) {
        self.demanded.insert(clause.to_owned());
    }

    /// Adds a required clause of level `note`, which counts as skipped.
    pub fn leave_out(&mut self, clause: &str) {
        self.demand(clause);
        self.left_out.insert(clause.to_owned());
    }

    /// Adds the verdict of a case, selected or not.
    pub fn add(&mut self, verdict: &CaseVerdict) {
        match verdict.verdict {
            Verdict::Pass | Verdict::Flaky => self.of(&verdict.clause).kept += 1,
            // An unselected control counts only if its status violates a clause.
            Verdict::Fail | Verdict::Warn
                if verdict.role == Role::Control && !verdict.is_broken_control() => {}
            Verdict::Fail | Verdict::Warn | Verdict::Waived => {
                let broken: BTreeSet<&str> =
                    verdict.findings.iter().map(|finding| finding.clause.as_str()).collect();
                for clause in broken {
                    let cases = self.of(clause);
                    let is_waived = verdict.verdict == Verdict::Waived;
                    *if is_waived { &mut cases.waived } else { &mut cases.broken } += 1;
                }
                match verdict.on_own_clause() {
                    Verdict::Pass => self.of(&verdict.clause).kept += 1,
                    Verdict::Inconclusive => self.of(&verdict.clause).unasked.untold += 1,
                    _ => {}
                }
            }
            Verdict::Inconclusive | Verdict::NotApplicable | Verdict::Error => {
                self.of(&verdict.clause).unasked.add(verdict);
                if let Some(operation) = self.operations.get_mut(&verdict.operation) {
                    operation.add(verdict);
                } else {
                    self.operations.entry(verdict.operation.clone()).or_default().add(verdict);
                }
            }
            Verdict::Observed => {}
        }
    }

    /// Adds the counts of a response check. Counts from several parts of a run are summed.
    pub fn check(&mut self, check: &AnswerCheck) {
        check.add_to(&mut self.checks);
    }

    fn of(&mut self, clause: &str) -> &mut Cases {
        if !self.cases.contains_key(clause) {
            self.cases.insert(clause.to_owned(), Cases::default());
        }
        // The entry was inserted above if it was missing.
        self.cases.entry(clause.to_owned()).or_default()
    }

    /// Returns the state of a required clause. Returns `None` for any other clause.
    pub fn state(&self, clause: &str) -> Option<ClauseState> {
        self.demanded.contains(clause).then(|| {
            let cases = self.cases.get(clause);
            let answers = self.checks.get(clause).map_or(0, |check| check.answers);
            if self.left_out.contains(clause) {
                ClauseState::LeftOut
            } else if cases.is_some_and(|cases| cases.broken > 0) {
                ClauseState::Broken
            } else if cases.is_some_and(|cases| cases.waived > 0) {
                ClauseState::Waived
            } else if cases.is_some_and(|cases| cases.unasked.untold > 0) {
                ClauseState::NotAsked
            } else if answers > 0 || cases.is_some_and(|cases| cases.kept > 0) {
                ClauseState::Kept
            } else if self.own(clause).is_some() || self.unanswered(clause).next().is_some() {
                ClauseState::NotAsked
            } else {
                ClauseState::LeftOut
            }
        })
    }

    /// Returns the untested cases of a clause, if any.
    fn own(&self, clause: &str) -> Option<&Unasked> {
        self.cases.get(clause).map(|cases| &cases.unasked).filter(|unasked| unasked.is_any())
    }

    /// Returns the untested cases, by operation, whose responses would have been checked for a clause.
    fn unanswered<'a>(&'a self, clause: &'a str) -> impl Iterator<Item = &'a Unasked> {
        let operations = self.checks.get(clause).into_iter().flat_map(|check| {
            let named = check.operations.iter().filter_map(|name| self.operations.get(name));
            let all = self.operations.values().filter(|_| check.operations.is_empty());
            named.chain(all)
        });
        operations.filter(|unasked| unasked.is_any())
    }

    /// Returns every required clause with its state, sorted by id.
    pub fn states(&self) -> impl Iterator<Item = (&str, ClauseState)> {
        self.demanded.iter().filter_map(|clause| Some((clause.as_str(), self.state(clause)?)))
    }

    /// Returns the counts of the response check of a clause, if it has one.
    pub fn answers(&self, clause: &str) -> Option<&AnswerCheck> {
        self.checks.get(clause)
    }

    /// Returns the number of clauses in each state.
    pub fn numbers(&self) -> Demanded {
        let mut numbers = Demanded::default();
        for (_, state) in self.states() {
            *match state {
                ClauseState::Kept => &mut numbers.kept,
                ClauseState::Broken => &mut numbers.broken,
                ClauseState::Waived => &mut numbers.waived,
                ClauseState::NotAsked => &mut numbers.not_asked,
                ClauseState::LeftOut => &mut numbers.left_out,
            } += 1;
        }
        numbers
    }

    /// Returns the kept clauses that no response exercised, because their optional field never occurred.
    pub fn not_exercised(&self) -> impl Iterator<Item = &str> {
        self.states()
            .filter(|(clause, state)| {
                *state == ClauseState::Kept
                    && self.cases.get(*clause).is_none_or(|cases| cases.kept == 0)
                    && self.checks.get(*clause).is_some_and(|check| check.exercised == 0)
            })
            .map(|(clause, _)| clause)
    }

    /// Returns the lines missing from the profile, each with the number of clauses that are not tested
    /// without it, highest first.
    pub fn to_add(&self) -> Vec<(&str, usize)> {
        let mut lines = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (clause, _) in self.states().filter(|(_, state)| *state == ClauseState::NotAsked) {
            let own = self.own(clause).into_iter().flat_map(|unasked| unasked.add.keys());
            // Most cases of an operation lack the same line, the one that enables the operation.
            let answers = self.unanswered(clause).filter_map(Unasked::first_line);
            for line in own.map(String::as_str).chain(answers) {
                lines.entry(line).or_default().insert(clause);
            }
        }
        let mut lines: Vec<(&str, usize)> =
            lines.into_iter().map(|(line, clauses)| (line, clauses.len())).collect();
        lines.sort_by_key(|(line, count)| (std::cmp::Reverse(*count), *line));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        level::Level,
        verdict::{End, Finding, sample},
    };

    fn verdict(clause: &str, word: Verdict) -> CaseVerdict {
        let finding = |clause: &str| Finding {
            clause: clause.to_owned(),
            expected: "one".to_owned(),
            actual: "two".to_owned(),
            at: "body".to_owned(),
            kind: crate::mismatch::Mismatch::Value,
            level: Level::Deny,
            end: End::Bank,
        };
        let findings = if word == Verdict::Fail { vec![finding(clause)] } else { vec![] };
        CaseVerdict { findings, ..sample(clause, word) }
    }

    fn absent(clause: &str, absence: Absence) -> CaseVerdict {
        CaseVerdict { absence: Some(absence), ..verdict(clause, Verdict::NotApplicable) }
    }

    fn not_said(line: &str) -> Absence {
        Absence::NotSaid { add: line.to_owned() }
    }

    fn check(clause: &str, answers: u64, exercised: u64) -> AnswerCheck {
        let operations = vec!["ncbct".to_owned()];
        AnswerCheck { clause: clause.to_owned(), operations, answers, exercised }
    }

    fn state(add: impl FnOnce(&mut DemandedClauses)) -> ClauseState {
        let mut clauses = DemandedClauses::default();
        clauses.demand("a");
        add(&mut clauses);
        clauses.state("a").unwrap()
    }

    #[test]
    fn each_way_of_being_asked_has_its_state() {
        use ClauseState::*;
        assert_eq!(state(|_| {}), LeftOut);
        assert_eq!(state(|a| a.add(&verdict("a", Verdict::Pass))), Kept);
        assert_eq!(state(|a| a.add(&verdict("a", Verdict::Fail))), Broken);
        assert_eq!(state(|a| a.add(&verdict("a", Verdict::Observed))), LeftOut, "nothing is required");
        assert_eq!(state(|a| a.add(&absent("a", Absence::Declared))), LeftOut);
        assert_eq!(state(|a| a.add(&absent("a", not_said("b = 1")))), NotAsked);
        for word in [Verdict::Inconclusive, Verdict::Error] {
            let told = |a: &mut DemandedClauses| {
                a.add(&verdict("a", Verdict::Pass));
                a.add(&verdict("a", word));
            };
            assert_eq!(state(told), NotAsked, "{word:?}: a clause is kept only if every case was judged");
        }
        let in_part = |a: &mut DemandedClauses| {
            a.add(&verdict("a", Verdict::Pass));
            a.add(&absent("a", not_said("b = 1")));
        };
        assert_eq!(state(in_part), Kept);
        let allowed = |a: &mut DemandedClauses| {
            a.leave_out("a");
            a.add(&verdict("a", Verdict::Pass));
        };
        assert_eq!(state(allowed), LeftOut, "a clause of level note is skipped");
        let beside = |a: &mut DemandedClauses| {
            let findings = verdict("b", Verdict::Fail).findings;
            a.add(&CaseVerdict { findings, ..verdict("a", Verdict::Fail) });
        };
        assert_eq!(state(beside), Kept, "the finding is on another clause");
    }

    #[test]
    fn what_is_broken_and_waived_is_neither_broken_nor_kept() {
        use ClauseState::*;
        let waived =
            |clause: &str| CaseVerdict { verdict: Verdict::Waived, ..verdict(clause, Verdict::Fail) };
        let with_control =
            CaseVerdict { waived_with: Some("b/plain".to_owned()), ..verdict("a", Verdict::Waived) };
        for (verdicts, expected) in [
            (vec![waived("a")], ClauseState::Waived),
            (vec![waived("a"), verdict("a", Verdict::Pass)], ClauseState::Waived),
            (vec![waived("a"), verdict("a", Verdict::Fail)], Broken),
            (vec![with_control.clone()], LeftOut),
            (vec![with_control, verdict("a", Verdict::Pass)], Kept),
        ] {
            let told = |a: &mut DemandedClauses| verdicts.iter().for_each(|verdict| a.add(verdict));
            assert_eq!(state(told), expected, "{verdicts:?}");
        }
        let mut clauses = DemandedClauses::default();
        clauses.demand("a");
        clauses.add(&waived("a"));
        let words = "1 required clauses: 0 passed, 0 violated, 1 waived, 0 not tested, 0 skipped";
        assert_eq!(clauses.numbers().to_string(), words);
    }

    #[test]
    fn a_check_on_answers_is_kept_where_answers_came_and_not_asked_where_they_could_have() {
        use ClauseState::*;
        assert_eq!(state(|a| a.check(&check("a", 2, 0))), Kept);
        assert_eq!(state(|a| a.check(&check("a", 0, 0))), LeftOut);
        let not_said_elsewhere = |a: &mut DemandedClauses| {
            a.check(&check("a", 0, 0));
            a.add(&absent("b", not_said("b = 1")));
        };
        assert_eq!(state(not_said_elsewhere), NotAsked);
        let declared_elsewhere = |a: &mut DemandedClauses| {
            a.check(&check("a", 0, 0));
            a.add(&absent("b", Absence::Declared));
        };
        assert_eq!(state(declared_elsewhere), LeftOut);
        let broken_elsewhere = |a: &mut DemandedClauses| {
            a.check(&check("a", 2, 2));
            let findings = verdict("a", Verdict::Fail).findings;
            a.add(&CaseVerdict { findings, ..verdict("b", Verdict::Fail) });
        };
        assert_eq!(state(broken_elsewhere), Broken);
    }

    #[test]
    fn parts_of_a_run_add_up_and_the_lines_to_add_come_by_what_they_open() {
        let mut clauses = DemandedClauses::default();
        for clause in ["a", "b", "c", "d"] {
            clauses.demand(clause);
        }
        clauses.check(&check("a", 2, 0));
        clauses.check(&check("a", 3, 0));
        clauses.add(&absent("b", not_said("one = 1")));
        clauses.add(&absent("c", not_said("two = 2")));
        clauses.add(&absent("d", not_said("two = 2")));
        assert_eq!(clauses.answers("a").unwrap().answers, 5);
        assert_eq!(clauses.not_exercised().collect::<Vec<_>>(), ["a"]);
        assert_eq!(clauses.to_add(), [("two = 2", 2), ("one = 1", 1)]);
        let numbers = clauses.numbers();
        assert_eq!(numbers, Demanded { kept: 1, not_asked: 3, ..Demanded::default() });
        assert_eq!(numbers.to_string(), "4 required clauses: 1 passed, 0 violated, 3 not tested, 0 skipped");
    }
}
