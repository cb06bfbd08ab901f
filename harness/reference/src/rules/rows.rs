//! Faults and variations as data. A rule file (`cases/AREA/RULE.yaml`) lists them next to the clauses that
//! they violate or use. A row is an [`Entry`]: its name, one sentence about what the bank does, and the
//! effects.
//!
//! A row with `each` expands to several rows, one for each table in that list. `{word}` in any string of the
//! row is replaced with the value of that word in the table. Several lists (`each.some`, `each.other`)
//! multiply, and so do lists within a table. `on` is a list of operations, with the words `{op}` and
//! `{title}`. A word has other forms: if `{at}` is `a/bC`, then `{at:spaced}` is `a bC`, `{at:kebab}` is
//! `a-b-c`, and `{at:small}` is `a/bc`.
//!
//! A row with `alone` expands to a second one, which applies to this one of its operations only. `{x*3}` is
//! `xxx` in any row.

use std::slice;
use std::sync::LazyLock;
use std::time::Duration;

use axum::http::StatusCode;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use xs2aspec_bank::member::kebab_case;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::policy::Policy;
use xs2aspec_bank::refusal::Code;
use xs2aspec_spec::{
    Problem, Problems, Tree,
    yaml::{self, At},
};

use super::{Alteration, Beside, Effect, Entry, Form, Place, Reading, Then, Treatment, When, Wrapper};
use crate::declaration::Declaration;

/// A row. Its effects are in the order of these fields.
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

/// Treatments that differ only in their operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct Treats {
    operation: Several<Operation>,
    place: Place,
    when: When,
    then: Then,
}

/// A changed status and code of the rejections by a rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    rule: &'static str,
    status: u16,
    code: Code,
}

/// A list of values, or a single one.
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

/// The rows of all rule files, each list sorted by name.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) faults: Vec<Entry>,
    pub(crate) variations: Vec<Entry>,
    /// Faults that show only if a request combines two things.
    pub(crate) interactions: Vec<Entry>,
}

/// The rows of the embedded rule files.
pub(crate) static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let mut problems = Vec::new();
    let rows = Rows::read(&Tree::embedded(), &|_| true, &mut problems);
    assert!(problems.is_empty(), "{}", Problems(problems));
    rows
});

/// Returns the errors in the rows of these rule files, each with file and line. `is_clause` returns true for
/// known clause ids.
pub fn lint_rows(tree: &Tree, is_clause: &dyn Fn(&str) -> bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    Rows::read(tree, is_clause, &mut problems);
    problems.dedup();
    problems
}

/// The lists of rows in a rule file. Its other lists are read elsewhere.
#[derive(Default, Deserialize)]
struct RuleFile {
    #[serde(default)]
    faults: Vec<At<Value>>,
    #[serde(default)]
    variations: Vec<At<Value>>,
    #[serde(default)]
    interactions: Vec<At<Value>>,
}

impl Rows {
    /// Reads the rows of these files. They are leaked, like all faults.
    fn read(tree: &Tree, is_clause: &dyn Fn(&str) -> bool, problems: &mut Vec<Problem>) -> Self {
        let mut rows = Self::default();
        for (path, text) in tree.below("cases/", ".yaml") {
            let file = yaml::read(path, text).unwrap_or_else(|problem| {
                problems.push(problem);
                RuleFile::default()
            });
            for (list, all) in [
                (file.faults, &mut rows.faults),
                (file.variations, &mut rows.variations),
                (file.interactions, &mut rows.interactions),
            ] {
                for row in list {
                    for one in each(row.value.clone()) {
                        match entries(one).and_then(|own| of_clauses(own, is_clause)) {
                            Ok(own) => all.extend(own),
                            Err(error) => problems.push(row.problem(path, error)),
                        }
                    }
                }
            }
        }
        for list in [&mut rows.faults, &mut rows.variations, &mut rows.interactions] {
            list.sort_by(|one, other| one.name.cmp(&other.name));
        }
        rows
    }
}

/// Returns the entries if all their clauses are known.
fn of_clauses(own: Vec<Entry>, is_clause: &dyn Fn(&str) -> bool) -> Result<Vec<Entry>, String> {
    match own.iter().find(|entry| !is_clause(entry.clause())) {
        Some(entry) => Err(format!("\"{}\": there is no clause `{}`", entry.name, entry.clause())),
        None => Ok(own),
    }
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

/// Restricts an entry to requests of one operation.
fn alone(entry: &Entry, operation: Operation) -> Entry {
    let is_of_others =
        |effect: &&Effect| matches!(effect, Effect::Treats(treatment) if treatment.operation != operation);
    let effects = entry.effects.iter().filter(|effect| !is_of_others(effect)).copied().collect();
    let says = format!("{} ({operation} alone).", entry.says.trim_end_matches('.'));
    Entry::new(format!("{}-on-{operation}", entry.name), effects, says)
}

/// The values of words for one expanded row.
type Words = Map<String, Value>;

/// Expands a row.
fn each(mut row: Value) -> Vec<Value> {
    let mut take = |name: &str| row.as_object_mut()?.remove(name).map(|list| (name.to_owned(), list));
    let mut lists: Words = take("on").into_iter().collect();
    match take("each") {
        Some((_, Value::Object(named))) => lists.extend(named),
        list => lists.extend(list),
    }
    let filled = |words: Words| {
        let mut row = row.clone();
        fill(&mut row, &words);
        row
    };
    words_of(lists).into_iter().map(filled).collect()
}

/// Returns the words of each row that a table expands to.
fn words_of(table: Words) -> Vec<Words> {
    let one = |name: &str, item: Value| match (name, item) {
        ("on", operation) => vec![of_operation(operation)],
        (_, Value::Object(table)) => words_of(table),
        (name, word) => vec![Words::from_iter([(name.to_owned(), word)])],
    };
    let mut all = vec![Words::new()];
    for (name, value) in table {
        let words: Vec<Words> = match value {
            Value::Array(items) => items.into_iter().flat_map(|item| one(&name, item)).collect(),
            Value::Object(_) => vec![Words::from_iter([(name, value)])],
            word => one(&name, word),
        };
        let with = |known: &Words, more: &Words| known.clone().into_iter().chain(more.clone()).collect();
        all = all.iter().flat_map(|known| words.iter().map(|more| with(known, more))).collect();
    }
    all
}

/// Returns the words of an operation.
fn of_operation(id: Value) -> Words {
    let title = Operation::deserialize(&id).map(title).unwrap_or_default();
    Words::from_iter([("op".to_owned(), id), ("title".to_owned(), title.into())])
}

/// Returns the name of an operation in the sentences of faults.
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

/// Converts a pointer for the names of faults, without the word "Account".
pub(crate) fn kebab(pointer: &str) -> String {
    kebab_case(&pointer.trim_start_matches('/').replace('/', "-").replace("Account-", "-"))
}

/// Replaces words in every string of a value. A string that consists of one word becomes its value, which
/// need not be a string.
fn fill(value: &mut Value, words: &Words) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            *value = match name.and_then(|name| words.get(name)) {
                Some(word) => {
                    let mut word = word.clone();
                    fill(&mut word, words);
                    word
                }
                None => filled(text, words).into(),
            };
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, words)),
        Value::Object(members) => {
            let filled = std::mem::take(members).into_iter().map(|(name, mut value)| {
                fill(&mut value, words);
                (filled(&name, words), value)
            });
            *members = filled.collect();
        }
        _ => {}
    }
}

/// Replaces the words in a string.
fn filled(text: &str, words: &Words) -> String {
    let mut parts = text.split('{');
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(word, rest)| Some((spelled(word, words)?, rest))) {
            Some((word, rest)) => made = made + &word + rest,
            None => made = made + "{" + part,
        }
    }
    made
}

/// Returns a word in the requested form, or None if it is unknown.
fn spelled(word: &str, words: &Words) -> Option<String> {
    if let Some(count) = word.strip_prefix("x*") {
        return Some("x".repeat(count.parse().ok()?));
    }
    let (name, form) = word.split_once(':').unwrap_or((word, ""));
    let text = match words.get(name)? {
        Value::String(text) => filled(text, words),
        other => other.to_string(),
    };
    match form {
        "" => Some(text),
        "small" => Some(text.to_lowercase()),
        "spaced" => Some(text.replace('/', " ")),
        "kebab" => Some(kebab(&text)),
        _ => None,
    }
}

/// Deserializes a list and leaks it.
pub(super) fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::deserialize(deserializer)?.leak())
}

/// Deserializes a value and leaks it.
pub(super) fn kept<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'static T, D::Error> {
    Ok(Box::leak(Box::new(T::deserialize(deserializer)?)))
}

/// Deserializes a duration in milliseconds.
pub(super) fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the rows of a rule file.
    fn read(text: &str) -> Result<Rows, String> {
        let mut problems = Vec::new();
        let is_clause = |id: &str| !id.starts_with("no.such");
        let rows = Rows::read(&Tree::of(&[("cases/a/b.yaml", text)]), &is_clause, &mut problems);
        if problems.is_empty() { Ok(rows) } else { Err(Problems(problems).to_string()) }
    }

    #[test]
    fn a_row_with_each_stands_for_several() {
        let text = r#"
faults:
  - name: "a.b/any-on-{op}"
    says: "{title} accepts any signature."
    policy: { signature: { exempt: ["{op}"] } }
    each: [{ op: ncbct, title: NCBCT creation }, { op: basket, title: Basket creation }]
"#;
        let entries = read(text).unwrap().faults;
        let told: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.says.as_str())).collect();
        assert_eq!(
            told,
            [
                ("a.b/any-on-basket", "Basket creation accepts any signature."),
                ("a.b/any-on-ncbct", "NCBCT creation accepts any signature."),
            ]
        );
    }

    #[test]
    fn a_row_on_operations_stands_for_one_on_each() {
        let text = r#"
variations:
  - name: "a.b/{what}-on-{op}"
    says: "{title} rejects it."
    treats: { operation: "{op}", place: { header: date }, when: { is: "{what}" }, then: refuse }
    on: [ncbct, basket]
    each: [{ what: c }, { what: d }]
  - name: a.b/c
    says: It is rejected.
    treats: { operation: [ncbct, basket], place: { header: date }, when: "null", then: refuse }
    alone: ncbct
"#;
        let entries = read(text).unwrap().variations;
        let told: Vec<_> = entries.iter().map(|one| (&*one.name, &*one.says, one.effects.len())).collect();
        assert_eq!(
            told,
            [
                ("a.b/c", "It is rejected.", 2),
                ("a.b/c-on-basket", "Basket creation rejects it.", 1),
                ("a.b/c-on-ncbct", "NCBCT creation rejects it.", 1),
                ("a.b/c-on-ncbct", "It is rejected (ncbct alone).", 1),
                ("a.b/d-on-basket", "Basket creation rejects it.", 1),
                ("a.b/d-on-ncbct", "NCBCT creation rejects it.", 1),
            ]
        );
    }

    #[test]
    fn lists_multiply_and_words_have_forms() {
        let text = r#"
interactions:
  - name: "{clause}/{how}"
    says: "It is a test of {at:spaced}."
    treats: { operation: "{op}", place: { body: "/{at}" }, when: "{when}", then: { cut: "{limit}" } }
    policy: { amounts: { fraction-digits: { "{code}": 2 } } }
    each:
      at: [{ on: ncbct, clause: "{op}.a", at: a/bC, limit: 70, code: [NOK, SEK] }]
      how:
        - { how: "{code:small}-{at:kebab}", when: { longer: "{limit}" } }
        - { how: "{at:small}", when: "null" }
"#;
        let entries = read(text).unwrap().interactions;
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["ncbct.a/a/bc", "ncbct.a/a/bc", "ncbct.a/nok-a-b-c", "ncbct.a/sek-a-b-c"]);
        assert_eq!(entries[2].says, "It is a test of a bC.");
        let treatment = Treatment {
            operation: Operation::Ncbct,
            place: Place::Body("/a/bC"),
            when: When::Longer(70),
            then: Then::Cut(70),
        };
        let policy = serde_json::json!({ "amounts": { "fraction-digits": { "NOK": 2 } } });
        let effects = vec![Effect::Treats(treatment), Effect::policy(policy)];
        assert_eq!(format!("{:?}", entries[2].effects), format!("{effects:?}"));
    }

    #[test]
    fn long_texts_are_written_as_how_often_a_letter_is_there() {
        assert_eq!(filled("a{x*3}b{x*1}", &Words::new()), "axxxbx");
        assert_eq!(filled("{x*}{x*y}{x*2", &Words::new()), "{x*}{x*y}{x*2");
    }

    #[test]
    fn a_mistake_in_a_row_has_its_place_and_name() {
        for (row, says) in [
            ("wraps: no-such-program", "\"a.b/c\": unknown variant `no-such-program`, expected one of"),
            ("policy: { baskets: { limits: 9 } }", "\"a.b/c\": policy: unknown field `limits`"),
            ("treats: [{ operation: ncbct }]", "\"a.b/c\": missing field `place`"),
            (
                "treats: { operation: ncbct, place: { query: a }, when: { matches: '(' }, then: refuse }",
                "\"a.b/c\": regex parse error",
            ),
            ("", "\"a.b/c\": it has no effect"),
            ("breaks: the-rules", "\"a.b/c\": unknown field `breaks`"),
            ("refuses: { rule: x, status: 17, code: FORBIDDEN }", "\"a.b/c\": invalid status code"),
        ] {
            let text = format!("title: t\nfaults:\n  - name: a.b/c\n    says: It is a test.\n    {row}\n");
            let error = read(&text).map(|_| ()).unwrap_err();
            assert!(error.starts_with(&format!("cases/a/b.yaml:3:5: {says}")), "{row}: {error}");
        }
        let text = "title: t\nfaults:\n  - { name: no.such/d, says: It is a test., policy: { baskets: { limit: 11 } } }\n";
        let error = read(text).map(|_| ()).unwrap_err();
        assert!(
            error.starts_with("cases/a/b.yaml:3:5: \"no.such/d\": there is no clause `no.such`"),
            "{error}"
        );
        let error = read("title: t\nfaults: 1\n").map(|_| ()).unwrap_err();
        assert!(error.starts_with("cases/a/b.yaml:2:"), "{error}");
    }
}
