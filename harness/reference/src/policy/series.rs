//! Days and months of a series (section Endpoints > Create periodic NDCT payment).

use serde::{Deserialize, Serialize};

/// What the bank decides about series.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Series {}
