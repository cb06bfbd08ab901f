//! Results that depend on other requests. Failing cases are rerun in isolation at the end of a run. Baseline
//! requests may be rejected from some request on.

use serde::{Deserialize, Serialize};

use crate::reason::Came;

/// A violation in cases of a run that was rerun in isolation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAlone {
    /// The violated clause.
    pub clause: String,
    /// The place, as in [`crate::Finding::at`], with `*` for an index.
    pub at: String,
    /// The first case, in order of time, that shows it. If that case passes in isolation, the case with the
    /// most requests instead, provided it still fails.
    pub case: String,
    /// The number of the first such case's request ([`crate::Exchange::number`]).
    pub since: u64,
    /// The number of the last earlier request that could have shown it and did not. 0 if there is none.
    pub until: u64,
    /// Number of requests that the case sends, including set-up.
    pub requests: usize,
    /// The result of rerunning the case.
    pub again: Repeated,
    /// The result of its request in that rerun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<Came>,
    /// An earlier case that did not show it and was rerun too, if no later case passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// A case that passed before others started to fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The case.
    pub case: String,
    /// The number of its request.
    pub request: u64,
    /// The result of rerunning it at the end of the run.
    pub again: Repeated,
}

/// A baseline request that the target first accepted and then rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSince {
    /// Case id of the baseline request.
    pub plain: String,
    /// Its clause.
    pub clause: String,
    /// The number of the last request at which it was accepted. 0 for the start of the run.
    pub until: u64,
    /// The number of the request at which it was rejected.
    pub since: u64,
    /// The result.
    pub came: Came,
    /// The number of the request at which it was accepted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// True if the rejection violates its clause, because it reads a resource that the target had just
    /// created.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_broken: bool,
}

/// The result of a rerun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// The same violation occurred.
    Same,
    /// The violation did not occur.
    Kept,
    /// The case could not be judged.
    Untold,
}

impl AskedAlone {
    /// Returns true if the violation started at some request and persisted: an earlier case that passed now
    /// fails.
    pub fn is_since(&self) -> bool {
        self.earlier.as_ref().is_some_and(|earlier| earlier.again == Repeated::Same)
    }

    /// Returns true if the violation depends on earlier or concurrent requests.
    pub fn is_in_company(&self) -> bool {
        self.again == Repeated::Kept
    }
}
