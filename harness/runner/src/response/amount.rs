//! Money: how an amount is written, and how many digits its currency allows.
//!
//! The document, section Resources and their fields > Shared types, says precision 18 and scale 5, with fraction digits as the
//! minor units of ISO 4217 demand; readings, rows 15 and 26 to 32, say how far that can be asserted. An amount that is no
//! string, or a missing currency, is the schema's business and is left alone here.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    clause::{
        AMOUNT_DIGITS as DIGITS, AMOUNT_DIGITS_FEWER as DIGITS_FEWER,
        AMOUNT_DIGITS_WITHDRAWN as DIGITS_WITHDRAWN, AMOUNT_DIGITS_XDR as DIGITS_XDR, AMOUNT_FORM as FORM,
        AMOUNT_FORM_UNUSUAL as FORM_UNUSUAL, AMOUNT_PRECISION as PRECISION,
        AMOUNT_PRECISION_NEAR as PRECISION_NEAR, AMOUNT_SCALE as SCALE,
    },
    currency::{Currencies, MinorUnits},
    notes::Notes,
    pointer::At,
    words,
};

/// Digits before the point that no reading of "precision 18" allows to be exceeded.
const PRECISION_DIGITS: usize = 18;
/// Digits before the point that are left when precision 18 counts the 5 of the scale as well.
const PRECISION_LESS_SCALE: usize = 13;
/// Fraction digits that the contract allows in any currency.
const SCALE_DIGITS: usize = 5;

/// Checks the amount object at `at`.
pub(super) fn check(amount: &Value, at: At<'_>, currencies: &Currencies, notes: &mut Notes) {
    let Some(text) = amount.get("amount").and_then(Value::as_str) else { return };
    let here = at.member("amount");
    notes.checked();
    let Some(written) = Written::parse(text) else {
        notes.finding(FORM, here, "a decimal number, as in 1234.50", words::quoted(text));
        return;
    };
    if let Some(unusual) = written.unusual {
        notes.observe(FORM_UNUSUAL, here, format!("{}: {unusual}", words::quoted(text)));
    }
    check_size(&written, text, here, notes);
    let code = amount.get("currency").and_then(Value::as_str);
    if let Some(fraction) = written.fraction {
        check_digits(fraction, code.and_then(|code| currencies.minor_units(code)), text, code, here, notes);
    }
}

fn check_size(written: &Written, text: &str, at: At<'_>, notes: &mut Notes) {
    notes.checked();
    let digits = written.integer;
    if digits > PRECISION_DIGITS {
        let expected = format!("at most {PRECISION_DIGITS} digits before the point");
        notes.finding(PRECISION, at, expected, format!("{digits} digits: {}", words::quoted(text)));
    } else if digits > PRECISION_LESS_SCALE {
        notes.observe(
            PRECISION_NEAR,
            at,
            format!("{digits} digits before the point, which leaves no room for scale 5 in precision 18"),
        );
    }
}

fn check_digits(
    found: usize,
    units: Option<MinorUnits>,
    text: &str,
    code: Option<&str>,
    at: At<'_>,
    notes: &mut Notes,
) {
    let code = code.map_or_else(String::new, |code| format!(" {}", words::shortened(code)));
    let actual = || format!("{found} fraction digits: {}{code}", words::quoted(text));
    notes.checked();
    match units {
        Some(MinorUnits::Fixed(digits)) if found > usize::from(digits) => {
            notes.finding(
                DIGITS,
                at,
                format!("{digits} fraction digits, the minor units of{code}"),
                actual(),
            );
        }
        Some(MinorUnits::Fixed(digits)) if found < usize::from(digits) => {
            let expected = format!("{digits} fraction digits, the proper number for{code}");
            notes.finding(DIGITS_FEWER, at, expected, actual());
        }
        Some(MinorUnits::Fixed(_)) => {}
        _ if found > SCALE_DIGITS => {
            notes.finding(SCALE, at, format!("at most {SCALE_DIGITS} fraction digits"), actual());
        }
        Some(MinorUnits::LastActive(digits)) if found != usize::from(digits) => {
            let text = format!("{}, while the withdrawn{code} last had {digits}", actual());
            notes.observe(DIGITS_WITHDRAWN, at, text);
        }
        Some(MinorUnits::NotApplicable) => notes.observe(DIGITS_XDR, at, actual()),
        Some(MinorUnits::LastActive(_) | MinorUnits::Undefined) | None => {}
    }
}

/// A decimal number as it is written.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    /// Digits before the point, leading zeros apart.
    integer: usize,
    /// Digits after the point; `None` where the form does not tell (an exponent, a comma).
    fraction: Option<usize>,
    /// What no plain number has. The document defines no form (readings, row 31).
    unusual: Option<&'static str>,
}

impl Written {
    /// Reads a number in any of the forms that the document does not exclude: a sign, a point without digits on one side, a
    /// decimal comma, an exponent, leading zeros, spaces. `None` for what is no number in any of them.
    fn parse(text: &str) -> Option<Self> {
        let spaced = text.contains(' ');
        let text = if spaced { Cow::Owned(text.replace(' ', "")) } else { Cow::Borrowed(text) };
        let mut unusual = spaced.then_some("spaces");
        let mut rest = text.strip_prefix('-').unwrap_or(&text);
        if let Some(unsigned) = text.strip_prefix('+') {
            (rest, unusual) = (unsigned, Some("a plus sign"));
        }
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (rest, None),
        };
        let (integer, fraction) = match mantissa.split_once(['.', ',']) {
            Some((integer, fraction)) => (integer, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let after = fraction.unwrap_or_default();
        if !digits(integer) || !digits(after) || integer.len() + after.len() == 0 {
            return None;
        }
        if integer.len() > 1 && integer.starts_with('0') {
            unusual = Some("leading zeros");
        }
        if integer.is_empty() || fraction == Some("") {
            unusual = Some("no digit on one side of the point");
        }
        let comma = mantissa.contains(',');
        if comma {
            unusual = Some("a decimal comma");
        }
        if let Some(exponent) = exponent {
            let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if power.is_empty() || !digits(power) {
                return None;
            }
            unusual = Some("an exponent");
        }
        let fraction = (!comma && exponent.is_none()).then_some(after.len());
        Some(Self { integer: integer.trim_start_matches('0').len(), fraction, unusual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Clauses of the findings, then those of the observations.
    fn said(amount: &str, currency: &str) -> (Vec<String>, Vec<String>) {
        let mut notes = Notes::default();
        let value = json!({"amount": amount, "currency": currency});
        check(&value, At::Body.member("transactionFees"), &Currencies::embedded(), &mut notes);
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
            ("+1.00", "NOK", none, FORM_UNUSUAL),
            (" 1.00 ", "NOK", none, FORM_UNUSUAL),
            ("100,00", "NOK", none, FORM_UNUSUAL),
            ("1e2", "NOK", none, FORM_UNUSUAL),
            ("1.", "JPY", none, FORM_UNUSUAL),
            (".50", "NOK", none, FORM_UNUSUAL),
            ("", "NOK", FORM, none),
            ("-", "NOK", FORM, none),
            (".", "NOK", FORM, none),
            ("e5", "NOK", FORM, none),
            ("1e", "NOK", FORM, none),
            ("1.2.3", "NOK", FORM, none),
            ("1 000.00", "NOK", none, FORM_UNUSUAL),
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
    fn an_unusual_form_does_not_hide_wrong_digits() {
        assert_eq!(said("+1.000", "NOK"), (vec![DIGITS.to_owned()], vec![FORM_UNUSUAL.to_owned()]));
    }

    #[test]
    fn amounts_that_are_no_strings_are_left_to_the_schema() {
        for value in [json!({"amount": 5, "currency": "NOK"}), json!({}), json!("5"), json!([])] {
            let mut notes = Notes::default();
            check(&value, At::Body, &Currencies::embedded(), &mut notes);
            assert_eq!(notes.into_checked(None), super::super::Checked::default(), "{value}");
        }
    }
}
