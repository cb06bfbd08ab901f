//! Payment references (KID), which some creditors demand. "KID error (invalid or missing payment reference):
//! HTTP 400 `BAD_REQUEST`" (the document, section Errors). Neither product has a member for it; here it is
//! the text that goes with a domestic payment.

use axum::http::StatusCode;

use crate::member::Object;
use crate::refusal::{Code, Refusal};
use crate::rules::{ReferenceBreach, Rules, StateBreach};

/// The account of a creditor who demands one.
const CREDITOR: [&str; 2] = ["NO3397100000044", "97100000044"];

/// Checks the reference of a payment, where its creditor demands one.
pub(super) fn check(body: &Object<'_>, rules: Rules) -> Result<(), Refusal> {
    let account = body.required("creditorAccount")?.object("account")?;
    let breach = match rules.state_breach() {
        Some(StateBreach::Reference(breach)) => Some(breach),
        _ => None,
    };
    let names: &[&str] = if breach == Some(ReferenceBreach::ByIban) { &["iban"] } else { &["iban", "bban"] };
    let mut numbers = names.iter().filter_map(|name| account.optional(name)?.text().ok());
    let is_demanded = numbers.any(|number| CREDITOR.contains(&number));
    if !is_demanded || breach == Some(ReferenceBreach::Nothing) {
        return Ok(());
    }
    let refuse = |says: &str| {
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, Code::BadRequest, "error.kid.status", says);
        Err(refusal.at("/remittanceInformationUnstructured"))
    };
    match body.optional("remittanceInformationUnstructured") {
        None if breach == Some(ReferenceBreach::NotDemanded) => Ok(()),
        None => refuse("expected a payment reference for this creditor, found none"),
        Some(_) if breach == Some(ReferenceBreach::AnyDigit) => Ok(()),
        Some(member) if is_reference(member.text()?) => Ok(()),
        Some(member)
            if breach == Some(ReferenceBreach::Words) && member.text()?.contains(char::is_alphabetic) =>
        {
            Ok(())
        }
        Some(member) if breach == Some(ReferenceBreach::Within) && has_reference(member.text()?) => Ok(()),
        Some(_) => refuse("expected a payment reference with its check digit, found another text"),
    }
}

/// Digits, the last of which is the check digit of the others (ISO/IEC 7812-1, annex B: modulus 10).
fn is_reference(text: &str) -> bool {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(10)).collect();
    let Some(digits) = digits.filter(|digits| (2..=25).contains(&digits.len())) else { return false };
    let weighed = digits.iter().rev().enumerate().map(|(at, digit)| match (at % 2, digit * 2) {
        (0, _) => *digit,
        (_, doubled @ 0..=9) => doubled,
        (_, doubled) => doubled - 9,
    });
    weighed.sum::<u32>().is_multiple_of(10)
}

/// Whether there is one within a text.
fn has_reference(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_digit()).any(is_reference)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::rules::Breach;

    fn refused(rules: Rules, number: &str, text: Option<&str>) -> bool {
        let name = if number.starts_with("NO") { "iban" } else { "bban" };
        let mut body = json!({ "creditorAccount": { name: number } });
        if let Some(text) = text {
            body["remittanceInformationUnstructured"] = Value::from(text);
        }
        check(&Object::root(body.as_object().unwrap(), "periodic"), rules).is_err()
    }

    #[test]
    fn a_creditor_who_demands_a_reference_gets_a_right_one() {
        let refused_by = |rules: Rules| {
            [Some("1234566"), Some("1234567"), Some("a text"), None]
                .map(|text| refused(rules, CREDITOR[0], text))
        };
        let broken = |breach| refused_by(Rules::broken(Breach::State(StateBreach::Reference(breach))));
        assert_eq!(refused_by(Rules::kept()), [false, true, true, true]);
        assert_eq!(broken(ReferenceBreach::NotDemanded), [false, true, true, false]);
        assert_eq!(broken(ReferenceBreach::AnyDigit), [false, false, false, true]);
        assert_eq!(broken(ReferenceBreach::Words), [false, true, false, true]);
        assert_eq!(broken(ReferenceBreach::Nothing), [false; 4]);
        assert_eq!(broken(ReferenceBreach::ByIban), [false, true, true, true]);
        let rules = |breach| Rules::broken(Breach::State(StateBreach::Reference(breach)));
        assert!(!refused(rules(ReferenceBreach::ByIban), CREDITOR[1], None));
        assert!(refused(Rules::kept(), CREDITOR[1], None));
        assert!(!refused(rules(ReferenceBreach::Within), CREDITOR[0], Some("KID 1234566 x")));
        assert!(refused(rules(ReferenceBreach::Within), CREDITOR[0], Some("KID 1234567 x")));
        assert!(refused(Rules::kept(), CREDITOR[0], Some("KID 1234566 x")));
        assert!(!refused(Rules::kept(), "NO5597100000036", None), "another creditor demands none");
    }
}
