//! The outcome of a waiver in a run.

use serde::{Deserialize, Serialize};

/// A waiver and its outcome in the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverSeen {
    /// Clause, case or area that it waives. Empty if it names only findings.
    pub pattern: String,
    /// Ids of the findings that it waives. Empty for all findings of its cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Person responsible for it.
    pub owner: String,
    /// Reason.
    pub reason: String,
    /// Ticket that tracks it.
    pub ticket: String,
    /// Last day on which it holds, `2030-01-31`.
    pub expires: String,
    /// File and line.
    pub place: String,
    /// Outcome.
    pub state: WaiverState,
    /// Cases that it waived. If none failed, the cases that passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// The most similar id, if it is `unmatched`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
}

/// The outcome of a waiver. Of several shards of a run, the last of these states counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaiverState {
    /// No case has such an id, or no finding.
    Unmatched,
    /// None of its judged cases failed, but not all of its cases were judged.
    NotAsked,
    /// All of its cases were judged, and none failed.
    Passing,
    /// A case that it covers fails.
    InForce,
    /// Its last day has passed in every time zone.
    Expired,
}

impl WaiverSeen {
    /// Returns true if it must be changed before a run can conform.
    pub fn is_red(&self) -> bool {
        matches!(self.state, WaiverState::Expired | WaiverState::Passing | WaiverState::Unmatched)
    }

    /// Returns its pattern and the ids of its findings.
    pub fn named(&self) -> String {
        let pattern = Some(self.pattern.as_str()).filter(|pattern| !pattern.is_empty());
        let named = pattern.into_iter().chain(self.findings.iter().map(String::as_str));
        named.collect::<Vec<_>>().join(" ")
    }

    /// Returns one line with the waiver and its outcome, including advice if it does not hold.
    pub fn says(&self) -> String {
        let Self { owner, ticket, expires, place, .. } = self;
        let pattern = self.named();
        let cases = || match self.cases.len() {
            0..=3 => self.cases.join(", "),
            more => format!("{} and {} more", self.cases[..3].join(", "), more - 3),
        };
        match self.state {
            WaiverState::InForce => {
                format!(
                    "{place}: `{pattern}` waives {} until {expires} ({owner}, {ticket}): {}",
                    cases(),
                    self.reason
                )
            }
            WaiverState::NotAsked if self.cases.is_empty() => {
                format!("{place}: `{pattern}`: none of its cases was judged")
            }
            WaiverState::NotAsked => {
                format!("{place}: `{pattern}`: none of its cases failed, but not all of them were judged")
            }
            WaiverState::Expired => {
                format!(
                    "{place}: `{pattern}` expired on {expires}; delete it or agree on a new date with {owner}"
                )
            }
            WaiverState::Passing => {
                format!("{place}: `{pattern}` waives cases that do not fail: {}; delete it", cases())
            }
            WaiverState::Unmatched if !self.findings.is_empty() && self.near.is_none() => {
                format!(
                    "{place}: `{pattern}` matches no finding; delete it or use the id of a finding of this run"
                )
            }
            WaiverState::Unmatched => {
                let near =
                    self.near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("{place}: `{pattern}` is not a case, clause or area{near}")
            }
        }
    }
}
