//! What the judge needs before it can decide: requests to be sent, or what is known of something else.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use xs2aspec_suite::{Case, RequestSpec};

use crate::{
    Judge,
    answer::{Answer, retry_after},
    judge,
    probes::{profile::Doubt, still_accepting::StillAccepting},
    request_signer::RequestSigner,
    trail::Values,
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

/// What cases share: it is asked once, whoever needs it first.
#[derive(Debug, Clone)]
pub enum Question {
    /// What became of a case of the suite.
    Case(String),
    /// Whether the target has a capability of which the profile says nothing.
    Capability(String),
    /// Whether a value of the profile is wrong, which the failure of this case shows.
    Doubt(Doubt, Arc<Case>),
    /// What the target names by itself in responses, asked as steps of this case.
    Named(Arc<Case>),
    /// Whether a valid request is still accepted.
    StillAccepting(StillAccepting),
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

/// Whoever asks for no longer than this will have time then: the quota of a day is not meant.
const MOMENT: Duration = Duration::from_secs(10);

impl Judge {
    /// Returns true if a request is not sent again after this response, however busy the target says it is: a
    /// quota of the day is not there again in a moment.
    pub fn is_final(&self, probe: &Probe, answer: &Answer) -> bool {
        let is_quota = || {
            judge::is_quota(answer, self.suite().answers()) && self.has_quota(&probe.sent.request.operation)
        };
        (answer.status == 429 && probe.may_be_used_up || is_quota())
            && retry_after(answer).is_none_or(|wait| wait > MOMENT)
    }
}
