//! The level of each clause, from its strength, the choices of the profile, and the levels given in the
//! profile and on the command line.

use std::collections::BTreeMap;

use xs2aspec_record::{
    CaseVerdict, ClauseLevel, Level, LevelRule, LevelSource, Strength as RecordedStrength, Verdict,
};
use xs2aspec_suite::{Clause, Strength, plan};

use crate::profile::{Profile, near};

/// A level that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// A pattern that matches no clause.
    #[error("{place} `{pattern}`: no clause has this id{near}")]
    Unmatched {
        /// The option or profile table with the pattern.
        place: &'static str,
        /// The pattern.
        pattern: String,
        /// The nearest id, as a suggestion.
        near: String,
    },
    /// A level below `warn` for warnings or flaky cases, which can only be violations or warnings.
    #[error("{place} `{pattern}`: expected `deny` or `warn`; set lower levels for clauses by id")]
    OfVerdicts {
        /// The option or profile table with the pattern.
        place: &'static str,
        /// The pattern.
        pattern: String,
    },
}

/// The levels of all clauses.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    clauses: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    level: ClauseLevel,
    /// The level of observations about responses under the clause.
    observed: Level,
    /// The choice that the profile declares, or the plain reading if it declares none.
    choice: Option<String>,
}

impl Levels {
    /// Returns the levels of all clauses in a ledger, with the level rules of the profile and the command
    /// line applied. The last matching rule counts.
    pub fn new(ledger: &BTreeMap<String, Clause>, profile: &Profile) -> Result<Self, LevelError> {
        let entry = |clause: &Clause| (clause.id.clone(), Entry::new(clause, profile));
        let mut clauses: BTreeMap<String, Entry> = ledger.values().map(entry).collect();
        for rule in &profile.levels {
            let place = place(rule);
            if rule.is_of_verdicts() {
                if rule.level == Level::Note {
                    return Err(LevelError::OfVerdicts { place, pattern: rule.pattern.clone() });
                }
                continue;
            }
            let mut named =
                clauses.iter_mut().filter(|(id, _)| plan::matches_clause(&rule.pattern, id)).peekable();
            if named.peek().is_none() {
                let near = near(&rule.pattern, ledger.keys().map(String::as_str));
                return Err(LevelError::Unmatched { place, pattern: rule.pattern.clone(), near });
            }
            for (_, entry) in named {
                entry.level = ClauseLevel { level: rule.level, by: rule.by };
                entry.observed = rule.level;
            }
        }
        Ok(Self { clauses })
    }

    /// Returns the level of a clause. An unknown clause has level `deny`.
    pub fn clause(&self, id: &str) -> ClauseLevel {
        let unknown = ClauseLevel { level: Level::Deny, by: LevelSource::Strength };
        self.clauses.get(id).map_or(unknown, |entry| entry.level)
    }

    /// Returns true if observations about responses under a clause are findings.
    pub(crate) fn minds(&self, id: &str) -> bool {
        self.clauses.get(id).is_some_and(|entry| entry.observed > Level::Note)
    }

    /// Returns the bank's choice that the profile declares, or the plain reading if there is one.
    pub(crate) fn choice(&self, id: &str) -> Option<&str> {
        self.clauses.get(id)?.choice.as_deref()
    }

    /// Sets the level of each finding. Findings of level `note` become observations. If one belongs to the
    /// clause of the case, the case does not pass but is observed.
    pub(crate) fn weigh(&self, verdict: &mut CaseVerdict) {
        if verdict.verdict != Verdict::Fail {
            return;
        }
        let mut unbroken = Verdict::Pass;
        for mut finding in std::mem::take(&mut verdict.findings) {
            finding.level = self.clause(&finding.clause).level;
            if finding.level > Level::Note {
                verdict.findings.push(finding);
                continue;
            }
            verdict.observations.push(format!("{}: {}", finding.clause, finding.mismatch()));
            if finding.clause == verdict.clause {
                unbroken = Verdict::Observed;
            }
        }
        verdict.verdict = verdict.by_findings().unwrap_or(unbroken);
    }
}

impl Entry {
    fn new(clause: &Clause, profile: &Profile) -> Self {
        let level = strength(clause).0.usual_level();
        let Strength::Choice(choice) = &clause.strength else {
            // Under a stated clause, an observation is something the response rules tolerate.
            let observed =
                if matches!(clause.strength, Strength::Expected) { level.level } else { Level::Note };
            return Self { level, observed, choice: None };
        };
        let declared = profile.choices.get(&choice.key);
        let level = match declared {
            Some(_) => ClauseLevel { level: Level::Deny, by: LevelSource::Choice },
            None if choice.expected => ClauseLevel { level: Level::Warn, ..level },
            None => level,
        };
        let usual = Some(&choice.default).filter(|_| choice.expected);
        let chosen = declared.or(usual);
        // An observation about a response is a reading other than the plain one.
        let observed = if usual.is_some() && chosen == usual { level.level } else { Level::Note };
        Self { level, observed, choice: chosen.cloned() }
    }
}

/// Returns the strength of a clause in the form of the history, and the standard of a derived one.
pub(crate) fn strength(clause: &Clause) -> (RecordedStrength, Option<String>) {
    match &clause.strength {
        Strength::Stated => (RecordedStrength::Stated, None),
        Strength::Derived(standard) => (RecordedStrength::Derived, Some(standard.clone())),
        Strength::Expected => (RecordedStrength::Expected, None),
        Strength::Choice(_) => (RecordedStrength::Choice, None),
        Strength::Observed(_) => (RecordedStrength::Observed, None),
        Strength::Untestable(_) => (RecordedStrength::Untestable, None),
    }
}

/// Returns the option or profile table that a level rule comes from.
fn place(rule: &LevelRule) -> &'static str {
    match (rule.by, rule.level) {
        (LevelSource::CommandLine, Level::Deny) => "--deny",
        (LevelSource::CommandLine, Level::Warn) => "--warn",
        (LevelSource::CommandLine, Level::Note) => "--allow",
        (LevelSource::Strength | LevelSource::Choice | LevelSource::Profile, _) => {
            "`[levels]` of the target profile:"
        }
    }
}

#[cfg(test)]
mod tests;
