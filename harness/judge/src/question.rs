//! Tasks that the judge delegates. Their results are shared, so each runs once, for the first case that needs
//! it.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{Came, Exchange, Suspicion};
use xs2aspec_suite::Case;

/// A task for the caller of the judge.
#[derive(Debug, Clone)]
pub enum Question {
    /// Run a case of the suite.
    Case(String),
    /// Test a capability that the profile does not mention.
    Capability(String),
    /// Test a profile value that may be wrong, because this case failed.
    Doubt(Doubt, Arc<Case>),
    /// Collect the values that the target names in responses. The requests are steps of this case.
    Named(Arc<Case>),
    /// Resend a valid request to see if it is still accepted.
    StillAccepting(StillAccepting),
}

/// Number of exchanges for which an acceptance is not doubted. A target may reject many requests in a row
/// with 401 or 403 for good reason.
pub(crate) const A_MOMENT: u64 = 20;

/// A valid request to resend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillAccepting {
    /// The case with the request.
    pub plain: String,
    /// A mark that is unique among the retries of the case.
    pub mark: String,
    /// True if the request uses its own connection.
    pub(crate) is_apart: bool,
    /// True if verdicts rest on the result, so that the request may use the reserve of the request limit.
    pub(crate) is_confirming: bool,
    /// Number of exchanges for which an earlier acceptance is still valid.
    pub within: u64,
}

impl StillAccepting {
    /// Returns a retry during the run, which does not use the reserve of the request limit.
    pub(crate) fn at_once(plain: &str, mark: &str) -> Self {
        let (plain, mark) = (plain.to_owned(), mark.to_owned());
        Self { plain, mark, is_apart: false, is_confirming: false, within: 0 }
    }

    /// Returns a retry that confirms a rejection and may use the reserve of the request limit.
    pub fn at_the_end(plain: &str, mark: &str) -> Self {
        Self { is_confirming: true, ..Self::at_once(plain, mark) }
    }
}

/// The result of resending a valid request.
#[derive(Debug, Clone, Default)]
pub struct Again {
    /// The response, if it was not an acceptance.
    pub refused: Option<Came>,
    /// True if the request limit held it back.
    pub is_held_back: bool,
    /// The last exchange.
    pub last: Option<Exchange>,
}

impl Again {
    /// Returns the number of the last request, or None if nothing was sent.
    pub fn number(&self) -> Option<u64> {
        self.last.as_ref().map(|exchange| exchange.number)
    }

    /// Returns the response if the request was sent and not accepted.
    pub(crate) fn rejection(&self) -> Option<&Came> {
        self.refused.as_ref().filter(|_| !self.is_held_back)
    }
}

/// For each response to a reading baseline request, the values in the request and the strings in the
/// response.
pub type Named = Vec<(BTreeSet<String>, BTreeSet<String>)>;

/// A profile value that may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Doubt {
    pub(crate) value: String,
    pub(crate) swap: Swap,
    /// True if the failed case was rejected. An accepted case may be accepted only because the bank does not
    /// check the value.
    pub(crate) is_rejected: bool,
}

/// The values that are replaced together with a suspected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Swap {
    /// No other value.
    Alone,
    /// All values that belong to it.
    Together,
}

impl Swap {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Together => "together",
        }
    }
}

/// The evidence about a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The target knows the value.
    Known,
    /// The value may be wrong, with the evidence.
    Wrong(Box<Suspicion>),
    /// The target also accepts an invented value in the request that it should reject.
    Unread,
    /// No evidence.
    Nothing,
}
