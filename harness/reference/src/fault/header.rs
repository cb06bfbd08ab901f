//! Faults of the request headers (the document, section Endpoints > Common request headers).

use serde_json::json;
use xs2aspec_bank::header::{Header, parts};
use xs2aspec_bank::operation::Operation;

use super::title;
use crate::rules::{Beside, Effect, Entry, Pattern, Place, Then, Treatment, When};

const B: Operation = Operation::Basket;
const N: Operation = Operation::Ncbct;
const P: Operation = Operation::Periodic;
const T: Operation = Operation::Transaction;

/// Optional headers of which the document gives no form, with the operations that have them.
pub(super) const FREE: [(&str, &[Operation]); 12] = [
    ("accept", &Operation::SPECIFIED),
    ("accept-charset", &Operation::SPECIFIED),
    ("accept-encoding", &Operation::SPECIFIED),
    ("accept-language", &Operation::SPECIFIED),
    ("tpp-brand-logging-information", &[N]),
    ("psu-ip-port", &[B, N, P, T]),
    ("psu-user-agent", &[B, N, P, T]),
    ("psu-accept", &[B, N, P, T]),
    ("psu-accept-charset", &[B, N, P, T]),
    ("psu-accept-encoding", &[B, N, P, T]),
    ("psu-accept-language", &[B, N, P, T]),
    ("psu-geo-location", &[B, N, P, T]),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut faults = Vec::new();
    for operation in Operation::SPECIFIED {
        for (header, is_required) in parts(operation) {
            let name = header.name();
            if is_required {
                faults.push(not_required(header, operation));
            } else if !is_open(name, operation) {
                faults.extend(optional(name, operation));
            }
        }
    }
    for (name, operations) in FREE {
        // Whoever looks at these at all looks at them in one place, so that each is unknown on one operation.
        let fit = |operation: &Operation| {
            let taken = if *operation == N { 2 } else { 1 };
            optional(name, *operation).into_iter().take(taken)
        };
        faults.extend(operations.iter().flat_map(fit));
    }
    faults.extend(stand_ins());
    faults.extend(values());
    faults
}

/// Optional headers of which it is open whether they may be left out, or sent at all.
pub(super) fn is_open(name: &str, operation: Operation) -> bool {
    matches!((name, operation), ("psu-context" | "x-psu-identity", N | P) | ("psu-corporate-id", T))
}

/// A required header that may be missing where another field says the same.
fn stand_ins() -> impl Iterator<Item = Entry> {
    const STAND_INS: [(Header, Operation, &str); 8] = [
        (Header::PsuIpAddress, N, "x-forwarded-for"),
        (Header::PsuIpAddress, P, "forwarded"),
        (Header::PsuIpAddress, B, "x-real-ip"),
        (Header::XRequestId, N, "x-correlation-id"),
        (Header::XRequestId, P, "request-id"),
        (Header::TppRedirectUri, P, "referer"),
        (Header::TppRedirectUri, B, "tpp-nok-redirect-uri"),
        (Header::TppSessionId, N, "x-tpp-session-id"),
    ];
    STAND_INS.into_iter().map(|(header, operation, other)| {
        let name = header.name();
        Entry::new(
            format!("header.{name}.{operation}/not-beside-{other}"),
            vec![lacks(header, operation)],
            format!("{} accepts a request with {other} and without {name}.", title(operation)),
        )
        .only(Beside::Value(Place::Header(other)))
    })
}

fn not_required(header: Header, operation: Operation) -> Entry {
    let name = header.name();
    Entry::new(
        format!("header.{name}.{operation}/not-required"),
        vec![lacks(header, operation)],
        format!("{} accepts a request without {name}.", title(operation)),
    )
}

/// Requests of an operation may lack a required header.
pub(super) fn lacks(header: Header, operation: Operation) -> Effect {
    let lacking = json!({ "header": header.name(), "operation": operation.id() });
    Effect::policy(json!({ "headers": { "not-required": [lacking] } }))
}

/// A bank that wants what is optional, and one that does not know it.
fn optional(name: &'static str, operation: Operation) -> [Entry; 2] {
    let entry = |fault: &str, when, does: &str| {
        treats(
            format!("header.{name}.{operation}/{fault}"),
            (operation, name, when),
            format!("{} refuses a request {does} {name}.", title(operation)),
        )
    };
    [entry("demanded", When::Absent, "without"), entry("refused", When::Present, "with")]
}

/// Faults of what header values may say.
fn values() -> Vec<Entry> {
    let mut faults = Vec::new();
    let other = Treatment {
        operation: B,
        place: Place::Header("x-accept-fix"),
        when: When::Unmatched(Pattern("^(?i-u:amount-as-string)$")),
        then: Then::Refuse,
    };
    faults.push(Entry::new(
        "header.x-accept-fix.basket.other/any-case",
        vec![
            Effect::policy(json!({ "headers": { "forms-unread": ["x-accept-fix"] } })),
            Effect::Treats(other),
        ],
        "Basket creation takes amount-as-string in capital letters as well.",
    ));
    faults
}

fn treats(
    name: impl Into<String>,
    (operation, header, when): (Operation, &'static str, When),
    says: impl Into<String>,
) -> Entry {
    let treatment = Treatment { operation, place: Place::Header(header), when, then: Then::Refuse };
    Entry::treats(name, treatment, says)
}
