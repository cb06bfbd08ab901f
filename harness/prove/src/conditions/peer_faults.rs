//! The share of faults of independent banks that is detected.

use std::{collections::BTreeSet, fmt::Write as _};

use super::{Condition, ConditionError, ConditionOptions, Instance, Subject, outcome::Outcome, play};

/// The result of a run on a bank with a fault from outside the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detected {
    /// The first violation is of this clause.
    Denied(String),
    /// No violation, but a warning that the bank without the fault does not get.
    Warned(String),
    /// The run is incomplete or inconclusive, unlike the one without the fault.
    Undecided,
    /// No difference.
    Missed,
}

/// The result for a bank without a fault, for comparison.
#[derive(Debug)]
pub struct Clean {
    exit: Option<i32>,
    warned: BTreeSet<String>,
    accusation: Option<String>,
}

impl Clean {
    /// Returns the accusation against the bank, if there is one.
    pub fn accusation(&self) -> Option<&str> {
        self.accusation.as_deref()
    }
}

impl Detected {
    /// Returns a word for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Denied(_) => "denied",
            Self::Warned(_) => "warned of",
            Self::Undecided => "undecided",
            Self::Missed => "missed",
        }
    }

    fn clause(&self) -> &str {
        match self {
            Self::Denied(clause) | Self::Warned(clause) => clause,
            Self::Undecided | Self::Missed => "",
        }
    }

    fn of(outcome: &Outcome, clean: &Clean) -> Self {
        if outcome.exit == Some(1) {
            return Self::Denied(outcome.violated.first().cloned().unwrap_or_default());
        }
        match outcome.warned.iter().find(|clause| !clean.warned.contains(*clause)) {
            Some(clause) => Self::Warned(clause.clone()),
            None if outcome.exit == clean.exit => Self::Missed,
            None => Self::Undecided,
        }
    }
}

/// Runs a conforming bank.
///
/// # Errors
///
/// If the bank cannot be started or the program cannot be called.
pub async fn clean(bank: &Subject, options: &ConditionOptions) -> Result<Clean, ConditionError> {
    let outcome = run(bank, options).await?;
    let accusation = outcome.accusation();
    Ok(Clean { exit: outcome.exit, warned: outcome.warned.into_iter().collect(), accusation })
}

/// Runs a bank with a fault.
///
/// # Errors
///
/// If the bank cannot be started or the program cannot be called.
pub async fn detect(
    bank: &Subject,
    clean: &Clean,
    options: &ConditionOptions,
) -> Result<Detected, ConditionError> {
    Ok(Detected::of(&run(bank, options).await?, clean))
}

async fn run(bank: &Subject, options: &ConditionOptions) -> Result<Outcome, ConditionError> {
    let instance = Instance { condition: Condition::none(), wrong: None };
    let outcomes = play(&instance, bank, options).await?;
    outcomes.into_iter().next().ok_or_else(|| ConditionError::Peer(bank.name().to_owned()))
}

/// Renders a line for each bank with a fault, separated by tabs.
pub fn table(rows: &[(String, Detected)]) -> String {
    let mut text = "bank\tdetected\tclause\n".to_owned();
    for (bank, detected) in rows {
        let _ = writeln!(text, "{bank}\t{}\t{}", detected.word(), detected.clause());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_detected_by_what_the_bank_without_it_does_not_get() {
        let clean = Clean { exit: Some(0), warned: BTreeSet::from(["usual".to_owned()]), accusation: None };
        let table = [
            (1, vec!["a", "b"], vec![], Detected::Denied("a".to_owned())),
            (0, vec![], vec!["usual", "new"], Detected::Warned("new".to_owned())),
            (0, vec![], vec!["usual"], Detected::Missed),
            (3, vec![], vec!["usual"], Detected::Undecided),
        ];
        for (exit, violated, warned, detected) in table {
            let owned = |clauses: Vec<&str>| clauses.into_iter().map(str::to_owned).collect();
            let complaint = String::new();
            let outcome = Outcome {
                exit: Some(exit),
                violated: owned(violated),
                warned: owned(warned),
                complaint,
                ..Outcome::default()
            };
            assert_eq!(Detected::of(&outcome, &clean), detected);
        }
    }
}
