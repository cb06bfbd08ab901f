//! Checks the notation of an amount and its number of digits.
//!
//! The document, section Resources and their fields > Shared types, requires precision 18, scale 5 and the
//! minor units of ISO 4217. The readings, rows 15 and 26 to 32, say how far that can be asserted. The schema
//! checks the types, so this module ignores an amount that is not a string and a missing currency.

use std::sync::LazyLock;

use regex::Regex;
use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    currency::{Currencies, MinorUnits},
    definition::Amount,
    notes::Notes,
    pointer::At,
    show,
};

/// Checks the amount object at `at`.
pub(super) fn check(
    amount: &Value,
    at: At<'_>,
    currencies: &Currencies,
    clauses: &Amount,
    notes: &mut Notes,
) {
    let Some(text) = amount.get(&clauses.number_member).and_then(Value::as_str) else { return };
    let here = at.member(&clauses.number_member);
    notes.checked();
    let Some(written) = Written::parse(text) else {
        notes.finding(&clauses.form, here, "a decimal number, as in 1234.50", show::quoted(text));
        return;
    };
    let seen = [
        (&clauses.exponent, written.exponent),
        (&clauses.bare_point, written.has_bare_point.then_some("no digit on one side of the point")),
        (&clauses.unusual, written.has_leading_zeros.then_some("leading zeros")),
    ];
    for (clause, seen) in seen {
        let Some(seen) = seen else { continue };
        notes.observe(clause, here, format!("{}: {seen}", show::quoted(text)));
    }
    check_size(&written, text, here, clauses, notes);
    let code = amount.get(&clauses.currency_member).and_then(Value::as_str);
    // A number too large for `Decimal` already has a finding for its precision.
    if written.whole.is_some() {
        let units = code.and_then(|code| currencies.minor_units(code));
        check_digits((written.fraction, units), (text, code), here, clauses, notes);
    }
}

fn check_size(written: &Written, text: &str, at: At<'_>, clauses: &Amount, notes: &mut Notes) {
    notes.checked();
    if written.is_longer_than(clauses.precision_digits) {
        let expected = format!("at most {} digits before the point", clauses.precision_digits);
        notes.finding(&clauses.precision, at, expected, show::quoted(text));
    } else if written.is_longer_than(clauses.near_digits) {
        let says = format!(
            "more than {} digits before the point, which leaves no room for scale {} in precision {}",
            clauses.near_digits, clauses.scale_digits, clauses.precision_digits
        );
        notes.observe(&clauses.near, at, says);
    }
}

fn check_digits(
    (found, units): (usize, Option<MinorUnits>),
    (text, code): (&str, Option<&str>),
    at: At<'_>,
    clauses: &Amount,
    notes: &mut Notes,
) {
    let code = code.map_or_else(String::new, |code| format!(" {}", show::shortened(code)));
    let actual = || format!("{found} fraction digits: {}{code}", show::quoted(text));
    notes.checked();
    match units {
        Some(MinorUnits::Fixed(digits)) if found > usize::from(digits) => {
            notes.finding(
                &clauses.digits,
                at,
                format!("{digits} fraction digits, the minor units of{code}"),
                actual(),
            );
        }
        Some(MinorUnits::Fixed(digits)) if found < usize::from(digits) => {
            let expected = format!("{digits} fraction digits, the proper number for{code}");
            notes.finding(&clauses.fewer, at, expected, actual());
        }
        Some(MinorUnits::Fixed(_)) => {}
        _ if found > clauses.scale_digits => {
            let expected = format!("at most {} fraction digits", clauses.scale_digits);
            notes.finding(&clauses.scale, at, expected, actual());
        }
        Some(MinorUnits::LastActive(digits)) if found != usize::from(digits) => {
            let text = format!("{}, while the withdrawn{code} last had {digits}", actual());
            notes.observe(&clauses.withdrawn, at, text);
        }
        Some(MinorUnits::NotApplicable) => notes.observe(&clauses.not_applicable, at, actual()),
        Some(MinorUnits::LastActive(_) | MinorUnits::Undefined) | None => {}
    }
}

/// A decimal number and its notation.
struct Written {
    /// The part before the point, or `None` if it has more digits than `Decimal` holds.
    whole: Option<Decimal>,
    /// The number of digits after the point.
    fraction: usize,
    /// The unusual part of the notation: `an exponent` or `a plus sign`.
    exponent: Option<&'static str>,
    /// One side of the point has no digit.
    has_bare_point: bool,
    /// The integer part has leading zeros.
    has_leading_zeros: bool,
}

impl Written {
    /// Parses a decimal number in every notation that the document does not exclude (readings, row 31).
    ///
    /// A number with an exponent has the digits of its written-out value (readings, row 30).
    fn parse(text: &str) -> Option<Self> {
        static FORM: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^([+-]?)([0-9]*)(?:(\.)([0-9]*))?([eE][+-]?[0-9]+)?$").expect("a valid pattern")
        });
        let form = FORM.captures(text)?;
        let part = |group| form.get(group).map_or("", |part| part.as_str());
        let (sign, integer, point, fraction_part, power) = (part(1), part(2), part(3), part(4), part(5));
        if integer.len() + fraction_part.len() == 0 {
            return None;
        }
        let (whole, fraction) = if power.is_empty() {
            (Decimal::from_str_exact(&format!("0{integer}")).ok(), fraction_part.len())
        } else {
            // Zero stays zero with any exponent, even one that `Decimal` cannot hold.
            let is_zero = format!("{integer}{fraction_part}").bytes().all(|digit| digit == b'0');
            let number = Decimal::from_scientific(text).ok().or(is_zero.then_some(Decimal::ZERO));
            let digits = number.map_or(0, |number| number.scale());
            (number.map(|number| number.trunc().abs()), digits.try_into().ok()?)
        };
        let exponent = match (sign, power) {
            (_, power) if !power.is_empty() => Some("an exponent"),
            ("+", _) => Some("a plus sign"),
            _ => None,
        };
        Some(Self {
            whole,
            fraction,
            exponent,
            has_bare_point: integer.is_empty() || !point.is_empty() && fraction_part.is_empty(),
            has_leading_zeros: integer.len() > 1 && integer.starts_with('0'),
        })
    }

    /// Returns true if more than `digits` digits precede the point, not counting leading zeros.
    fn is_longer_than(&self, digits: u32) -> bool {
        self.whole.is_none_or(|whole| whole >= Decimal::from(10_u128.pow(digits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tree, yaml};
    use serde_json::json;

    const FORM: &str = "amount.form";
    const FORM_UNUSUAL: &str = "amount.form.unusual";
    const BARE_POINT: &str = "amount.form.bare-point";
    const EXPONENT: &str = "amount.form.exponent";
    const PRECISION: &str = "amount.precision";
    const PRECISION_NEAR: &str = "amount.precision.near";
    const SCALE: &str = "amount.scale";
    const DIGITS: &str = "amount.digits";
    const DIGITS_FEWER: &str = "amount.digits.fewer.response";
    const DIGITS_WITHDRAWN: &str = "amount.digits.withdrawn";
    const DIGITS_XDR: &str = "amount.digits.xdr";

    fn checked(value: &Value, at: At<'_>, notes: &mut Notes) {
        let tree = Tree::embedded();
        let text = tree.text(super::super::FILE).unwrap();
        let file: super::super::definition::File = yaml::read(super::super::FILE, text).unwrap();
        check(value, at, &Currencies::load(&tree).unwrap(), &file.amount.unwrap(), notes);
    }

    /// Returns the clauses of the findings, and those of the observations.
    fn said(amount: &str, currency: &str) -> (Vec<String>, Vec<String>) {
        let mut notes = Notes::default();
        let value = json!({"amount": amount, "currency": currency});
        checked(&value, At::Body.member("transactionFees"), &mut notes);
        let checked = notes.into_checked(None);
        assert!(checked.checks >= 1);
        assert!(checked.findings.iter().all(|finding| finding.at == "body/transactionFees/amount"));
        (
            checked.findings.into_iter().map(|finding| finding.clause).collect(),
            checked.observations.into_iter().map(|observation| observation.clause).collect(),
        )
    }

    #[test]
    fn each_amount_has_the_findings_and_observations_of_the_readings() {
        let (none, thirteen, fourteen) = ("", "9999999999999.00", "99999999999999.00");
        let rows = [
            ("100.00", "NOK", none, none),
            ("-0.50", "NOK", none, none),
            ("007.00", "NOK", none, FORM_UNUSUAL),
            ("0.07", "NOK", none, none),
            ("100", "JPY", none, none),
            ("1.234", "KWD", none, none),
            ("100.000", "NOK", DIGITS, none),
            ("100.12345", "NOK", DIGITS, none),
            ("100.123456", "NOK", DIGITS, none),
            ("1.0", "JPY", DIGITS, none),
            ("1.2345", "KWD", DIGITS, none),
            ("100", "NOK", DIGITS_FEWER, none),
            ("100.5", "NOK", DIGITS_FEWER, none),
            ("1.00", "KWD", DIGITS_FEWER, none),
            ("1.00", "HRK", none, none),
            ("1", "HRK", none, DIGITS_WITHDRAWN),
            ("1.00", "BYR", none, DIGITS_WITHDRAWN),
            ("1.000000", "HRK", SCALE, none),
            ("1.00000", "XDR", none, DIGITS_XDR),
            ("1.000000", "XDR", SCALE, none),
            ("1", "GGP", none, none),
            ("1.5", "BYN", none, none),
            ("1.123456", "BYN", SCALE, none),
            (thirteen, "NOK", none, none),
            (fourteen, "NOK", none, PRECISION_NEAR),
            ("999999999999999999.00", "NOK", none, PRECISION_NEAR),
            ("1000000000000000000.00", "NOK", PRECISION, none),
            ("0000000000000000000.01", "NOK", none, FORM_UNUSUAL),
            ("+1.00", "NOK", none, EXPONENT),
            ("+1", "NOK", DIGITS_FEWER, EXPONENT),
            (" 1.00 ", "NOK", FORM, none),
            ("100,00", "NOK", FORM, none),
            ("1e2", "NOK", DIGITS_FEWER, EXPONENT),
            ("1E+5", "NOK", DIGITS_FEWER, EXPONENT),
            ("1.5e5", "NOK", DIGITS_FEWER, EXPONENT),
            ("1.50000e3", "NOK", none, EXPONENT),
            ("1e5", "JPY", none, EXPONENT),
            ("0E-2", "NOK", none, EXPONENT),
            ("15000e-2", "NOK", none, EXPONENT),
            ("1e-3", "NOK", DIGITS, EXPONENT),
            ("1e-5", "BYN", none, EXPONENT),
            ("1e-6", "BYN", SCALE, EXPONENT),
            ("1e-+2", "NOK", FORM, none),
            ("1_000.00", "NOK", FORM, none),
            ("1.2345e1", "NOK", DIGITS, EXPONENT),
            ("1e-9", "XDR", SCALE, EXPONENT),
            ("1.00e20", "JPY", PRECISION, EXPONENT),
            ("1e99999999999999999999", "JPY", PRECISION, EXPONENT),
            ("0e99", "JPY", none, EXPONENT),
            ("1.", "JPY", none, BARE_POINT),
            ("100.", "JPY", none, BARE_POINT),
            (".50", "NOK", none, BARE_POINT),
            (".64", "NOK", none, BARE_POINT),
            ("-.64", "NOK", none, BARE_POINT),
            ("100.", "NOK", DIGITS_FEWER, BARE_POINT),
            ("", "NOK", FORM, none),
            ("-", "NOK", FORM, none),
            (".", "NOK", FORM, none),
            ("e5", "NOK", FORM, none),
            ("1e", "NOK", FORM, none),
            ("1.2.3", "NOK", FORM, none),
            ("1 000.00", "NOK", FORM, none),
            ("1\n000.00", "NOK", FORM, none),
            (" ", "NOK", FORM, none),
            ("NaN", "NOK", FORM, none),
            ("0x10", "NOK", FORM, none),
            ("--1.00", "NOK", FORM, none),
            ("\u{661}.00", "NOK", FORM, none),
            ("100.00 NOK", "NOK", FORM, none),
        ];
        for (amount, currency, finding, observation) in rows {
            let list = |clause: &str| if clause.is_empty() { vec![] } else { vec![clause.to_owned()] };
            assert_eq!(said(amount, currency), (list(finding), list(observation)), "{amount:?} {currency}");
        }
    }

    #[test]
    fn limits_of_precision_and_scale() {
        let nines = |digits: usize| "9".repeat(digits);
        let rows = [
            (nines(13), "JPY", ""),
            (nines(14), "JPY", PRECISION_NEAR),
            (nines(18), "JPY", PRECISION_NEAR),
            (nines(19), "JPY", PRECISION),
            (nines(28), "JPY", PRECISION),
            (nines(29), "JPY", PRECISION),
            (nines(40), "JPY", PRECISION),
            (format!("-{}.99", nines(18)), "NOK", PRECISION_NEAR),
            (format!("-{}.99", nines(19)), "NOK", PRECISION),
            (format!("{}7.00", "0".repeat(40)), "NOK", FORM_UNUSUAL),
            (format!("{}.{}", nines(18), nines(3)), "KWD", PRECISION_NEAR),
            (format!("9.{}", nines(5)), "BYN", ""),
            (format!("9.{}", nines(6)), "BYN", SCALE),
            (format!("9.{}", nines(29)), "BYN", SCALE),
            (format!("9.{}", nines(40)), "NOK", DIGITS),
        ];
        for (amount, currency, expected) in rows {
            let (findings, observations) = said(&amount, currency);
            let clauses = [findings, observations].concat();
            let expected = if expected.is_empty() { vec![] } else { vec![expected] };
            assert_eq!(clauses, expected, "{amount} {currency}");
        }
        // Digits implied by an exponent count as well.
        for (amount, precision) in [("1e17", PRECISION_NEAR), ("1e18", PRECISION), ("1e99", PRECISION)] {
            let (findings, observations) = said(amount, "JPY");
            let clauses = [findings, observations].concat();
            assert!(clauses.contains(&precision.to_owned()), "{amount}: {clauses:?}");
        }
    }

    #[test]
    fn an_unusual_form_does_not_hide_wrong_digits() {
        assert_eq!(said("+1.000", "NOK"), (vec![DIGITS.to_owned()], vec![EXPONENT.to_owned()]));
    }

    #[test]
    fn amounts_that_are_no_strings_are_left_to_the_schema() {
        for value in [json!({"amount": 5, "currency": "NOK"}), json!({}), json!("5"), json!([])] {
            let mut notes = Notes::default();
            checked(&value, At::Body, &mut notes);
            assert_eq!(notes.into_checked(None), super::super::Checked::default(), "{value}");
        }
    }
}
