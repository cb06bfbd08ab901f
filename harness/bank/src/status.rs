//! The status of a payment.

use serde::{Deserialize, Serialize};

/// The statuses of payments that this bank uses (the document, section States and transitions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Received.
    Rcvd,
    /// Accepted: a series that has begun.
    Actc,
    /// Pending: under way, and no longer to be deleted.
    Pdng,
    /// Settled.
    Acsc,
    /// Rejected.
    Rjct,
    /// Cancelled.
    Canc,
}
