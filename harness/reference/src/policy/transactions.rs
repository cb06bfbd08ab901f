//! Transactions of an account (section Endpoints > Transaction details).

use serde::{Deserialize, Serialize};

/// What the bank decides about transactions.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Transactions {}
