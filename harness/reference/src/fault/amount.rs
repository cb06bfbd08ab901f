//! Faults of amounts (the document, section Resources > Shared types, Amount).

use super::{Breach, Entry};

pub(super) const FAULTS: &[Entry] = &[Entry {
    name: "amount.digits/two-for-zero",
    breach: Breach::TwoFractionDigitsForZero,
    says: "Requests may give up to two fraction digits in a currency that has no minor units.",
}];
