//! Payment references, KID (section Errors).

use serde::{Deserialize, Serialize};

/// Settings for payment references (`error.kid.status`).
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct References {
    /// Creditors that require a reference, each by iban and bban.
    pub(crate) creditors: Vec<String>,
    /// The references that are accepted.
    pub(crate) taken: Taken,
}

impl Default for References {
    /// Returns one creditor, which this bank made up.
    fn default() -> Self {
        Self { creditors: ["NO3397100000044", "97100000044"].map(str::to_owned).into(), taken: Taken::Right }
    }
}

/// The references that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Taken {
    /// References with a valid check digit.
    Right,
    /// Valid references, or none.
    Nothing,
    /// Any text, but not none.
    AnyText,
    /// Valid references, or text with letters.
    Words,
    /// Text that contains a valid reference.
    Within,
}
