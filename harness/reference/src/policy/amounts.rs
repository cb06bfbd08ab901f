//! Amounts, and what of them is reported (section Resources > Shared types).

use serde::{Deserialize, Serialize};

/// What the bank decides about amounts.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Amounts {}
