//! Needs: the requests, or the answers to other questions, without which the judge cannot decide.

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

/// The result of a rule, or what it needs first.
pub type Judged<T> = Result<T, Need>;

/// A need of the judge. The runner fills it, and calls the judge again.
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
    /// The request before it is filled.
    pub sent: Arc<Sent>,
    /// Values of earlier responses, by `STEP.KEY`.
    pub kept: Arc<Kept>,
    /// Which ids and amounts it has.
    pub values: Values,
    /// How long to wait before it is sent.
    pub pause: Duration,
    /// True if it confirms verdicts, so that it may take what others have to leave.
    pub is_confirming: bool,
    /// True if a bank counts it against the quota of the day.
    pub is_call: bool,
    /// True if a response with 429 may be about the quota of the day.
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
    /// The signer. A judge that sends nothing has none.
    pub signer: Option<Arc<RequestSigner>>,
    /// Where it differs from what its case says, since the target rejects a plain request.
    pub changes: Vec<String>,
    /// True if it is the request of its case, with the values that it has first.
    pub is_usual: bool,
}

/// A substitute for the requests of an operation whose plain one is rejected.
#[derive(Debug)]
pub struct Substituted {
    /// The differences, in words.
    pub(crate) changes: Vec<String>,
    /// The change to each request.
    pub(crate) substitute: Option<Substitute>,
    /// The signer, if it is another one.
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
