//! Amounts: read from requests, written in responses (the document, section Resources > Shared types,
//! Amount).

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::currency::Currency;
use crate::member::Object;
use crate::policy::Amounts;
use crate::refusal::{Refusal, excerpt};

/// "Precision 18". More digits than this before the decimal point violate the rule under every reading.
const MAXIMUM_DIGITS: usize = 18;

/// "Scale 5". The limit for currencies without a number of fraction digits in ISO 4217.
const MAXIMUM_FRACTION_DIGITS: usize = 5;

/// An amount of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    currency: Currency,
    value: Decimal,
}

impl Amount {
    /// Reads an `Amount` object: a listed currency, and a decimal above zero with as many fraction digits as
    /// that currency has.
    pub(crate) fn read(object: &Object<'_>, policy: &Amounts) -> Result<Self, Refusal> {
        let currency = currency(object)?;
        let member = object.required("amount")?;
        let text = member.text()?;
        let refuse = |rule: &str, says: String| Refusal::format(rule, says).at(member.path());

        let Some((integer, fraction)) = digits(text) else {
            return Err(refuse("amount.form", format!("expected digits[.digits], found {}", excerpt(text))));
        };
        let (whole, all) = (integer.len(), integer.len() + fraction.len());
        if whole > MAXIMUM_DIGITS {
            let says = format!("expected at most {MAXIMUM_DIGITS} digits before the point, found {whole}");
            return Err(refuse("amount.precision", says));
        }
        let allowed = policy
            .fraction_digits(currency)
            .or_else(|| currency.minor_units())
            .unwrap_or(MAXIMUM_FRACTION_DIGITS);
        if fraction.len() > allowed {
            let (code, found) = (currency.code(), fraction.len());
            let says = format!("expected at most {allowed} fraction digits for {code}, found {found}");
            return Err(refuse("amount.digits", says));
        }
        let least = if currency.is_disputed() { 0 } else { currency.minor_units().unwrap_or_default() };
        if fraction.len() < least.min(allowed) {
            let (code, found) = (currency.code(), fraction.len());
            let says = format!("expected {least} fraction digits for {code}, found {found}");
            return Err(refuse("amount.digits.fewer", says));
        }
        let Some(value) = decimal(text).filter(|_| all <= policy.digits) else {
            let says = format!("expected at most {} digits in all, found {all}", policy.digits);
            return Err(refuse("amount.precision.total", says));
        };
        if value.is_zero() {
            return Err(refuse("amount.zero", "expected an amount above zero, found zero".to_owned()));
        }
        Ok(Self { currency, value })
    }

    /// Returns the value if the amount is in this currency.
    pub(crate) fn value_in(self, currency: Currency) -> Option<Decimal> {
        (self.currency == currency).then_some(self.value)
    }
}

/// Splits `digits[.digits]` at the decimal point. Returns None for any other form.
fn digits(text: &str) -> Option<(&str, &str)> {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal = integer.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    (is_decimal && !integer.is_empty() && !text.ends_with('.')).then_some((integer, fraction))
}

/// Parses `digits[.digits]`. Returns None for any other form and for more digits than `Decimal` holds.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    digits(text).and_then(|_| Decimal::from_str_exact(text).ok())
}

/// Parses an account balance with at most as many fraction digits as the currency has, and pads it to that
/// number.
pub(crate) fn balance(text: &str, currency: Currency) -> Option<Decimal> {
    let (integer, fraction) = digits(text)?;
    let allowed = currency.minor_units()?;
    let is_in_limits = integer.len() <= MAXIMUM_DIGITS && fraction.len() <= allowed;
    let mut balance = decimal(text).filter(|_| is_in_limits)?;
    balance.rescale(allowed.try_into().ok()?);
    Some(balance)
}

/// Reads the required field `currency` of an amount or an account reference.
pub(crate) fn currency(object: &Object<'_>) -> Result<Currency, Refusal> {
    let member = object.required("currency")?;
    let code = member.text()?;
    Currency::listed(code).ok_or_else(|| {
        let says = format!("expected a listed ISO 4217 code, found {}", excerpt(code));
        Refusal::format("currency.listed", says).at(member.path())
    })
}

/// Returns an `Amount` for a response from a number of minor units, with exactly the digits of its currency.
pub(crate) fn amount(minor_units: i64, currency: Currency) -> Value {
    let digits = currency.minor_units().and_then(|digits| digits.try_into().ok()).unwrap_or_default();
    json!({ "amount": Decimal::new(minor_units, digits).to_string(), "currency": currency.code() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn read(amount: &Value, currency: &str, policy: &'static Policy) -> Result<Amount, String> {
        let value = json!({ "amount": amount, "currency": currency });
        Amount::read(&Object::root(value.as_object().unwrap(), "amount"), &policy.amounts).map_err(|r| r.rule)
    }

    fn rule(amount: &str, currency: &str) -> Option<String> {
        read(&json!(amount), currency, Policy::document()).err()
    }

    #[test]
    fn as_many_fraction_digits_as_the_currency_has() {
        for (amount, currency) in [
            ("100.00", "NOK"),
            ("0.01", "NOK"),
            ("1000", "JPY"),
            ("1.234", "KWD"),
            ("1.23456", "XDR"),
            ("1", "XDR"),
            ("1.0", "MRO"),
            ("1", "MRO"),
            ("1234567890123456.00", "NOK"),
            ("123456789012345678", "JPY"),
        ] {
            assert_eq!(rule(amount, currency), None, "{amount} {currency}");
        }
    }

    #[test]
    fn digits_that_no_such_amount_has() {
        for (amount, currency, expected) in [
            ("100.001", "NOK", "amount.digits"),
            ("100.000", "NOK", "amount.digits"),
            ("100.0", "JPY", "amount.digits"),
            ("1.2345", "KWD", "amount.digits"),
            ("1.234567", "XDR", "amount.digits"),
            ("1234567890123456789.00", "NOK", "amount.precision"),
            ("12345678901234567.00", "NOK", "amount.precision.total"),
            ("100.5", "NOK", "amount.digits.fewer"),
            ("100", "NOK", "amount.digits.fewer"),
            ("1.23", "KWD", "amount.digits.fewer"),
            ("0.00", "NOK", "amount.zero"),
            ("000", "JPY", "amount.zero"),
        ] {
            assert_eq!(rule(amount, currency).as_deref(), Some(expected), "{amount} {currency}");
        }
    }

    #[test]
    fn texts_that_are_no_amount() {
        for amount in
            ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,00", "1 000", " 1", "1.0.0", "١", "NaN", "0x1"]
        {
            assert_eq!(rule(amount, "NOK").as_deref(), Some("amount.form"), "{amount}");
        }
        assert_eq!(read(&json!(100), "NOK", Policy::document()).unwrap_err(), "amount.amount.type");
        assert_eq!(rule("1.00", "XXX").as_deref(), Some("currency.listed"));
    }

    #[test]
    fn a_bank_may_have_other_digits() {
        let broken = Policy::set(&json!({ "amounts": { "fraction-digits": { "JPY": 2 } } }));
        assert!(read(&json!("1.00"), "JPY", broken).is_ok());
        assert_eq!(read(&json!("1.000"), "JPY", broken).unwrap_err(), "amount.digits");
        assert_eq!(read(&json!("1.000"), "NOK", broken).unwrap_err(), "amount.digits");
        let five = Policy::set(&json!({ "amounts": { "fraction-digits": { "*": 5 } } }));
        assert!(read(&json!("1.00000"), "NOK", five).is_ok());
    }

    #[test]
    fn limits_of_precision_and_scale() {
        let nines = |digits: usize| "9".repeat(digits);
        let (total, digits) = ("amount.precision.total", "amount.digits");
        for (amount, currency, expected) in [
            (nines(18), "JPY", None),
            (nines(19), "JPY", Some("amount.precision")),
            (nines(28), "JPY", Some("amount.precision")),
            (nines(29), "JPY", Some("amount.precision")),
            (nines(40), "JPY", Some("amount.precision")),
            (format!("{}.99", nines(16)), "NOK", None),
            (format!("{}.99", nines(17)), "NOK", Some(total)),
            (format!("{}.99", nines(18)), "NOK", Some(total)),
            (format!("{}.999", nines(15)), "KWD", None),
            (format!("{}.999", nines(16)), "KWD", Some(total)),
            (format!("{}7", "0".repeat(17)), "JPY", None),
            (format!("{}7", "0".repeat(18)), "JPY", Some("amount.precision")),
            (format!("9.{}", nines(5)), "XDR", None),
            (format!("9.{}", nines(6)), "XDR", Some(digits)),
            (format!("9.{}", nines(29)), "XDR", Some(digits)),
            (format!("9.{}", nines(40)), "NOK", Some(digits)),
            ("9".to_owned(), "JPY", None),
            ("9.9".to_owned(), "JPY", Some(digits)),
            ("9.9".to_owned(), "NOK", Some("amount.digits.fewer")),
            ("9.99".to_owned(), "NOK", None),
            ("9.999".to_owned(), "NOK", Some(digits)),
            ("9.99".to_owned(), "KWD", Some("amount.digits.fewer")),
            ("9.999".to_owned(), "KWD", None),
            ("9.9999".to_owned(), "KWD", Some(digits)),
            ("1e2".to_owned(), "JPY", Some("amount.form")),
            ("15000e-2".to_owned(), "NOK", Some("amount.form")),
            ("1_000.00".to_owned(), "NOK", Some("amount.form")),
        ] {
            assert_eq!(rule(&amount, currency).as_deref(), expected, "{amount} {currency}");
        }
    }

    #[test]
    fn a_value_is_in_its_own_currency_alone() {
        let due = read(&json!("12.34"), "NOK", Policy::document()).unwrap();
        assert_eq!(due.value_in(Currency::NOK), Some(Decimal::new(1_234, 2)));
        assert_eq!(due.value_in(Currency::listed("JPY").unwrap()), None, "not converted");
    }

    #[test]
    fn responses_have_exactly_the_digits_of_the_currency() {
        let text = |units, code| amount(units, Currency::listed(code).unwrap())["amount"].clone();
        assert_eq!(text(5, "NOK"), "0.05");
        assert_eq!(text(123_450, "NOK"), "1234.50");
        assert_eq!(text(0, "KWD"), "0.000");
        assert_eq!(text(500, "JPY"), "500");
    }

    #[test]
    fn balances_have_no_more_digits_than_their_currency() {
        let read = |text, code| balance(text, Currency::listed(code).unwrap());
        assert_eq!(read("12.5", "NOK"), Some(Decimal::new(125, 1)));
        assert_eq!(read("12", "JPY"), Some(Decimal::from(12)));
        assert_eq!(read("0.001", "KWD"), Some(Decimal::new(1, 3)));
        assert!(read("999999999999999999", "JPY").is_some());
        for (text, code) in [
            ("", "NOK"),
            ("1.", "NOK"),
            (".5", "NOK"),
            ("1.234", "NOK"),
            ("-1", "NOK"),
            ("1.0", "JPY"),
            ("x", "NOK"),
            ("1e2", "NOK"),
            ("1_0", "NOK"),
            ("9999999999999999999", "JPY"),
        ] {
            assert_eq!(read(text, code), None, "{text} {code}");
        }
    }
}
