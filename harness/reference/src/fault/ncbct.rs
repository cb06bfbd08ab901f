//! Faults of the NCBCT's body (the document, section Endpoints > Create NCBCT payment).

use super::{Breach, Entry};

pub(super) const FAULTS: &[Entry] = &[Entry {
    name: "ncbct.creditor-name.length/seventy-one",
    breach: Breach::NcbctCreditorNameSeventyOne,
    says: "NCBCT creation accepts a creditorName of 71 characters and refuses 72.",
}];
