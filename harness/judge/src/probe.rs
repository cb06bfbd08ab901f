//! What the judge needs before it can decide: requests to be sent, or what is known of something else.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use xs2aspec_record::Look;
use xs2aspec_suite::{RequestSpec, Substitute};

use crate::{
    Judge,
    answer::{Answer, retry_after},
    judge,
    question::Question,
    request_signer::RequestSigner,
};

/// The result of a rule, or what it needs first.
pub type Judged<T> = Result<T, Need>;

/// What the judge needs before it can decide. It is asked again once it has that.
#[derive(Debug, Clone)]
pub enum Need {
    /// These requests, all at once.
    Requests(Vec<Probe>),
    /// The answer to another question.
    Answer(Question),
}

/// A request that the judge needs.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The id from which its ids and amounts are made: that of its case, or of what is asked beside it.
    pub case: String,
    /// The name of its step there.
    pub step: String,
    /// The case and the step as which it is recorded.
    pub recorded: (String, String),
    /// Why it is sent, where it is no step of the case itself.
    pub look: Option<Look>,
    /// What is sent.
    pub sent: Arc<Sent>,
    /// Values of earlier responses, by `STEP.KEY`.
    pub kept: Arc<BTreeMap<String, Value>>,
    /// Which ids and amounts it has.
    pub values: Values,
    /// How long to wait before it is sent.
    pub pause: Duration,
    /// Whether it confirms verdicts, so that it may take what others have to leave.
    pub is_confirming: bool,
    /// Whether a bank counts it against the quota of the day.
    pub is_call: bool,
    /// Whether a response with 429 may be about the quota of the day.
    pub may_be_used_up: bool,
}

/// Which ids and amounts a request has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Values {
    /// Those that its case has first.
    #[default]
    First,
    /// Others. The target rejected a valid request with the first ones, perhaps as a repetition.
    Others,
}

/// The request of a probe.
#[derive(Debug)]
pub struct Sent {
    /// The request.
    pub request: Arc<RequestSpec>,
    /// Who signs it; nobody where nothing is sent.
    pub signer: Option<Arc<RequestSigner>>,
    /// Where it differs from what its case says, since the target rejects a plain request.
    pub changes: Vec<String>,
    /// Whether it is the request of its case, with the values that it has first.
    pub is_usual: bool,
}

/// What is sent in place of the requests of an operation whose plain one is rejected.
#[derive(Debug)]
pub struct Substituted {
    /// What is another, in words.
    pub(crate) changes: Vec<String>,
    /// What the requests have.
    pub(crate) substitute: Option<Substitute>,
    /// Who signs them.
    pub(crate) signer: Option<Arc<RequestSigner>>,
}

/// Whoever asks for no longer than this will have time then: the quota of a day is not meant.
const MOMENT: Duration = Duration::from_secs(10);

impl Judge {
    /// Returns true if a request is not sent again after this response, however busy the target says it is: a
    /// quota of the day is not there again in a moment.
    pub fn is_final(&self, probe: &Probe, answer: &Answer) -> bool {
        let is_quota = || {
            self.has_quota(&probe.sent.request.operation) && judge::is_quota(answer, self.suite().answers())
        };
        (answer.status == 429 && probe.may_be_used_up || is_quota())
            && retry_after(answer).is_none_or(|wait| wait > MOMENT)
    }
}
