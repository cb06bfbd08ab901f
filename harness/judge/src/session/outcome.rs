//! What comes of asking beside a verdict.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xs2aspec_record::{Exchange, Finding, Verdict};
use xs2aspec_suite::Substitute;

use crate::{
    answer::Answer,
    judge::{Examined, Outcome},
    request_signer::RequestSigner,
    transport::Stop,
};

/// What the requests that prepare a case leave.
#[derive(Default)]
pub(super) struct Prepared {
    /// Values by `STEP.KEY`.
    pub(super) kept: BTreeMap<String, Value>,
    /// How many checks were evaluated on their answers.
    pub(super) checks: u32,
    /// What those break.
    pub(super) findings: Vec<Finding>,
    /// The answer that is all that comes of the case.
    pub(super) ended: Option<Ended>,
}

/// An answer to a preparing request after which the case's own request is not sent.
#[derive(Debug)]
pub(super) struct Ended {
    /// What it came to.
    pub(super) outcome: Outcome,
    /// The answer in words.
    pub(super) words: String,
    /// What the case is then.
    pub(super) verdict: Verdict,
}

/// What comes of a request that got no whole answer, when it is asked over other connections.
pub(super) enum Unanswered {
    /// No answer each time: how often, and why.
    Each(String),
    /// An answer, and what it is.
    Answered(Box<(Answer, Examined)>),
}

/// What came of a valid request that was asked again.
#[derive(Debug)]
pub struct Again {
    /// What it got in place of acceptance.
    pub refused: Option<String>,
    /// The last answer that was none, in words, if there was one.
    pub answer: Option<String>,
    /// Whether it was not sent, since no more may be.
    pub is_held_back: bool,
    /// Its last request, and what came back.
    pub last: Option<Exchange>,
}

impl Again {
    /// Returns the number of its last request, or `None` if nothing was sent.
    pub fn number(&self) -> Option<u64> {
        self.last.as_ref().map(|exchange| exchange.number)
    }
}

/// What is sent in place of the requests of an operation whose plain one is refused.
#[derive(Debug)]
pub(super) struct InPlace {
    /// What is another, in words.
    pub(super) changes: Vec<String>,
    /// What the requests have.
    pub(super) substitute: Option<Substitute>,
    /// Who signs them.
    pub(super) signer: Option<Arc<RequestSigner>>,
}

/// Why there is no request that somebody else could send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// With this profile the request cannot be made.
    Profile(String),
    /// A request that prepares it did not come to what it must.
    Target(String),
}

impl From<Stop> for NotReady {
    fn from(stop: Stop) -> Self {
        match stop.verdict {
            Verdict::NotApplicable => Self::Profile(stop.reason),
            _ => Self::Target(stop.reason),
        }
    }
}
