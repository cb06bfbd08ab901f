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
            faults.push(on_member(
                operation,
                pointer,
                format!("account.iban.length/cut-before-check-digits-{}-{operation}", kebab(pointer)),
                (When::Text(is_right_before_the_limit), take),
                &format!(
                    "takes a longer {} if its first 34 characters are one",
                    pointer[1..].replace('/', " ")
                ),
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
    for operation in [N, P] {
        faults.extend(creditors(operation));
        for pointer in ["/creditorAccount/bban", "/debtorAccount/bban"] {
            let name = format!("account.bban.empty/{}-{operation}", kebab(pointer));
            let empty = (When::Is(""), Then::TakeFor(r#""00004200179""#));
            let sentence = format!("takes an empty {} for one", pointer[1..].replace('/', " "));
            faults.push(on_member(operation, pointer, name, empty, &sentence));
        }
    }
    faults.extend(agents());
    faults
}

/// Banks with an idea of creditors' accounts of their own.
fn creditors(operation: Operation) -> [Entry; 6] {
    let refused = |pointer: &'static str, name: &str, says: fn(&str) -> bool, what: &str| {
        let sentence = format!("refuses {what} of a creditor");
        on_member(
            operation,
            pointer,
            format!("{name}-on-{operation}"),
            (When::Text(says), Then::Refuse),
            &sentence,
        )
    };
    let iban = |name: &str, says, what: &str| {
        refused(CREDITOR.0, &format!("account.iban.any-country/{name}"), says, what)
    };
    [
        iban(
            "no-letters",
            |iban| iban.bytes().skip(4).any(|byte| byte.is_ascii_uppercase()),
            "an iban with letters behind its fourth character",
        ),
        iban("no-long", |iban| iban.len() > 28, "an iban of more than 28 characters"),
        iban(
            "known",
            |iban| !["NO", "SE", "DK", "FI", "DE"].iter().any(|known| iban.starts_with(known)),
            "an iban of other countries than the nearest",
        ),
        iban(
            "of-europe",
            |iban| {
                ["AE", "BR", "SA", "TR", "IL", "KW", "QA", "PK", "EG", "TN"]
                    .iter()
                    .any(|far| iban.starts_with(far))
            },
            "an iban of countries outside Europe",
        ),
        refused(
            "/creditorAccount/bban",
            "account.bban.letters/refused",
            |bban| bban.bytes().any(|byte| byte.is_ascii_alphabetic()),
            "a bban with letters",
        ),
        refused(
            "/creditorAccount/bban",
            "account.bban.letters/small-refused",
            |bban| bban.bytes().any(|byte| byte.is_ascii_lowercase()),
            "a bban with small letters",
        ),
    ]
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
    let refused = |name: &str, says: fn(&str) -> bool, which: &str| {
        let name = format!("ncbct.creditor-agent.bic/no-{name}");
        let sentence = format!("refuses {which} as creditorAgent");
        on_member(N, "/creditorAgent", name, (When::Text(says), Then::Refuse), &sentence)
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
        refused("eight", |text| text.len() == 8, "a BIC of eight characters"),
        refused("eleven", |text| text.len() == 11, "a BIC of eleven characters"),
        refused("branch", |text| text.len() == 11 && !text.ends_with("XXX"), "a BIC of a branch"),
        refused("digits", |text| text.bytes().any(|byte| byte.is_ascii_digit()), "a BIC with digits"),
        agent("trimmed", |text| !is_bic(text) && is_bic(text.trim()), "a BIC with blanks around it"),
    ]
}

/// Longer than the limit, with the check digits of what stands before it.
fn is_right_before_the_limit(iban: &str) -> bool {
    iban.len() > 34 && iban.is_char_boundary(34) && has_check_digits(&iban[..34])
}

/// In the form of an iban, with other check digits than those of the number.
fn is_wrong(iban: &str) -> bool {
    (5..=34).contains(&iban.len())
        && iban.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !has_check_digits(iban)
}
