//! Masks the strings in reasons.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Returns the value with `change` applied to its strings, except for codes.
pub(crate) fn changed<T: Serialize + DeserializeOwned>(
    value: &T,
    change: &dyn Fn(&str) -> String,
) -> Option<T> {
    serde_json::from_value(texts(serde_json::to_value(value).ok()?, change)).ok()
}

fn texts(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    let member = |(key, value): (String, Value)| {
        let changed = if key == "code" { value } else { texts(value, change) };
        (key, changed)
    };
    match value {
        Value::String(text) => change(&text).into(),
        Value::Array(items) => items.into_iter().map(|item| texts(item, change)).collect(),
        Value::Object(members) => members.into_iter().map(member).collect(),
        other => other,
    }
}
