//! The values of a profile: what the spec's tables hold, under dotted names.

use std::collections::{BTreeMap, BTreeSet};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use xs2aspec_suite::{ProfileSpec, nearest};

use super::error::{self, ProfileError};

/// Every value under its dotted name, with the usual ones; a field and a value that nobody knows is a
/// mistake.
pub(super) fn read(
    name: &str,
    text: &str,
    spec: &ProfileSpec,
    fields: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, ProfileError> {
    let table = DeTable::parse(text).map_err(|error| error::syntax(name, text, &error))?;
    let mut reader = Reader { name, text, spec, fields, values: BTreeMap::new() };
    for value in &spec.values {
        if let Some(usual) = &value.usual {
            reader.values.insert(value.name.clone(), usual.clone());
        }
    }
    for (key, value) in table.get_ref() {
        let word = key.get_ref().as_ref();
        if fields.contains(word) {
            continue;
        }
        if !spec.tables.contains_key(word) && spec.value(word).is_none() {
            return Err(reader.unknown(word, key));
        }
        reader.add(word, value)?;
    }
    Ok(reader.values)
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    spec: &'a ProfileSpec,
    /// What every profile says, whatever the spec.
    fields: &'a BTreeSet<String>,
    values: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Adds a value, or all of a table.
    fn add(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), ProfileError> {
        match value.get_ref() {
            DeValue::String(text) => self.add_text(key, text),
            DeValue::Table(members) => members.iter().try_for_each(|(name, value)| {
                let is_number = name.get_ref().chars().all(|letter| letter.is_ascii_digit());
                if is_number && self.spec.lists.contains_key(key) {
                    let message = format!("`{key}` has no numbers: a further entry is one more `[[{key}]]`");
                    return Err(error::at(self.name, self.text, name.span().start, message));
                }
                self.add(&format!("{key}.{}", name.get_ref()), value)
            }),
            DeValue::Array(entries) if self.spec.lists.contains_key(key) => {
                let is_empty = |entry: &&Spanned<DeValue<'_>>| matches!(entry.get_ref(), DeValue::Table(members) if members.is_empty());
                if let Some(entry) = entries.iter().find(is_empty) {
                    let message =
                        format!("this `[[{key}]]` says nothing: take it away, or say what is in it");
                    return Err(error::at(self.name, self.text, entry.span().start, message));
                }
                entries.iter().enumerate().try_for_each(|(index, entry)| match index {
                    0 => self.add(key, entry),
                    _ => self.add(&format!("{key}.{}", index + 1), entry),
                })
            }
            other => Err(error::at(
                self.name,
                self.text,
                value.span().start,
                format!("`{key}` is of type {}: expected a text", other.type_str()),
            )),
        }
    }

    fn add_text(&mut self, key: &str, text: &str) -> Result<(), ProfileError> {
        if self.spec.value(key).is_none() {
            return Err(error::unknown(self.name, "value", key, self.spec.value_names()));
        }
        // A header or a path cannot hold it, and the mistake would show far from here.
        if text.is_empty() || text.chars().any(char::is_control) || text.trim() != text {
            let message =
                format!("`{key}` is {text:?}: expected a text on one line, without blanks around it");
            return Err(error::value(self.name, message));
        }
        self.values.insert(key.to_owned(), text.to_owned());
        Ok(())
    }

    /// A field that nobody knows.
    fn unknown(&self, word: &str, key: &Spanned<impl Sized>) -> ProfileError {
        let singles = self.spec.value_names().filter(|name| !name.contains('.'));
        let known = self.fields.iter().map(String::as_str).chain(self.spec.tables.keys().map(String::as_str));
        let advice = nearest(word, known.chain(singles)).map_or_else(
            || ": `xs2aspec init --schema` lists what a profile may say".to_owned(),
            |near| format!("; did you mean `{near}`?"),
        );
        error::at(self.name, self.text, key.span().start, format!("unknown field `{word}`{advice}"))
    }
}
