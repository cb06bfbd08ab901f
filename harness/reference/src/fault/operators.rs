//! Faults that nobody thought of one by one: operators applied to every row of the bank's own tables. One value
//! of a closed list is not known; a rule is not asked beside one thing that a request may have besides.

use std::collections::BTreeSet;

use super::{header::FREE, lists, title};
use crate::header::parts;
use crate::operation::Operation;
use crate::rules::{Beside, Effect, Entry, Place, Then};

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

/// Every fault that the operators yield, but those that `known` has under the same name.
pub(super) fn faults(known: &[Entry]) -> Vec<Entry> {
    let names: BTreeSet<&str> = known.iter().map(|entry| entry.name.as_str()).collect();
    let mut faults = lists::one_less();
    faults.retain(|entry| !names.contains(entry.name.as_str()));
    for entry in known {
        faults.extend(not_asked_beside(entry));
    }
    faults
}

/// A bank that breaks a rule only where a request has something else besides, for each thing that it may have.
fn not_asked_beside(entry: &Entry) -> Vec<Entry> {
    let [Effect::Treats(treatment)] = entry.effects.as_slice() else { return vec![] };
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
            Entry::new(name, vec![Effect::TreatsBeside(*treatment, Beside::Value(place))], says)
        })
        .collect()
}

/// What a request of an operation may have and need not.
fn places(operation: Operation) -> Vec<Place> {
    let rows = parts(operation).filter(|(_, is_required)| !is_required);
    let rows = rows.map(|(header, _)| Place::Header(header.name()));
    let free = FREE.iter().filter(|(_, operations)| operations.contains(&operation));
    let free = free.map(|(name, _)| Place::Header(name));
    let members = MEMBERS.iter().filter(|(_, operations)| operations.contains(&operation));
    let members = members.map(|(pointer, _)| Place::Body(pointer));
    let query = operation.creates_payment().then_some(Place::Query("allowLogicalDuplicate"));
    rows.chain(free).chain(members).chain(query).collect()
}

fn kebab(place: Place) -> String {
    match place {
        Place::Header(name) => name.to_owned(),
        Place::Query(name) => super::kebab(&format!("/{name}")),
        Place::Body(pointer) => super::kebab(pointer),
    }
}

fn words(place: Place) -> String {
    match place {
        Place::Header(name) => format!("the header {name}"),
        Place::Query(name) => format!("the parameter {name}"),
        Place::Body(pointer) => format!("the member {}", pointer[1..].replace('/', " ")),
    }
}
