//! Other ways to parse JSON (RFC 8259). The bank has one strict parser. A body is rewritten or rejected here
//! before the bank parses it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use xs2aspec_bank::json;
use xs2aspec_bank::operation::Operation;

use super::valid;

/// A way to parse a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reading {
    /// Everything after the first value is ignored.
    Trailing,
    /// The first value may be followed by others.
    TrailingValue,
    /// Invalid UTF-8 is replaced with U+FFFD.
    Lossy,
    /// Invalid UTF-8 is read as ISO-8859-1.
    Latin1,
    /// The first of duplicate fields counts.
    FirstOfDuplicates,
    /// The last of duplicate fields counts.
    LastOfDuplicates,
    /// The last field may be followed by a comma.
    LastComma,
    /// Strings may contain unescaped tabs and line breaks.
    RawControls,
    /// A field with `null` counts as absent.
    NullIsAbsent,
    /// Field names may start with an uppercase letter, and have underscores between words.
    LooseNames,
    /// Spaces and line breaks around codes, amounts and days are removed.
    SpacesDropped,
    /// Anything except an object is replaced with a valid one.
    Anything,
    /// Escapes with `\u` are rejected.
    NoNumbers,
    /// An escaped solidus is rejected.
    NoEscapedSolidus,
    /// Escapes in field names are rejected.
    NamesAsWritten,
    /// Strings of more than 280 bytes, including escapes, are rejected.
    ShortAsWritten,
    /// Bodies with several lines are rejected.
    OneLine,
    /// Spaces before a colon are rejected.
    NoBlankBeforeColon,
}

impl Reading {
    /// Returns the body as rewritten, or None if its spelling is rejected.
    pub(super) fn reread(self, operation: Operation, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let any = |is_refused: fn(&Text<'_>) -> bool| texts(&bytes).iter().any(is_refused);
        let is_refused = match self {
            Self::NoNumbers => any(|text| has(text.written, b"\\u")),
            Self::NoEscapedSolidus => any(|text| has(text.written, b"\\/")),
            Self::NamesAsWritten => any(|text| text.is_name && text.written.contains(&b'\\')),
            Self::ShortAsWritten => any(|text| text.written.len() > 280),
            Self::OneLine => bytes.contains(&b'\n'),
            Self::NoBlankBeforeColon => has(&bytes, b"\" :"),
            _ => false,
        };
        (!is_refused).then(|| self.rewritten(operation, &bytes).unwrap_or(bytes))
    }

    /// Returns the rewritten body, or None if it stays as it is.
    fn rewritten(self, operation: Operation, bytes: &[u8]) -> Option<Vec<u8>> {
        let change = |how: fn(Map<String, Value>) -> Map<String, Value>| {
            json::object(bytes).ok().map(|members| written(how(members)))
        };
        match self {
            Self::Trailing | Self::TrailingValue => {
                let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
                let end = values.next().map_or(0, |_| values.byte_offset());
                let is_meant = self == Self::Trailing || values.all(|value| value.is_ok());
                is_meant.then(|| bytes[..end].to_vec())
            }
            Self::Lossy => Some(String::from_utf8_lossy(bytes).into_owned().into()),
            Self::Latin1 if str::from_utf8(bytes).is_err() => {
                Some(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into())
            }
            Self::FirstOfDuplicates => match serde_json::from_slice(bytes).ok()? {
                First::Object(members) => Some(written(members)),
                _ => None,
            },
            Self::LastOfDuplicates => serde_json::from_slice(bytes).ok().map(written),
            Self::LastComma => {
                let body = bytes.trim_ascii_end().strip_suffix(b"}")?;
                Some([body.trim_ascii_end().strip_suffix(b",")?, b"}"].concat())
            }
            Self::RawControls => Some(with_controls_escaped(bytes)),
            Self::NullIsAbsent => change(without_nulls),
            Self::LooseNames => change(with_usual_names),
            Self::SpacesDropped => change(without_spaces),
            Self::Anything => json::object(bytes).is_err().then(|| written(valid(operation))),
            _ => None,
        }
    }
}

fn written(members: Map<String, Value>) -> Vec<u8> {
    Value::Object(members).to_string().into()
}

/// A value in which the first of duplicate fields counts.
#[derive(Deserialize)]
#[serde(untagged)]
enum First {
    Object(#[serde(deserialize_with = "first_fields")] Map<String, Value>),
    List(Vec<Self>),
    Other(Value),
}

impl From<First> for Value {
    fn from(first: First) -> Self {
        match first {
            First::Object(members) => members.into(),
            First::List(items) => items.into_iter().map(Self::from).collect(),
            First::Other(value) => value,
        }
    }
}

fn first_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut members = Map::new();
            while let Some((name, value)) = access.next_entry::<String, First>()? {
                members.entry(name).or_insert_with(|| value.into());
            }
            Ok(members)
        }
    }

    deserializer.deserialize_map(Fields)
}

/// Escapes tabs and line breaks in the strings of a body.
fn with_controls_escaped(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for text in texts(bytes).iter().rev() {
        let escaped: Vec<u8> = text
            .written
            .iter()
            .flat_map(|byte| match byte {
                b'\t' => b"\\t".to_vec(),
                b'\n' => b"\\n".to_vec(),
                other => vec![*other],
            })
            .collect();
        all.splice(text.begin..text.begin + text.written.len(), escaped);
    }
    all
}

/// Removes the fields with `null`, at every depth.
fn without_nulls(members: Map<String, Value>) -> Map<String, Value> {
    let kept = members.into_iter().filter(|(_, value)| !value.is_null());
    kept.map(|(name, value)| match value {
        Value::Object(members) => (name, Value::Object(without_nulls(members))),
        other => (name, other),
    })
    .collect()
}

/// Renames fields to the usual spelling of their names.
fn with_usual_names(members: Map<String, Value>) -> Map<String, Value> {
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

fn with_first(word: &str, change: fn(char) -> char) -> String {
    let mut letters = word.chars();
    letters.next().map(change).into_iter().chain(letters).collect()
}

/// Fields with a code, an amount or a day.
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

/// Removes spaces and line breaks around codes, amounts and days, at every depth.
fn without_spaces(members: Map<String, Value>) -> Map<String, Value> {
    let trimmed = members.into_iter().map(|(name, value)| match value {
        Value::String(text) if CODES.contains(&name.as_str()) => (name, text.trim().into()),
        Value::Object(members) => (name, Value::Object(without_spaces(members))),
        other => (name, other),
    });
    trimmed.collect()
}

/// A string of a JSON text, as written between its quotation marks.
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

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], reading: Reading) -> Option<String> {
        let body = reading.reread(Operation::Basket, bytes.to_vec())?;
        json::object(&body).ok().map(|members| Value::Object(members).to_string())
    }

    #[test]
    fn each_reading_takes_or_rejects_what_it_says() {
        use Reading as R;
        let table: [(&[u8], R, Option<&str>); 26] = [
            (b"{\"a\":1} x", R::Trailing, Some("{\"a\":1}")),
            (b"{\"a\":1} {}", R::TrailingValue, Some("{\"a\":1}")),
            (b"{\"a\":1} x", R::TrailingValue, None),
            (b"{\"a\":\"\xe5\"}", R::Lossy, Some("{\"a\":\"\u{fffd}\"}")),
            (b"{\"a\":\"\xe5\"}", R::Latin1, Some("{\"a\":\"å\"}")),
            (b"{\"a\":\"\xe5\"}", R::Trailing, None),
            (b"{\"a\":1,\"a\":2}", R::FirstOfDuplicates, Some("{\"a\":1}")),
            (b"{\"a\":[{\"b\":1,\"b\":2}]}", R::FirstOfDuplicates, Some("{\"a\":[{\"b\":1}]}")),
            (b"{\"a\":1,\"a\":2}", R::LastOfDuplicates, Some("{\"a\":2}")),
            (b"{\"a\":1,\"a\":2}", R::Latin1, None),
            (b"[]", R::FirstOfDuplicates, None),
            (b"[]", R::LastOfDuplicates, None),
            (b"{\"a\":1 , } ", R::LastComma, Some("{\"a\":1}")),
            (b"[]", R::Anything, Some("{\"paymentIds\":[\"payment-pending-0001\"]}")),
            (b"{\"a\":1}", R::Anything, Some("{\"a\":1}")),
            (b"{\"a\":\"\\u0062\"}", R::NoNumbers, None),
            (b"{\"a\":\"\\u0062\"}", R::NamesAsWritten, Some("{\"a\":\"b\"}")),
            (b"{\"\\u0061\":\"\\\"\"}", R::NamesAsWritten, None),
            (b"{\"a\":\"b\\/c\"}", R::NoEscapedSolidus, None),
            (b"{\"a\":\"b\\/c\"}", R::NoNumbers, Some("{\"a\":\"b/c\"}")),
            (b"{\"a\":\n1}", R::OneLine, None),
            (b"{\"a\" :1}", R::NoBlankBeforeColon, None),
            (b"{\"a\tb\":\n\"c\nd\"}", R::RawControls, Some("{\"a\\tb\":\"c\\nd\"}")),
            (b"{\"a\tb\":1}", R::Trailing, None),
            (b"{\"a\" :1}", R::ShortAsWritten, Some("{\"a\":1}")),
            (b"{\"a\":null,\"b\":{\"c\":null}}", R::NullIsAbsent, Some("{\"b\":{}}")),
        ];
        for (bytes, reading, expected) in table {
            assert_eq!(read(bytes, reading).as_deref(), expected, "{reading:?}");
        }
    }

    #[test]
    fn a_string_is_long_as_it_is_written() {
        let body = format!("{{\"a\":\"{}\"}}", "\\u00e5".repeat(70));
        assert_eq!(read(body.as_bytes(), Reading::ShortAsWritten), None);
        assert_eq!(texts(b"\"a").len(), 1);
        assert_eq!(texts(b"\"a\\").len(), 1);
    }

    #[test]
    fn names_and_spaces_are_read_loosely() {
        let names = read(br#"{"CreditorName":1,"payment_ids":2,"A":3,"a":4}"#, Reading::LooseNames);
        assert_eq!(names.as_deref(), Some(r#"{"creditorName":1,"paymentIds":2,"A":3,"a":4}"#));
        let spaced = br#"{"purposeCode":" OTHR\n","creditorName":" a ","x":{"currency":"NOK "}}"#;
        assert_eq!(
            read(spaced, Reading::SpacesDropped).as_deref(),
            Some(r#"{"purposeCode":"OTHR","creditorName":" a ","x":{"currency":"NOK"}}"#)
        );
    }
}
