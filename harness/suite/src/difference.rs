//! The places at which a case differs from its control, and what each of them sends there.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    case::{Case, Preparation},
    request::{BodySpec, RequestSpec},
    template,
};

/// Length of the longest value that is shown completely, in characters.
const LONGEST: usize = 120;

/// A place at which a case differs from its control. Values keep their placeholders, so that they show how a
/// secret was used and not the secret itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The place, as [`differences`] returns it, with the name of a header as it is written.
    pub place: String,
    /// The value in the case, if it sends one there.
    pub sent: Option<String>,
    /// The value in its control, if that sends one there.
    pub control: Option<String>,
}

/// Returns the places at which two cases differ, with what each of them sends there.
pub fn compared(case: &Case, control: &Case) -> Vec<Difference> {
    let compare = |place: String| {
        let (name, sent) = at(case, &place);
        let (control_name, control) = at(control, &place);
        Difference { place: name.or(control_name).unwrap_or(place), sent, control }
    };
    differences(case, control).into_iter().map(compare).collect()
}

/// Returns what a case sends at a place, and the place as the case writes it.
fn at(case: &Case, place: &str) -> (Option<String>, Option<String>) {
    let request = &*case.request;
    let (part, rest) = place.split_once('/').unwrap_or((place, ""));
    let fields = |fields: &[Field], is_it: &dyn Fn(&str) -> bool| {
        let found: Vec<&Field> = fields.iter().filter(|(name, _)| is_it(name)).collect();
        let name = found.first().map(|(name, _)| format!("{part}/{name}"));
        let values: Vec<String> = found.iter().map(|(_, value)| text(value)).collect();
        (name, Some(values.join(", ")).filter(|_| !found.is_empty()))
    };
    let sent = match (part, &request.body) {
        ("header", _) => return fields(&request.headers, &|name| name.eq_ignore_ascii_case(rest)),
        ("query", _) => return fields(&request.query, &|name| name == rest),
        ("path", _) => Some(format!("{} {}", request.method, request.path)),
        ("signing", _) => Some(request.signing.describe().join("; ")),
        ("before", _) => Some(case.before.iter().map(step).collect::<Vec<_>>().join(", then ")),
        ("body, repeated", BodySpec::Json(_, repeats)) => {
            let repeats = repeats.iter().map(|(pointer, value)| format!("{pointer} = {value}"));
            Some(repeats.collect::<Vec<_>>().join("; "))
        }
        ("body", BodySpec::Json(body, _)) if rest.is_empty() => Some(body.to_string()),
        ("body", BodySpec::Json(body, _)) => body.pointer(&format!("/{rest}")).map(Value::to_string),
        ("body", BodySpec::Raw(bytes)) => Some(text(bytes)),
        _ => None,
    };
    (None, sent.filter(|sent| !sent.is_empty()).map(cut))
}

/// Cuts a value if it is long.
fn cut(value: String) -> String {
    let length = value.chars().count();
    if length <= LONGEST {
        return value;
    }
    let start: String = value.chars().take(LONGEST).collect();
    format!("{start}.. ({length} characters)")
}

/// Formats a value as it is sent.
fn text(value: &Value) -> String {
    cut(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Formats a preparing request: its baseline, how often it is sent, and its changes.
fn step(step: &Preparation) -> String {
    let times = step.times.filter(|times| *times > 1).map(|times| format!("{times} x ")).unwrap_or_default();
    let changes: Vec<String> = step.request.described().collect();
    let changes = if changes.is_empty() { String::new() } else { format!(" with {}", changes.join("; ")) };
    format!("{times}{}{changes}", step.baseline)
}

/// Returns the places at which two cases differ: in the judged request, in the way of signing, or in the
/// preparing requests.
pub fn differences(case: &Case, control: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let other_steps = prepared(case) != prepared(control);
    if other_steps {
        found.push("before".to_owned());
    }
    let (one, two) = (&case.request, &control.request);
    // If two paths name different prepared resources, the preparing requests are the difference.
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

/// Returns the requests that prepare a case. A step that sends the judged request itself is skipped, since it
/// only repeats that request.
fn prepared(case: &Case) -> Vec<(&RequestSpec, Option<usize>)> {
    let steps = case.before.iter().filter(|step| step.request != case.request);
    steps.map(|step| (&*step.request, step.times)).collect()
}

type Field = (String, Value);

/// Adds the headers or parameters with different values, by a name that `key` normalizes.
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

/// Adds the fields that differ, each at the highest place where a field is added, removed or has another
/// type. If the preparing requests differ, values kept from them differ anyway and do not count.
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

/// Returns a string with all its placeholders made equal.
fn without_names(text: &str) -> String {
    let names = template::names(&Value::String(text.to_owned()));
    names.iter().fold(text.to_owned(), |text, name| text.replace(&format!("${{{name}}}"), "${}"))
}

/// Returns true if a value consists of what preparing requests kept.
pub(crate) fn kept(value: &Value) -> bool {
    let names = template::names(value);
    !names.is_empty() && names.iter().all(|name| !template::RUN_TIME.contains(&template::head(name)))
}

#[cfg(test)]
mod tests {
    use xs2aspec_spec::Tree;

    use super::*;
    use crate::suite::Suite;

    #[test]
    fn what_differs_from_the_control_is_told_with_both_sides() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let of = |id: &str| {
            let case = suite.case(id).unwrap();
            let control = suite.case(case.control.as_deref().unwrap()).unwrap();
            let told = compared(case, control);
            assert_eq!(told.len(), differences(case, control).len(), "{id}");
            told.into_iter().map(|one| (one.place, one.sent, one.control)).collect::<Vec<_>>()
        };
        let some = |text: &str| Some(text.to_owned());
        let bare = some("signing/wrap = \"never\"");
        assert_eq!(
            of("signature.parameters.duplicate/ncbct/twice-the-same"),
            [
                ("header/Signature".to_owned(), some("${signature},${signature}"), some("${signature}")),
                ("signing".to_owned(), bare, None),
            ]
        );
        let id = "periodic.months.duplicate/adjacent";
        let [(place, sent, control)] = of(id).try_into().unwrap();
        assert!(place == "body/monthsOfExecution" && sent != control, "{place} {sent:?} {control:?}");
        // Each place at which a case differs has a value on at least one side, with its placeholders.
        let mut told = 0;
        for case in suite.cases().iter().filter(|case| case.same_as.is_none()) {
            let Some(control) = case.control.as_deref().and_then(|id| suite.case(id)) else { continue };
            for one in compared(case, control) {
                told += 1;
                assert!(one.sent.is_some() || one.control.is_some(), "{}: {one:?}", case.id);
            }
        }
        assert!(told > 1_000, "{told}");
    }
}
