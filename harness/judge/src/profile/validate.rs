//! Checks that a profile fits the suite: its choices, their values, and its operations must exist.

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_suite::{Expectation, Strength, Suite};

use crate::profile::{Profile, near};

/// A mismatch between a profile and the suite (exit code 2).
#[derive(Debug, thiserror::Error)]
pub enum ProfileMismatch {
    /// A choice that no clause has.
    #[error("`[choices]` of the target profile: no clause has a choice `{key}`{near}")]
    Choice {
        /// The key.
        key: String,
        /// The nearest key, as a suggestion.
        near: String,
    },
    /// An unknown value of a choice.
    #[error("`[choices]` of the target profile: \"{key}\" is `{found}`: expected {known}")]
    Value {
        /// The key.
        key: String,
        /// The value found.
        found: String,
        /// The allowed values.
        known: String,
    },
    /// A level in the form of older profiles.
    #[error(
        "`[choices]` of the target profile: \"{key}\" is `fail`, which is a level, not a choice: write `\"{clause}\" = \"deny\"` \
         under `[levels]` instead"
    )]
    Fail {
        /// The key.
        key: String,
        /// The clause with the choice.
        clause: String,
    },
    /// An unknown operation.
    #[error("`[{table}]` of the target profile: there is no operation `{name}`{near}")]
    Operation {
        /// The table of the profile.
        table: &'static str,
        /// The unknown name.
        name: String,
        /// The nearest name, as a suggestion.
        near: String,
    },
}

/// Checks everything in a profile that refers to the suite.
pub(crate) fn check(suite: &Suite, profile: &Profile) -> Result<(), ProfileMismatch> {
    choices(suite, profile)?;
    operations(suite, profile)
}

fn choices(suite: &Suite, profile: &Profile) -> Result<(), ProfileMismatch> {
    // Values by key: the usual one, and those that cases distinguish.
    let mut known = BTreeMap::<&str, (BTreeSet<&str>, bool)>::new();
    for clause in suite.clauses().values() {
        if let Strength::Choice(choice) = &clause.strength {
            if profile.choices.get(&choice.key).is_some_and(|value| value == "fail") {
                return Err(ProfileMismatch::Fail { key: choice.key.clone(), clause: clause.id.clone() });
            }
            known.entry(&choice.key).or_default().0.insert(&choice.default);
        }
    }
    for case in suite.cases() {
        let key = suite.clauses().get(&case.clause).and_then(|clause| match &clause.strength {
            Strength::Choice(choice) => Some(choice.key.as_str()),
            _ => None,
        });
        if let (Some(key), Expectation::Choice(values)) = (key, &case.expect) {
            let (names, told_apart) = known.entry(key).or_default();
            names.extend(values.keys().map(String::as_str));
            *told_apart = true;
        }
    }
    for (key, value) in &profile.choices {
        let Some((names, told_apart)) = known.get(key.as_str()) else {
            return Err(ProfileMismatch::Choice { key: key.clone(), near: near(key, known.into_keys()) });
        };
        let is_status = suite.answers().success_statuses().any(|status| status == key);
        let fits = match () {
            () if is_status => value.parse().is_ok_and(|status: u16| (200..300).contains(&status)),
            // [`crate::certificate_encoding::CertificateEncoding`] checks these values.
            () if suite.spec().signing.choices.find(key).is_some() => true,
            () if *told_apart => names.contains(value.as_str()),
            () => true,
        };
        if !fits {
            let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let known = if is_status { "a status of 200 to 299".to_owned() } else { names };
            return Err(ProfileMismatch::Value { key: key.clone(), found: value.clone(), known });
        }
    }
    Ok(())
}

fn operations(suite: &Suite, profile: &Profile) -> Result<(), ProfileMismatch> {
    let mut known = BTreeSet::new();
    for case in suite.cases() {
        known.extend(case.before.iter().map(|step| step.request.operation()));
        known.insert(case.operation());
    }
    let paths = profile.paths.keys().map(|name| ("paths", name));
    let limits = profile.limits.intervals.keys().map(|name| ("limits.operations", name));
    match paths.chain(limits).find(|(_, name)| !known.contains(name.as_str())) {
        None => Ok(()),
        Some((table, name)) => {
            let near = near(name, known.iter().copied());
            Err(ProfileMismatch::Operation { table, name: name.clone(), near })
        }
    }
}
