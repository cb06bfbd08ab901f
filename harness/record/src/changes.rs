//! The differences between a run and an earlier one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::level::Level;

/// The differences between a run and an earlier one, its base. Cases are listed by id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// Description of the base run.
    pub base: String,
    /// New findings, each as id and description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_findings: Vec<(String, String)>,
    /// Level of each new finding, by id. Empty in a record of an older version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Level>,
    /// Findings of the base that no longer occur, each as id and description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_findings: Vec<(String, String)>,
    /// Cases that fail now and did not before, including new cases, each with a description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_broken: Vec<(String, String)>,
    /// Cases that warn now and did not before, each with a description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_warned: Vec<(String, String)>,
    /// Cases that failed or warned before and pass now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// Cases that were judged before and are not judged now, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_not_assessed: Vec<(String, String)>,
    /// Cases that are judged now and were not before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_assessed: Vec<String>,
    /// Cases that no longer exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// New observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newly_observed: Vec<String>,
    /// Observations that no longer occur.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_longer_observed: Vec<String>,
    /// New waivers, and waivers with another state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_waivers: Vec<String>,
    /// Waivers that are gone or have another state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_waivers: Vec<String>,
}

impl Changes {
    /// Returns true if there is a new violation, or a new warning where warnings are denied.
    pub fn is_red(&self, denies_warnings: bool) -> bool {
        let least = if denies_warnings { Level::Warn } else { Level::Deny };
        self.levels.values().any(|level| *level >= least)
    }

    /// Returns true if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self { base: self.base.clone(), ..Self::default() }
    }
}
