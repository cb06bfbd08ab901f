//! The effect of a violation of a clause, as in a compiler: the levels of a run and their sources.

use serde::{Deserialize, Serialize};

/// The effect of a violation of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It is recorded.
    Note,
    /// It is shown, and the run still conforms.
    Warn,
    /// It is a violation.
    Deny,
}

impl Level {
    /// Returns the word used in profiles, in the record and in every report.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }

    /// Returns the level of a record without levels, in which every finding is a violation.
    pub(crate) fn before_levels() -> Self {
        Self::Deny
    }
}

/// The source of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelSource {
    /// The strength of the clause.
    Strength,
    /// The choice that the target profile declares.
    Choice,
    /// `[levels]` of the target profile.
    Profile,
    /// `--deny`, `--warn` or `--allow`.
    CommandLine,
}

impl LevelSource {
    /// Returns the phrase after `by`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Strength => "its strength",
            Self::Choice => "[choices] of the target profile",
            Self::Profile => "[levels] of the target profile",
            Self::CommandLine => "the command line",
        }
    }
}

/// A level for all clauses that match a pattern. The last matching rule counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRule {
    /// A clause id, the start of one, or a pattern with `*`. [`LevelRule::WARNINGS`] matches all warnings,
    /// [`LevelRule::FLAKY`] all flaky cases.
    pub pattern: String,
    /// The level.
    pub level: Level,
    /// The source of the level.
    pub by: LevelSource,
}

impl LevelRule {
    /// The pattern for all verdicts of level [`Level::Warn`].
    pub const WARNINGS: &str = "warnings";
    /// The pattern for all cases with the verdict [`Verdict::Flaky`](crate::Verdict::Flaky).
    pub const FLAKY: &str = "flaky";

    /// Returns true if the pattern matches verdicts instead of clauses.
    pub fn is_of_verdicts(&self) -> bool {
        [Self::WARNINGS, Self::FLAKY].contains(&self.pattern.as_str())
    }

    /// Returns true if these rules make everything that this pattern matches a violation.
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
    /// The source of the level.
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
