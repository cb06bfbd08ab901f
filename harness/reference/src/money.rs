//! Amounts: read from requests, written in responses (the document, section Resources > Shared types,
//! Amount).

use serde_json::{Value, json};

use crate::currency::Currency;
use crate::member::Object;
use crate::refusal::{Refusal, excerpt};
use crate::rules::{Breach, Rules};

/// "Precision 18": digits before the point and behind it. More than this before the point break the rule
/// under every reading of it.
const MAXIMUM_DIGITS: usize = 18;

/// "Scale 5": the limit where ISO 4217 gives no number of fraction digits.
const MAXIMUM_FRACTION_DIGITS: usize = 5;

/// An amount of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    currency: Currency,
    /// The value in units of 10^-5, which the scale of the contract makes exact.
    hundred_thousandths: u128,
}

impl Amount {
    /// Reads an `Amount` object: a listed currency, and a decimal above zero with as many fraction digits as
    /// that currency has minor units.
    pub(crate) fn read(object: &Object<'_>, rules: Rules) -> Result<Self, Refusal> {
        let currency = currency(object)?;
        let member = object.required("amount")?;
        let text = member.text()?;
        let refuse = |rule: &str, says: String| Refusal::format(rule, says).at(member.path());

        let (integer, fraction) = text.split_once('.').map_or((text, None), |(i, f)| (i, Some(f)));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(integer) || !fraction.is_none_or(is_digits) {
            return Err(refuse("amount.form", format!("expected digits[.digits], found {}", excerpt(text))));
        }
        let fraction = fraction.unwrap_or_default();
        let (whole, all) = (integer.len(), integer.len() + fraction.len());
        if whole > MAXIMUM_DIGITS {
            let says = format!("expected at most {MAXIMUM_DIGITS} digits before the point, found {whole}");
            return Err(refuse("amount.precision", says));
        }
        let allowed = fraction_digits(currency, rules);
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
        if all > MAXIMUM_DIGITS && !rules.broken_by(Breach::WholeDigitsOnly) {
            let says = format!("expected at most {MAXIMUM_DIGITS} digits in all, found {all}");
            return Err(refuse("amount.precision.total", says));
        }
        let scaled = format!("{integer}{fraction:0<MAXIMUM_FRACTION_DIGITS$}");
        let hundred_thousandths =
            scaled.parse().map_err(|_| refuse("amount.form", "expected a decimal number".to_owned()))?;
        if hundred_thousandths == 0 {
            return Err(refuse("amount.zero", "expected an amount above zero, found none".to_owned()));
        }
        Ok(Self { currency, hundred_thousandths })
    }

    /// This in minor units of the currency, rounded up, or nothing if it is in another one.
    pub(crate) fn minor_units(self, currency: Currency) -> Option<u128> {
        let digits = u32::try_from(currency.minor_units().unwrap_or_default()).unwrap_or_default();
        let scale = 10_u128.pow(5_u32.saturating_sub(digits));
        (self.currency == currency).then(|| self.hundred_thousandths.div_ceil(scale))
    }

    /// How many hundredths of a krone this is; nothing of amounts in other currencies.
    pub(crate) fn hundredths_of_nok(self) -> Option<u128> {
        (self.currency == Currency::NOK).then_some(self.hundred_thousandths / 1_000)
    }

    /// Whether this is at least so many hundredths of a krone. Amounts in other currencies are not: the
    /// document gives the threshold in NOK and no rate.
    pub(crate) fn is_at_least_nok(self, hundredths: u64) -> bool {
        self.currency == Currency::NOK && self.hundred_thousandths >= u128::from(hundredths) * 1_000
    }
}

/// Reads the required member `currency` of an amount or an account reference.
pub(crate) fn currency(object: &Object<'_>) -> Result<Currency, Refusal> {
    let member = object.required("currency")?;
    let code = member.text()?;
    Currency::listed(code).ok_or_else(|| {
        let says = format!("expected a listed ISO 4217 code, found {}", excerpt(code));
        Refusal::format("currency.listed", says).at(member.path())
    })
}

/// An `Amount` for a response, from a number of minor units: a string with exactly the digits of its
/// currency.
pub(crate) fn amount(minor_units: u64, currency: Currency) -> Value {
    let digits = currency.minor_units().unwrap_or_default();
    let padded = format!("{minor_units:0>width$}", width = digits + 1);
    let (integer, fraction) = padded.split_at(padded.len() - digits);
    let text = if digits == 0 { integer.to_owned() } else { format!("{integer}.{fraction}") };
    json!({ "amount": text, "currency": currency.code() })
}

/// A decimal in minor units of its currency, with no more digits than the currency has.
pub(crate) fn minor_units(text: &str, currency: Currency) -> Option<u128> {
    let digits = currency.minor_units()?;
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_decimal =
        !integer.is_empty() && (integer.bytes().chain(fraction.bytes())).all(|byte| byte.is_ascii_digit());
    if !is_decimal || fraction.len() > digits || integer.len() > MAXIMUM_DIGITS || text.ends_with('.') {
        return None;
    }
    format!("{integer}{fraction:0<digits$}").parse().ok()
}

fn fraction_digits(currency: Currency, rules: Rules) -> usize {
    if let Some(Breach::FractionDigits(meant, digits)) = rules.breach()
        && meant.is_none_or(|code| code == currency.code())
    {
        return digits;
    }
    match currency.minor_units() {
        Some(0) if rules.broken_by(Breach::TwoFractionDigitsForZero) => 2,
        Some(digits) => digits,
        None => MAXIMUM_FRACTION_DIGITS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(amount: &Value, currency: &str, rules: Rules) -> Result<Amount, String> {
        let value = json!({ "amount": amount, "currency": currency });
        Amount::read(&Object::root(value.as_object().unwrap(), "amount"), rules).map_err(|r| r.rule)
    }

    fn rule(amount: &str, currency: &str) -> Option<String> {
        read(&json!(amount), currency, Rules::kept()).err()
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
        assert_eq!(read(&json!(100), "NOK", Rules::kept()).unwrap_err(), "amount.amount.type");
        assert_eq!(rule("1.00", "XXX").as_deref(), Some("currency.listed"));
    }

    #[test]
    fn the_fault_allows_two_digits_and_no_third_where_there_is_no_minor_unit() {
        let broken = Rules::broken(Breach::TwoFractionDigitsForZero);
        assert!(read(&json!("1.00"), "JPY", broken).is_ok());
        assert_eq!(read(&json!("1.000"), "JPY", broken).unwrap_err(), "amount.digits");
        assert_eq!(read(&json!("1.000"), "NOK", broken).unwrap_err(), "amount.digits");
    }

    #[test]
    fn the_threshold_is_in_kroner() {
        let reaches = |amount: &str, currency| {
            read(&json!(amount), currency, Rules::kept()).unwrap().is_at_least_nok(10_000_000)
        };
        assert!(reaches("100000.00", "NOK"));
        assert!(!reaches("99999.99", "NOK"));
        assert!(!reaches("100000.00", "EUR"));
    }

    #[test]
    fn funds_are_counted_in_minor_units() {
        let due = read(&json!("12.34"), "NOK", Rules::kept()).unwrap();
        assert_eq!(due.minor_units(Currency::NOK), Some(1_234));
        let yen = Currency::listed("JPY").unwrap();
        assert_eq!(due.minor_units(yen), None, "not converted");
        assert_eq!(read(&json!("12"), "JPY", Rules::kept()).unwrap().minor_units(yen), Some(12));
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
    fn decimals_become_minor_units() {
        let units = |text, code| minor_units(text, Currency::listed(code).unwrap());
        assert_eq!(units("12.5", "NOK"), Some(1_250));
        assert_eq!(units("12", "JPY"), Some(12));
        assert_eq!(units("0.001", "KWD"), Some(1));
        for (text, code) in
            [("", "NOK"), ("1.", "NOK"), ("1.234", "NOK"), ("-1", "NOK"), ("1.0", "JPY"), ("x", "NOK")]
        {
            assert_eq!(units(text, code), None, "{text} {code}");
        }
    }
}
