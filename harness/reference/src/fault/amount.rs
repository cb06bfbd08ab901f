//! Faults of the fraction digits of currencies (the document, section Resources > Shared types, Amount).

use std::collections::BTreeMap;

use serde_json::json;
use xs2aspec_bank::currency;

use crate::rules::{Effect, Entry};

/// Currencies of which a table may have another number of digits than ISO 4217: of old standards, of what
/// people pay with, or of neighbours in the list.
const OTHER_DIGITS: [(&str, usize); 24] = [
    ("ISK", 2),
    ("JPY", 2),
    ("CLP", 2),
    ("KRW", 2),
    ("UGX", 2),
    ("VND", 1),
    ("PYG", 2),
    ("XAF", 2),
    ("XPF", 2),
    ("BIF", 1),
    ("KWD", 2),
    ("BHD", 2),
    ("TND", 2),
    ("OMR", 4),
    ("JOD", 2),
    ("IQD", 0),
    ("HUF", 0),
    ("TWD", 0),
    ("IDR", 0),
    ("AFN", 0),
    ("EUR", 3),
    ("NOK", 3),
    ("SEK", 0),
    ("CVE", 0),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = vec![
        Entry::new(
            "amount.digits/two-for-zero",
            vec![digits(currency::NONE.iter().map(|code| (*code, 2)))],
            "Requests may give up to two fraction digits in a currency that has no minor units.",
        ),
        Entry::new(
            "amount.digits/always-two",
            vec![digits([("*", 2)])],
            "Two fraction digits are the limit in every currency.",
        ),
        Entry::new(
            "amount.digits/always-five",
            vec![digits([("*", 5)])],
            "Five fraction digits, the scale of the contract, are the limit in every currency.",
        ),
    ];
    for (code, most) in OTHER_DIGITS {
        faults.push(Entry::new(
            format!("amount.digits/{}-{most}", code.to_lowercase()),
            vec![digits([(code, most)])],
            format!("Amounts in {code} may have {most} fraction digits and no more."),
        ));
    }
    // Currencies without minor units of their own, and of old ones, in which the scale is the limit.
    for (code, most) in [("XDR", 6), ("BYR", 6), ("ZWD", 9)] {
        faults.push(Entry::new(
            format!("amount.scale/{}-{most}", code.to_lowercase()),
            vec![digits([(code, most)])],
            format!("Amounts in {code} may have {most} fraction digits."),
        ));
    }
    faults
}

/// Other numbers of fraction digits, by currency.
fn digits(of: impl IntoIterator<Item = (&'static str, usize)>) -> Effect {
    let of: BTreeMap<&str, usize> = of.into_iter().collect();
    Effect::policy(json!({ "amounts": { "fraction-digits": of } }))
}
