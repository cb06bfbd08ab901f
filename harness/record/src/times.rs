//! How long a target took, by operation.

use serde::{Deserialize, Serialize};

/// The times of a run. All of them are microseconds from the first byte sent to the last byte read, but for
/// the limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Times {
    /// The longest time that the target profile allows an answer (`[limits] slow-ms`), in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_ms: Option<u64>,
    /// By name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationTimes>,
}

impl Times {
    /// Where the limit stands, for whoever is warned of it. It is the profile's, and not the document's.
    pub const LIMIT: &str = "limits.slow-ms";

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Answers that took longer than the profile allows.
    pub fn slow(&self) -> u64 {
        self.operations.iter().map(|operation| operation.slow).sum()
    }
}

/// The times of one operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OperationTimes {
    /// The operation.
    pub operation: String,
    /// Whole answers.
    pub answers: u64,
    /// Half of the answers took at most this.
    pub p50: u64,
    /// 95 of 100.
    pub p95: u64,
    /// 99 of 100.
    pub p99: u64,
    /// All of them.
    pub largest: u64,
    /// Answers that took longer than the profile allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow: u64,
    /// Cases of the slowest of those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_cases: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
