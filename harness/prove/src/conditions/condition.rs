//! The conditions as data: `fixtures/conditions/conditions.toml`.

use serde::Deserialize;

use super::gateway::Disturbance;

/// A circumstance between the runner and a bank that is nobody's violation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Condition {
    /// Its name, such as `gateway.502.html`.
    pub name: String,
    /// A sentence about it, for the table of the book.
    pub says: String,
    /// The way in which the program is called.
    #[serde(default)]
    pub scenario: Scenario,
    /// Further options of each run.
    #[serde(default)]
    pub options: Vec<String>,
    /// Offset of the runner's clock from the bank's, in seconds.
    #[serde(default)]
    pub clock_s: i64,
    /// The gateway between the runner and the bank, if there is one.
    #[serde(default)]
    pub gateway: Option<Disturbance>,
    /// A variation of the reference bank that has this condition; other banks are not run under it.
    #[serde(default)]
    pub variation: Option<String>,
    /// Keys of the profile. There is one condition for each value below them, with one character changed.
    #[serde(default)]
    pub wrong_value_of: Vec<String>,
    /// Suffixes of the names of faults that are invisible under it.
    #[serde(default)]
    pub hides: Vec<String>,
}

/// The way in which the program is called, and which of its runs are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// One run.
    #[default]
    Once,
    /// Two runs, one after the other. Both are judged.
    Twice,
    /// The same with another seed for the second run.
    TwiceOtherSeed,
    /// Three shards at the same time, then `merge`. The shards and the merged run are judged.
    Shards,
    /// A run, then the command that each of its findings prints. The commands are judged.
    Again,
    /// A run, then `--failed`, which is judged.
    Failed,
    /// A run that is killed, then `--resume`, which is judged.
    Resumed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    condition: Vec<Condition>,
}

/// A failure that is known and has a reason. It must still be there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    /// Name of the condition, or the beginning of names and `*`.
    pub condition: String,
    /// Name of the bank or fault, or the beginning of names and `*`.
    pub bank: String,
    /// The reason of the failure.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTable {
    #[serde(default)]
    known: Vec<KnownFailure>,
}

impl Condition {
    /// Returns the condition in which nothing is unusual.
    pub(super) fn none() -> Self {
        Self {
            name: "none".to_owned(),
            says: "Nothing unusual".to_owned(),
            scenario: Scenario::Once,
            options: Vec::new(),
            clock_s: 0,
            gateway: None,
            variation: None,
            wrong_value_of: Vec::new(),
            hides: Vec::new(),
        }
    }

    /// Returns the embedded conditions.
    ///
    /// # Errors
    ///
    /// If the file is not a table of conditions.
    pub fn all() -> Result<Vec<Self>, toml::de::Error> {
        let table: Table = toml::from_str(include_str!("../../../../fixtures/conditions/conditions.toml"))?;
        Ok(table.condition)
    }
}

impl KnownFailure {
    /// Returns the embedded list of known failures.
    ///
    /// # Errors
    ///
    /// If the file is not such a list.
    pub fn all() -> Result<Vec<Self>, toml::de::Error> {
        let known = include_str!("../../../../fixtures/conditions/known-failures.toml");
        Ok(toml::from_str::<KnownTable>(known)?.known)
    }

    /// Returns true if the failure of this bank under this condition is known.
    pub fn covers(&self, condition: &str, bank: &str) -> bool {
        matches(&self.condition, condition) && matches(&self.bank, bank)
    }
}

/// Returns true if `name` is `pattern`, or begins with the part of it before `*`.
pub fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((beginning, _)) => name.starts_with(beginning),
        None => pattern == name,
    }
}
