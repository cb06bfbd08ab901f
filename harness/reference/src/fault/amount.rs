//! Faults of amounts and currencies (the document, section Resources > Shared types, Amount).

use rust_decimal::Decimal;
use serde_json::Value;

use crate::currency::Currency;
use crate::money;
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
            "/instructedAmount" => Treatment { then: Then::TakeFor(WHOLE), ..treatment },
            "/instructedAmount/currency" => Treatment { then: Then::TakeFor("\"NOK\""), ..treatment },
            _ => treatment,
        };
        Entry::treats(format!("{name}-on-{operation}"), treatment, format!("{says} ({operation})."))
    };
    let amount = "/instructedAmount/amount";
    let mut faults: Vec<Entry> =
        FORMS.iter().map(|(name, says, sentence)| at(name, amount, When::Text(*says), sentence)).collect();
    faults.extend(
        VALUES
            .iter()
            .map(|(name, says, sentence)| at(name, "/instructedAmount", When::Value(*says), sentence)),
    );
    faults.extend([
        at("amount.required/null", amount, When::Null, "An Amount may have null as its amount"),
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
    ]);
    faults
}

type Form = (&'static str, fn(&str) -> bool, &'static str);

type Valued = (&'static str, fn(&Value) -> bool, &'static str);

/// Texts that are no amounts: name, which they are, and a sentence.
#[rustfmt::skip]
const FORMS: [Form; 14] = [
    ("amount.form.exponent/exponent", |text| text.split_once(['e', 'E']).is_some_and(|(whole, power)| is_decimal(whole) && is_decimal(power.trim_start_matches(['+', '-']))), "An amount may have an exponent"),
    ("amount.form.exponent/capital", |text| text.split_once('E').is_some_and(|(whole, power)| is_decimal(whole) && is_decimal(power.trim_start_matches(['+', '-']))), "An amount may have a capital exponent"),
    ("amount.form.exponent/plus", |text| text.strip_prefix('+').is_some_and(is_decimal), "An amount may have a plus sign"),
    ("amount.form/comma", |text| becomes_decimal(text, &text.replacen(',', ".", 1)), "An amount may have a comma"),
    ("value.spaces/trimmed-amount", |text| becomes_decimal(text, text.trim()), "An amount may have blanks around it"),
    ("amount.form/blanks-inside", |text| !text.starts_with(' ') && !text.ends_with(' ') && becomes_decimal(text, &text.replace([' ', '\u{a0}', '\''], "")), "An amount may have its thousands apart"),
    ("amount.form/two-points", |text| text.matches('.').count() > 1 && is_decimal(&text.replace('.', "")), "An amount may have several points"),
    ("amount.form/other-digits", |text| !text.is_ascii() && text.chars().all(|letter| letter.is_numeric() || letter == '.'), "An amount may be in digits of other scripts"),
    ("amount.form/trailing-text", |text| text.split_once(' ').is_some_and(|(amount, rest)| is_decimal(amount) && !rest.trim().is_empty()), "An amount may have a text after it"),
    ("amount.form/trailing-letters", |text| becomes_decimal(text, text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic())), "An amount may have letters after it"),
    ("amount.form/empty", str::is_empty, "An empty text is an amount"),
    ("amount.form/words", |text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic()), "A word is an amount"),
    ("amount.form/hexadecimal", |text| text.starts_with("0x"), "An amount may be in hexadecimal"),
    ("amount.negative/taken", |text| text.strip_prefix('-').is_some_and(is_decimal), "An amount may be below zero"),
];

/// Amounts of other values than the plain reading wants: name, which they are, and a sentence.
#[rustfmt::skip]
const VALUES: [Valued; 6] = [
    ("amount.precision.total/whole-digits", is_long, "An amount may have more than eighteen digits, with those behind the point"),
    ("amount.zero/taken", is_zero, "An amount may be zero"),
    ("amount.zero/without-decimals", |amount| is_zero(amount) && amount["currency"] == "JPY", "An amount of a currency without decimals may be zero"),
    ("amount.digits.fewer/none", |amount| missing(amount).is_some_and(|(found, _)| found == 0), "An amount may have no decimals"),
    ("amount.digits.fewer/one-less", |amount| missing(amount).is_some_and(|(found, least)| found > 0 && found + 1 == least), "An amount may lack its last decimal"),
    ("amount.digits.fewer/two-of-three", |amount| missing(amount) == Some((2, 3)), "An amount may have two of three decimals"),
];

/// An amount that is in order, large enough to have nothing else against it.
const VALID: &str = "\"250000.00\"";

/// The same with its currency.
const WHOLE: &str = r#"{"amount":"250000.00","currency":"NOK"}"#;

/// Digits, with a point between them or without.
fn is_decimal(text: &str) -> bool {
    money::decimal(text).is_some()
}

/// Whether a text that is no decimal is one when it is written so.
fn becomes_decimal(text: &str, other: &str) -> bool {
    !is_decimal(text) && is_decimal(other)
}

/// With all its decimals.
fn is_zero(amount: &Value) -> bool {
    value(amount).is_some_and(|value| value.is_zero())
        && decimals(amount).is_some_and(|(found, least)| found == least)
}

/// With all its decimals, and more than eighteen digits with them alone.
fn is_long(amount: &Value) -> bool {
    let text = amount["amount"].as_str().unwrap_or_default();
    whole(text) <= 18
        && text.bytes().filter(u8::is_ascii_digit).count() > 18
        && decimals(amount).is_some_and(|(found, least)| found == least)
}

/// How many decimals an amount has and should have, if these are more.
fn missing(amount: &Value) -> Option<(usize, usize)> {
    decimals(amount).filter(|(found, least)| found < least)
}

/// How many decimals an amount has and should have.
fn decimals(amount: &Value) -> Option<(usize, usize)> {
    let currency = Currency::listed(amount["currency"].as_str()?).filter(|known| !known.is_disputed())?;
    Some((usize::try_from(value(amount)?.scale()).ok()?, currency.minor_units()?))
}

fn value(amount: &Value) -> Option<Decimal> {
    money::decimal(amount["amount"].as_str()?)
}

/// Digits before the point.
fn whole(text: &str) -> usize {
    text.split('.').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
}
