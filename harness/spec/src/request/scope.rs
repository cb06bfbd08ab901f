//! A request to judge, and the values that its rules look up.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    form::Prepared,
    view::{Payload, View},
};

/// A request to judge, with the values that its rules look up.
pub(super) struct Scope<'a> {
    /// Every place of the operation.
    listed: Vec<&'a str>,
    pub(super) request: &'a View<'a>,
    pub(super) plain: &'a View<'a>,
    pub(super) prepared: &'a Prepared,
    /// The body in which numbers generated on sending are digits, and the ids of several resources are a
    /// list.
    body: Option<Cow<'a, Value>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        listed: Vec<&'a str>,
        request: &'a View<'a>,
        plain: &'a View<'a>,
        prepared: &'a Prepared,
    ) -> Self {
        let body = match request.payload {
            Payload::None => None,
            Payload::Raw => Some(Cow::Owned(Value::String(String::new()))),
            Payload::Json(value, _) => {
                Some(if has_numbers(value) || prepared.values().any(|(_, times)| *times > 1) {
                    Cow::Owned(written_out(value, prepared))
                } else {
                    Cow::Borrowed(value)
                })
            }
        };
        Self { listed, request, plain, prepared, body }
    }

    /// Returns the places of this request that match `at`. A number in `at` matches every item of a list.
    /// Returns none if the object or list around the place is missing.
    pub(super) fn every(&self, at: &str) -> Vec<String> {
        let (part, path) = at.split_once('/').unwrap_or((at, ""));
        if part != "body" {
            return vec![at.to_owned()];
        }
        let mut found = vec![part.to_owned()];
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let below = found.iter().flat_map(|holder| match self.value(holder).as_deref() {
                Some(Value::Object(_)) => vec![format!("{holder}/{name}")],
                Some(Value::Array(items)) if is_item(name) => {
                    (0..items.len()).map(|item| format!("{holder}/{item}")).collect()
                }
                _ => vec![],
            });
            found = below.collect();
        }
        found
    }

    /// Returns the place `other` in the same items of the same lists as the place `at`.
    pub(super) fn beside<'b>(at: &str, other: &'b str) -> Cow<'b, str> {
        let mut from = at.split('/').map(Some).chain(std::iter::repeat(None));
        let mut is_same = true;
        let names = other.split('/').map(|name| {
            let own = from.next().flatten().unwrap_or_default();
            let is_other_item = is_item(name) && is_item(own);
            is_same &= own == name || is_other_item;
            if is_same && is_other_item { own } else { name }
        });
        if other.split('/').any(is_item) {
            Cow::Owned(names.collect::<Vec<_>>().join("/"))
        } else {
            Cow::Borrowed(other)
        }
    }

    /// Returns the names that the operation lists below a place: fields, headers or parameters.
    pub(super) fn below<'b>(&'b self, at: &'b str) -> impl Iterator<Item = &'b str> {
        self.listed.iter().filter_map(move |place| {
            place.strip_prefix(at)?.strip_prefix('/').filter(|rest| !rest.contains('/'))
        })
    }

    /// Returns the value of a place.
    pub(super) fn value(&self, at: &str) -> Option<Cow<'_, Value>> {
        let (part, rest) = at.split_once('/').unwrap_or((at, ""));
        match part {
            "header" => self.request.header(rest).map(Cow::Borrowed),
            "query" => self
                .request
                .query
                .iter()
                .find(|(name, _)| name == rest)
                .map(|(_, value)| Cow::Borrowed(value)),
            "path" => Some(Cow::Owned(Value::from(self.request.path))),
            _ => member(self.body.as_deref()?, rest).map(Cow::Borrowed),
        }
    }

    /// Returns the value of a header in the baseline request.
    pub(super) fn plain_value(&self, at: &str) -> Option<&Value> {
        self.plain.header(at.strip_prefix("header/")?)
    }
}

/// Returns true if a segment of a place is the number of an item.
fn is_item(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_digit())
}

fn member<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(body, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{number\.([0-9]+)\}").expect("a regular expression"));

fn has_numbers(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${number."),
        Value::Array(items) => items.iter().any(has_numbers),
        Value::Object(members) => members.values().any(has_numbers),
        _ => false,
    }
}

/// Replaces each `${number.N}` in a string with N digits.
pub(super) fn with_digits(text: &str) -> Cow<'_, str> {
    let digits = |found: &regex::Captures<'_>| "5".repeat(found[1].parse().unwrap_or(0));
    if text.contains("${number.") { NUMBER.replace_all(text, digits) } else { Cow::Borrowed(text) }
}

/// Returns the name of the request that created the resource whose id a placeholder contains.
pub(super) fn made_as(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.split_once('.').map(|(name, _)| name)
}

fn written_out(value: &Value, prepared: &Prepared) -> Value {
    match value {
        Value::String(text) => {
            let is_id = text.ends_with(".id}");
            match made_as(text).filter(|_| is_id).and_then(|name| prepared.get(name)) {
                // A placeholder for a request that is sent several times becomes the list of their ids.
                Some((_, times)) if *times > 1 => {
                    (1..=*times).map(|number| Value::from(format!("{text}#{number}"))).collect()
                }
                _ => Value::from(with_digits(text)),
            }
        }
        Value::Array(items) => items.iter().map(|item| written_out(item, prepared)).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, member)| (name.clone(), written_out(member, prepared)))
                .collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    }
}
