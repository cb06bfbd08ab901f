//! The reason for a verdict, as a code with its data. Reports show its `Display` text.

mod data;
mod text;
mod untold;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::data::given_up;
pub(crate) use self::text::changed;
pub use self::{
    data::{Came, Excuse, Hint, PlainRejected, Suspicion},
    untold::{Changed, Untold},
};
use crate::got::Got;

/// The reason why a case is `flaky`, `waived`, `inconclusive`, `not-applicable`, an `error`, or only
/// observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Reason {
    /// A baseline request was not accepted.
    #[error("{0}")]
    PlainRejected(Box<PlainRejected>),
    /// No baseline request was accepted, so the requests that depend on one were not sent.
    #[error("{because}{}", given_up(true))]
    GivenUp {
        /// The underlying reason.
        because: Box<Self>,
    },
    /// A baseline request was never accepted, so rejections of similar requests are inconclusive.
    #[error(
        "the baseline request {plain} was never accepted in this run ({came}), so similar rejections are inconclusive"
    )]
    NeverAccepted {
        /// Case id of the baseline request.
        plain: String,
        /// Its result.
        came: Came,
    },
    /// A baseline request was accepted at first, and later rejected.
    #[error(
        "the target accepted the baseline request {plain} earlier in this run and then stopped ({came}): its later \
         rejections are inconclusive"
    )]
    AcceptedNoMore {
        /// Case id of the baseline request.
        plain: String,
        /// Its result.
        came: Came,
    },
    /// The baseline request was not accepted right after a rejection.
    #[error(
        "the target no longer accepts valid requests, so this rejection is inconclusive: the baseline request {plain} was \
         sent again, and {came}"
    )]
    AcceptsNothing {
        /// Case id of the baseline request.
        plain: String,
        /// Its result.
        came: Came,
    },
    /// The control was not accepted.
    #[error("its control {control} was not accepted: {came}")]
    ControlRejected {
        /// Case id of the control.
        control: String,
        /// Its result.
        came: Came,
    },
    /// The control was not accepted, which is waived or allowed.
    #[error("its control {control} was not accepted, which is {excuse}")]
    ControlExcused {
        /// Case id of the control.
        control: String,
        /// The reason why that is allowed.
        excuse: Excuse,
    },
    /// All findings are waived.
    #[error("{excuse}")]
    Waived {
        /// The waiver or level.
        excuse: Excuse,
    },
    /// A set-up request was not accepted.
    #[error("set-up step `{step}` got {got}")]
    SetUpRejected {
        /// The step.
        step: String,
        /// The response.
        got: Got,
    },
    /// The response to a set-up request lacks a value that the case needs.
    #[error("the response to set-up step `{step}` has no {place}")]
    SetUpLacks {
        /// The step.
        step: String,
        /// The place of the missing value.
        place: String,
    },
    /// A set-up request got a response that ends the case before its own request is sent.
    #[error("a set-up request got {got}, so the request of the case was not sent")]
    SetUpEnds {
        /// The response.
        got: Got,
    },
    /// A value of the profile may be wrong.
    #[error("the profile may be wrong: {by}")]
    ProfileDoubted {
        /// The evidence.
        by: Box<Suspicion>,
    },
    /// The same request, with other ids and amounts, got different responses.
    #[error("it got {} for the same request with other values", listed(got))]
    Unsteady {
        /// The responses, in order of time.
        got: Vec<Got>,
    },
    /// A valid request was rejected once, and accepted twice with other ids and amounts.
    #[error("it got {got} once, and was accepted twice with other values")]
    RejectedOnce {
        /// The response.
        got: Got,
    },
    /// A gateway may have failed.
    #[error("it got {status}, perhaps from a gateway, and succeeded when it was sent again")]
    ServedAgain {
        /// The status of the first response.
        status: u16,
    },
    /// The request was rejected, and accepted when it was sent again.
    #[error("the target rejected it, and accepted it when it was sent again")]
    AcceptedAgain,
    /// The target was too busy.
    #[error("it got {got}: the target was too busy")]
    Busy {
        /// The response.
        got: Got,
    },
    /// The target says that a quota is used up.
    #[error("it got {got}: a quota is used up")]
    QuotaUsedUp {
        /// The response.
        got: Got,
    },
    /// Earlier calls on the same day may have used up the daily limit.
    #[error("the daily calls may be used up")]
    DailyCalls,
    /// There was no complete response.
    #[error("{failure}")]
    NoResponse {
        /// The failure.
        failure: String,
    },
    /// There was no complete response three times, while the baseline request was accepted in between.
    #[error("no response three times, while the baseline request is accepted: {failure}")]
    NoResponseThreeTimes {
        /// The failure.
        failure: String,
    },
    /// A record contains no response.
    #[error("no response was recorded")]
    NoResponseRecorded,
    /// A record lacks a request.
    #[error("no `{step}` was recorded")]
    NotRecorded {
        /// The step.
        step: String,
    },
    /// None of the earlier requests got a response.
    #[error("not sent because no earlier request got a response: {failure}")]
    Silence {
        /// The failure.
        failure: Box<Self>,
    },
    /// The run was interrupted while this case was in progress.
    #[error(
        "the run was interrupted during this case, which may have created a resource: it was not sent again"
    )]
    LeftInDoubt,
    /// The target is a production system, to which only read requests are sent.
    #[error("it could create a resource, and a production system only gets read requests")]
    OnlyRead,
    /// The limit of requests was reached.
    #[error("the limit of requests of this run was reached")]
    NoMoreRequests,
    /// The record cannot be written, so no further request is sent.
    #[error("the request cannot be recorded, so it was not sent")]
    NotWritten,
    /// A probe showed that the target lacks a capability.
    #[error(
        "the target does not appear to support `{capability}` (it responded {answer}); to test it anyway, add {add}, else [capabilities] \
         {capability} = false"
    )]
    CapabilityLacked {
        /// The capability.
        capability: String,
        /// The response and the request of the probe.
        answer: String,
        /// The line to add to the profile to test it anyway.
        add: String,
    },
    /// The profile declares that the target lacks a capability.
    #[error("the target profile declares that the target has no `{capability}`")]
    DeclaredAbsent {
        /// The capability.
        capability: String,
    },
    /// The profile has the same value twice where a capability needs two different ones.
    #[error("the target profile has the same value for `{one}` and `{other}`, so it has no `{capability}`")]
    OneValue {
        /// Name of the first value.
        one: String,
        /// Name of the other value.
        other: String,
        /// The capability.
        capability: String,
    },
    /// The profile does not declare whether the target has a capability.
    #[error("the target profile does not declare whether the target offers `{capability}`; add {add}")]
    NotSaid {
        /// The capability.
        capability: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The profile lacks a value.
    #[error("the target profile has no `{value}`; add {add}")]
    NoValue {
        /// Name of the value.
        value: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The profile has too few entries in a table with a certain key.
    #[error("the target profile has no further `{table}` with `{key}`; add {add}")]
    NoFurtherEntry {
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The values of the profile make the request equal to that of its control.
    #[error("with the values of the target profile, the request equals that of its control")]
    SameAsControl,
    /// The request does not exist with this profile.
    #[error("{why}")]
    NoSuchRequest {
        /// The explanation.
        why: String,
    },
    /// A value of the target's response cannot be used in the request.
    #[error("{why}")]
    Unusable {
        /// The explanation.
        why: String,
    },
    /// The suite has a defect.
    #[error("{why}")]
    Defect {
        /// The explanation.
        why: String,
    },
    /// Traffic: the client did not demonstrate it.
    #[error("not shown{}", meeting(meet.as_deref()))]
    NotShown {
        /// Options of `xs2aspec serve` that let a client demonstrate it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meet: Option<String>,
    },
    /// Traffic: the client is declared not to use a part of the document.
    #[error("not needed: --without {part} declares a client that {says}")]
    NotNeeded {
        /// The part.
        part: String,
        /// The actions that such a client does not take.
        says: String,
    },
    /// Traffic: an alternative was demonstrated.
    #[error("not needed: {shown} is shown, and one alternative is enough")]
    OneEnough {
        /// The alternative.
        shown: String,
    },
    /// Traffic: the evidence is not in the record.
    #[error("the evidence is masked or truncated in the record")]
    NotReadable,
    /// Traffic: an entry of a file is not an exchange.
    #[error("it cannot be read: {why}")]
    Unread {
        /// The expected and the actual content.
        why: String,
    },
    /// Traffic: the request matches no operation of the document.
    #[error("the request matches no operation of the document")]
    OfNoOperation,
    /// Traffic: the bank may have rejected the request for a reason that the traffic does not show.
    #[error("it was rejected with {got}, and {why}")]
    RefusalUndecided {
        /// The response.
        got: Got,
        /// The reason.
        why: Box<Untold>,
    },
    /// Traffic: the request had to be rejected, and an unknown body may say that it was.
    #[error("it had to be rejected and got {got}, and the body {why}")]
    BodyUnknown {
        /// The response.
        got: Got,
        /// The reason.
        why: Box<Untold>,
    },
    /// A reason that is available only as a sentence.
    #[error("{says}")]
    InWords {
        /// The sentence.
        says: String,
    },
}

impl Reason {
    /// Returns the reason for a missing or incomplete response.
    pub fn no_response(failure: impl fmt::Display) -> Self {
        Self::NoResponse { failure: failure.to_string() }
    }

    /// Adds that the requests that depend on a baseline request were not sent.
    #[must_use]
    pub fn given_up(self) -> Self {
        match self {
            Self::PlainRejected(rejected) => PlainRejected { is_given_up: true, ..*rejected }.into(),
            other => Self::GivenUp { because: Box::new(other) },
        }
    }

    /// Returns the reason with `change` applied to its strings, for example to mask them.
    #[must_use]
    pub fn with_texts(&self, change: &dyn Fn(&str) -> String) -> Self {
        changed(self, change).unwrap_or_else(|| Self::InWords { says: change(&self.to_string()) })
    }
}

fn meeting(meet: Option<&str>) -> String {
    meet.map(|meet| format!("; `xs2aspec serve {meet}` lets a client show it")).unwrap_or_default()
}

fn listed(got: &[Got]) -> String {
    got.iter().map(Got::to_string).collect::<Vec<_>>().join(", then ")
}

impl From<PlainRejected> for Reason {
    fn from(rejected: PlainRejected) -> Self {
        Self::PlainRejected(Box::new(rejected))
    }
}

#[cfg(test)]
mod tests;
