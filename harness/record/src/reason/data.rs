//! The data of reasons: the result of a request, the excuse for a rejection, and the evidence against a
//! profile.

use serde::{Deserialize, Serialize};

use super::{Reason, text::changed};
use crate::{culprit::Culprit, got::Got, level::LevelSource};

/// A baseline request that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[error("the baseline request {plain} was not accepted: {came}{}{}", after(culprit.as_deref(), *hint), given_up(*is_given_up))]
pub struct PlainRejected {
    /// Case id of the baseline request.
    pub plain: String,
    /// Its result.
    pub came: Came,
    /// The part of the request that the target rejects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Box<Culprit>>,
    /// A hint for the author of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// True if no baseline request was accepted, so the requests that depend on one were not sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_given_up: bool,
}

/// The result of a request: a response, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Came {
    /// A response.
    #[error("it got {0}")]
    Got(Got),
    /// No response.
    #[error("{0}")]
    Nothing(Box<Reason>),
}

/// The excuse for a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Excuse {
    /// A waiver covers it.
    #[error("waived until {until} by {owner} ({ticket}): {because}")]
    Waiver {
        /// The last day of the waiver.
        until: String,
        /// The owner.
        owner: String,
        /// The ticket.
        ticket: String,
        /// The reason of the waiver.
        because: String,
    },
    /// The level of the clause allows it.
    #[error("allowed by {}", by.words())]
    Level {
        /// The source of the level.
        by: LevelSource,
    },
}

/// The evidence that a value of the profile may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Suspicion {
    /// The value has wrong check digits.
    #[error("`{value}` has wrong check digits")]
    CheckDigits {
        /// The value.
        value: String,
    },
    /// The value is not the end of another value.
    #[error("`{whole}` does not end with `{value}`")]
    NoEnd {
        /// The value.
        value: String,
        /// The value that should end with it.
        whole: String,
    },
    /// The value equals another value that it must differ from.
    #[error("`{value}` and `{other}` are the same")]
    Same {
        /// The value.
        value: String,
        /// The other value.
        other: String,
    },
    /// The target treats the value like an invented one, and treats another value of the profile differently.
    #[error("the target responds with {got} to {} and to an invented value, and {}", quoted(values), instead(*is_taken, other, take))]
    Unknown {
        /// The values. One of them may be wrong.
        values: Vec<String>,
        /// The response to them.
        got: Got,
        /// The value used instead.
        take: String,
        /// The response to that value.
        other: Got,
        /// True if that response is an acceptance.
        is_taken: bool,
    },
    /// The target also accepts an invented value instead.
    #[error("the target also accepts an invented value instead of `{value}`")]
    Unread {
        /// The value.
        value: String,
    },
}

/// A hint for the author of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// The target knows the key, but may not know the values.
    Values,
    /// The target may know neither the test key of the suite nor its values.
    TestKey,
}

impl Came {
    /// Returns the response as a phrase, or the reason why there is none.
    pub fn response(&self) -> String {
        match self {
            Self::Got(got) => got.to_string(),
            Self::Nothing(reason) => reason.to_string(),
        }
    }

    /// Returns the result with `change` applied to its strings, for example to mask them.
    #[must_use]
    pub fn with_texts(&self, change: &dyn Fn(&str) -> String) -> Self {
        match self {
            Self::Got(got) => Self::Got(changed(got, change).unwrap_or_else(|| Got::status(got.status))),
            Self::Nothing(reason) => Self::Nothing(Box::new(reason.with_texts(change))),
        }
    }
}

fn after(culprit: Option<&Culprit>, hint: Option<Hint>) -> String {
    let culprit = culprit.map(|culprit| format!("; {}", culprit.says())).unwrap_or_default();
    let hint = match hint {
        Some(Hint::Values) => {
            "; the target accepts signed read requests, so it knows the key, but it may not know the values of the \
             profile"
        }
        Some(Hint::TestKey) => {
            "; the target may not know the suite's test key and values: set your own in a profile (`xs2aspec init`)"
        }
        None => "",
    };
    culprit + hint
}

pub(super) const fn given_up(is_given_up: bool) -> &'static str {
    if is_given_up {
        "; the target accepted no baseline request in this run, so the requests that depend on one were not sent"
    } else {
        ""
    }
}

fn quoted(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ")
}

fn instead(is_taken: bool, other: &Got, take: &str) -> String {
    if is_taken { format!("accepts `{take}`") } else { format!("with {other} to `{take}`") }
}
