//! Reads the values of a profile: the entries of the document's tables, by dotted name.

use std::collections::BTreeMap;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use xs2aspec_suite::{ProfileSpec, nearest};

use super::{
    Profile,
    error::{self, ProfileError},
    form::FIELDS,
};

/// The profile fields that a pack's template may set. They name the target and have no other effect.
const OF_TEMPLATE: [&str; 6] = ["name", "version", "contact", "base-url", "choices", "capabilities"];

/// Returns all values by dotted name, including defaults. Returns an error for unknown fields and values.
pub(super) fn read(
    name: &str,
    text: &str,
    spec: &ProfileSpec,
) -> Result<BTreeMap<String, String>, ProfileError> {
    read_beside(name, text, spec, &|word| FIELDS.contains(word))
}

/// Returns the test values that a pack defines for any bank. Packs come from third parties, so the file may
/// hold only values and no profile fields: it runs nothing, reads nothing, names no host and permits nothing.
pub(super) fn of_pack(
    name: &str,
    text: &str,
    spec: &ProfileSpec,
) -> Result<BTreeMap<String, String>, ProfileError> {
    read_beside(name, text, spec, &|_| false)
}

impl Profile {
    /// Checks that a pack's template, from which `init` writes a profile, has no effect of its own. Users
    /// must enable its commented lines themselves.
    pub fn check_template(name: &str, text: &str, spec: &ProfileSpec) -> Result<(), ProfileError> {
        read_beside(name, text, spec, &|word| OF_TEMPLATE.contains(&word)).map(drop)
    }
}

fn read_beside(
    name: &str,
    text: &str,
    spec: &ProfileSpec,
    is_field: &dyn Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, ProfileError> {
    let table = DeTable::parse(text).map_err(|error| error::syntax(name, text, &error))?;
    let mut reader = Reader { name, text, spec, values: BTreeMap::new() };
    for value in &spec.values {
        if let Some(usual) = &value.usual {
            reader.values.insert(value.name.clone(), usual.clone());
        }
    }
    for (key, value) in table.get_ref() {
        let word = key.get_ref().as_ref();
        if is_field(word) {
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
    values: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Returns an error at this place.
    fn at(&self, place: &Spanned<impl Sized>, message: String) -> ProfileError {
        error::at(self.name, self.text, place.span().start, message)
    }

    /// Adds a value, or all values of a table.
    fn add(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), ProfileError> {
        match value.get_ref() {
            DeValue::String(text) => self.add_text(key, text, value),
            DeValue::Table(members) => members.iter().try_for_each(|(name, value)| {
                let is_number = name.get_ref().chars().all(|letter| letter.is_ascii_digit());
                if is_number && self.spec.lists.contains_key(key) {
                    let message = format!("`{key}` has no numbered entries: add another `[[{key}]]`");
                    return Err(self.at(name, message));
                }
                self.add(&format!("{key}.{}", name.get_ref()), value)
            }),
            DeValue::Array(entries) if self.spec.lists.contains_key(key) => {
                let is_empty = |entry: &&Spanned<DeValue<'_>>| matches!(entry.get_ref(), DeValue::Table(members) if members.is_empty());
                if let Some(entry) = entries.iter().find(is_empty) {
                    let message = format!("this `[[{key}]]` is empty: remove it or add a value");
                    return Err(self.at(entry, message));
                }
                entries.iter().enumerate().try_for_each(|(index, entry)| match index {
                    0 => self.add(key, entry),
                    _ => self.add(&format!("{key}.{}", index + 1), entry),
                })
            }
            other => {
                let message = format!("`{key}` has type {}: expected a string", other.type_str());
                Err(self.at(value, message))
            }
        }
    }

    fn add_text(&mut self, key: &str, text: &str, at: &Spanned<DeValue<'_>>) -> Result<(), ProfileError> {
        if self.spec.value(key).is_none() {
            let message = error::unknown("value", key, self.spec.value_names());
            return Err(self.at(at, message));
        }
        // A header or a path cannot contain these, and the error would surface far from here.
        if text.is_empty() || text.chars().any(char::is_control) || text.trim() != text {
            let message =
                format!("`{key}` is {text:?}: expected a string on one line, without surrounding spaces");
            return Err(self.at(at, message));
        }
        self.values.insert(key.to_owned(), text.to_owned());
        Ok(())
    }

    /// Returns the error for an unknown field.
    fn unknown(&self, word: &str, key: &Spanned<impl Sized>) -> ProfileError {
        let message = if FIELDS.contains(word) {
            format!("a pack cannot set `{word}`: set it in the bank profile given with `--target`")
        } else {
            let singles = self.spec.value_names().filter(|name| !name.contains('.'));
            let known = FIELDS.iter().map(String::as_str);
            let known = known.chain(self.spec.tables.keys().map(String::as_str)).chain(singles);
            let advice = nearest(word, known).map_or_else(
                || ": `xs2aspec init --schema` lists the allowed fields".to_owned(),
                |near| format!("; did you mean `{near}`?"),
            );
            format!("unknown field `{word}`{advice}")
        };
        self.at(key, message)
    }
}
