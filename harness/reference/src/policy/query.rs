//! Query parameters.

use serde::{Deserialize, Serialize};

/// What the bank decides about query parameters.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Query {}
