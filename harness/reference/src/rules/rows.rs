//! Faults and variations as data. A file below `faults/` or `variations/` is a list of rows, and a row is an
//! [`Entry`]: its name, what the bank then does, and the effects. A row with `each` stands for several, one
//! for each of these tables of words: `{word}` in any text of the row becomes what the table says. A row with
//! `on` stands for one for each of these operations, with the words `{op}` and `{title}`. A row with `alone`
//! stands for a second one, which treats requests of this one of its operations alone. `{x*3}` is `xxx` in
//! any row.

use std::slice;
use std::time::Duration;

use axum::http::StatusCode;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::policy::Policy;
use xs2aspec_bank::refusal::Code;

use super::{Alteration, Beside, Effect, Entry, Form, Place, Reading, Then, Treatment, When, Wrapper};
use crate::declaration::Declaration;

/// A row. Its effects come in the order of these fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Row {
    name: String,
    says: String,
    #[serde(default)]
    only: Several<Beside>,
    #[serde(default)]
    declares: Several<Declaration>,
    #[serde(default)]
    reads: Several<Reading>,
    #[serde(default)]
    treats: Several<Treats>,
    #[serde(default)]
    alters: Several<Alteration>,
    #[serde(default)]
    refuses: Several<Refused>,
    #[serde(default)]
    forms: Several<Form>,
    policy: Option<Value>,
    #[serde(default)]
    wraps: Several<Wrapper>,
    alone: Option<Operation>,
}

/// Treatments that differ in the operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Treats {
    operation: Several<Operation>,
    place: Place,
    when: When,
    then: Then,
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
        let mut effects = Vec::new();
        effects.extend(row.reads.0.into_iter().map(Effect::Reads));
        let each = |Treats { operation, place, when, then }: Treats| {
            let of = move |operation| Effect::Treats(Treatment { operation, place, when, then });
            operation.0.into_iter().map(of)
        };
        effects.extend(row.treats.0.into_iter().flat_map(each));
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
        let beside = match *row.only.0 {
            [] => None,
            [one] => Some(one),
            _ => Some(Beside::All(row.only.0.leak())),
        };
        Ok(Self { beside, declares: declares.leak(), ..Self::new(row.name, effects, row.says) })
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
    let entries: Vec<_> = rows.into_iter().flat_map(each).map(entries).collect::<Result<_, _>>()?;
    Ok(entries.into_iter().flatten().collect())
}

fn entries(row: Value) -> Result<Vec<Entry>, String> {
    let name = row["name"].to_string();
    let row: &'static Value = Box::leak(Box::new(row));
    let row = Row::deserialize(row).map_err(|error| format!("{name}: {error}"))?;
    let operation = row.alone;
    let entry = Entry::try_from(row).map_err(|error| format!("{name}: {error}"))?;
    let alone = operation.map(|operation| alone(&entry, operation));
    Ok([entry].into_iter().chain(alone).collect())
}

/// The same of requests of one operation alone.
fn alone(entry: &Entry, operation: Operation) -> Entry {
    let is_of_others =
        |effect: &&Effect| matches!(effect, Effect::Treats(treatment) if treatment.operation != operation);
    let effects = entry.effects.iter().filter(|effect| !is_of_others(effect)).copied().collect();
    let says = format!("{} ({operation} alone).", entry.says.trim_end_matches('.'));
    Entry::new(format!("{}-on-{operation}", entry.name), effects, says)
}

/// Returns the rows that a row stands for.
fn each(mut row: Value) -> Vec<Value> {
    let mut take = |name| row.as_object_mut().and_then(|row| row.remove(name));
    let tables = |value: Option<Value>| match value {
        Some(Value::Array(tables)) => tables,
        _ => vec![Value::Null],
    };
    let operations: Vec<Value> = tables(take("on")).iter().map(of_operation).collect();
    let tables = tables(take("each"));
    let each = operations.iter().flat_map(|operation| tables.iter().map(move |table| [operation, table]));
    let filled = |both: [&Value; 2]| {
        let words = both.into_iter().filter_map(Value::as_object).flatten();
        let words: Vec<(String, &str)> =
            words.filter_map(|(word, text)| Some((format!("{{{word}}}"), text.as_str()?))).collect();
        let mut row = row.clone();
        fill(&mut row, &words);
        row
    };
    each.map(filled).collect()
}

/// The words of an operation.
fn of_operation(id: &Value) -> Value {
    let operation = Operation::deserialize(id);
    operation.map_or(Value::Null, |operation| json!({ "op": id, "title": title(operation) }))
}

/// The operation in words, as the sentences of faults have it.
pub(crate) fn title(operation: Operation) -> &'static str {
    match operation {
        Operation::Basket => "Basket creation",
        Operation::Ncbct => "NCBCT creation",
        Operation::Periodic => "Periodic NDCT creation",
        Operation::Customers => "The customer list",
        Operation::Transaction => "Reading transaction details",
        _ => "The operation",
    }
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
    list(deserializer)
}

/// Reads a list that is kept as long as the process lives.
pub(super) fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(deserializer)?.leak())
}

/// Reads a value that is kept as long as the process lives.
pub(super) fn kept<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static T, D::Error> {
    Ok(Box::leak(Box::new(T::deserialize(deserializer)?)))
}

/// Reads a duration in milliseconds.
pub(super) fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
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
            policy.signature.exempt = ["{op}"]
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
    fn a_row_on_operations_stands_for_one_on_each() {
        let text = r#"
            [[variation]]
            name = "a.b/{what}-on-{op}"
            says = "{title} refuses it."
            treats = { operation = "{op}", place = { header = "date" }, when = { is = "{what}" }, then = "refuse" }
            on = ["ncbct", "basket"]
            each = [{ what = "c" }, { what = "d" }]

            [[variation]]
            name = "a.b/c"
            says = "It is refused."
            treats = { operation = ["ncbct", "basket"], place = { header = "date" }, when = "null", then = "refuse" }
            alone = "ncbct"
        "#;
        let entries = read("variation", text).unwrap();
        let told: Vec<_> = entries.iter().map(|one| (&*one.name, &*one.says, one.effects.len())).collect();
        assert_eq!(
            told,
            [
                ("a.b/c-on-ncbct", "NCBCT creation refuses it.", 1),
                ("a.b/d-on-ncbct", "NCBCT creation refuses it.", 1),
                ("a.b/c-on-basket", "Basket creation refuses it.", 1),
                ("a.b/d-on-basket", "Basket creation refuses it.", 1),
                ("a.b/c", "It is refused.", 2),
                ("a.b/c-on-ncbct", "It is refused (ncbct alone).", 1),
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
            ("wraps = 'no-such-program'", "\"a.b/c\": unknown variant `no-such-program`, expected one of"),
            ("policy.baskets.limits = 9", "\"a.b/c\": policy: unknown field `limits`"),
            ("treats = [{ operation = 'ncbct' }]", "\"a.b/c\": missing field `place`"),
            (
                "treats = { operation = 'ncbct', place = { query = 'a' }, when = { matches = '(' }, then = 'refuse' }",
                "\"a.b/c\": regex parse error",
            ),
            ("", "\"a.b/c\": it has no effect"),
            ("breaks = 'the-rules'", "\"a.b/c\": unknown field `breaks`"),
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
