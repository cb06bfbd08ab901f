//! Payment references (KID): "KID error (invalid or missing payment reference): HTTP 400 `BAD_REQUEST`" (the
//! document, section Errors).
//!
//! Neither product has a field for a KID. This bank reads it from `remittanceInformationUnstructured` of a
//! domestic payment.

use http::StatusCode;

use crate::member::Object;
use crate::policy::{References, Taken};
use crate::refusal::{Code, Refusal};

/// Checks the payment reference if the creditor requires one.
pub(super) fn check(body: &Object<'_>, policy: &References) -> Result<(), Refusal> {
    let account = body.required("creditorAccount")?.object("account")?;
    let mut numbers = ["iban", "bban"].into_iter().filter_map(|name| account.optional(name)?.text().ok());
    if !numbers.any(|number| policy.creditors.iter().any(|creditor| creditor == number)) {
        return Ok(());
    }
    let member = body.optional("remittanceInformationUnstructured");
    let text = member.map(|member| member.text()).transpose()?;
    let says = match (text, policy.taken) {
        (None, Taken::Nothing) | (Some(_), Taken::AnyText) => return Ok(()),
        (Some(text), taken) if is_taken(text, taken) => return Ok(()),
        (None, _) => "expected a payment reference for this creditor, found none",
        (Some(_), _) => "expected a payment reference with a valid check digit, found another value",
    };
    Err(Refusal::new(StatusCode::BAD_REQUEST, Code::BadRequest, "error.kid.status", says)
        .at("/remittanceInformationUnstructured"))
}

fn is_taken(text: &str, taken: Taken) -> bool {
    match taken {
        Taken::Words if text.contains(char::is_alphabetic) => true,
        Taken::Within => text.split(|letter: char| !letter.is_ascii_digit()).any(is_reference),
        _ => is_reference(text),
    }
}

/// Returns true for digits with a valid check digit at the end (ISO/IEC 7812-1, annex B: modulus 10).
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::policy::Policy;

    const CREDITOR: [&str; 2] = ["NO3397100000044", "97100000044"];

    fn refused(policy: &'static Policy, number: &str, text: Option<&str>) -> bool {
        let name = if number.starts_with("NO") { "iban" } else { "bban" };
        let mut body = json!({ "creditorAccount": { name: number } });
        if let Some(text) = text {
            body["remittanceInformationUnstructured"] = Value::from(text);
        }
        check(&Object::root(body.as_object().unwrap(), "periodic"), &policy.references).is_err()
    }

    #[test]
    fn a_creditor_who_demands_a_reference_gets_a_right_one() {
        let texts = [Some("1234566"), Some("1234567"), Some("KID 1234567 x"), Some("KID 1234566 x"), None];
        for (taken, refuses) in [
            ("right", [false, true, true, true, true]),
            ("nothing", [false, true, true, true, false]),
            ("any-text", [false, false, false, false, true]),
            ("words", [false, true, false, false, true]),
            ("within", [false, true, true, false, true]),
        ] {
            let policy = Policy::set(&json!({ "references": { "taken": taken } }));
            assert_eq!(texts.map(|text| refused(policy, CREDITOR[0], text)), refuses, "{taken}");
        }
        assert!(refused(Policy::document(), CREDITOR[1], None));
        let by_iban = Policy::set(&json!({ "references": { "creditors": [CREDITOR[0]] } }));
        assert!(!refused(by_iban, CREDITOR[1], None) && refused(by_iban, CREDITOR[0], None));
        assert!(!refused(Policy::document(), "NO5597100000036", None), "another creditor requires none");
    }
}
