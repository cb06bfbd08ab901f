//! What becomes of payments (section Resources > Payment creation response, section Errors).

use serde::{Deserialize, Serialize};

/// What the bank decides about payments.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Payments {}
