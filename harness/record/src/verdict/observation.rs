//! Observations about the traffic of others, and parts of it that cannot be judged, as codes with their data.
//! Reports show their `Display` texts.

use serde::{Deserialize, Serialize};

use super::{End, Finding};
use crate::reason::{Untold, changed};

/// An observation about an exchange: a choice that an end is free to make, or a part that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Observation {
    /// An end violated a clause of level `note`.
    #[error("{}: {}: {}", finding.clause, finding.end.word(), finding.mismatch())]
    Noted {
        /// The finding, with the clause.
        finding: Box<Finding>,
    },
    /// A client violated a clause for clients of level `note`.
    #[error("{}: {}", finding.clause, finding.mismatch())]
    NotedOfClients {
        /// The finding, with the clause.
        finding: Box<Finding>,
    },
    /// A client violated a clause. Its bank may instead accept the request and give the resource the status
    /// rejected.
    #[error("{clause}: {}: {at} {actual}", End::Client.word())]
    OrRejected {
        /// The clause.
        clause: String,
        /// The place.
        at: String,
        /// Description of the value that was sent.
        actual: String,
    },
    /// The bank may lack an operation that is for tests only.
    #[error("{operation}: is for sandboxes, so the bank may lack it")]
    ForTheSandbox {
        /// The operation.
        operation: String,
    },
    /// The client resends a rejected request.
    #[error("the same request was rejected before, and is sent again")]
    SentAgain,
    /// The reference bank rejected a request that is no error of its client.
    #[error("the reference bank rejected it by its rule {rule}")]
    RejectedByRule {
        /// The rule.
        rule: String,
    },
    /// A part that cannot be judged.
    #[error("cannot judge the {}: {}: {}", .0.end.word(), .0.at, .0.why)]
    NotTold(NotTold),
    /// Checklist items that an exchange shows of the client, although its record masks them.
    #[error("the client shows: {}", shown(items, *is_unreadable))]
    Shows {
        /// Items of the client plan.
        items: Vec<String>,
        /// True if the request could not be judged as a whole.
        is_unreadable: bool,
    },
    /// An observation that is available only as a sentence.
    #[error("{says}")]
    InWords {
        /// The sentence.
        says: String,
    },
}

/// A part of the traffic that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTold {
    /// The end that sent it.
    pub end: End,
    /// The place in the request or the response.
    pub at: String,
    /// The reason.
    pub why: Untold,
}

impl Observation {
    /// Returns the clause that the observation is about, if any.
    pub fn clause(&self) -> Option<&str> {
        match self {
            Self::Noted { finding } | Self::NotedOfClients { finding } => Some(&finding.clause),
            Self::OrRejected { clause, .. } => Some(clause),
            _ => None,
        }
    }

    /// Returns the observation with `change` applied to its strings, for example to mask them.
    #[must_use]
    pub fn with_texts(&self, change: &dyn Fn(&str) -> String) -> Self {
        changed(self, change).unwrap_or_else(|| Self::InWords { says: change(&self.to_string()) })
    }
}

fn shown(items: &[String], is_unreadable: bool) -> String {
    let items: Vec<&str> =
        items.iter().map(String::as_str).chain(is_unreadable.then_some("unreadable")).collect();
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changed, Got, Level, Mismatch, Reason};

    #[test]
    fn an_observation_is_read_as_it_was_written_and_told_in_words() {
        let finding = Finding {
            clause: "a.b".to_owned(),
            expected: "c".to_owned(),
            actual: "d".to_owned(),
            at: "request/body/e".to_owned(),
            kind: Mismatch::Request,
            level: Level::Note,
            end: End::Client,
        };
        let finding = Box::new(finding);
        let not_told = |at: &str, why: Untold| {
            Observation::NotTold(NotTold { end: End::Client, at: at.to_owned(), why })
        };
        let shows = |items: &[&str], is_unreadable| Observation::Shows {
            items: items.iter().map(|item| (*item).to_owned()).collect(),
            is_unreadable,
        };
        let refused = Reason::RefusalUndecided { got: Got::status(403), why: Box::new(Untold::Psu) };
        for (observation, words) in [
            (
                Observation::Noted { finding: finding.clone() },
                "a.b: client: request/body/e: expected c, got d",
            ),
            (Observation::NotedOfClients { finding }, "a.b: request/body/e: expected c, got d"),
            (Observation::SentAgain, "the same request was rejected before, and is sent again"),
            (
                not_told("request/header/digest", Untold::NotCompared { body: Changed::Unknown }),
                "cannot judge the client: request/header/digest: cannot be compared with a body that is not known",
            ),
            (
                not_told("status", refused.into()),
                "cannot judge the client: status: it was rejected with 403, and only the bank knows consent, funds and \
                 agreements of the PSU",
            ),
            (shows(&["call/a", "b"], true), "the client shows: call/a, b, unreadable"),
            (shows(&[], false), "the client shows: nothing"),
        ] {
            assert_eq!(observation.to_string(), words);
            assert_eq!(observation.with_texts(&str::to_owned), observation);
            let line = serde_json::to_value(&observation).unwrap();
            assert!(line["code"].is_string(), "{line}");
            assert_eq!(serde_json::from_value::<Observation>(line).unwrap(), observation);
        }
    }

    #[test]
    fn masking_changes_the_texts_of_an_observation_and_not_its_code() {
        let seen =
            Observation::OrRejected { clause: "a.b".into(), at: "request".into(), actual: "c 1".into() };
        let masked = seen.with_texts(&|text| text.replace('1', "*"));
        assert_eq!(masked.to_string(), "a.b: client: request c *");
        assert_eq!(masked.clause(), Some("a.b"));
    }
}
