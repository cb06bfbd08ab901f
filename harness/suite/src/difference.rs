//! Where a case differs from its control.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    case::Case,
    request::{BodySpec, RequestSpec},
    template,
};

/// Where two cases differ: places in the judged request, the way of signing, or the preparing requests.
pub fn differences(case: &Case, control: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let prepared = |case: &Case| {
        // The judged request itself, sent before, makes it the same request again and no other one.
        let steps = case.before.iter().filter(|step| step.request != case.request);
        let steps = steps.map(|step| (step.request.clone(), step.times));
        steps.collect::<Vec<(RequestSpec, Option<usize>)>>()
    };
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
    let names = |request: &RequestSpec| {
        request
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), (name.clone(), value.clone())))
            .collect::<Vec<_>>()
    };
    fields("header", &names(one), &names(two), &mut found);
    let query = |request: &RequestSpec| {
        request
            .query
            .iter()
            .map(|(name, value)| (name.clone(), (name.clone(), value.clone())))
            .collect::<Vec<_>>()
    };
    fields("query", &query(one), &query(two), &mut found);
    match (&one.body, &two.body) {
        (BodySpec::Json(a, repeats), BodySpec::Json(b, others)) => {
            members("body", a, b, other_steps, &mut found);
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

type Field = (String, (String, Value));

fn fields(kind: &str, one: &[Field], two: &[Field], found: &mut Vec<String>) {
    let grouped = |fields: &[Field]| {
        let mut map = BTreeMap::<String, Vec<(String, Value)>>::new();
        for (name, field) in fields {
            map.entry(name.clone()).or_default().push(field.clone());
        }
        map
    };
    let (one, two) = (grouped(one), grouped(two));
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    found.extend(
        names
            .into_iter()
            .filter(|name| one.get(*name) != two.get(*name))
            .map(|name| format!("{kind}/{name}")),
    );
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
