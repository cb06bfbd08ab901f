//! What a breach of a clause does, as in a compiler: the levels of a run, and who set them.

use serde::{Deserialize, Serialize};

/// What a breach of a clause does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It is recorded.
    Note,
    /// It is shown, and the run conforms all the same.
    Warn,
    /// It is a violation.
    Deny,
}

impl Level {
    /// The word used in profiles, in the record and in every report.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }

    /// The level of a record that does not say any: every finding was a violation.
    pub(crate) fn before_levels() -> Self {
        Self::Deny
    }
}

/// Who set a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelSource {
    /// The strength of the clause.
    Strength,
    /// The value that the target profile declares for a choice.
    Choice,
    /// `[levels]` of the target profile.
    Profile,
    /// `--deny`, `--warn` or `--allow`.
    CommandLine,
}

impl LevelSource {
    /// The words after `by`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Strength => "its strength",
            Self::Choice => "[choices] of the target profile",
            Self::Profile => "[levels] of the target profile",
            Self::CommandLine => "the command line",
        }
    }
}

/// A level that somebody gave to all clauses that a pattern names. Of several the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRule {
    /// A clause, a beginning of its id, or a text with `*`; [`LevelRule::WARNINGS`] for all warnings,
    /// [`LevelRule::FLAKY`] for all flaky cases.
    pub pattern: String,
    /// The level.
    pub level: Level,
    /// Who gave it.
    pub by: LevelSource,
}

impl LevelRule {
    /// The pattern that stands for whatever has the level [`Level::Warn`].
    pub const WARNINGS: &str = "warnings";
    /// The pattern that stands for all cases with the verdict [`Verdict::Flaky`](crate::Verdict::Flaky).
    pub const FLAKY: &str = "flaky";

    /// Returns true if the pattern stands for a verdict and not for clauses.
    pub fn is_of_verdicts(&self) -> bool {
        [Self::WARNINGS, Self::FLAKY].contains(&self.pattern.as_str())
    }

    /// Returns true if what this pattern stands for is a violation of a run with these rules.
    pub fn denies(rules: &[Self], pattern: &str) -> bool {
        let last = rules.iter().rev().find(|rule| rule.pattern == pattern);
        last.is_some_and(|rule| rule.level == Level::Deny)
    }
}

/// The level of a clause in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClauseLevel {
    /// The level.
    pub level: Level,
    /// Who set it.
    pub by: LevelSource,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_rules_for_warnings_the_last_one_counts() {
        let rule = |pattern: &str, level| LevelRule {
            pattern: pattern.to_owned(),
            level,
            by: LevelSource::CommandLine,
        };
        let (deny, warn) = (rule("warnings", Level::Deny), rule("warnings", Level::Warn));
        let denies = |rules: &[LevelRule]| LevelRule::denies(rules, LevelRule::WARNINGS);
        assert!(!denies(&[]));
        assert!(!denies(&[rule("a", Level::Deny), rule(LevelRule::FLAKY, Level::Deny)]));
        assert!(denies(&[warn.clone(), deny.clone(), rule("a", Level::Warn)]));
        assert!(!denies(&[deny, warn]));
    }

    #[test]
    fn a_violation_is_worse_than_a_warning_and_that_worse_than_a_note() {
        assert!(Level::Deny > Level::Warn && Level::Warn > Level::Note);
    }
}
