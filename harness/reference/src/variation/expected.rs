//! Places where the document can be read in several ways, and this bank takes the plain one: banks that took
//! another.

use serde_json::json;
use xs2aspec_bank::operation::Operation;

use crate::rules::{Effect, Entry, Form, Likeness, Place, Reading, Then, Treatment, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

pub(super) fn variations() -> Vec<Entry> {
    let mut all = Vec::new();
    all.extend(breaches());
    all.extend(of_more());
    all.push(other_letters());
    all
}

fn breaches() -> Vec<Entry> {
    let taken = [B, N, P, T].map(|operation| json!({ "header": "psu-id", "operation": operation.id() }));
    vec![
        Entry::new(
            "amount.precision.total/whole-digits",
            vec![Effect::policy(json!({ "amounts": { "digits": usize::MAX } }))],
            "Eighteen digits are the limit of those before the point.",
        ),
        Entry::new(
            "header.psu-id.unknown/taken",
            vec![Effect::policy(json!({ "psu": { "unknown-taken": taken } }))],
            "A PSU whom the bank does not know is asked who that is later.",
        ),
    ]
}

/// Freedoms that have a branch of their own in the bank.
fn of_more() -> Vec<Entry> {
    let breaches = [
        (
            "json.trailing/passed-over",
            Effect::Reads(Reading::Trailing),
            "A body ends where its JSON text does, and what follows is passed over.",
        ),
        (
            "json.utf-8/lossy",
            Effect::Reads(Reading::Lossy),
            "Bytes that are no UTF-8 become replacement characters.",
        ),
        (
            "json.extensions/comma",
            Effect::Reads(Reading::LastComma),
            "A comma may follow the last member of a body.",
        ),
    ];
    let mut all: Vec<Entry> =
        breaches.into_iter().map(|(name, effect, says)| Entry::new(name, vec![effect], says)).collect();
    let words = ["TRUE", "True", "FALSE", "1", "0", "yes", "no", "on", "t", "", "true "];
    all.push(Entry::new(
        "ncbct.allow-logical-duplicate.words/taken",
        vec![Effect::policy(json!({ "query": { "also-true": { "allowLogicalDuplicate": words } } }))],
        "allowLogicalDuplicate may be any word that is usual for a boolean.",
    ));
    let person = [N, P].map(|operation| json!({ "user": "person", "operation": operation.id() }));
    all.push(Entry::new(
        "error.corporate-id.person/private",
        vec![Effect::policy(json!({ "psu": { "no-agreement": person } }))],
        "A person who has an agreement may pay as a private person.",
    ));
    all.push(Entry::new(
        "error.corporate-id/context-forbidden",
        vec![Effect::policy(json!({ "psu": { "forbids-foreign-context": true } }))],
        "A private person in corporate context is forbidden.",
    ));
    all.push(Entry::new(
        "json.duplicate-keys.response/last",
        vec![Effect::Forms(Form::Twice("transactionStatus"))],
        "Answers have their status twice, the last time the right one.",
    ));
    all
}

/// A bank to which the letter case of codes and words does not count.
fn other_letters() -> Entry {
    const PURPOSES: &[&str] = &[
        "INVS", "SALA", "IDCP", "CASH", "CORT", "INTC", "PENS", "SSBE", "SUPP", "TAXS", "TREA", "VATX",
        "LOAN", "OTHR",
    ];
    const FREQUENCIES: &[&str] = &["Daily", "Weekly", "Monthly", "Quarterly", "Annual", "MonthlyVariable"];
    let body = |operation, pointer, list, valid| {
        let (place, when) = (Place::Body(pointer), When::Like(Likeness::LetterCase, list));
        Effect::Treats(Treatment { operation, place, when, then: Then::TakeFor(valid) })
    };
    Entry::new(
        "listed.case/taken",
        vec![
            body(N, "/purposeCode", PURPOSES, "\"OTHR\""),
            body(P, "/purposeCode", PURPOSES, "\"OTHR\""),
            body(P, "/frequency", FREQUENCIES, "\"Monthly\""),
            body(P, "/executionRule", &["following", "preceeding"], "\"following\""),
            Effect::policy(json!({ "headers": { "any-notation": ["psu-context", "psu-http-method"] } })),
        ],
        "The letter case of codes and words does not count.",
    )
}
