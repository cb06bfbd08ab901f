//! The customers of the sandbox (section Endpoints > List customers).

use serde::{Deserialize, Serialize};

/// What the bank decides about customers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Customers {}
