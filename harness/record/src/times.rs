//! Response times of a target, by operation.

use serde::{Deserialize, Serialize};

/// The response times of a run. Apart from the limit, all are in microseconds from the first byte sent to the
/// last byte read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Times {
    /// The longest response time that the target profile allows (`[limits] slow-ms`), in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_ms: Option<u64>,
    /// The operations, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationTimes>,
}

impl Times {
    /// The profile key of the limit, which warnings show. The limit is the profile's, not the document's.
    pub const LIMIT: &str = "limits.slow-ms";

    /// Returns true if nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the number of responses that took longer than the profile allows.
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
    /// Number of complete responses.
    pub answers: u64,
    /// 50th percentile.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Longest time.
    pub largest: u64,
    /// Number of responses that took longer than the profile allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow: u64,
    /// Cases with the slowest of those responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_cases: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
