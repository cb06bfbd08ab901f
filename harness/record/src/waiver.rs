//! What has come of a waiver in a run.

use serde::{Deserialize, Serialize};

/// A waiver, and what the run says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverSeen {
    /// Clause, case or area that it waives; nothing where it names findings alone.
    pub pattern: String,
    /// The findings that it waives, by their ids; all of its cases where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Who answers for it.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// Where it is worked on.
    pub ticket: String,
    /// The last day on which it holds, `2030-01-31`.
    pub expires: String,
    /// File and line.
    pub place: String,
    /// What has come of it.
    pub state: WaiverState,
    /// Cases that it waived; if none failed, those that passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// The nearest id, where it is `unmatched`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
}

/// What has come of a waiver. Of several shards of a run, the one with the last of these states decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaiverState {
    /// No case has such an id, or nothing that is wrong.
    Unmatched,
    /// Nothing that it waives failed in the cases that were judged in this run, and those are not all.
    NotAsked,
    /// Nothing of it fails: all of its cases were judged, and none failed.
    Passing,
    /// Something that it waives fails.
    InForce,
    /// Its last day is over everywhere.
    Expired,
}

impl WaiverSeen {
    /// Whether it must be changed before a run can conform.
    pub fn is_red(&self) -> bool {
        matches!(self.state, WaiverState::Expired | WaiverState::Passing | WaiverState::Unmatched)
    }

    /// What it waives: its pattern, and the ids of its findings.
    pub fn named(&self) -> String {
        let pattern = Some(self.pattern.as_str()).filter(|pattern| !pattern.is_empty());
        let named = pattern.into_iter().chain(self.findings.iter().map(String::as_str));
        named.collect::<Vec<_>>().join(" ")
    }

    /// The waiver and what has come of it, in one line; a red one says what to do.
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
                format!("{place}: `{pattern}`: nothing of it failed, and not all of its cases were judged")
            }
            WaiverState::Expired => {
                format!(
                    "{place}: `{pattern}` has expired on {expires}; delete it, or agree on another day with {owner}"
                )
            }
            WaiverState::Passing => {
                format!("{place}: `{pattern}` waives what does not fail: {}; delete it", cases())
            }
            WaiverState::Unmatched if !self.findings.is_empty() && self.near.is_none() => {
                format!(
                    "{place}: `{pattern}` is nothing that is wrong; delete it, or take the id of a finding of this run"
                )
            }
            WaiverState::Unmatched => {
                let near =
                    self.near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("{place}: `{pattern}` is no case, clause or area{near}")
            }
        }
    }
}
