//! What is left on the way of a case, and where the way ends early.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{Absence, Exchange, Verdict};

use super::gate::Held;
use crate::{exchange::ExchangeError, judge::Outcome, mask::Learned, request_signer::RequestSigner};

/// What is left behind on the way of a case.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// Exchanges in the order in which they ended, masked.
    pub(crate) exchanges: Vec<Exchange>,
    /// What their answers told of persons and accounts.
    pub(crate) learned: Learned,
    /// The status of the answer that is judged.
    pub(crate) status: Option<u16>,
    /// Refusals that did not come again.
    pub(crate) passing: Vec<String>,
    /// What was another in its requests, since the target refuses a plain one.
    pub(crate) judged_with: BTreeSet<String>,
    /// Who signs its requests, where that is another than the one of the session.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    /// Why the last request had no answer.
    pub(crate) failure: Option<ExchangeError>,
    /// Whether a request was held back by the limit of exchanges.
    pub(crate) is_held_back: bool,
    /// Whether a valid request is only asked again. What it could make is no case's, and is not noted.
    pub(crate) is_again: bool,
    /// Whether verdicts rest on its answer, so that it may take what others have to leave.
    pub(crate) is_confirming: bool,
}

impl Trail {
    /// Adds what is left of a request that was sent beside others.
    pub(crate) fn append(&mut self, other: Self) {
        let Self { exchanges, learned, failure, is_held_back, passing, judged_with, .. } = other;
        self.judged_with.extend(judged_with);
        self.passing.extend(passing);
        self.exchanges.extend(exchanges);
        self.learned.append(learned);
        self.failure = failure.or(self.failure.take());
        self.is_held_back |= is_held_back;
    }
}

/// Where the way of a case ends before its request is judged.
pub(crate) struct Stop {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// Why it does not apply, of what does not.
    pub(crate) absence: Option<Absence>,
    /// The answer to the judged request, if it got that far.
    pub(crate) seen: Option<(Outcome, String)>,
}

impl Stop {
    pub(crate) fn new(verdict: Verdict, reason: String) -> Self {
        Self { verdict, reason, absence: None, seen: None }
    }

    pub(crate) fn inconclusive(reason: String) -> Self {
        Self::new(Verdict::Inconclusive, reason)
    }

    /// The profile declares that the target lacks what the case needs, or the case cannot apply to it.
    pub(crate) fn declared_absent(reason: String) -> Self {
        Self { absence: Some(Absence::Declared), ..Self::new(Verdict::NotApplicable, reason) }
    }

    /// The profile does not say enough; `add` is the line that would open the case.
    pub(crate) fn not_said(reason: String, add: &str) -> Self {
        let absence = Some(Absence::NotSaid { add: add.to_owned() });
        Self { absence, ..Self::new(Verdict::NotApplicable, reason) }
    }

    pub(crate) fn error(reason: String) -> Self {
        Self::new(Verdict::Error, reason)
    }

    /// A request that may not be sent, so that nobody asks: the profile was not authorized for it, or as many
    /// were sent as may be.
    pub(crate) fn held(held: Held) -> Self {
        Self::declared_absent(held.to_string())
    }
}
