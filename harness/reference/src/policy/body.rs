//! How a body is read as JSON (RFC 8259).

use serde::{Deserialize, Serialize};

/// What the bank decides about bodies.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Body {}
