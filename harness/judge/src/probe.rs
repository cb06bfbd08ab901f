//! The needs of the judge: requests or other results without which it cannot decide.

use std::{sync::Arc, time::Duration};

use xs2aspec_record::Look;
use xs2aspec_suite::{RequestSpec, Substitute};

use crate::{
    Judge,
    answer::{Answer, retry_after},
    judge,
    question::Question,
    request_signer::RequestSigner,
    step::Kept,
};

/// The result of a rule, or the need that comes first.
pub type Judged<T> = Result<T, Need>;

/// A need of the judge. The runner meets it and calls the judge again.
#[derive(Debug, Clone)]
pub enum Need {
    /// These requests, all at once.
    Requests(Vec<Probe>),
    /// The result of another task.
    Answer(Question),
}

/// A request that the judge needs.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The id from which its ids and amounts are derived: the id of its case or of a retry.
    pub case: String,
    /// The name of its step there.
    pub step: String,
    /// The case and the step under which it is recorded.
    pub recorded: (String, String),
    /// The reason for sending it, if it is not a step of the case itself.
    pub look: Option<Look>,
    /// The request before it is filled.
    pub sent: Arc<Sent>,
    /// Values of earlier responses, by `STEP.KEY`.
    pub kept: Arc<Kept>,
    /// The set of ids and amounts to use.
    pub values: Values,
    /// The time to wait before sending.
    pub pause: Duration,
    /// True if the request confirms verdicts and may use the requests that the limit reserves for that.
    pub is_confirming: bool,
    /// True if a bank counts the request against the daily quota.
    pub is_call: bool,
    /// True if a 429 may come from the daily quota.
    pub may_be_used_up: bool,
}

/// The set of ids and amounts in a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Values {
    /// The first set of the case.
    #[default]
    First,
    /// Another set, because the target rejected a valid request with the first one, perhaps as a duplicate.
    Others,
}

/// The request of a probe.
#[derive(Debug)]
pub struct Sent {
    /// The request.
    pub request: Arc<RequestSpec>,
    /// The signer, or None for a judge that needs no requests.
    pub signer: Option<Arc<RequestSigner>>,
    /// Differences from the case's own request, because the target rejects a baseline request.
    pub changes: Vec<String>,
    /// True if the request is that of its case, with the first set of values.
    pub is_usual: bool,
}

/// A substitute for the requests of an operation whose baseline request is rejected.
#[derive(Debug)]
pub struct Substituted {
    /// The differences, as text.
    pub(crate) changes: Vec<String>,
    /// The change to each request.
    pub(crate) substitute: Option<Substitute>,
    /// The signer, if it is a different one.
    pub(crate) signer: Option<Arc<RequestSigner>>,
}

/// A Retry-After up to this long means that the target is briefly busy, not that a daily quota is used up.
const MOMENT: Duration = Duration::from_secs(10);

impl Judge {
    /// Returns true if a request is not retried after this response, because it says that a daily quota is
    /// used up.
    pub fn is_final(&self, probe: &Probe, answer: &Answer) -> bool {
        let is_quota = || {
            self.has_quota(&probe.sent.request.operation) && judge::is_quota(answer, self.suite().answers())
        };
        (answer.status == 429 && probe.may_be_used_up || is_quota())
            && retry_after(answer).is_none_or(|wait| wait > MOMENT)
    }
}
