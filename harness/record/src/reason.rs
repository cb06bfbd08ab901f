//! Why a verdict is what it is: a code with its data. Reports say it in the words of its `Display`.

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

/// Why a case is `flaky`, `waived`, `inconclusive`, `not-applicable` or an `error`, or is only observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Reason {
    /// A plain request was not accepted.
    #[error("{0}")]
    PlainRejected(Box<PlainRejected>),
    /// No plain request was accepted, so that nothing was asked that leans on one.
    #[error("{because}{}", given_up(true))]
    GivenUp {
        /// The other reason.
        because: Box<Self>,
    },
    /// A plain request that was never accepted: what is refused like it says nothing.
    #[error(
        "the plain request {plain} was not accepted in this run: {came}: what is refused like it says nothing"
    )]
    NeverAccepted {
        /// The plain request.
        plain: String,
        /// The result.
        came: Came,
    },
    /// A plain request was accepted, and then no more.
    #[error(
        "the target accepted the plain request {plain} earlier in this run, and then no more: {came}: what it refuses \
         since then says nothing"
    )]
    AcceptedNoMore {
        /// The plain request.
        plain: String,
        /// The result.
        came: Came,
    },
    /// The plain request was not accepted right after a rejection.
    #[error(
        "the target accepts nothing any more, so that its refusal says nothing: the plain request {plain} was asked again, \
         and {came}"
    )]
    AcceptsNothing {
        /// The plain request.
        plain: String,
        /// The result.
        came: Came,
    },
    /// The control was not accepted.
    #[error("its control {control} was not accepted: {came}")]
    ControlRejected {
        /// The control.
        control: String,
        /// The result.
        came: Came,
    },
    /// The control was not accepted, which is waived or allowed.
    #[error("its control {control} was not accepted, which is {excuse}")]
    ControlExcused {
        /// The control.
        control: String,
        /// The excuse.
        excuse: Excuse,
    },
    /// All findings are waived.
    #[error("{excuse}")]
    Waived {
        /// The excuse.
        excuse: Excuse,
    },
    /// A request that prepares the case was not accepted.
    #[error("set-up step `{step}` got {got}")]
    SetUpRejected {
        /// The step.
        step: String,
        /// The response.
        got: Got,
    },
    /// The response to a request that prepares the case lacks what the case needs of it.
    #[error("the answer to set-up step `{step}` has no {place}")]
    SetUpLacks {
        /// The step.
        step: String,
        /// The place.
        place: String,
    },
    /// A request that prepares the case got a response after which the case is not sent.
    #[error("a request that prepares it was answered with {got}, after which it is not sent")]
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
    /// The same request got different responses, with other ids and amounts.
    #[error("it got {} for the same with other values", listed(got))]
    Unsteady {
        /// The responses, in the order of time.
        got: Vec<Got>,
    },
    /// A valid request was rejected once, and accepted twice when it had other ids and amounts.
    #[error("it got {got} once, and was accepted twice when it had other values")]
    RejectedOnce {
        /// The response.
        got: Got,
    },
    /// A gateway may have failed.
    #[error("it got {status}, which may be of a gateway, and was served when it was sent again")]
    ServedAgain {
        /// The status of the first response.
        status: u16,
    },
    /// It was refused, and accepted when it was asked again.
    #[error("the target refused it, and accepted it when the same was asked again")]
    AcceptedAgain,
    /// The target had no time.
    #[error("it got {got}: the target had no time for it")]
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
    /// Whoever called before may have used up the calls of the day.
    #[error("the daily calls may be used up")]
    DailyCalls,
    /// There was no whole response.
    #[error("{failure}")]
    NoResponse {
        /// The failure.
        failure: String,
    },
    /// There was no whole response three times, while the plain request was accepted in between.
    #[error("no answer three times, while the plain request is accepted: {failure}")]
    NoResponseThreeTimes {
        /// The failure.
        failure: String,
    },
    /// A record has no response.
    #[error("no answer was recorded")]
    NoResponseRecorded,
    /// A record lacks a request.
    #[error("no `{step}` was recorded")]
    NotRecorded {
        /// The step.
        step: String,
    },
    /// No request before it got a response.
    #[error("not sent, since no request before it got a response: {failure}")]
    Silence {
        /// The failure.
        failure: Box<Self>,
    },
    /// The run was interrupted while it was under way.
    #[error(
        "it was under way when the run was interrupted, and may have made something: it was not sent again"
    )]
    LeftInDoubt,
    /// The target is only read.
    #[error("it could make something, and the target is a production system, which is only read")]
    OnlyRead,
    /// As many requests were sent as there may be.
    #[error("as many requests were sent as this run may send")]
    NoMoreRequests,
    /// The record could not be written, so that nothing is sent any more.
    #[error("what is sent cannot be recorded, so it was not sent")]
    NotWritten,
    /// The target was asked for a capability, and lacks it.
    #[error(
        "asked, the target answered {answer}: it has no `{capability}`; to insist, add {add}, else [capabilities] \
         {capability} = false"
    )]
    CapabilityLacked {
        /// The capability.
        capability: String,
        /// The response, and the request.
        answer: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The profile says that the target lacks a capability.
    #[error("the target profile says that it has no `{capability}`")]
    DeclaredAbsent {
        /// The capability.
        capability: String,
    },
    /// The profile has one value where a capability needs two.
    #[error("the target profile has one value for `{one}` and `{other}`, and so no `{capability}`")]
    OneValue {
        /// The first value.
        one: String,
        /// The other value.
        other: String,
        /// The capability.
        capability: String,
    },
    /// The profile does not say whether the target has a capability.
    #[error("the target profile does not say whether it offers `{capability}`; add {add}")]
    NotSaid {
        /// The capability.
        capability: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The profile lacks a value.
    #[error("the target profile has no `{value}`; add {add}")]
    NoValue {
        /// The value.
        value: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The profile has too few entries of a table with a key.
    #[error("the target profile has no further `{table}` with `{key}`; add {add}")]
    NoFurtherEntry {
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// The line to add to the profile.
        add: String,
    },
    /// The values of the profile make the request that of its control.
    #[error("the values of the target profile make it the request of its control")]
    SameAsControl,
    /// With this profile there is no such request.
    #[error("{why}")]
    NoSuchRequest {
        /// The reason in words.
        why: String,
    },
    /// The request cannot be made of what the target responded.
    #[error("{why}")]
    Unusable {
        /// The reason in words.
        why: String,
    },
    /// The suite has a defect.
    #[error("{why}")]
    Defect {
        /// The reason in words.
        why: String,
    },
    /// Traffic: a client did not show it.
    #[error("not shown{}", meeting(meet.as_deref()))]
    NotShown {
        /// The options of `xs2aspec serve` by which a client can meet it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meet: Option<String>,
    },
    /// Traffic: the client is declared to lack a part of the document.
    #[error("not needed: --without {part} declares a client that {says}")]
    NotNeeded {
        /// The part.
        part: String,
        /// What such a client does not do.
        says: String,
    },
    /// Traffic: an alternative is shown.
    #[error("not needed: {shown} is shown, and one of them is enough")]
    OneEnough {
        /// The alternative.
        shown: String,
    },
    /// Traffic: what would show it is not in the record.
    #[error("what would show it is masked, or cut off, in the record")]
    NotReadable,
    /// Traffic: an entry of a file is no exchange.
    #[error("it cannot be read: {why}")]
    Unread {
        /// What was expected and what was found.
        why: String,
    },
    /// Traffic: the request is for no operation of the document.
    #[error("the request is for no operation of the document")]
    OfNoOperation,
    /// Traffic: a bank may refuse it for what nobody sees.
    #[error("it was refused with {got}, and {why}")]
    RefusalUndecided {
        /// The response.
        got: Got,
        /// The reason.
        why: Box<Untold>,
    },
    /// Traffic: it had to be refused, and a body that is not known may say so.
    #[error("it had to be refused and got {got}, and the body {why}")]
    BodyUnknown {
        /// The response.
        got: Got,
        /// The reason.
        why: Box<Untold>,
    },
    /// A reason of which the words alone are known.
    #[error("{says}")]
    InWords {
        /// The words.
        says: String,
    },
}

impl Reason {
    /// Returns that there was no whole response.
    pub fn no_response(failure: impl fmt::Display) -> Self {
        Self::NoResponse { failure: failure.to_string() }
    }

    /// Adds that nothing was asked which leans on a plain request.
    #[must_use]
    pub fn given_up(self) -> Self {
        match self {
            Self::PlainRejected(rejected) => PlainRejected { is_given_up: true, ..*rejected }.into(),
            other => Self::GivenUp { because: Box::new(other) },
        }
    }

    /// Returns it with its texts changed, as for masking.
    #[must_use]
    pub fn with_texts(&self, change: &dyn Fn(&str) -> String) -> Self {
        changed(self, change).unwrap_or_else(|| Self::InWords { says: change(&self.to_string()) })
    }
}

fn meeting(meet: Option<&str>) -> String {
    meet.map(|meet| format!("; `xs2aspec serve {meet}` lets a client meet it")).unwrap_or_default()
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
