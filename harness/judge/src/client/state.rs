//! The state of a plan item.

use std::time::Duration;

use xs2aspec_record::{Finding, Reason};

/// The state of a plan item according to the histories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Shown by the exchange with this number.
    Shown(u64),
    /// Not shown by any exchange.
    NotShown {
        /// The number of an exchange after which the client could have shown it.
        met: Option<u64>,
    },
    /// The evidence is masked or truncated in the history.
    Unknown,
    /// Not required.
    Skipped(Reason),
    /// Violated by the exchange with this number.
    Broken(u64, Breach),
}

/// The way in which an exchange violates an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A value that must be unique occurs twice.
    #[error("exchanges {first} and {later} have the same {name}")]
    SameValue {
        /// The header with the value.
        name: String,
        /// The first exchange with the value.
        first: u64,
        /// The later exchange with the value.
        later: u64,
    },
    /// The client violated a clause.
    #[error("violates {}: {}", .0.clause, .0.mismatch())]
    Clause(Box<Finding>),
    /// The client resends a request that was rejected.
    #[error("resends the request of exchange {number} unchanged, with the same outcome")]
    SentAgain {
        /// The exchange with the rejected request.
        number: u64,
    },
    /// The client resends a request too early.
    #[error("resends the request after {:.1} s, but the response of exchange {number} says {wait} s", waited.as_secs_f64())]
    TooEarly {
        /// The exchange whose response gives the time to wait.
        number: u64,
        /// The seconds that the response gives.
        wait: u64,
        /// The time that the client waited.
        waited: Duration,
    },
}

impl State {
    /// Returns the precedence of this state among the states of one item in several histories. Higher wins.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::Broken(..) => 4,
            Self::Shown(_) => 3,
            Self::NotShown { met: Some(_) } => 2,
            Self::Unknown => 1,
            Self::NotShown { met: None } | Self::Skipped(_) => 0,
        }
    }
}
