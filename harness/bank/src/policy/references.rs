//! Payment references (section Errors).

use serde::{Deserialize, Serialize};

/// What the bank decides about references (`error.kid.status`).
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct References {
    /// The accounts of creditors who demand a reference, by either number.
    pub(crate) creditors: Vec<String>,
    /// What they are paid with.
    pub(crate) taken: Taken,
}

impl Default for References {
    /// One creditor, which this bank made up.
    fn default() -> Self {
        Self { creditors: ["NO3397100000044", "97100000044"].map(str::to_owned).into(), taken: Taken::Right }
    }
}

/// What a bank takes for a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Taken {
    /// One with its check digit.
    Right,
    /// None at all as well.
    Nothing,
    /// Any text.
    AnyText,
    /// A text with letters as well.
    Words,
    /// A text with a right one in it as well.
    Within,
}
