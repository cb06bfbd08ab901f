//! The placeholders that may be behind the values of an operation's requests, by place. They come from the
//! baseline request and the rules.

use std::collections::BTreeMap;

use serde_json::Value;
use xs2aspec_suite::{RequestSpec, Suite, template};

use crate::Profile;

/// The kind of places that contain a date.
const DATE: &str = "date";

/// The placeholders that may be behind values, by operation.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(crate) operations: BTreeMap<String, Words>,
}

#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Values that only the profile decides, each with its template.
    pub(crate) fixed: BTreeMap<String, Vec<(Value, Value)>>,
    /// Templates of values that the profile lacks.
    unknown: BTreeMap<String, Vec<Value>>,
    /// Templates of values that depend on the body.
    pub(crate) of_body: BTreeMap<String, Vec<Value>>,
    /// Places that contain a date.
    pub(crate) dates: Vec<String>,
    /// Places with a fresh value in each valid request, each with its template.
    pub(crate) fresh: BTreeMap<String, Value>,
}

impl Vocabulary {
    pub(crate) fn new(suite: &Suite, profile: &Profile) -> Self {
        let requests = suite.requests();
        let mut operations: BTreeMap<String, Words> = BTreeMap::new();
        for operation in requests.operations() {
            let words = operations.entry(operation.to_owned()).or_default();
            let plain = suite.baselines().get(operation).map(|plain| written(&plain.request));
            for (at, value) in plain.into_iter().flatten() {
                if template::names(&value).iter().all(|name| template::head(name) == "fresh") {
                    words.fresh.insert(key(&at), value.clone());
                }
                words.add(&at, &value, profile);
            }
            for (at, value) in requests.written(operation) {
                words.add(&at, &value, profile);
            }
        }
        for place in requests.places() {
            let text = |name: &str| place.get(name).and_then(Value::as_str);
            if let (Some(operation), Some(at), Some(DATE)) = (text("operation"), text("at"), text("kind")) {
                operations.entry(operation.to_owned()).or_default().dates.push(at.to_owned());
            }
        }
        Self { operations }
    }
}

impl Words {
    /// Returns a template for a place with a hidden value: a profile value that fills the whole place.
    pub(crate) fn of_target(&self, at: &str) -> Option<Value> {
        let fixed = self.fixed.get(at).into_iter().flatten().map(|(_, written)| written);
        let mut all = fixed.chain(self.unknown.get(at).into_iter().flatten());
        let is_whole = |text: &str| text.ends_with('}') && text.rfind("${") == Some(0);
        all.find(|value| value.as_str().is_some_and(is_whole)).cloned()
    }

    fn add(&mut self, at: &str, value: &Value, profile: &Profile) {
        let at = key(at);
        let heads: Vec<String> =
            template::names(value).iter().map(|name| template::head(name).to_owned()).collect();
        if heads.iter().all(|head| head == "target") {
            let lookup = |name: &str| profile.value(name.strip_prefix("target.")?);
            if let Some(filled) = filled(value, &lookup) {
                self.fixed.entry(at).or_default().push((filled, value.clone()));
            } else {
                self.unknown.entry(at).or_default().push(value.clone());
            }
        } else if heads.iter().all(|head| head == "digest") {
            self.of_body.entry(at).or_default().push(value.clone());
        }
    }
}

/// Returns a value with its placeholders filled and its functions computed, or None if something is unknown.
pub fn filled(value: &Value, lookup: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    let filled = template::expand(value, lookup).and_then(template::compute).ok()?;
    template::names(&filled).is_empty().then_some(filled)
}

/// Returns the values of a request that have placeholders, with their places.
pub(crate) fn written(request: &RequestSpec) -> Vec<(String, Value)> {
    let fields = request.headers.iter().map(|(name, value)| (format!("header/{name}"), value.clone()));
    let mut found: Vec<(String, Value)> = fields.collect();
    if let Some(members) = request.members() {
        leaves(&Value::Object(members.clone()), "body", &mut found);
    }
    found.retain(|(_, value)| !template::names(value).is_empty());
    found
}

fn leaves(value: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, &format!("{at}/0"), found)),
        other => found.push((at.to_owned(), other.clone())),
    }
}

/// Returns the lookup key of a place. Header names are case-insensitive.
fn key(at: &str) -> String {
    if at.starts_with("header/") { at.to_ascii_lowercase() } else { at.to_owned() }
}
