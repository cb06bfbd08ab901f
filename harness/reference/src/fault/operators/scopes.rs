//! Operators on the faults that somebody wrote: a rule that is broken in some requests alone.

use serde::Deserialize as _;
use serde_json::Value;
use xs2aspec_bank::header::{Header, parts};
use xs2aspec_bank::operation::Operation;

use super::table;
use crate::rules::rows::{self, title};
use crate::rules::{Alteration, Beside, Effect, Entry, Place, Then, Treatment};

/// Members that a payment may have, with the operations that have them.
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

/// What somebody wrote, in fewer requests: beside one thing, in one context, at times, in one operation.
pub(super) fn faults(known: &[Entry]) -> Vec<Entry> {
    let parts = |whole| in_fewer_requests(whole).into_iter().map(|part| part.part_of(whole));
    known.iter().flat_map(parts).collect()
}

fn in_fewer_requests(entry: &Entry) -> Vec<Entry> {
    // One that is of some requests alone is not made rarer still.
    if entry.beside.is_some() {
        return vec![];
    }
    match entry.effects.as_slice() {
        [Effect::Treats(treatment)] => {
            let mut faults = not_asked_beside(entry, treatment);
            // What is wrong with the context itself is wrong in that context alone.
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

/// A bank that breaks a rule only where a request has something else besides, for each thing that it may
/// have.
fn not_asked_beside(entry: &Entry, treatment: &Treatment) -> Vec<Entry> {
    // What is refused or stumbled over is another family: there the request is lawful.
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
            let says =
                format!("{} breaks it only of requests with {}.", title(treatment.operation), words(place));
            let name = format!("{}-beside-{}", entry.name, kebab(place));
            Entry::treats(name, *treatment, says).only(Beside::Value(place)).by("not-asked-beside")
        })
        .collect()
}

/// A bank that breaks a rule only of those who act for themselves, or for a company.
fn in_contexts(entry: &Entry, operation: Operation) -> Vec<Entry> {
    let has_context = parts(operation).any(|(header, _)| header == Header::PsuContext);
    let contexts = [("private", "PRIVATE"), ("corporate", "CORPORATE")].into_iter().filter(|_| has_context);
    contexts
        .map(|(word, context)| {
            let says = format!("{} breaks it only in {word} context.", title(operation));
            let name = format!("{}-in-{word}-context", entry.name);
            Entry::new(name, entry.effects.clone(), says)
                .only(Beside::Is(Place::Header(Header::PsuContext.name()), context))
                .by("in-one-context")
        })
        .collect()
}

/// A bank that breaks a rule of about every second request.
fn at_times(entry: &Entry, operation: Operation) -> Entry {
    let says = format!("{} breaks it of about every second request.", title(operation));
    let name = format!("{}-at-times", entry.name);
    Entry::new(name, entry.effects.clone(), says).only(Beside::AtTimes).by("at-times")
}

/// A bank that has one setting for Digest or signature in one operation alone.
fn on_one_operation(entry: &Entry, settings: &'static Value) -> Vec<Entry> {
    let subjects = ["digest", "signature"].map(|subject| settings[subject].as_object());
    let (is_of_digest, setting) = match subjects {
        [Some(setting), None] => (true, setting),
        [None, Some(setting)] => (false, setting),
        _ => return vec![],
    };
    // One that is of some operations is not made rarer still, and neither is one that takes two settings.
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
            let says = format!("{} breaks it alone.", title(operation));
            let name = format!("{}-{operation}-alone", entry.name);
            Entry::new(name, entry.effects.clone(), says).only(Beside::On(operation)).by("on-one-operation")
        })
        .collect()
}

/// Whether an operation has a header that is to be signed.
fn has(operation: Operation, name: &str) -> bool {
    name == "date" || parts(operation).any(|(header, _)| header.name() == name)
}

/// What a request of an operation may have and need not.
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
        Place::Body(pointer) => format!("the member {}", pointer[1..].replace('/', " ")),
    }
}
