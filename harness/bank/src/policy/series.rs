//! Days and months of a series, and the execution day of a payment (section Endpoints > Create periodic NDCT
//! payment).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings for days and months.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Series {
    /// The number of days that `startDate` or `requestedExecutionDate` may lie in the past
    /// (`periodic.start-date.past`, `ncbct.requested-execution-date.past`).
    past_days: BTreeMap<String, i64>,
    /// Duplicate months that are rejected (`periodic.months.duplicate`).
    pub(crate) repeated_months: Repeated,
}

impl Series {
    /// Returns the number of days that a date field may lie in the past.
    pub(crate) fn past_days(&self, name: &str) -> i64 {
        self.past_days.get(name).copied().unwrap_or_default()
    }
}

/// The duplicate months that are rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Repeated {
    /// All duplicates.
    #[default]
    All,
    /// Duplicates directly after the same month.
    Adjacent,
    /// Duplicates of the first month.
    OfFirst,
    /// Duplicates in lists of two.
    InPairs,
    /// None.
    Nobody,
}

impl Repeated {
    /// Returns true if a month after these earlier ones is a rejected duplicate, in a list of `count` months.
    pub(crate) fn includes(self, month: i64, earlier: &[i64], count: usize) -> bool {
        match self {
            Self::All => earlier.contains(&month),
            Self::Adjacent => earlier.last() == Some(&month),
            Self::OfFirst => earlier.first() == Some(&month),
            Self::InPairs => count == 2 && earlier.contains(&month),
            Self::Nobody => false,
        }
    }
}
