//! Days and months of a series, and the day of a payment (section Endpoints > Create periodic NDCT payment).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the bank decides about days and months.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Series {
    /// How many days `startDate` or `requestedExecutionDate` may be past (`periodic.start-date.past`,
    /// `ncbct.requested-execution-date.past`).
    past_days: BTreeMap<String, i64>,
    /// Which months that come again are refused (`periodic.months.duplicate`).
    pub(crate) repeated_months: Repeated,
}

impl Series {
    /// Returns how many days the day of a field may be past.
    pub(crate) fn past_days(&self, name: &str) -> i64 {
        self.past_days.get(name).copied().unwrap_or_default()
    }
}

/// Which months that come again a bank refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Repeated {
    /// All of them.
    #[default]
    All,
    /// Those that follow the same month.
    Adjacent,
    /// Those that are the first month of the list.
    OfFirst,
    /// Those in lists of two.
    InPairs,
    /// None.
    Nobody,
}

impl Repeated {
    /// Returns true if a month that comes again is refused after these ones, in a list of so many.
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
