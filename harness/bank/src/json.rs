//! Request bodies as JSON objects, parsed strictly.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Parses a JSON object (RFC 8259). A duplicate field name is an error: its two values could mean different
/// payments, and readers differ in which one they use.
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, JsonError> {
    if bytes.is_empty() {
        return Err(JsonError::Empty);
    }
    match serde_json::from_slice::<Read>(bytes) {
        Ok(Read(Value::Object(members))) => Ok(members),
        Ok(Read(other)) => Err(JsonError::NotAnObject(kind(&other))),
        Err(error) => Err(JsonError::Malformed(error.to_string())),
    }
}

/// Returns the JSON type of a value, as a rejection names it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The reason why a body is not a JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// An empty body.
    #[error("expected a JSON object, found an empty body")]
    Empty,
    /// JSON of another type.
    #[error("expected a JSON object, found {0}")]
    NotAnObject(&'static str),
    /// Malformed JSON, or a duplicate field name.
    #[error("expected a JSON object, found a body that cannot be parsed: {0}")]
    Malformed(String),
}

/// A value in which no object has a duplicate field name.
struct Read(Value);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor).map(Self)
    }
}

struct ReadVisitor;

impl<'de> Visitor<'de> for ReadVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Read(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let Read(value) = access.next_value()?;
            if members.contains_key(&name) {
                return Err(A::Error::custom("duplicate field name"));
            }
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read_as_they_are() {
        let text = r#"{"a":[1,-2,3.5,null,true,"æ\u00e5"],"b":{"c":{}}}"#;
        assert_eq!(Value::Object(object(text.as_bytes()).unwrap()).to_string(), text.replace("\\u00e5", "å"));
    }

    #[test]
    fn other_bodies_are_refused() {
        assert_eq!(object(b""), Err(JsonError::Empty));
        assert_eq!(object(b"[]"), Err(JsonError::NotAnObject("an array")));
        assert_eq!(object(b" null "), Err(JsonError::NotAnObject("null")));
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        let malformed: [&[u8]; 8] = [
            b"{",
            b"{\"a\":1",
            b"{\"a\":1,\"a\":2}",
            b"{\"a\":{\"b\":1,\"b\":1}}",
            b"{} {}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":\"\\ud800\"}",
            deep.as_bytes(),
        ];
        for body in malformed {
            assert!(
                matches!(object(body), Err(JsonError::Malformed(_))),
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }
}
