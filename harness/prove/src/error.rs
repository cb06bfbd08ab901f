//! Errors of running the suite against a bank.

use std::io;

use xs2aspec_judge::{JudgeError, ProfileError};
use xs2aspec_suite::PlanError;

/// The reason that the suite could not be run against a bank.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The profile is invalid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The profile does not authorize sending.
    #[error("{0}")]
    NotAuthorized(String),
    /// The judge could not be created.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The cases could not be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The bank does not start.
    #[error("a bank cannot start: {0}")]
    Start(#[source] io::Error),
    /// The bank does not stop.
    #[error("a bank cannot stop: {0}")]
    Stop(#[source] io::Error),
}
