//! What differs between a run and an earlier one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::level::Level;

/// The differences between a run and an earlier one, its base. Cases stand with their ids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// Which run the base is, in words.
    pub base: String,
    /// Findings that are new, each by its id, with what is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_findings: Vec<(String, String)>,
    /// What each of them does, by its id; nothing in a record of before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Level>,
    /// Findings of the base that nothing shows any more, each by its id, with what was wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_findings: Vec<(String, String)>,
    /// Cases that fail now and did not, each with what is wrong; new cases that fail are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_broken: Vec<(String, String)>,
    /// Cases that warn now and did not, each with what is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_warned: Vec<(String, String)>,
    /// Cases that failed or warned and pass now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// Cases that were judged and are not now, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_not_assessed: Vec<(String, String)>,
    /// Cases that were not judged and are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_assessed: Vec<String>,
    /// Cases that are no longer there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// What is observed now and was not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_observed: Vec<String>,
    /// What was observed and is not now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_observed: Vec<String>,
    /// Waivers that are new, or in another state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_waivers: Vec<String>,
    /// Waivers that are gone, or in another state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_waivers: Vec<String>,
}

impl Changes {
    /// Whether there is a new violation, or a new warning where those are denied.
    pub fn is_red(&self, denies_warnings: bool) -> bool {
        let least = if denies_warnings { Level::Warn } else { Level::Deny };
        self.levels.values().any(|level| *level >= least)
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self { base: self.base.clone(), ..Self::default() }
    }
}
