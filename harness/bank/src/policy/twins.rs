//! The same payment made again (section Endpoints > Create NCBCT payment, `allowLogicalDuplicate`).

use serde::{Deserialize, Serialize};

/// What the bank decides about payments that were made before (`ncbct.allow-logical-duplicate.meaning`).
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Twins {
    /// Where a payment that was made before is refused.
    pub(crate) refused: Asked,
    /// Which fields make two payments the same.
    pub(crate) compared: Compared,
    /// Whether the payment of another PSU counts.
    pub(crate) of_anyone: bool,
    /// How many earlier payments are compared; all if there is no number.
    pub(crate) most: Option<usize>,
}

/// What a request has to say of logical duplicates for one to be refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Asked {
    /// That it allows none.
    #[default]
    Forbidden,
    /// Anything about them.
    Said,
    /// Anything but that it allows them.
    Unsaid,
    /// They never are.
    Never,
}

impl Asked {
    /// Returns true if a request that says this of logical duplicates is refused for one.
    pub(crate) fn includes(self, allowed: Option<bool>) -> bool {
        match self {
            Self::Forbidden => allowed == Some(false),
            Self::Said => allowed.is_some(),
            Self::Unsaid => allowed != Some(true),
            Self::Never => false,
        }
    }
}

/// Which fields make two payments the same.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// All of them.
    #[default]
    All,
    /// What is paid, from where and to whom.
    Terms,
    /// These ones.
    Only(Vec<String>),
    /// All but the one at this pointer.
    But(String),
}
