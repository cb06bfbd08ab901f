//! Places of recorded requests, and values that a request reuses from an earlier response.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;
use xs2aspec_record::{Body, CaseVerdict, Exchange, Header, Request, finding_id};

/// Returns the judged request of a case, if the target accepted it.
pub(super) fn accepted<'a>(verdict: &CaseVerdict, exchanges: &'a [Exchange]) -> Option<&'a Request> {
    let judged = judged(verdict, exchanges)?;
    let status = judged.response.as_ref()?.status;
    (200..300).contains(&status).then_some(&judged.request)
}

/// Returns every place of a request that has a value, in lowercase.
pub(super) fn places(request: &Request) -> HashSet<String> {
    let headers = request.headers.iter().map(|Header(name, _)| format!("header/{name}").to_lowercase());
    let mut places: HashSet<String> = headers.collect();
    if let Some(body) = json(request.body.as_ref()) {
        walk(&body, "body", &mut |place, _| {
            places.insert(place.to_lowercase());
        });
    }
    places
}

/// Returns the places of setup responses whose values the judged request has in its path or body.
pub(super) fn used(verdict: &CaseVerdict, exchanges: &[Exchange]) -> BTreeSet<String> {
    let Some(judged) = judged(verdict, exchanges) else { return BTreeSet::new() };
    let mut sent: HashSet<String> = judged.request.url.split('/').map(str::to_owned).collect();
    if let Some(body) = json(judged.request.body.as_ref()) {
        walk(&body, "body", &mut |_, value| sent.extend(text(value)));
    }
    let mut used = BTreeSet::new();
    let before = exchanges.iter().filter(|exchange| exchange.number < judged.number);
    for answer in before.filter_map(|exchange| exchange.response.as_ref()) {
        let Some(body) = json(answer.body.as_ref()) else { continue };
        walk(&body, "body", &mut |place, value| {
            if text(value).is_some_and(|text| sent.contains(&text)) {
                used.insert(finding_id::place(place));
            }
        });
    }
    used
}

fn judged<'a>(verdict: &CaseVerdict, exchanges: &'a [Exchange]) -> Option<&'a Exchange> {
    exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange)
}

fn json(body: Option<&Body>) -> Option<Value> {
    let Some(Body::Text(text)) = body else { return None };
    serde_json::from_str(text).ok()
}

/// Returns the string that a request can reuse from a response.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // A null id appears in a path as `null`.
        Value::Null => Some("null".to_owned()),
        _ => None,
    }
}

/// Visits a value and everything below it, with its place.
fn walk(value: &Value, place: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(place, value);
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                walk(member, &format!("{place}/{name}"), visit);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{place}/{index}"), visit);
            }
        }
        _ => {}
    }
}
