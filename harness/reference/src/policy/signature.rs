//! The certificate and the Signature header (section Authentication).

use serde::{Deserialize, Serialize};

/// What the bank decides about signatures.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Signature {}
