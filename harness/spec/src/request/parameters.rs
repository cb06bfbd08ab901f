//! Parameters in rules and forms: `<name>` is replaced with a property of the place's row.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::cell::shown;

/// Parameters of a place, and the names that were looked up.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    values: Map<String, Value>,
    asked: RefCell<BTreeSet<String>>,
}

impl Parameters {
    pub(super) fn new(values: Map<String, Value>) -> Self {
        Self { values, asked: RefCell::default() }
    }

    pub(super) fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the names that were looked up.
    pub(super) fn asked(&self) -> BTreeSet<String> {
        self.asked.borrow().clone()
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// Sets a parameter unless it exists.
    pub(super) fn set_default(&mut self, name: &str, value: Value) {
        self.values.entry(name).or_insert(value);
    }

    /// Returns a parameter, or one that is computed ([`computed`]). `item.code` is a field of `item`.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        computed(name, &|name| self.plain(name))
    }

    fn plain(&self, name: &str) -> Option<Value> {
        let (first, member) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
        self.asked.borrow_mut().insert(first.to_owned());
        let value = self.values.get(first)?;
        match member {
            None => Some(value.clone()),
            Some(member) => value.get(member).cloned(),
        }
    }

    /// Fills in every parameter in a value. The error names a parameter that does not exist.
    pub(super) fn fill(&self, value: &Value) -> Result<Value, String> {
        match value {
            Value::String(text) => self.fill_text(text),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                let mut filled = Map::new();
                for (name, member) in members {
                    filled.insert(shown(&self.fill_text(name)?), self.fill(member)?);
                }
                Ok(Value::Object(filled))
            }
            other => Ok(other.clone()),
        }
    }

    fn fill_text(&self, text: &str) -> Result<Value, String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next(rest) {
            let value = self.get(name).ok_or_else(|| format!("`<{name}>` in `{text}` is not defined"))?;
            if before.is_empty() && after.is_empty() && out.is_empty() {
                return Ok(value);
            }
            out.push_str(before);
            out.push_str(&shown(&value));
            rest = after;
        }
        out.push_str(rest);
        Ok(Value::String(out))
    }
}

/// Returns true if this `only` includes a place with these parameters. A list matches any of its items.
pub(super) fn is_for(only: Option<Value>, of: &Parameters) -> Result<bool, String> {
    let only = match only {
        None => return Ok(true),
        Some(Value::Object(only)) => only,
        Some(other) => return Err(format!("`only: {other}`: expected a mapping")),
    };
    for (name, wanted) in only {
        let found = of.get(&name);
        let is_one = match &wanted {
            Value::Array(list) => found.as_ref().is_some_and(|found| list.contains(found)),
            one => found.as_ref().unwrap_or(&Value::Bool(false)) == one,
        };
        if !is_one {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the value of a name. A name may continue with `+1`, `-1`, `*2` or `/2`, applied from left to right
/// to a number: `most/2+1`.
pub fn computed(name: &str, lookup: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    if let Some(value) = lookup(name) {
        return Some(value);
    }
    let at = name.rfind(['+', '-', '*', '/'])?;
    let by = name[at + 1..].parse::<i64>().ok()?;
    let value = computed(&name[..at], lookup)?;
    let number = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
    Some(Value::from(match &name[at..=at] {
        "+" => number.checked_add(by)?,
        "-" => number.checked_sub(by)?,
        "*" => number.checked_mul(by)?,
        _ => number.checked_div(by)?,
    }))
}

/// Returns the first `<name>` in a string, with the text before and after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('<')?;
        let end = open + text[open..].find('>')?;
        let name = &text[open + 1..end];
        let is_name = name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name.chars().all(|letter| {
                letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_.+*/".contains(letter)
            });
        if is_name {
            return Some((&text[..open], name, &text[end + 1..]));
        }
        from = open + 1;
    }
}
