//! Where a case differs from its control.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    case::Case,
    request::{BodySpec, RequestSpec},
    template,
};

/// Where two cases differ: places in the judged request, the way of signing, or the preparing requests.
pub fn differences(case: &Case, control: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let other_steps = prepared(case) != prepared(control);
    if other_steps {
        found.push("before".to_owned());
    }
    let (one, two) = (&case.request, &control.request);
    // A path that names another prepared resource differs by what was prepared.
    let path =
        |request: &RequestSpec| if other_steps { without_names(&request.path) } else { request.path.clone() };
    if (&one.method, path(one)) != (&two.method, path(two)) {
        found.push("path".to_owned());
    }
    if !Arc::ptr_eq(&one.headers, &two.headers) {
        let (one, two) = (&one.headers, &two.headers);
        fields("header", (one, two), str::to_ascii_lowercase, &mut found);
    }
    fields("query", (&one.query, &two.query), str::to_owned, &mut found);
    match (&one.body, &two.body) {
        (BodySpec::Json(a, repeats), BodySpec::Json(b, others)) => {
            if !Arc::ptr_eq(a, b) {
                members("body", a, b, other_steps, &mut found);
            }
            if repeats != others {
                found.push("body, repeated".to_owned());
            }
        }
        (a, b) if a != b => found.push("body".to_owned()),
        _ => {}
    }
    if one.signing != two.signing {
        found.push("signing".to_owned());
    }
    found
}

/// What prepares a case. The judged request itself, sent before, makes it the same request again and no other
/// one.
fn prepared(case: &Case) -> Vec<(&RequestSpec, Option<usize>)> {
    let steps = case.before.iter().filter(|step| step.request != case.request);
    steps.map(|step| (&*step.request, step.times)).collect()
}

type Field = (String, Value);

/// Fields that one side has and the other has not, or with other values, by a name made the same by `key`.
fn fields(
    kind: &str,
    (one, two): (&[Field], &[Field]),
    key: impl Fn(&str) -> String,
    found: &mut Vec<String>,
) {
    let mut by_name = BTreeMap::<String, [Vec<&Field>; 2]>::new();
    for (side, fields) in [one, two].into_iter().enumerate() {
        for field in fields {
            by_name.entry(key(&field.0)).or_default()[side].push(field);
        }
    }
    let differing = by_name.into_iter().filter(|(_, [one, two])| one != two);
    found.extend(differing.map(|(name, _)| format!("{kind}/{name}")));
}

/// Members that differ, at the highest place at which a member is added, taken away or of another type. What
/// was kept from preparing requests is another value each time, and no difference of its own where those
/// requests differ.
fn members(place: &str, one: &Value, two: &Value, other_steps: bool, found: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let place = format!("{place}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => members(&place, a, b, other_steps, found),
                    _ => found.push(place),
                }
            }
        }
        (a, b) if a == b => {}
        (a, b) if other_steps && (kept(a) && kept(b)) => {}
        _ => found.push(place.to_owned()),
    }
}

/// A text with all its placeholders made alike.
fn without_names(text: &str) -> String {
    let names = template::names(&Value::String(text.to_owned()));
    names.iter().fold(text.to_owned(), |text, name| text.replace(&format!("${{{name}}}"), "${}"))
}

/// Whether a value is made of what preparing requests kept.
pub(crate) fn kept(value: &Value) -> bool {
    let names = template::names(value);
    !names.is_empty() && names.iter().all(|name| !template::RUN_TIME.contains(&template::head(name)))
}
