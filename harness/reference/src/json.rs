//! Request bodies as JSON objects, read strictly.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::rules::JsonBreach;

/// Reads a JSON object (RFC 8259). A member name that comes twice is an error: the two values could mean
/// different payments, and which one counts would depend on the reader.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Value>, JsonError> {
    if bytes.is_empty() {
        return Err(JsonError::Empty);
    }
    match serde_json::from_slice::<Read<false>>(bytes) {
        Ok(Read(Value::Object(members))) => Ok(members),
        Ok(Read(other)) => Err(JsonError::NotAnObject(kind(&other))),
        Err(error) => Err(JsonError::Malformed(error.to_string())),
    }
}

/// Reads a JSON object of which the last of several members with one name counts, as many readers do.
pub(crate) fn object_of_last(bytes: &[u8]) -> Result<Map<String, Value>, JsonError> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        _ => object(bytes),
    }
}

/// Reads a JSON object as a fault does.
pub(crate) fn object_read_otherwise(
    bytes: &[u8],
    breach: JsonBreach,
) -> Result<Map<String, Value>, JsonError> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let end = values.next().map_or(0, |_| values.byte_offset());
    match breach {
        JsonBreach::Trailing => object(&bytes[..end]),
        JsonBreach::TrailingValue if values.all(|value| value.is_ok()) => object(&bytes[..end]),
        JsonBreach::LastComma => {
            let body = bytes.trim_ascii_end().strip_suffix(b"}").map(<[u8]>::trim_ascii_end);
            match body.and_then(|body| body.strip_suffix(b",")) {
                Some(body) => object(&[body, b"}"].concat()),
                None => object(bytes),
            }
        }
        JsonBreach::RawControls => {
            let escaped = texts(bytes).iter().rev().fold(bytes.to_vec(), |mut all, text| {
                let begin = text.begin;
                let written = text.written.iter().flat_map(|byte| match byte {
                    b'\t' => b"\\t".to_vec(),
                    b'\n' => b"\\n".to_vec(),
                    other => vec![*other],
                });
                all.splice(begin..begin + text.written.len(), written.collect::<Vec<u8>>());
                all
            });
            object(&escaped)
        }
        JsonBreach::Lossy => object(String::from_utf8_lossy(bytes).as_bytes()),
        JsonBreach::Latin1 if str::from_utf8(bytes).is_err() => {
            object(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().as_bytes())
        }
        JsonBreach::FirstOfDuplicates => match serde_json::from_slice::<Read<true>>(bytes) {
            Ok(Read(Value::Object(members))) => Ok(members),
            _ => object(bytes),
        },
        breach if refuses_spelling(bytes, breach) => {
            Err(JsonError::Malformed("not written as it should be".to_owned()))
        }
        _ => object(bytes),
    }
}

/// The members under the names that the document gives them, where they are spelled in another way.
pub(crate) fn with_usual_names(members: Map<String, Value>) -> Map<String, Value> {
    let usual = |name: &str| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default();
        let rest = words.map(|word| with_first(word, |letter| letter.to_ascii_uppercase()));
        let first = with_first(first, |letter| letter.to_ascii_lowercase());
        [first].into_iter().chain(rest).collect::<String>()
    };
    let known: Vec<String> = members.keys().cloned().collect();
    let renamed = members.into_iter().map(|(name, value)| {
        let other = usual(&name);
        if known.contains(&other) { (name, value) } else { (other, value) }
    });
    renamed.collect()
}

/// Members that hold a code, an amount or a day.
const CODES: [&str; 8] = [
    "amount",
    "currency",
    "country",
    "purposeCode",
    "regulatoryReportingCode",
    "executionRule",
    "frequency",
    "dayOfExecution",
];

/// The members without spaces and line breaks around codes, amounts and days, at every depth.
pub(crate) fn without_spaces(members: Map<String, Value>) -> Map<String, Value> {
    let trimmed = members.into_iter().map(|(name, value)| match value {
        Value::String(text) if CODES.contains(&name.as_str()) => (name, text.trim().into()),
        Value::Object(members) => (name, Value::Object(without_spaces(members))),
        other => (name, other),
    });
    trimmed.collect()
}

fn with_first(word: &str, change: fn(char) -> char) -> String {
    let mut letters = word.chars();
    letters.next().map(change).into_iter().chain(letters).collect()
}

/// Whether a fault refuses a JSON text for how it is written.
fn refuses_spelling(bytes: &[u8], breach: JsonBreach) -> bool {
    let any = |is_refused: fn(&Text<'_>) -> bool| texts(bytes).iter().any(is_refused);
    match breach {
        JsonBreach::NoNumbers => any(|text| has(text.written, b"\\u")),
        JsonBreach::NoEscapedSolidus => any(|text| has(text.written, b"\\/")),
        JsonBreach::NamesAsWritten => any(|text| text.is_name && text.written.contains(&b'\\')),
        JsonBreach::ShortAsWritten => any(|text| text.written.len() > 280),
        JsonBreach::OneLine => bytes.contains(&b'\n'),
        JsonBreach::NoBlankBeforeColon => has(bytes, b"\" :"),
        _ => false,
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A text of a JSON text, as it is written between its quotation marks.
struct Text<'a> {
    begin: usize,
    written: &'a [u8],
    is_name: bool,
}

fn texts(bytes: &[u8]) -> Vec<Text<'_>> {
    let mut texts = Vec::new();
    let mut rest = bytes;
    while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
        rest = &rest[begin + 1..];
        let mut end = 0;
        while end < rest.len() && rest[end] != b'"' {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        let (written, after) = rest.split_at(end.min(rest.len()));
        rest = after.get(1..).unwrap_or_default();
        let begin = bytes.len() - after.len() - written.len();
        texts.push(Text { begin, written, is_name: rest.trim_ascii_start().starts_with(b":") });
    }
    texts
}

/// The members that are not `null`, at every depth.
pub(crate) fn without_nulls(members: Map<String, Value>) -> Map<String, Value> {
    let kept = members.into_iter().filter(|(_, value)| !value.is_null());
    kept.map(|(name, value)| match value {
        Value::Object(members) => (name, Value::Object(without_nulls(members))),
        other => (name, other),
    })
    .collect()
}

/// The JSON type of a value, as a refusal names it.
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

/// Why a body is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonError {
    /// Nothing was sent.
    #[error("expected a JSON object, found an empty body")]
    Empty,
    /// JSON of another type.
    #[error("expected a JSON object, found {0}")]
    NotAnObject(&'static str),
    /// Not JSON, or with a member name twice.
    #[error("expected a JSON object, found a body that cannot be read: {0}")]
    Malformed(String),
}

/// A value in which no object has a name twice, or the first of each name counts.
struct Read<const FIRST: bool>(Value);

impl<'de, const FIRST: bool> Deserialize<'de> for Read<FIRST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor::<FIRST>).map(Self)
    }
}

struct ReadVisitor<const FIRST: bool>;

impl<'de, const FIRST: bool> Visitor<'de> for ReadVisitor<FIRST> {
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
        while let Some(Read::<FIRST>(item)) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let Read::<FIRST>(value) = access.next_value()?;
            if FIRST && members.contains_key(&name) {
                continue;
            }
            if members.contains_key(&name) {
                return Err(A::Error::custom("a member name comes twice"));
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

    #[test]
    fn faults_of_reading() {
        use JsonBreach as J;
        let read = |bytes: &[u8], breach| {
            object_read_otherwise(bytes, breach).ok().map(|members| Value::Object(members).to_string())
        };
        let table: [(&[u8], J, Option<&str>); 19] = [
            (b"{\"a\":1} x", J::Trailing, Some("{\"a\":1}")),
            (b"{\"a\":1} {}", J::TrailingValue, Some("{\"a\":1}")),
            (b"{\"a\":1} x", J::TrailingValue, None),
            (b"{\"a\":\"\xe5\"}", J::Lossy, Some("{\"a\":\"\u{fffd}\"}")),
            (b"{\"a\":\"\xe5\"}", J::Latin1, Some("{\"a\":\"å\"}")),
            (b"{\"a\":\"\xe5\"}", J::Trailing, None),
            (b"{\"a\":1,\"a\":2}", J::FirstOfDuplicates, Some("{\"a\":1}")),
            (b"{\"a\":1,\"a\":2}", J::Latin1, None),
            (b"[]", J::FirstOfDuplicates, None),
            (b"{\"a\":\"\\u0062\"}", J::NoNumbers, None),
            (b"{\"a\":\"\\u0062\"}", J::NamesAsWritten, Some("{\"a\":\"b\"}")),
            (b"{\"\\u0061\":\"\\\"\"}", J::NamesAsWritten, None),
            (b"{\"a\":\"b\\/c\"}", J::NoEscapedSolidus, None),
            (b"{\"a\":\"b\\/c\"}", J::NoNumbers, Some("{\"a\":\"b/c\"}")),
            (b"{\"a\":\n1}", J::OneLine, None),
            (b"{\"a\" :1}", J::NoBlankBeforeColon, None),
            (b"{\"a\tb\":\n\"c\nd\"}", J::RawControls, Some("{\"a\\tb\":\"c\\nd\"}")),
            (b"{\"a\tb\":1}", J::Trailing, None),
            (b"{\"a\" :1}", J::ShortAsWritten, Some("{\"a\":1}")),
        ];
        for (bytes, breach, expected) in table {
            assert_eq!(read(bytes, breach).as_deref(), expected, "{breach:?}");
        }
    }

    #[test]
    fn a_text_is_long_as_it_is_written() {
        let body = format!("{{\"a\":\"{}\"}}", "\\u00e5".repeat(70));
        assert!(object(body.as_bytes()).is_ok());
        assert!(object_read_otherwise(body.as_bytes(), JsonBreach::ShortAsWritten).is_err());
        assert_eq!(texts(b"\"a").len(), 1);
        assert_eq!(texts(b"\"a\\").len(), 1);
    }

    #[test]
    fn ways_to_read_loosely() {
        let names = object(br#"{"CreditorName": 1, "payment_ids": 2, "A": 3, "a": 4}"#).unwrap();
        let usual = serde_json::json!({ "creditorName": 1, "paymentIds": 2, "A": 3, "a": 4 });
        assert_eq!(Value::Object(with_usual_names(names)), usual);
        let spaced =
            object(br#"{"purposeCode": " OTHR\n", "creditorName": " a ", "x": {"currency": "NOK "}}"#);
        let trimmed =
            serde_json::json!({ "purposeCode": "OTHR", "creditorName": " a ", "x": { "currency": "NOK" } });
        assert_eq!(Value::Object(without_spaces(spaced.unwrap())), trimmed);
        let last = object_of_last(br#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(Value::Object(last), serde_json::json!({ "a": 2 }));
        assert!(object_of_last(b"[]").is_err() && object_of_last(b"{").is_err());
        let nulls = object(br#"{"a": null, "b": {"c": null, "d": 1}}"#).unwrap();
        assert_eq!(Value::Object(without_nulls(nulls)), serde_json::json!({ "b": { "d": 1 } }));
    }
}
