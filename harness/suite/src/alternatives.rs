//! Other lawful requests of an operation: what a target may accept that refuses the plain one.

use std::{collections::BTreeMap, slice};

use serde_json::Value;
use xs2aspec_spec::request::{Due, Edit, Form};

use crate::{
    case::Case,
    combination::{AppliedForm, Combination},
    forms::alone,
    parts::Parts,
    request::BodySpec,
};

/// So many for one operation, at most.
const MOST: usize = 60;

/// A lawful request that is one thing away from the plain one.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// What is another than in the plain request (`header/PSU-Context`).
    pub place: String,
    /// The clause that leaves it to the caller, where the plain request has nothing there.
    pub clause: Option<String>,
    /// The request.
    pub case: Case,
}

/// Those of an operation: header fields that only other operations have, and the lawful forms, one of every place
/// before a second one of any. Forms that need not be refused count too: the plain request must be accepted
/// whatever else is.
pub(crate) fn alternatives(operation: &str, parts: &Parts) -> Vec<Alternative> {
    let mut made: Vec<Alternative> = fields_of_others(operation, parts);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let mut forms = Vec::new();
    for form in parts.requests.forms(operation).iter().filter(|form| form.alone.is_none() && is_short(form)) {
        let Some((case, due)) = alone(operation, form, parts) else { continue };
        let is_open = matches!(due, Due::Open(_));
        if !is_open && !matches!(due, Due::Accepted { .. }) {
            continue;
        }
        let number = times.entry(&form.place).or_default();
        let clause = Some(case.clause.clone()).filter(|_| lacks(operation, &form.place, parts));
        forms.push(((*number, is_open), Alternative { place: form.place.clone(), clause, case }));
        *number += 1;
    }
    forms.sort_by_key(|(rank, _)| *rank);
    for field in &mut made {
        let same = forms.iter().find(|(_, form)| form.place.eq_ignore_ascii_case(&field.place));
        field.clause = same.and_then(|(_, form)| form.clause.clone());
    }
    made.extend(forms.into_iter().map(|(_, made)| made));
    made.truncate(MOST);
    made
}

/// Whether the plain request of an operation has nothing at this place.
fn lacks(operation: &str, place: &str, parts: &Parts) -> bool {
    let Some(plain) = parts.baselines.get(operation).map(|plain| &plain.request) else { return false };
    match (place.split_once('/'), &plain.body) {
        (Some(("header", name)), _) => plain.header(name).is_none(),
        (Some(("body", path)), BodySpec::Json(body, _)) => body.pointer(&format!("/{path}")).is_none(),
        _ => false,
    }
}

/// Whether few requests prepare it.
fn is_short(form: &Form) -> bool {
    form.before.iter().map(|step| step.times).sum::<usize>() <= 2
}

/// The plain request with a header field of another operation that it has not, each alone and all together.
fn fields_of_others(operation: &str, parts: &Parts) -> Vec<Alternative> {
    let Some(own) = parts.baselines.get(operation) else { return vec![] };
    let mut fields: BTreeMap<&str, &Value> = BTreeMap::new();
    for other in parts.requests.operations().filter_map(|other| parts.baselines.get(other)) {
        for (name, value) in other.request.headers.iter() {
            if own.request.header(name).is_none() {
                fields.entry(name).or_insert(value);
            }
        }
    }
    let edit = |(name, value): (&&str, &&Value)| Edit::Set(format!("header/{name}"), (*value).clone());
    let edits: Vec<Edit> = fields.iter().map(edit).collect();
    let alone = edits.iter().map(slice::from_ref);
    let all = Some(edits.as_slice()).filter(|all| all.len() > 1);
    let case = |edits: &[Edit]| {
        let place = if let [Edit::Set(at, _)] = edits { at.clone() } else { "header".to_owned() };
        let form = AppliedForm {
            form: place.clone(),
            place: place.clone(),
            edits: edits.to_vec(),
            ..AppliedForm::default()
        };
        let (case, _) = Combination { operation: operation.to_owned(), forms: vec![form] }.case(parts)?;
        Some(Alternative { place, clause: None, case })
    };
    alone.chain(all).filter_map(case).collect()
}
