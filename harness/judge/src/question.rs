//! Questions that the judge raises: what cases share is asked once, whoever needs it first.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{Came, Exchange, Suspicion};
use xs2aspec_suite::Case;

/// A question.
#[derive(Debug, Clone)]
pub enum Question {
    /// The result of a case of the suite.
    Case(String),
    /// A capability that the profile does not mention.
    Capability(String),
    /// A value of the profile that may be wrong, since this case failed.
    Doubt(Doubt, Arc<Case>),
    /// The values that the target names in responses. The requests are steps of this case.
    Named(Arc<Case>),
    /// A valid request that is sent again, to see if it is still accepted.
    StillAccepting(StillAccepting),
}

/// For so many exchanges nobody doubts what was accepted: a target may reject everything with 401 or 403, and
/// be right.
pub(crate) const A_MOMENT: u64 = 20;

/// Asks a valid request again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillAccepting {
    /// The case with the request.
    pub plain: String,
    /// A mark that is unique among the questions about the case.
    pub mark: String,
    /// True if it goes over a connection of its own.
    pub(crate) is_apart: bool,
    /// True if verdicts rest on it, so that it may take the requests that are kept for that.
    pub(crate) is_confirming: bool,
    /// Number of exchanges for which an earlier acceptance is answer enough.
    pub within: u64,
}

impl StillAccepting {
    /// Asks in between: it takes nothing from what is kept for the end.
    pub(crate) fn at_once(plain: &str, mark: &str) -> Self {
        let (plain, mark) = (plain.to_owned(), mark.to_owned());
        Self { plain, mark, is_apart: false, is_confirming: false, within: 0 }
    }

    /// Asks to confirm what was rejected: what is kept for that may be used.
    pub fn at_the_end(plain: &str, mark: &str) -> Self {
        Self { is_confirming: true, ..Self::at_once(plain, mark) }
    }
}

/// The result of a valid request that was sent again.
#[derive(Debug, Clone, Default)]
pub struct Again {
    /// The result, if it was not accepted.
    pub refused: Option<Came>,
    /// True if it was not sent, since no more may be.
    pub is_held_back: bool,
    /// Its last request, and what came back.
    pub last: Option<Exchange>,
}

impl Again {
    /// Returns the number of its last request, or `None` if nothing was sent.
    pub fn number(&self) -> Option<u64> {
        self.last.as_ref().map(|exchange| exchange.number)
    }

    /// Returns what it got in place of acceptance, if it was sent.
    pub(crate) fn rejection(&self) -> Option<&Came> {
        self.refused.as_ref().filter(|_| !self.is_held_back)
    }
}

/// The texts in responses to plain requests that read, each with the values in its request.
pub type Named = Vec<(BTreeSet<String>, BTreeSet<String>)>;

/// A value of the profile that may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Doubt {
    pub(crate) value: String,
    pub(crate) swap: Swap,
    /// True if the failed case was rejected: one that was accepted may be so since nobody looks at the value.
    pub(crate) is_rejected: bool,
}

/// The values that are replaced together with a value that may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Swap {
    /// No other value.
    Alone,
    /// All values that go along with it.
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
    /// The target knows it.
    Known,
    /// It may be wrong, and why.
    Wrong(Box<Suspicion>),
    /// The target accepts an invented one in its place as well, in the request that it should reject.
    Unread,
    /// No evidence.
    Nothing,
}
