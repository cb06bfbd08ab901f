//! Logical duplicates (section Endpoints > Create NCBCT payment, `allowLogicalDuplicate`).

use serde::{Deserialize, Serialize};

/// Settings for logical duplicates (`ncbct.allow-logical-duplicate.meaning`).
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Twins {
    /// The values of `allowLogicalDuplicate` with which duplicates are rejected.
    pub(crate) refused: Asked,
    /// The fields that make two payments duplicates.
    pub(crate) compared: Compared,
    /// True if payments of other PSUs count.
    pub(crate) of_anyone: bool,
    /// The number of recent payments that are compared, or None for all.
    pub(crate) most: Option<usize>,
}

/// The values of `allowLogicalDuplicate` with which duplicates are rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Asked {
    /// `false` only.
    #[default]
    Forbidden,
    /// `true` or `false`, if the parameter is present.
    Said,
    /// `false`, or no value.
    Unsaid,
    /// None: duplicates are never rejected.
    Never,
}

impl Asked {
    /// Returns true if duplicates are rejected with this value of `allowLogicalDuplicate`.
    pub(crate) fn includes(self, allowed: Option<bool>) -> bool {
        match self {
            Self::Forbidden => allowed == Some(false),
            Self::Said => allowed.is_some(),
            Self::Unsaid => allowed != Some(true),
            Self::Never => false,
        }
    }
}

/// The fields that make two payments duplicates.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// All fields.
    #[default]
    All,
    /// The amount, the debtor account and the creditor account.
    Terms,
    /// These fields.
    Only(Vec<String>),
    /// All fields except the one at this JSON pointer.
    But(String),
}
