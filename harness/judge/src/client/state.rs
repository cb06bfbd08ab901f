//! What records say of an item.

use std::time::Duration;

use xs2aspec_record::{Finding, Reason};

/// What records say of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The exchange with this number shows it.
    Shown(u64),
    /// No exchange shows it.
    NotShown {
        /// The number of an exchange after which the client could have shown it.
        met: Option<u64>,
    },
    /// What would show it is masked or cut off in the record.
    Unknown,
    /// It need not be shown.
    Skipped(Reason),
    /// The exchange with this number breaks it.
    Broken(u64, Breach),
}

/// How an exchange breaks an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A value that is to be unique comes twice.
    #[error("exchanges {first} and {later} have the same {name}")]
    SameValue {
        /// The header that has it.
        name: String,
        /// The first exchange with it.
        first: u64,
        /// The other one.
        later: u64,
    },
    /// The client broke a clause.
    #[error("breaks {}: {}", .0.clause, .0.mismatch())]
    Clause(Box<Finding>),
    /// The client sends what was rejected again.
    #[error("sends the request of exchange {number} again as it was, with the same outcome")]
    SentAgain {
        /// The exchange that was rejected.
        number: u64,
    },
    /// The client sends a request again before it may.
    #[error("asks again after {:.1} s, while the answer of exchange {number} says {wait} s", waited.as_secs_f64())]
    TooEarly {
        /// The exchange whose response says when.
        number: u64,
        /// The seconds that it says.
        wait: u64,
        /// The time that the client waited.
        waited: Duration,
    },
}

impl State {
    /// Returns a number that is greater for what counts more, of the states of one item in several records.
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
