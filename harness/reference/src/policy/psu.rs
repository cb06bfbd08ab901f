//! Who the PSU is, and for whom he acts (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

/// What the bank decides about persons.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Identification {}
