//! The customers of the sandbox (section Endpoints > List customers).

use serde::{Deserialize, Serialize};

use super::Looked;

/// What the bank decides about customers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Customers {
    /// The parameters that are not looked at (`customers.with-accounts.content`,
    /// `customers.with-agreements.content`).
    pub(crate) ignored_parameters: Vec<String>,
    /// Whether only the parameter that comes first is looked at (`customers.with-accounts.content`).
    pub(crate) first_parameter_alone: bool,
    /// Which agreements of a customer are values of PSU-Corporate-ID (`header.psu-corporate-id.ncbct`).
    pub(crate) known_agreements: Looked,
}
