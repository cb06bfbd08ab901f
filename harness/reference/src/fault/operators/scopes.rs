//! Operators on the faults of the rule files: a rule is violated in some requests only.

use serde::Deserialize as _;
use serde_json::Value;
use xs2aspec_bank::header::{Header, parts};
use xs2aspec_bank::operation::Operation;

use super::table;
use crate::rules::rows::{self, title};
use crate::rules::{Alteration, Beside, Effect, Entry, Place, Then, Treatment};

/// Optional fields of payments, with the operations that have them.
const MEMBERS: [(&str, &[Operation]); 13] = [
    ("/creditorAgent", &[Operation::Ncbct]),
    ("/creditorAddress", &[Operation::Ncbct, Operation::Periodic]),
    ("/creditorAddress/street", &[Operation::Ncbct, Operation::Periodic]),
    ("/creditorAddress/city", &[Operation::Ncbct, Operation::Periodic]),
    ("/remittanceInformationUnstructured", &[Operation::Ncbct, Operation::Periodic]),
    ("/purposeCode", &[Operation::Ncbct, Operation::Periodic]),
    ("/requestedExecutionDate", &[Operation::Ncbct]),
    ("/ultimateDebtor", &[Operation::Periodic]),
    ("/executionRule", &[Operation::Periodic]),
    ("/endDate", &[Operation::Periodic]),
    ("/dayOfExecution", &[Operation::Periodic]),
    ("/monthsOfExecution", &[Operation::Periodic]),
    ("/creditorAccount/bban", &[Operation::Ncbct, Operation::Periodic]),
];

/// Restricts faults of the rule files to fewer requests: with one other value, in one context, at times, or
/// in one operation.
pub(super) fn faults(known: &[Entry]) -> Vec<Entry> {
    let parts = |whole| in_fewer_requests(whole).into_iter().map(|part| part.part_of(whole));
    known.iter().flat_map(parts).collect()
}

fn in_fewer_requests(entry: &Entry) -> Vec<Entry> {
    // A fault with a condition is not restricted further.
    if entry.beside.is_some() {
        return vec![];
    }
    match entry.effects.as_slice() {
        [Effect::Treats(treatment)] => {
            let mut faults = not_asked_beside(entry, treatment);
            // A fault of the context applies in that context only.
            let is_of_context = matches!(treatment.place, Place::Header("psu-context"));
            faults.extend(in_contexts(entry, treatment.operation).into_iter().filter(|_| !is_of_context));
            faults.push(at_times(entry, treatment.operation));
            faults
        }
        [Effect::Alters(Alteration { operation, .. })] => at_times_and_in_contexts(entry, *operation),
        [Effect::Policy(settings)] => {
            let operation = settings.pointer("/headers/not-required/0/operation");
            match operation.and_then(|operation| Operation::deserialize(operation).ok()) {
                Some(operation) => at_times_and_in_contexts(entry, operation),
                None => on_one_operation(entry, settings),
            }
        }
        _ => vec![],
    }
}

fn at_times_and_in_contexts(entry: &Entry, operation: Operation) -> Vec<Entry> {
    let mut faults = in_contexts(entry, operation);
    faults.push(at_times(entry, operation));
    faults
}

/// Returns faults that violate a rule only if the request has another optional value, one fault for each
/// value.
fn not_asked_beside(entry: &Entry, treatment: &Treatment) -> Vec<Entry> {
    // A treatment that rejects or fails acts on valid requests, which other operators cover.
    let (Then::TakeFor(_) | Then::Cut(_) | Then::Drop | Then::Capitals) = treatment.then else {
        return vec![];
    };
    let Place::Body(pointer) = treatment.place else { return vec![] };
    let apart = |place: &Place| match place {
        Place::Body(other) => !pointer.starts_with(other) && !other.starts_with(pointer),
        Place::Header(_) | Place::Query(_) => true,
    };
    let places = places(treatment.operation).into_iter().filter(apart);
    places
        .map(|place| {
            let says = format!(
                "{} violates the clause only in requests with {}.",
                title(treatment.operation),
                words(place)
            );
            let name = format!("{}-beside-{}", entry.name, kebab(place));
            Entry::treats(name, *treatment, says).only(Beside::Value(place)).by("not-asked-beside")
        })
        .collect()
}

/// Returns faults that violate a rule in private or in corporate context only.
fn in_contexts(entry: &Entry, operation: Operation) -> Vec<Entry> {
    let has_context = parts(operation).any(|(header, _)| header == Header::PsuContext);
    let contexts = [("private", "PRIVATE"), ("corporate", "CORPORATE")].into_iter().filter(|_| has_context);
    contexts
        .map(|(word, context)| {
            let says = format!("{} violates the clause only in {word} context.", title(operation));
            let name = format!("{}-in-{word}-context", entry.name);
            Entry::new(name, entry.effects.clone(), says)
                .only(Beside::Is(Place::Header(Header::PsuContext.name()), context))
                .by("in-one-context")
        })
        .collect()
}

/// Returns a fault that violates a rule in about every second request.
fn at_times(entry: &Entry, operation: Operation) -> Entry {
    let says = format!("{} violates the clause in about every second request.", title(operation));
    let name = format!("{}-at-times", entry.name);
    Entry::new(name, entry.effects.clone(), says).only(Beside::AtTimes).by("at-times")
}

/// Returns faults that apply one setting of Digest or signature to one operation only.
fn on_one_operation(entry: &Entry, settings: &'static Value) -> Vec<Entry> {
    let subjects = ["digest", "signature"].map(|subject| settings[subject].as_object());
    let (is_of_digest, setting) = match subjects {
        [Some(setting), None] => (true, setting),
        [None, Some(setting)] => (false, setting),
        _ => return vec![],
    };
    // Skip a setting that already names its operations, and combinations of settings.
    if setting.len() != 1 || setting.contains_key("exempt") {
        return vec![];
    }
    let uncovered = setting.get("need-not-cover").and_then(|names| names[0].as_str());
    let operations = Operation::SPECIFIED.into_iter().filter(|operation| match uncovered {
        Some(name) => has(*operation, name),
        None => !is_of_digest || operation.creates_payment(),
    });
    operations
        .map(|operation| {
            let says = format!("{} alone violates the clause.", title(operation));
            let name = format!("{}-{operation}-alone", entry.name);
            Entry::new(name, entry.effects.clone(), says).only(Beside::On(operation)).by("on-one-operation")
        })
        .collect()
}

/// Returns true if an operation has a header that must be signed when available.
fn has(operation: Operation, name: &str) -> bool {
    name == "date" || parts(operation).any(|(header, _)| header.name() == name)
}

/// Returns the optional places of a request.
fn places(operation: Operation) -> Vec<Place> {
    let fields = table::fields().into_iter();
    let fields = fields.filter(|field| field.operation == operation && !field.is_required);
    let fields = fields.map(|field| Place::Header(field.name));
    let members = MEMBERS.iter().filter(|(_, operations)| operations.contains(&operation));
    let members = members.map(|(pointer, _)| Place::Body(pointer));
    let query = (operation == Operation::Ncbct).then_some(Place::Query("allowLogicalDuplicate"));
    fields.chain(members).chain(query).collect()
}

fn kebab(place: Place) -> String {
    match place {
        Place::Header(name) => name.to_owned(),
        Place::Query(name) | Place::Body(name) => rows::kebab(name),
    }
}

fn words(place: Place) -> String {
    match place {
        Place::Header(name) => format!("the header {name}"),
        Place::Query(name) => format!("the parameter {name}"),
        Place::Body(pointer) => format!("the field {}", pointer[1..].replace('/', " ")),
    }
}
