//! A request as its rules see it.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    iter,
};

use serde_json::{Map, Value};

use super::form::Prepared;

/// A request before its run-time placeholders are filled.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Operation id.
    pub operation: &'a str,
    /// Path below the base URL.
    pub path: &'a str,
    /// Query parameters in order.
    pub query: &'a [(String, Value)],
    /// Headers in the order of the wire.
    pub headers: &'a [(String, Value)],
    /// Body.
    pub payload: Payload<'a>,
    /// Its deviation from the signing in the document, as in a case file. Empty if there is none.
    pub signing: &'a Map<String, Value>,
}

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Payload<'a> {
    /// No body.
    None,
    /// A JSON value, and true if one of its fields is sent twice.
    Json(&'a Value, bool),
    /// A string that need not be JSON.
    Raw,
}

impl View<'_> {
    /// Returns the first header with this name, in any letter case.
    pub(super) fn header(&self, name: &str) -> Option<&Value> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The part of a request that covers the requests sent before it.
pub(super) const BEFORE: &str = "before";

/// Returns the part of a request that contains a place: a field of the body, a lowercase header, a parameter,
/// or the whole path or body.
pub(super) fn part(at: &str) -> String {
    match at.split('/').collect::<Vec<_>>().as_slice() {
        ["body", member, ..] => format!("body/{member}"),
        ["header", name, ..] => format!("header/{}", name.to_lowercase()),
        _ => at.to_owned(),
    }
}

/// The parts of requests that rules depend on, by number.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<String, u32>);

/// A set of parts with one bit each.
pub(super) type PartSet = u128;

impl Parts {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a String>) -> Self {
        let names: BTreeSet<&String> = names.collect();
        // Parts beyond the last bit share it, so their rules run more often than necessary.
        let numbered = names.into_iter().zip((0..PartSet::BITS).chain(iter::repeat(PartSet::BITS - 1)));
        Self(numbered.map(|(name, number)| (name.clone(), number)).collect())
    }

    pub(super) fn set<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> PartSet {
        names.into_iter().filter_map(|name| self.0.get(name)).fold(0, |set, number| set | 1 << number)
    }
}

/// The parts in which a request differs from the baseline.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) parts: PartSet,
    /// A hash of the content of each part, by the number of the part.
    values: Vec<(u32, u64)>,
    prepared: u64,
}

impl Changed {
    /// Returns a hash of the content of these parts.
    pub(super) fn values_of(&self, parts: PartSet) -> u64 {
        let values: Vec<_> = self.values.iter().filter(|(part, _)| parts & 1 << part != 0).collect();
        number(&(values, self.prepared))
    }

    fn add(&mut self, name: &str, value: &impl Hash, parts: &Parts) {
        if let Some(part) = parts.0.get(name) {
            self.parts |= 1 << part;
            self.values.push((*part, number(&(name, value))));
        }
    }
}

fn number(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the parts in which a request differs from the baseline, or `None` if any part may differ.
pub(super) fn changed<'a>(
    request: &View<'a>,
    plain: &View<'a>,
    prepared: &Prepared,
    parts: &Parts,
) -> Option<Changed> {
    let mut changed = Changed::default();
    match (request.payload, plain.payload) {
        (Payload::None, Payload::None) => {}
        (Payload::Json(Value::Object(one), false), Payload::Json(Value::Object(other), false)) => {
            for (name, value) in one {
                if other.get(name) != Some(value) {
                    changed.add(&format!("body/{name}"), value, parts);
                }
            }
            for name in other.keys().filter(|name| !one.contains_key(*name)) {
                changed.add(&format!("body/{name}"), &(), parts);
            }
        }
        _ => return None,
    }
    if request.headers != plain.headers {
        let mut known: Vec<&str> = Vec::new();
        for (name, _) in request.headers.iter().chain(plain.headers) {
            let values = |view: &View<'a>| {
                let own = view.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
                own.map(|(_, value)| value).collect::<Vec<_>>()
            };
            if known.iter().all(|known| !known.eq_ignore_ascii_case(name)) && values(request) != values(plain)
            {
                known.push(name);
                changed.add(&format!("header/{}", name.to_lowercase()), &values(request), parts);
            }
        }
    }
    if request.query != plain.query {
        for (name, _) in request.query.iter().chain(plain.query) {
            changed.add(&format!("query/{name}"), &request.query, parts);
        }
    }
    if request.path != plain.path {
        changed.add("path", &request.path, parts);
    }
    if !prepared.is_empty() {
        changed.prepared = number(prepared);
        changed.add(BEFORE, &(), parts);
    }
    Some(changed)
}
