//! A request that is judged, and what its rules can ask of it.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    form::Prepared,
    view::{Payload, View},
};

/// A request that is judged, with what its rules can ask of it.
pub(super) struct Scope<'a> {
    /// Every place of the operation.
    listed: Vec<&'a str>,
    pub(super) request: &'a View<'a>,
    pub(super) plain: &'a View<'a>,
    pub(super) prepared: &'a Prepared,
    /// The body, in which numbers that are drawn when it is sent are digits, and the ids of several resources
    /// are a list.
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

    /// Whether a place can be there: what holds it is an object.
    pub(super) fn has_parent(&self, at: &str) -> bool {
        at.split('/').next() != Some("body")
            || at
                .rsplit_once('/')
                .is_none_or(|(parent, _)| self.value(parent).is_some_and(|value| value.is_object()))
    }

    /// Names of what the operation lists below a place: members, header fields, parameters.
    pub(super) fn below<'b>(&'b self, at: &'b str) -> impl Iterator<Item = &'b str> {
        self.listed.iter().filter_map(move |place| {
            place.strip_prefix(at)?.strip_prefix('/').filter(|rest| !rest.contains('/'))
        })
    }

    /// The value of a place.
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

    /// What the plain request has as a header field.
    pub(super) fn plain_value(&self, at: &str) -> Option<&Value> {
        self.plain.header(at.strip_prefix("header/")?)
    }
}

fn member<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(body, |value, name| value.get(name))
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

/// A text in which each `${number.N}` is N digits.
pub(super) fn with_digits(text: &str) -> Cow<'_, str> {
    let digits = |found: &regex::Captures<'_>| "5".repeat(found[1].parse().unwrap_or(0));
    if text.contains("${number.") { NUMBER.replace_all(text, digits) } else { Cow::Borrowed(text) }
}

/// The name of the request that made what a placeholder is the id of.
pub(super) fn made_as(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.split_once('.').map(|(name, _)| name)
}

fn written_out(value: &Value, prepared: &Prepared) -> Value {
    match value {
        Value::String(text) => {
            let is_id = text.ends_with(".id}");
            match made_as(text).filter(|_| is_id).and_then(|name| prepared.get(name)) {
                // A placeholder of resources that are made in a row stands for the list of their ids.
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
