//! A field of an archive entry, with its path.

use std::borrow::Cow;

use serde_json::Value;

use super::quirks;

/// A field of an entry, which may be absent.
pub(super) struct Member<'a> {
    /// Its path.
    pub(super) at: String,
    pub(super) value: Option<&'a Value>,
}

impl<'a> Member<'a> {
    pub(super) fn member(&self, name: &str) -> Member<'a> {
        let at = if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) };
        Member { at, value: self.value.and_then(|value| value.get(name)).filter(|value| !value.is_null()) }
    }

    pub(super) fn item(&self, number: usize, value: &'a Value) -> Member<'a> {
        Member { at: format!("{}[{number}]", self.at), value: Some(value) }
    }

    pub(super) fn wrong(&self, expected: &str) -> String {
        let found = match self.value {
            None => "nothing".to_owned(),
            Some(Value::Null) => "null".to_owned(),
            Some(Value::Bool(_)) => "true or false".to_owned(),
            Some(Value::Number(number)) => format!("the number {number}"),
            Some(Value::String(text)) if text.is_empty() => "an empty string".to_owned(),
            Some(Value::String(_)) => "a string".to_owned(),
            Some(Value::Array(_)) => "a list".to_owned(),
            Some(Value::Object(_)) => "an object".to_owned(),
        };
        let at = if self.at.is_empty() { String::new() } else { format!("`{}`: ", self.at) };
        format!("{at}expected {expected}, found {found}")
    }

    pub(super) fn object(&self) -> Result<(), String> {
        if self.value.is_some_and(Value::is_object) { Ok(()) } else { Err(self.wrong("an object")) }
    }

    /// Returns a non-empty string.
    pub(super) fn text(&self) -> Result<Cow<'a, str>, String> {
        let text = self.optional_text().filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong("a string"))
    }

    pub(super) fn optional_text(&self) -> Option<Cow<'a, str>> {
        self.value.and_then(quirks::text)
    }

    pub(super) fn number(&self) -> Option<f64> {
        self.value.and_then(quirks::number)
    }

    /// Returns a number of bytes. Archives write -1 for an unknown number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded, and not below 0")]
    pub(super) fn size(&self) -> Option<u64> {
        self.number().filter(|number| *number >= 0.0).map(|number| number.min(9e15) as u64)
    }
}
