//! Faults of the signing basket (the document, section Endpoints > Create payments signing basket).

use super::{Breach, Entry};

pub(super) const FAULTS: &[Entry] = &[Entry {
    name: "basket.mix/first-payment-only",
    breach: Breach::BasketMixFirstPaymentOnly,
    says: "A periodic payment is refused only where it is the first payment of the basket.",
}];
