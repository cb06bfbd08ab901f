//! Request headers: presence and form (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

/// What the bank decides about headers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Headers {}
