//! Faults of the periodic payment's body (the document, section Endpoints > Create periodic NDCT payment).

use super::{Breach, Entry};

pub(super) const FAULTS: &[Entry] = &[Entry {
    name: "periodic.months.duplicate/only-adjacent",
    breach: Breach::PeriodicMonthsOnlyAdjacent,
    says: "Duplicate months are refused only where they stand side by side.",
}];
