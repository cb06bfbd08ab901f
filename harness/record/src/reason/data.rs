//! The data of reasons: the result of a request, the excuse for a rejection, the evidence against a profile.

use serde::{Deserialize, Serialize};

use super::{Reason, text::changed};
use crate::{culprit::Culprit, got::Got, level::LevelSource};

/// A plain request that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[error("the plain request {plain} was not accepted: {came}{}{}", after(culprit.as_deref(), *hint), given_up(*is_given_up))]
pub struct PlainRejected {
    /// The plain request.
    pub plain: String,
    /// The result.
    pub came: Came,
    /// The part of it that the target rejects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<Box<Culprit>>,
    /// A hint for the author of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// True if no plain request was accepted, so that nothing was asked that leans on one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_given_up: bool,
}

/// The result of a request: a response, or the reason that there is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Came {
    /// A response.
    #[error("it got {0}")]
    Got(Got),
    /// None.
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
    /// Its clause may be broken.
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
    /// Its check digits.
    #[error("`{value}` has wrong check digits")]
    CheckDigits {
        /// The value.
        value: String,
    },
    /// It is not the end of another value.
    #[error("`{whole}` does not end with `{value}`")]
    NoEnd {
        /// The value.
        value: String,
        /// The value that it should end.
        whole: String,
    },
    /// It is another value that it must differ from.
    #[error("`{value}` and `{other}` are the same")]
    Same {
        /// The value.
        value: String,
        /// The other value.
        other: String,
    },
    /// The target responds to it as to an invented value, and in another way to another value of the profile.
    #[error("the target responds with {got} to {} and to an invented value, and {}", quoted(values), instead(*is_taken, other, take))]
    Unknown {
        /// The values, one of which may be wrong.
        values: Vec<String>,
        /// The response to them.
        got: Got,
        /// The value in its place.
        take: String,
        /// The response to that.
        other: Got,
        /// True if that is an acceptance.
        is_taken: bool,
    },
    /// The target accepts an invented value in its place as well.
    #[error("the target accepts an invented value in place of `{value}` as well")]
    Unread {
        /// The value.
        value: String,
    },
}

/// A hint for the author of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// The target knows the key, and may not know the values.
    Values,
    /// The target may know neither the test key of the suite nor its values.
    TestKey,
}

impl Came {
    /// Returns the response in words, or why there is none.
    pub fn response(&self) -> String {
        match self {
            Self::Got(got) => got.to_string(),
            Self::Nothing(reason) => reason.to_string(),
        }
    }

    /// Returns it with its texts changed, as for masking.
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
            "; the target accepts signed requests that read, so that it knows the key: it need not know the values of the \
             profile"
        }
        Some(Hint::TestKey) => {
            "; the target need not know the suite's test key and values: a profile names its own (`xs2aspec init`)"
        }
        None => "",
    };
    culprit + hint
}

pub(super) const fn given_up(is_given_up: bool) -> &'static str {
    if is_given_up {
        "; the target accepted no plain request of this run, so that nothing was asked that leans on one"
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
