//! Faults and variations as data. A file below `faults/` or `variations/` is a list of rows, and a row is an
//! [`Entry`]: its name, what the bank then does, and the effects. A row with `each` stands for several, one
//! for each of these tables of words: `{word}` in any text of the row becomes what the table says. `{x*3}` is
//! `xxx` in any row.

use std::slice;
use std::time::Duration;

use axum::http::StatusCode;
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{Alteration, Beside, Breach, Effect, Entry, Form, Treatment, Variance, Wrapper};
use crate::declaration::Declaration;
use crate::policy::Policy;
use crate::refusal::Code;

/// A row. Its effects come in the order of these fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Row {
    name: String,
    says: String,
    only: Option<Beside>,
    #[serde(default)]
    declares: Several<Declaration>,
    #[serde(default)]
    varies: Several<Variance>,
    #[serde(default)]
    breaks: Several<Breach>,
    #[serde(default)]
    treats: Several<Treatment>,
    #[serde(default)]
    alters: Several<Alteration>,
    #[serde(default)]
    refuses: Several<Refused>,
    #[serde(default)]
    forms: Several<Form>,
    policy: Option<Value>,
    #[serde(default)]
    wraps: Several<Wrapper>,
}

/// A refusal that has another status and code than this rule gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    rule: &'static str,
    status: u16,
    code: Code,
}

/// Values that are written as a list, or as one of them alone.
struct Several<T>(Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Deserialize<'static>> Deserialize<'static> for Several<T> {
    fn deserialize<D: Deserializer<'static>>(deserializer: D) -> Result<Self, D::Error> {
        let value: &'static Value = Box::leak(Box::new(Value::deserialize(deserializer)?));
        let values = value.as_array().map_or(slice::from_ref(value), Vec::as_slice);
        values.iter().map(T::deserialize).collect::<Result<_, _>>().map(Self).map_err(D::Error::custom)
    }
}

impl TryFrom<Row> for Entry {
    type Error = String;

    fn try_from(row: Row) -> Result<Self, String> {
        let refuses = |refused: Refused| {
            let status = StatusCode::from_u16(refused.status).map_err(|error| error.to_string())?;
            Ok(Effect::Refuses(refused.rule, status, refused.code))
        };
        let mut effects: Vec<Effect> = row.varies.0.into_iter().map(Effect::Variance).collect();
        effects.extend(row.breaks.0.into_iter().map(Effect::Breach));
        effects.extend(row.treats.0.into_iter().map(Effect::Treats));
        effects.extend(row.alters.0.into_iter().map(Effect::Alters));
        effects.extend(row.refuses.0.into_iter().map(refuses).collect::<Result<Vec<_>, String>>()?);
        effects.extend(row.forms.0.into_iter().map(Effect::Forms));
        Policy::with(row.policy.clone().map(|settings| &*Box::leak(Box::new(settings))))
            .map_err(|error| format!("policy: {error}"))?;
        effects.extend(row.policy.map(Effect::policy));
        effects.extend(row.wraps.0.into_iter().map(Effect::Wraps));
        let declares = row.declares.0;
        if effects.is_empty() && declares.is_empty() {
            return Err("it has no effect".to_owned());
        }
        Ok(Self { beside: row.only, declares: declares.leak(), ..Self::new(row.name, effects, row.says) })
    }
}

/// Reads a file of faults or variations (`kind`) that is part of the program, so that a test sees what is
/// wrong with it.
pub(crate) fn of_file(kind: &str, name: &str, text: &str) -> Vec<Entry> {
    read(kind, text).unwrap_or_else(|error| panic!("{kind}s/{name}.toml: {error}"))
}

/// Reads the rows of a file. They are kept as long as the process lives, as all faults are.
///
/// # Errors
///
/// If the text is no TOML, or a row is none: the name of the row and what is wrong with it.
fn read(kind: &str, text: &str) -> Result<Vec<Entry>, String> {
    let mut file: Map<String, Value> = toml::from_str(text).map_err(|error| error.to_string())?;
    let rows = file.remove(kind);
    let Some(Value::Array(rows)) = rows.filter(|_| file.is_empty()) else {
        return Err(format!("expected a list of [[{kind}]] and nothing else"));
    };
    rows.into_iter().flat_map(each).map(entry).collect()
}

fn entry(row: Value) -> Result<Entry, String> {
    let name = row["name"].to_string();
    let row: &'static Value = Box::leak(Box::new(row));
    let row = Row::deserialize(row).map_err(|error| format!("{name}: {error}"))?;
    Entry::try_from(row).map_err(|error| format!("{name}: {error}"))
}

/// Returns the rows that a row stands for.
fn each(mut row: Value) -> Vec<Value> {
    let tables = row.as_object_mut().and_then(|row| row.remove("each"));
    let Some(Value::Array(tables)) = tables else {
        fill(&mut row, &[]);
        return vec![row];
    };
    let filled = |table: &Value| {
        let words = table.as_object().into_iter().flatten();
        let words: Vec<(String, &str)> =
            words.filter_map(|(word, text)| Some((format!("{{{word}}}"), text.as_str()?))).collect();
        let mut row = row.clone();
        fill(&mut row, &words);
        row
    };
    tables.iter().map(filled).collect()
}

fn fill(value: &mut Value, words: &[(String, &str)]) {
    match value {
        Value::String(text) => {
            for (word, becomes) in words {
                *text = text.replace(word, becomes);
            }
            *text = repeated(text);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, words)),
        Value::Object(members) => members.values_mut().for_each(|value| fill(value, words)),
        _ => {}
    }
}

/// Returns a text in which `{x*3}` is `xxx`.
fn repeated(text: &str) -> String {
    let mut parts = text.split("{x*");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let count = part.split_once('}').and_then(|(count, rest)| Some((count.parse().ok()?, rest)));
        match count {
            Some((count, rest)) => made = made + &"x".repeat(count) + rest,
            None => made = made + "{x*" + part,
        }
    }
    made
}

/// Reads a list of words that is kept as long as the process lives.
pub(super) fn words<'de: 'static, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [&'static str], D::Error> {
    Ok(Vec::deserialize(deserializer)?.leak())
}

/// Reads a duration in milliseconds.
pub(super) fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// Reads a decimal that is written as a text.
pub(super) fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_each_stands_for_several() {
        let text = r#"
            [[fault]]
            name = "a.b/any-on-{op}"
            says = "{title} accepts any signature."
            breaks = { not-verified = "{op}" }
            each = [{ op = "ncbct", title = "NCBCT creation" }, { op = "basket", title = "Basket creation" }]
        "#;
        let entries = read("fault", text).unwrap();
        let told: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.says.as_str())).collect();
        assert_eq!(
            told,
            [
                ("a.b/any-on-ncbct", "NCBCT creation accepts any signature."),
                ("a.b/any-on-basket", "Basket creation accepts any signature."),
            ]
        );
    }

    #[test]
    fn long_texts_are_written_as_how_often_a_letter_is_there() {
        assert_eq!(repeated("a{x*3}b{x*1}"), "axxxbx");
        assert_eq!(repeated("{x*}{x*y}{x*2"), "{x*}{x*y}{x*2");
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said_with_its_name() {
        for (row, says) in [
            ("breaks = 'no-such-rule'", "\"a.b/c\": unknown variant `no-such-rule`, expected one of"),
            ("treats = [{ operation = 'ncbct' }]", "\"a.b/c\": missing field `place`"),
            ("", "\"a.b/c\": it has no effect"),
            ("brakes = 'body-fails'", "\"a.b/c\": unknown field `brakes`"),
            ("refuses = { rule = 'x', status = 17, code = 'FORBIDDEN' }", "\"a.b/c\": invalid status code"),
        ] {
            let text = format!("[[fault]]\nname = 'a.b/c'\nsays = 'It is a test.'\n{row}\n");
            let error = read("fault", &text).map(|_| ()).unwrap_err();
            assert!(error.starts_with(says), "{row}: {error}");
        }
        assert!(read("fault", "[[other]]\n").is_err());
        assert!(read("fault", "fault = 1").is_err());
    }
}
