//! Faults of amounts and currencies (the document, section Resources > Shared types, Amount).

use crate::operation::Operation;
use crate::rules::{Breach, Entry, Place, Then, Treatment, When};

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
        Entry::breach(
            "amount.digits/two-for-zero",
            Breach::TwoFractionDigitsForZero,
            "Requests may give up to two fraction digits in a currency that has no minor units.",
        ),
        Entry::breach(
            "amount.digits/always-two",
            Breach::FractionDigits(None, 2),
            "Two fraction digits are the limit in every currency.",
        ),
        Entry::breach(
            "amount.digits/always-five",
            Breach::FractionDigits(None, 5),
            "Five fraction digits, the scale of the contract, are the limit in every currency.",
        ),
    ];
    for (code, digits) in OTHER_DIGITS {
        faults.push(Entry::breach(
            format!("amount.digits/{}-{digits}", code.to_lowercase()),
            Breach::FractionDigits(Some(code), digits),
            format!("Amounts in {code} may have {digits} fraction digits and no more."),
        ));
    }
    // Currencies without minor units of their own, and of old ones, in which the scale is the limit.
    for (code, digits) in [("XDR", 6), ("BYR", 6), ("ZWD", 9)] {
        faults.push(Entry::breach(
            format!("amount.scale/{}-{digits}", code.to_lowercase()),
            Breach::FractionDigits(Some(code), digits),
            format!("Amounts in {code} may have {digits} fraction digits."),
        ));
    }
    for operation in [Operation::Ncbct, Operation::Periodic] {
        faults.extend(texts(operation));
    }
    faults
}

/// Amounts that are no amounts, and are taken for one.
fn texts(operation: Operation) -> Vec<Entry> {
    let at = |name: &str, place, when, says: &str| {
        let treatment = Treatment { operation, place: Place::Body(place), when, then: Then::TakeFor(VALID) };
        let treatment = match place {
            "/instructedAmount/currency" => Treatment { then: Then::TakeFor("\"NOK\""), ..treatment },
            _ => treatment,
        };
        Entry::treats(format!("{name}-on-{operation}"), treatment, format!("{says} ({operation})."))
    };
    let amount = "/instructedAmount/amount";
    vec![
        at("amount.string/any-type", amount, When::NotType('s'), "An amount may be of any JSON type"),
        at("amount.required/absent", amount, When::Absent, "An Amount may lack its amount"),
        at(
            "amount.currency/absent",
            "/instructedAmount/currency",
            When::Absent,
            "An Amount without currency is in NOK",
        ),
        at(
            "amount.precision/any",
            amount,
            When::Text(|text| whole(text) > 18),
            "An amount may have any number of digits",
        ),
    ]
}

/// An amount that is in order, large enough to have nothing else against it.
const VALID: &str = "\"250000.00\"";

/// Digits before the point.
fn whole(text: &str) -> usize {
    text.split('.').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
}
