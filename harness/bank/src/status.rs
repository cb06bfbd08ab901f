//! The status of a payment.

use serde::{Deserialize, Serialize};

/// The payment statuses that this bank uses (the document, section States and transitions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Received.
    Rcvd,
    /// Accepted: a series after its start.
    Actc,
    /// Pending: in execution, and no longer deletable.
    Pdng,
    /// Settled.
    Acsc,
    /// Rejected.
    Rjct,
    /// Cancelled.
    Canc,
}
