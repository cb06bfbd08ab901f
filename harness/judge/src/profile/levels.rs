//! `[levels]` of a profile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use xs2aspec_record::{Level, LevelRule, LevelSource};

/// What a breach of a clause does.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum LevelWord {
    /// It is a violation.
    Deny,
    /// It is a warning.
    Warn,
    /// It is recorded.
    Note,
}

/// Levels in the order in which they stand.
pub(super) fn read<'a, D: Deserializer<'a>>(found: D) -> Result<Vec<LevelRule>, D::Error> {
    let table = BTreeMap::<String, Spanned<LevelWord>>::deserialize(found)?;
    let mut rules: Vec<_> =
        table.into_iter().map(|(pattern, word)| (word.span().start, pattern, word)).collect();
    rules.sort_unstable_by_key(|(start, ..)| *start);
    let rule = |(_, pattern, word): (usize, String, Spanned<LevelWord>)| LevelRule {
        pattern,
        level: match word.into_inner() {
            LevelWord::Deny => Level::Deny,
            LevelWord::Warn => Level::Warn,
            LevelWord::Note => Level::Note,
        },
        by: LevelSource::Profile,
    };
    Ok(rules.into_iter().map(rule).collect())
}
