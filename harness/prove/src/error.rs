//! Why a bank could not be asked.

use std::io;

use xs2aspec_judge::{JudgeError, ProfileError};
use xs2aspec_suite::PlanError;

/// Why a bank could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// Its profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Nothing may be sent to it.
    #[error("{0}")]
    NotAuthorized(String),
    /// What is judged by it.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// Which cases it is asked.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It does not start.
    #[error("a bank cannot start: {0}")]
    Start(#[source] io::Error),
    /// It does not stop.
    #[error("a bank cannot stop: {0}")]
    Stop(#[source] io::Error),
}
