//! The third dimension, in addition to faults and styles: circumstances that are nobody's violation.
//!
//! A [`Condition`] is one of them, as data. A gateway disturbs the traffic between the runner and a bank. A
//! [`Scenario`] is a way in which people call the program. [`measure`] runs a bank under a condition and
//! returns a [`Row`]: no conforming bank may be accused, and no bank with a fault acquitted.
//!
//! The program is called as a process, and only its exit code and its published reports are read. The table
//! is therefore independent of its internals.

mod bank;
mod condition;
mod gateway;
mod message;
mod outcome;
pub mod peer_faults;
mod profile;
mod scenario;
mod table;

use std::{
    fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use chrono::{Duration, Utc};
use xs2aspec_reference::{UnknownName, Variation};

pub use self::{
    bank::{Peer, Subject},
    condition::{Condition, KnownFailure, Scenario, matches},
    table::{Row, Verdicts},
};
use self::{gateway::Gateway, outcome::Outcome, scenario::Caller};

/// The reason that a bank cannot be run under a condition.
#[derive(Debug, thiserror::Error)]
pub enum ConditionError {
    /// A file cannot be read or written.
    #[error("cannot use {path}: {cause}", path = .0.display(), cause = .1)]
    File(PathBuf, #[source] io::Error),
    /// A file has the wrong format.
    #[error("cannot read {path}: {cause}", path = .0.display(), cause = .1)]
    Toml(PathBuf, #[source] toml::de::Error),
    /// A profile cannot be written.
    #[error("cannot write a profile: {0}")]
    Profile(#[from] toml::ser::Error),
    /// A bank or a gateway does not start.
    #[error("a bank cannot start: {0}")]
    Start(#[source] io::Error),
    /// A peer does not print its address.
    #[error("peer {0} does not print `listening on ADDRESS`")]
    Peer(String),
    /// The reference bank has no such variation.
    #[error(transparent)]
    Variation(#[from] UnknownName),
    /// The program cannot be called.
    #[error("cannot call the program: {0}")]
    Call(#[source] io::Error),
}

/// Options for running banks under conditions.
#[derive(Debug, Clone)]
pub struct ConditionOptions {
    /// The program that is called.
    pub program: PathBuf,
    /// Folder for the runs.
    pub out: PathBuf,
    /// Options of each run, such as `--depth quick`.
    pub options: Vec<String>,
    /// Seed of the gateway.
    pub seed: u64,
}

/// A condition with the value of the profile that is wrong in it, if any.
#[derive(Debug, Clone)]
pub struct Instance {
    condition: Condition,
    wrong: Option<String>,
}

impl Instance {
    /// Returns its name: that of the condition, and the key of the value that is wrong.
    pub fn name(&self) -> String {
        match &self.wrong {
            Some(key) => format!("{}.{key}", self.condition.name),
            None => self.condition.name.clone(),
        }
    }

    /// Returns the name of the condition.
    pub fn condition(&self) -> &str {
        &self.condition.name
    }
}

/// Returns the instances of a condition for a bank: one, or one for each value of its profile. A bank that
/// cannot have the condition has none.
///
/// # Errors
///
/// If the profile of the bank cannot be read.
pub fn instances(condition: &Condition, bank: &Subject) -> Result<Vec<Instance>, ConditionError> {
    let is_hidden = condition.hides.iter().any(|end| bank.name().ends_with(end));
    if is_hidden || condition.variation.is_some() && matches!(bank, Subject::Peer(_)) {
        return Ok(Vec::new());
    }
    if condition.wrong_value_of.is_empty() {
        return Ok(vec![Instance { condition: condition.clone(), wrong: None }]);
    }
    let (profile, _) = bank.profile(None)?;
    let keys = profile::values(&profile).into_iter();
    let wanted = |key: &String| condition.wrong_value_of.iter().any(|pattern| matches(pattern, key));
    Ok(keys.filter(wanted).map(|key| Instance { condition: condition.clone(), wrong: Some(key) }).collect())
}

/// Runs a bank under a condition. `expected` is the clause of the first finding on a bank with a fault
/// without the condition, and None on a conforming bank.
///
/// # Errors
///
/// If the bank cannot be started or the program cannot be called.
pub async fn measure(
    instance: &Instance,
    bank: &Subject,
    expected: Option<&str>,
    options: &ConditionOptions,
) -> Result<Row, ConditionError> {
    let outcomes = play(instance, bank, options).await?;
    let failure = match expected {
        None => outcomes.iter().find_map(Outcome::accusation),
        Some(expected) => Outcome::acquittal_of(&outcomes, expected),
    };
    Ok(Row {
        condition: instance.name(),
        group: instance.condition.name.clone(),
        bank: bank.name().to_owned(),
        conforms: bank.conforms(),
        failure,
    })
}

/// Returns the clause of the first violation of a bank without any condition, if there is one.
///
/// # Errors
///
/// If the bank cannot be started or the program cannot be called.
pub async fn undisturbed(
    bank: &Subject,
    options: &ConditionOptions,
) -> Result<Option<String>, ConditionError> {
    let condition = Condition::none();
    let outcomes = play(&Instance { condition, wrong: None }, bank, options).await?;
    let denied = outcomes.into_iter().find(|outcome| outcome.exit == Some(1));
    Ok(denied.and_then(|outcome| outcome.violated.into_iter().next()))
}

async fn play(
    instance: &Instance,
    bank: &Subject,
    options: &ConditionOptions,
) -> Result<Vec<Outcome>, ConditionError> {
    let condition = &instance.condition;
    let variation = condition.variation.as_deref().map(str::parse::<Variation>).transpose()?;
    let (mut profile, prefix) = bank.profile(variation)?;
    if let Some(key) = &instance.wrong {
        profile::spoil(&mut profile, key);
    }
    let running = bank.start(variation, options.seed).await?;
    let disturbance = condition.gateway.clone();
    let successor = match &disturbance {
        Some(disturbance) if disturbance.forgets => Some(bank.start(variation, options.seed + 1).await?),
        _ => None,
    };
    let gateway = match disturbance {
        Some(disturbance) => {
            let after = successor.as_ref().unwrap_or(&running).address();
            let gateway = Gateway::start(disturbance, running.address(), after, options.seed).await;
            Some(gateway.map_err(ConditionError::Start)?)
        }
        None => None,
    };
    let address: SocketAddr = gateway.as_ref().map_or_else(|| running.address(), Gateway::address);
    profile.insert("base-url".to_owned(), format!("http://{address}{prefix}").into());
    let folder = options.out.join(format!("{}-{}", instance.name(), bank.name()).replace('/', "-"));
    prepare(&folder, &toml::to_string(&profile)?)?;
    let caller = Caller { program: options.program.clone(), folder, options: arguments(condition, options) };
    let scenario = condition.scenario;
    let played = tokio::task::spawn_blocking(move || caller.play(scenario)).await;
    played.map_err(|error| ConditionError::Call(error.into()))?.map_err(ConditionError::Call)
}

/// Returns the options of the runs under a condition.
fn arguments(condition: &Condition, options: &ConditionOptions) -> Vec<String> {
    let mut arguments = options.options.clone();
    arguments.extend(condition.options.iter().cloned());
    if condition.clock_s != 0 {
        let now = Utc::now() + Duration::seconds(condition.clock_s);
        arguments.extend(["--now".to_owned(), now.to_rfc3339()]);
    }
    arguments
}

/// Creates an empty folder with the profile of a bank.
fn prepare(folder: &Path, profile: &str) -> Result<(), ConditionError> {
    let failed = |error| ConditionError::File(folder.to_owned(), error);
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(folder.join("bank.toml"), profile).map_err(failed)
}
