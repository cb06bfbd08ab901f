//! What a run says of each clause that the document demands: kept, broken, waived, not asked, or left out on
//! purpose.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::verdict::{Absence, CaseVerdict, Role, Verdict};

/// How often the check of a clause looked at answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCheck {
    /// Clause id.
    pub clause: String,
    /// Operations whose answers it is checked on; all of them where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Answers that had to keep it.
    pub answers: u64,
    /// Answers that had the member, value or header of which it speaks.
    pub exercised: u64,
}

impl AnswerCheck {
    /// Adds what the same check saw in another part of a run to that of its clause.
    pub fn add_to(&self, checks: &mut BTreeMap<String, Self>) {
        let none = || Self { answers: 0, exercised: 0, ..self.clone() };
        let known = checks.entry(self.clause.clone()).or_insert_with(none);
        known.answers += self.answers;
        known.exercised += self.exercised;
    }
}

/// The checks on answers of a run, one for each demanded clause that is checked so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerChecks {
    /// In the order of clause ids.
    pub checks: Vec<AnswerCheck>,
}

/// What a run says of a demanded clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClauseState {
    /// It was asked, and nothing broke it.
    Kept,
    /// Something broke it, and not all of that is waived.
    Broken,
    /// Something broke it, and all of that is waived.
    Waived,
    /// It was not asked, since the profile does not say enough, or what came could not be judged.
    NotAsked,
    /// The profile declares absent what it needs, or the command line left it out, or a breach of it is only
    /// noted.
    LeftOut,
}

impl ClauseState {
    /// The words of every report.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Waived => "waived",
            Self::NotAsked => "not asked",
            Self::LeftOut => "left out",
        }
    }
}

/// How many demanded clauses are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Demanded {
    /// Asked and kept.
    pub kept: usize,
    /// Broken, and not waived.
    pub broken: usize,
    /// Broken, and waived.
    #[serde(default)]
    pub waived: usize,
    /// Not asked because the profile does not say enough, or not told.
    pub not_asked: usize,
    /// Declared absent by the profile, or left out by `--only`, `--skip`, `--depth`, `--requests`, `--shard`
    /// or `--allow`.
    pub left_out: usize,
}

impl Demanded {
    /// All demanded clauses.
    pub fn total(&self) -> usize {
        self.kept + self.broken + self.waived + self.not_asked + self.left_out
    }
}

impl std::fmt::Display for Demanded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waived = if self.waived > 0 { format!(", {} waived", self.waived) } else { String::new() };
        write!(
            f,
            "{} demanded clauses: {} kept, {} broken{waived}, {} not asked, {} declared absent or left out",
            self.total(),
            self.kept,
            self.broken,
            self.not_asked,
            self.left_out
        )
    }
}

/// The demanded clauses of a run with all that its cases and answers say of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemandedClauses {
    demanded: BTreeSet<String>,
    /// Those of them whose breach is only noted.
    left_out: BTreeSet<String>,
    cases: BTreeMap<String, Cases>,
    checks: BTreeMap<String, AnswerCheck>,
    /// Cases that were not asked, or not told, by operation.
    operations: BTreeMap<String, Unasked>,
}

/// What the cases of a clause came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cases {
    kept: usize,
    broken: usize,
    waived: usize,
    unasked: Unasked,
}

/// Cases that would have been asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Unasked {
    /// Inconclusive, or in error.
    untold: usize,
    /// Left out because the profile does not say enough.
    not_said: usize,
    /// The lines that would open them, each with how many of them.
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

    /// The line that would open most of them.
    fn first_line(&self) -> Option<&str> {
        let most = self.add.iter().max_by_key(|(_, times)| **times);
        most.map(|(line, _)| line.as_str())
    }
}

impl DemandedClauses {
    /// The document demands this clause.
    pub fn demand(&mut self, clause: &str) {
        self.demanded.insert(clause.to_owned());
    }

    /// The document demands this clause, and a breach of it is only noted: nothing is said of it.
    pub fn leave_out(&mut self, clause: &str) {
        self.demand(clause);
        self.left_out.insert(clause.to_owned());
    }

    /// Takes the verdict of a case, selected or not.
    pub fn add(&mut self, verdict: &CaseVerdict) {
        match verdict.verdict {
            Verdict::Pass | Verdict::Flaky => self.of(&verdict.clause).kept += 1,
            // Of a control that nobody selected only what its status says counts.
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

    /// Takes what a check on answers saw; those of several parts of a run add up.
    pub fn check(&mut self, check: &AnswerCheck) {
        check.add_to(&mut self.checks);
    }

    fn of(&mut self, clause: &str) -> &mut Cases {
        if !self.cases.contains_key(clause) {
            self.cases.insert(clause.to_owned(), Cases::default());
        }
        // It was put there a moment ago where it was missing.
        self.cases.entry(clause.to_owned()).or_default()
    }

    /// The state of a demanded clause; `None` of any other.
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

    /// Cases of a clause that were not asked.
    fn own(&self, clause: &str) -> Option<&Unasked> {
        self.cases.get(clause).map(|cases| &cases.unasked).filter(|unasked| unasked.is_any())
    }

    /// Cases that were not asked, and on whose answers a clause would have been checked; by operation.
    fn unanswered<'a>(&'a self, clause: &'a str) -> impl Iterator<Item = &'a Unasked> {
        let operations = self.checks.get(clause).into_iter().flat_map(|check| {
            let named = check.operations.iter().filter_map(|name| self.operations.get(name));
            let all = self.operations.values().filter(|_| check.operations.is_empty());
            named.chain(all)
        });
        operations.filter(|unasked| unasked.is_any())
    }

    /// Every demanded clause with its state, by id.
    pub fn states(&self) -> impl Iterator<Item = (&str, ClauseState)> {
        self.demanded.iter().filter_map(|clause| Some((clause.as_str(), self.state(clause)?)))
    }

    /// What the check on answers of a clause saw, if there is one.
    pub fn answers(&self, clause: &str) -> Option<&AnswerCheck> {
        self.checks.get(clause)
    }

    /// How many clauses are in each state.
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

    /// Kept clauses of which no answer had anything to look at, since their member is optional and never
    /// came.
    pub fn not_exercised(&self) -> impl Iterator<Item = &str> {
        self.states()
            .filter(|(clause, state)| {
                *state == ClauseState::Kept
                    && self.cases.get(*clause).is_none_or(|cases| cases.kept == 0)
                    && self.checks.get(*clause).is_some_and(|check| check.exercised == 0)
            })
            .map(|(clause, _)| clause)
    }

    /// The lines that a profile lacks, each with how many clauses are not asked for want of it, the most
    /// first.
    pub fn to_add(&self) -> Vec<(&str, usize)> {
        let mut lines = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (clause, _) in self.states().filter(|(_, state)| *state == ClauseState::NotAsked) {
            let own = self.own(clause).into_iter().flat_map(|unasked| unasked.add.keys());
            // Of an operation most cases lack the same thing: what opens the operation.
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
        assert_eq!(state(|a| a.add(&verdict("a", Verdict::Observed))), LeftOut, "nothing was demanded");
        assert_eq!(state(|a| a.add(&absent("a", Absence::Declared))), LeftOut);
        assert_eq!(state(|a| a.add(&absent("a", not_said("b = 1")))), NotAsked);
        for word in [Verdict::Inconclusive, Verdict::Error] {
            let told = |a: &mut DemandedClauses| {
                a.add(&verdict("a", Verdict::Pass));
                a.add(&verdict("a", word));
            };
            assert_eq!(state(told), NotAsked, "{word:?}: kept is said of what was told whole");
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
        assert_eq!(state(allowed), LeftOut, "nothing is said of what is only noted");
        let beside = |a: &mut DemandedClauses| {
            let findings = verdict("b", Verdict::Fail).findings;
            a.add(&CaseVerdict { findings, ..verdict("a", Verdict::Fail) });
        };
        assert_eq!(state(beside), Kept, "the finding is another clause's");
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
        let words =
            "1 demanded clauses: 0 kept, 0 broken, 1 waived, 0 not asked, 0 declared absent or left out";
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
        assert_eq!(
            numbers.to_string(),
            "4 demanded clauses: 1 kept, 0 broken, 3 not asked, 0 declared absent or left out"
        );
    }
}
