//! The case of each form of each operation.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};
use xs2aspec_spec::request::{Due, Form};

use crate::{
    case::Case,
    combination::{AppliedForm, Combination},
    parallel::in_parallel,
    parts::Parts,
};

/// The cases of all forms of an operation.
#[derive(Debug, Default)]
pub(crate) struct FormCases {
    /// The cases in the order of the forms, each with the required response. `None` if the form changes
    /// nothing, because the baseline already has its value or has nothing to remove.
    pub(crate) cases: Vec<Option<(Case, Due)>>,
    /// The indexes of the cases, by place and label.
    numbers: HashMap<(String, String), usize>,
}

impl FormCases {
    /// Returns the cases of each operation, by its name.
    pub(crate) fn of_each_operation(parts: &Parts) -> BTreeMap<&str, Self> {
        let requests = parts.requests();
        let forms =
            requests.operations().flat_map(|name| requests.forms(name).iter().map(move |form| (name, form)));
        let forms: Vec<(&str, &Form)> = forms.collect();
        let drawn = in_parallel(&forms, |(operation, form)| alone(operation, form, parts));
        let mut all: BTreeMap<&str, Self> =
            requests.operations().map(|name| (name, Self::default())).collect();
        for ((operation, form), drawn) in forms.into_iter().zip(drawn) {
            let own = all.entry(operation).or_default();
            own.numbers.insert((form.place.clone(), form.label.clone()), own.cases.len());
            own.cases.push(drawn);
        }
        all
    }

    /// Returns the index of the form with this place and label.
    pub(crate) fn number(&self, form: &(String, String)) -> Option<usize> {
        self.numbers.get(form).copied()
    }
}

/// Returns the case of the baseline request with this form alone, and the response that it requires.
pub(crate) fn alone(operation: &str, form: &Form, parts: &Parts) -> Option<(Case, Due)> {
    let mut combination = Combination::plain(operation);
    combination.add(moved(operation, form));
    combination.case(parts)
}

/// Returns the effect of a form, with the same values each time.
pub(crate) fn moved(operation: &str, form: &Form) -> AppliedForm {
    AppliedForm::draw(form, &form.touches(), &mut numbers(&format!("{operation} {}", form.name)))
}

/// Returns the id of the case of a form: the clause, then the operation and place unless the clause names
/// them.
pub(crate) fn id(clause: &str, operation: &str, form: &Form) -> String {
    let mut id = of_operation(clause, operation);
    let (part, place) = form.place.split_once('/').unwrap_or(("", &form.place));
    if !place.is_empty() && !part.is_empty() {
        id = format!("{id}/{}", place.replace('/', "."));
    }
    format!("{id}/{}", form.label)
}

/// Returns the start of an id: the clause, with the operation unless the clause names it.
pub(crate) fn of_operation(clause: &str, operation: &str) -> String {
    let is_said = clause.split('.').any(|part| part == operation);
    if is_said { clause.to_owned() } else { format!("{clause}/{operation}") }
}

/// Returns a generator of numbers that depend on the name alone, not on the rest of the suite.
fn numbers(name: &str) -> impl FnMut(u64) -> u64 {
    let hash = Sha256::digest(name);
    let mut state = hash[..8].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    move |below| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % below.max(1)
    }
}
