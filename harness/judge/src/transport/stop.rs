//! What is left on the way of a case, and where the way ends early.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{Absence, Exchange, Verdict};

use crate::{answer::ExchangeError, judge::Outcome, mask::Learned, request_signer::RequestSigner};

/// Which ids and amounts a request has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Values {
    /// Those that its case has first.
    #[default]
    First,
    /// Others. The target rejected a valid request with the first ones, perhaps as a repetition.
    Others,
}

/// What is left behind on the way of a case.
#[derive(Debug, Default)]
pub struct Trail {
    /// Exchanges in the order in which they ended, masked.
    pub exchanges: Vec<Exchange>,
    /// What their answers told of persons and accounts.
    pub learned: Learned,
    /// The status of the answer that is judged.
    pub status: Option<u16>,
    /// Refusals that did not come again.
    pub passing: Vec<String>,
    /// What was another in its requests, since the target refuses a plain one.
    pub judged_with: BTreeSet<String>,
    /// The ids and amounts of its requests.
    pub values: Values,
    /// The ids and amounts with which the target accepted its valid requests.
    pub accepted_with: Values,
    /// How many calls of the daily quota were sent before its last request. None if that is no such call.
    pub calls_before: Option<usize>,
    /// Who signs its requests, where that is another than the one of the session.
    pub signer: Option<Arc<RequestSigner>>,
    /// Why the last request had no answer.
    pub failure: Option<ExchangeError>,
    /// Whether a request was held back by the limit of exchanges.
    pub is_held_back: bool,
    /// The case whose steps its requests are, where they are made as those of a case with a longer id: what
    /// is asked again has identifiers of its own.
    pub of: Option<String>,
    /// Whether verdicts rest on its answer, so that it may take what others have to leave.
    pub is_confirming: bool,
}

impl Trail {
    /// The way of requests that are asked again as steps of this case.
    pub fn again(case: &str) -> Self {
        Self { of: Some(case.to_owned()), ..Self::default() }
    }

    /// Returns the case and the step as which the request of such a case is recorded.
    pub fn recorded_as(&self, case: &str, step: &str) -> (String, String) {
        let of = self.of.as_deref().and_then(|of| Some((of, case.strip_prefix(of)?.strip_prefix('/')?)));
        match of {
            Some((of, mark)) => (of.to_owned(), format!("{mark}/{step}")),
            None => (case.to_owned(), step.to_owned()),
        }
    }

    /// Adds what is left of a request that was sent beside others.
    pub fn append(&mut self, other: Self) {
        let Self { exchanges, learned, failure, is_held_back, passing, judged_with, .. } = other;
        self.accepted_with = self.accepted_with.max(other.accepted_with);
        self.calls_before = other.calls_before;
        self.judged_with.extend(judged_with);
        self.passing.extend(passing);
        self.exchanges.extend(exchanges);
        self.learned.append(learned);
        self.failure = failure.or(self.failure.take());
        self.is_held_back |= is_held_back;
    }
}

/// Why a request was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Held {
    /// The profile was not authorized for it.
    #[error("it could make something, and the target is a production system, which is only read")]
    Forbidden,
    /// As many were sent as there may be.
    #[error("as many requests were sent as this run may send")]
    UsedUp,
}

/// Where the way of a case ends before its request is judged.
pub struct Stop {
    /// What the case is then.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Why it does not apply, of what does not.
    pub absence: Option<Absence>,
    /// The answer to the judged request, if it got that far.
    pub seen: Option<(Outcome, String)>,
    /// Whether it ends because the daily calls may be used up.
    pub is_used_up: bool,
}

/// Why a rejected call of a daily quota says nothing.
const USED_UP: &str = "the daily calls may be used up";

impl Stop {
    /// Ends with this verdict.
    pub fn new(verdict: Verdict, reason: String) -> Self {
        Self { verdict, reason, absence: None, seen: None, is_used_up: false }
    }

    /// Nothing can be told.
    pub fn inconclusive(reason: String) -> Self {
        Self::new(Verdict::Inconclusive, reason)
    }

    /// The daily calls may be used up, by this run or by whoever called before it.
    pub fn used_up() -> Self {
        Self { is_used_up: true, ..Self::inconclusive(USED_UP.to_owned()) }
    }

    /// The profile declares that the target lacks what the case needs, or the case cannot apply to it.
    pub fn declared_absent(reason: String) -> Self {
        Self { absence: Some(Absence::Declared), ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// The profile does not say enough; `add` is the line that would open the case.
    pub fn not_said(reason: String, add: &str) -> Self {
        let absence = Some(Absence::NotSaid { add: add.to_owned() });
        Self { absence, ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// The harness could not do its work.
    pub fn error(reason: String) -> Self {
        Self::new(Verdict::Error, reason)
    }

    /// A request that may not be sent, so that nobody asks: the profile was not authorized for it, or as many
    /// were sent as may be.
    pub fn held(held: Held) -> Self {
        Self::declared_absent(held.to_string())
    }
}
