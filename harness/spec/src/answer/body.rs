//! Parses a body as JSON, or explains why it cannot be parsed.

use std::fmt::{self, Display};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{notes::Notes, show};

/// The encoding that a 2xx body must have, as a finding shows it.
pub(super) const EXPECTED: &str = "a JSON document in UTF-8 without a byte order mark";

/// Number of characters quoted from a body that is not JSON.
pub const QUOTED: usize = 40;

/// The byte order mark in UTF-8, which RFC 8259 section 8.1 forbids at the start of a JSON text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The result of parsing a body.
#[derive(Debug)]
pub(super) struct Read {
    /// The parsed value, if the body is JSON.
    pub(super) document: Option<Value>,
    /// The problem with the bytes, if any. A byte order mark is a problem, but the rest is still parsed.
    pub(super) problem: Option<String>,
    /// The body with the first of duplicate fields, if that differs from `document`, which keeps the last.
    /// RFC 8259 section 4 leaves open which one counts.
    pub(super) other: Option<Value>,
}

/// Parses a body. `serde_json` rejects more than 128 levels and numbers beyond a double. Both are reported as
/// problems.
pub(super) fn read(bytes: &[u8]) -> Read {
    if bytes.is_empty() {
        return Read::broken("an empty body");
    }
    let (text, problem) = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest, Some("a byte order mark at the start".to_owned())),
        None => (bytes, None),
    };
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            return Read::broken(format!(
                "bytes that are not UTF-8, first at offset {}",
                error.valid_up_to()
            ));
        }
    };
    match value(text, false) {
        Ok((document, repeats)) => {
            let other = repeats.then(|| value(text, true).ok()).flatten().map(|(other, _)| other);
            let other = other.filter(|other| *other != document);
            Read { document: Some(document), problem, other }
        }
        Err(error) => {
            let start = show::quoted(&text.chars().take(QUOTED).collect::<String>());
            let problem = format!("{}, in a body that starts with {start}", show::json_problem(&error));
            Read::broken(show::cut(problem, show::LONGEST))
        }
    }
}

/// Returns the value of a JSON text, and true if any object repeats a field. `first` selects the duplicate
/// that is kept.
fn value(text: &str, first: bool) -> serde_json::Result<(Value, bool)> {
    let mut repeats = false;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Reader { first, repeats: &mut repeats }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, repeats))
}

/// Returns true if any object of a JSON text repeats a field, at any depth.
pub fn has_member_twice(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| value(text, false).is_ok_and(|(_, repeats)| repeats))
}

struct Reader<'a> {
    first: bool,
    repeats: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader { first: self.first, repeats: self.repeats })? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key_seed(std::marker::PhantomData::<String>)? {
            let value = members.next_value_seed(Reader { first: self.first, repeats: self.repeats })?;
            *self.repeats |= object.contains_key(&name);
            if !self.first || !object.contains_key(&name) {
                object.insert(name, value);
            }
        }
        Ok(object.into())
    }
}

/// Records an observation under this clause if `Content-Type` is missing or not JSON.
pub(super) fn content_type(operation: &str, value: Option<&str>, clause: &str, notes: &mut Notes) {
    match value {
        Some(value) if is_json(value) => {}
        Some(value) => {
            let text = format!("{} on a {operation} response", show::quoted(value));
            notes.observe(clause, "content-type", text);
        }
        None => notes.observe(clause, "content-type", "absent"),
    }
}

/// Returns true for `application/json` and for types with the suffix `+json` (RFC 6839 section 3.1), ignoring
/// parameters.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.contains('/') && essence.ends_with("+json"))
}

impl Read {
    fn broken(problem: impl Display) -> Self {
        Self { document: None, problem: Some(problem.to_string()), other: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(bytes: &[u8]) -> String {
        read(bytes).problem.unwrap_or_default()
    }

    #[test]
    fn what_is_not_json_is_told_in_words() {
        assert_eq!(problem(b""), "an empty body");
        assert_eq!(problem(b"\"\xC3\x28\""), "bytes that are not UTF-8, first at offset 1");
        assert_eq!(problem(b"\xFF\xFE{\0}\0"), "bytes that are not UTF-8, first at offset 0");
        assert!(problem(b"<html>\r\n").starts_with("invalid JSON at line 1, column 1"));
        assert!(problem(b"{} {}").starts_with("invalid JSON at line 1, column 4"));
        assert!(problem(b"{\"a\": NaN}").starts_with("invalid JSON at line 1, column 7"));
        assert!(problem(b"{\"a\": ").starts_with("truncated JSON"));
        assert_eq!(problem(b" {}\r\n"), "");
    }

    #[test]
    fn a_byte_order_mark_is_told_and_the_rest_is_read() {
        let read = read(b"\xEF\xBB\xBF{\"a\": 1}");
        assert_eq!(read.problem.as_deref(), Some("a byte order mark at the start"));
        assert_eq!(read.document, Some(serde_json::json!({"a": 1})));
    }

    #[test]
    fn members_with_one_name_are_read_in_both_ways() {
        use serde_json::json;
        let both = |text: &str| {
            let read = read(text.as_bytes());
            (read.document.unwrap(), read.other)
        };
        let text = r#"{"a":[{"b":1,"b":null,"b":2.5}],"c":true,"d":-1}"#;
        let last = json!({"a": [{"b": 2.5}], "c": true, "d": -1});
        assert_eq!(both(text), (last, Some(json!({"a": [{"b": 1}], "c": true, "d": -1}))));
        assert_eq!(both(r#"{"a":1,"b":{"a":1}}"#), (json!({"a": 1, "b": {"a": 1}}), None));
        assert_eq!(both(r#"{"a":1,"a":1}"#), (json!({"a": 1}), None), "every reader sees the same");
    }

    #[test]
    fn a_member_that_is_there_twice_is_seen_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"a":1}"#, true),
            (r#"{"a":[{"b":null,"c":{"d":1.5,"d":true}}]}"#, true),
            (r#"{"a":{"b":1},"c":{"b":1}}"#, false),
            ("[]", false),
            ("not JSON", false),
        ] {
            assert_eq!(has_member_twice(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_deep_body_and_a_huge_number_are_survived() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(problem(deep.as_bytes()).starts_with("JSON nested too deeply"));
        assert!(problem("{\"a\":".repeat(100_000).as_bytes()).starts_with("JSON nested too deeply"));
        assert!(problem(b"1e400").starts_with("a number that is too large"));
        assert_eq!(problem(&b"9".repeat(300)), "");
        assert!(problem(&b"9".repeat(100_000)).starts_with("a number that is too large"));
    }

    #[test]
    fn json_media_types_are_known_by_their_essence() {
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert!(is_json(json), "{json}");
        }
        for other in ["", "text/html", "application/jsonx", "text/json", "+json"] {
            assert!(!is_json(other), "{other}");
        }
    }
}
