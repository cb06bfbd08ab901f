//! Reasons as text: masked, and as records up to format 6 have them.

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Came, Reason};

/// Changes the texts in a value, but not its codes.
pub(super) fn changed<T: Serialize + DeserializeOwned>(
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

/// A value that is a text in records up to format 6.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Words(String),
    Data(T),
}

/// Reads a reason.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Reason>, D::Error> {
    Ok(Option::deserialize(from)?.map(|written| match written {
        Written::Words(says) => Reason::InWords { says },
        Written::Data(reason) => reason,
    }))
}

/// Reads the result of a request. The words of older records begin with "got" or "could not".
pub(crate) fn read_came<'de, D: Deserializer<'de>>(from: D) -> Result<Came, D::Error> {
    Ok(came(Written::deserialize(from)?, "it"))
}

/// Reads the result of a request, if there is one. The words of older records are those of a response.
pub(crate) fn read_came_of_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Came>, D::Error> {
    let written: Option<Written<Came>> = Option::deserialize(from)?;
    let is_any = |written: &Written<Came>| !matches!(written, Written::Words(says) if says.is_empty());
    Ok(written.filter(is_any).map(|written| came(written, "it got")))
}

fn came(written: Written<Came>, before: &str) -> Came {
    match written {
        Written::Words(says) => Came::Nothing(Box::new(Reason::InWords { says: format!("{before} {says}") })),
        Written::Data(came) => came,
    }
}
