//! The customers of the sandbox (section Endpoints > Get sandbox customers).

use serde::{Deserialize, Serialize};

use super::Looked;

/// Settings for customers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Customers {
    /// Query parameters without effect (`customers.with-accounts.content`,
    /// `customers.with-agreements.content`).
    pub(crate) ignored_parameters: Vec<String>,
    /// True if only the first parameter has an effect (`customers.with-accounts.content`).
    pub(crate) first_parameter_alone: bool,
    /// Agreements of a customer that are valid in PSU-Corporate-ID (`header.psu-corporate-id.ncbct`).
    pub(crate) known_agreements: Looked,
}
