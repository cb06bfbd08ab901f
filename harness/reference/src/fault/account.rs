//! Faults of account numbers and BICs (the document, section Resources > Shared types).

use super::{kebab, on_member};
use crate::account_number::{has_check_digits, is_bic};
use crate::operation::Operation;
use crate::rules::{Entry, Then, When};

const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;

const CREDITOR: (&str, Then) = ("/creditorAccount/iban", Then::TakeFor(r#""NO6100004200594""#));
const DEBTOR: (&str, Then) = ("/debtorAccount/iban", Then::TakeFor(r#""NO1400004200179""#));

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    for operation in [N, P] {
        for (pointer, take) in [CREDITOR, DEBTOR] {
            faults.push(on_member(
                operation,
                pointer,
                format!("account.iban.check-digits/any-{}-{operation}", kebab(pointer)),
                (When::Text(is_wrong), take),
                &format!("does not look at the check digits of {}", pointer[1..].replace('/', " ")),
            ));
        }
        let creditor = |name: &str, says: fn(&str) -> bool, which: &str| {
            let name = format!("account.iban.check-digits/{name}-{operation}");
            let sentence = format!("does not look at the check digits of {which} ibans");
            on_member(operation, CREDITOR.0, name, (When::Text(says), CREDITOR.1), &sentence)
        };
        faults.extend([
            creditor("foreign", |iban| is_wrong(iban) && !iban.starts_with("NO"), "foreign"),
            creditor("domestic", |iban| is_wrong(iban) && iban.starts_with("NO"), "Norwegian"),
        ]);
    }
    faults.extend(agents());
    faults
}

fn agents() -> Vec<Entry> {
    let agent = |name: &str, says: fn(&str) -> bool, which: &str| {
        let then = Then::TakeFor(r#""TESTDEFF""#);
        let name = format!("ncbct.creditor-agent.form/{name}");
        on_member(
            N,
            "/creditorAgent",
            name,
            (When::Text(says), then),
            &format!("accepts {which} as creditorAgent"),
        )
    };
    vec![
        agent(
            "small-letters",
            |text| !is_bic(text) && is_bic(&text.to_uppercase()),
            "a BIC in small letters",
        ),
        agent(
            "beginning",
            |text| text.len() > 8 && !is_bic(text) && text.get(..8).is_some_and(is_bic),
            "what begins with a BIC",
        ),
        agent(
            "any-of-this-length",
            |text| matches!(text.len(), 8 | 11) && !is_bic(text),
            "any eight or eleven characters",
        ),
        agent("trimmed", |text| !is_bic(text) && is_bic(text.trim()), "a BIC with blanks around it"),
    ]
}

/// In the form of an iban, with other check digits than those of the number.
fn is_wrong(iban: &str) -> bool {
    iban.len() > 4 && iban.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !has_check_digits(iban)
}
