//! Faults of people whom a bank takes for others, and of letter case in headers.

use serde_json::json;
use xs2aspec_bank::header::Header;
use xs2aspec_bank::operation::Operation;

use super::header::lacks;
use super::title;
use crate::rules::{Beside, Effect, Entry, Place};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    faults.push(Entry::new(
        "header.x-psu-identity.format/digits",
        vec![Effect::policy(
            json!({ "headers": { "forms-unread": ["x-psu-identity"], "any-notation": ["x-psu-identity"] } }),
        )],
        "What is no digit does not count in X-PSU-IDENTITY.",
    ));
    for operation in [N, P] {
        faults.push(Entry::new(
            format!("header.x-psu-identity.format/any-on-{operation}"),
            vec![
                Effect::policy(json!({ "headers": { "forms-unread": ["x-psu-identity"] } })),
                unknown_taken("x-psu-identity", operation),
            ],
            format!("{} accepts any X-PSU-IDENTITY.", title(operation)),
        ));
    }
    let replaced = Entry::new(
        "header.psu-id.basket/replaced",
        vec![lacks(Header::PsuId, B)],
        "Basket creation accepts X-PSU-IDENTITY in place of PSU-ID.",
    );
    faults.push(replaced.only(Beside::Value(Place::Header("x-psu-identity"))));
    for operation in [B, N, P, T] {
        faults.push(Entry::new(
            format!("header.psu-id.unknown/taken-on-{operation}"),
            vec![unknown_taken("psu-id", operation)],
            format!("{} accepts a PSU-ID that nobody has.", title(operation)),
        ));
    }
    for operation in [N, P] {
        faults.push(Entry::new(
            format!("header.psu-id.unknown/identity-taken-on-{operation}"),
            vec![unknown_taken("x-psu-identity", operation)],
            format!("{} accepts an X-PSU-IDENTITY that nobody has.", title(operation)),
        ));
    }
    for header in [Header::PsuContext, Header::PsuHttpMethod] {
        faults.push(Entry::new(
            format!("listed.case/any-{}", header.name()),
            vec![any_notation(header)],
            format!("The letter case of {} does not count.", header.name()),
        ));
    }
    faults
}

/// A header of an operation may name somebody whom the bank does not know.
fn unknown_taken(header: &str, operation: Operation) -> Effect {
    let taken = json!({ "header": header, "operation": operation.id() });
    Effect::policy(json!({ "psu": { "unknown-taken": [taken] } }))
}

/// The letter case of a header's values does not count.
pub(super) fn any_notation(header: Header) -> Effect {
    Effect::policy(json!({ "headers": { "any-notation": [header.name()] } }))
}
