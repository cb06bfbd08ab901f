//! Consents and unattended calls (section Limits).

use serde::{Deserialize, Serialize};

/// What the bank decides about consents.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Consents {}
