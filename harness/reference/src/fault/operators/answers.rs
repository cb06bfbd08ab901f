//! Operators on responses: each field is missing, renamed, null, of another type or of another form. Items of
//! arrays are changed one at a time.

use xs2aspec_bank::operation::Operation;

use super::table::{self, Kind, Member};
use super::{Made, Operator, apply, clause};
use crate::rules::rows::title;
use crate::rules::{Alteration, Change, Effect, Entry};

/// A value of another type: the operator, the type that it does not apply to, and JSON text.
const OTHERS: [(&str, char, &str, &str); 5] = [
    ("answer-text", 's', "\"text\"", "a string"),
    ("answer-number", 'n', "17", "a number"),
    ("answer-boolean", 'b', "true", "a boolean"),
    ("answer-list", 'a', "[]", "an array"),
    ("answer-object", 'o', "{}", "an object"),
];

/// Another way to write a string: the operator, its kind, the function, and a description.
type Written = (&'static str, Kind, fn(&str) -> String, &'static str);

const WRITTEN: [Written; 22] = [
    ("answer-small-letters", Kind::Word, |text| text.to_lowercase(), "lowercase letters"),
    ("answer-capital-first", Kind::Word, capital_first, "only one uppercase letter"),
    ("answer-blank-after", Kind::Word, |text| format!("{text} "), "a trailing space"),
    ("answer-abbreviated", Kind::Word, |text| text[..text.len() - 1].to_owned(), "no last letter"),
    ("answer-unlisted", Kind::Word, |text| text.chars().rev().collect(), "reversed letters"),
    ("answer-empty-word", Kind::Word, |_| String::new(), "an empty string"),
    ("answer-date-with-time", Kind::Date, |text| format!("{text}T00:00:00Z"), "a time after the date"),
    ("answer-date-with-zone", Kind::Date, |text| format!("{text}+01:00"), "a time zone after the date"),
    ("answer-date-without-hyphens", Kind::Date, |text| text.replace('-', ""), "no hyphens"),
    ("answer-date-with-slashes", Kind::Date, |text| text.replace('-', "/"), "slashes"),
    (
        "answer-date-turned",
        Kind::Date,
        |text| text.split('-').rev().collect::<Vec<_>>().join("-"),
        "the day first",
    ),
    ("answer-date-impossible", Kind::Date, |text| format!("{}-02-30", &text[..4]), "February 30"),
    ("answer-date-empty", Kind::Date, |_| String::new(), "an empty string"),
    ("answer-amount-comma", Kind::Form, |text| text.replace('.', ","), "a decimal comma"),
    ("answer-amount-one-digit-more", Kind::Form, |text| format!("{text}0"), "one digit too many"),
    (
        "answer-amount-one-digit-less",
        Kind::Form,
        |text| text[..text.len() - 1].to_owned(),
        "one digit too few",
    ),
    (
        "answer-amount-whole",
        Kind::Form,
        |text| text.split('.').next().unwrap_or_default().to_owned(),
        "no decimals",
    ),
    (
        "answer-amount-with-currency",
        Kind::Form,
        |text| format!("{text} NOK"),
        "the currency after the amount",
    ),
    ("answer-amount-empty", Kind::Form, |_| String::new(), "an empty string"),
    ("answer-amount-long", Kind::Form, |text| format!("1234567890123456789{text}"), "nineteen more digits"),
    ("answer-bic-small-letters", Kind::Form, |text| text.to_lowercase(), "lowercase letters"),
    ("answer-bic-short", Kind::Form, |text| text[..text.len() - 1].to_owned(), "one letter too few"),
];

/// Fields that are missing in the bank's usual responses, with a valid value.
const ABSENT: [(&str, &str); 2] = [
    (
        "tppMessages",
        r#"[{"category":"WARNING","code":"FORMAT_ERROR","path":"/a","text":"Text"},{"category":"WARNING","code":"CONFLICT","path":"/b","text":"Text"}]"#,
    ),
    ("psuMessage", r#""Text""#),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut operators = presence();
    for (name, letter, json, what) in OTHERS {
        operators.push(Operator::new(name, move |row: &Member| {
            let is_other = row.kind.letter() != letter && !row.name().is_empty();
            let clause = typed(row).filter(|_| is_other)?;
            Some(made(row, clause, Change::Replace(json), &format!("{what} as")))
        }));
    }
    operators.extend(WRITTEN.map(|(name, kind, write, what)| {
        Operator::new(name, move |row: &Member| {
            let clause = written(row, name).filter(|_| row.kind == kind)?;
            Some(made(row, clause, Change::Write(write), &format!("{what} in")))
        })
    }));
    operators.extend(lengths());
    apply(&operators, &table::answers(), |row| (row.operation, row.pointer))
}

fn presence() -> Vec<Operator<Member>> {
    let required = |row: &Member| clause::of_answer(row).map(without_limit).filter(|_| row.is_required);
    vec![
        Operator::new("answer-missing", move |row: &Member| {
            Some(made(row, missing(row, required(row)?), Change::Remove, "no"))
        }),
        Operator::new("answer-null", move |row: &Member| {
            Some(made(row, missing(row, required(row)?), Change::Replace("null"), "null as"))
        }),
        Operator::new("answer-renamed", move |row: &Member| {
            let name: &'static str = capital_first(row.name()).leak();
            let clause = missing(row, required(row)?);
            (name != row.name())
                .then(|| made(row, clause, Change::Rename(name), "an uppercase letter in the name of"))
        }),
        Operator::new("answer-snake-case", move |row: &Member| {
            let name: &'static str = xs2aspec_bank::member::kebab_case(row.name()).replace('-', "_").leak();
            let clause = missing(row, required(row)?);
            (name != row.name())
                .then(|| made(row, clause, Change::Rename(name), "underscores in the name of"))
        }),
    ]
}

fn lengths() -> Vec<Operator<Member>> {
    let characters = |name, of: fn(&Member) -> Option<usize>, says: &'static str| {
        Operator::new(name, move |row: &Member| {
            let clause = clause::of_answer(row)?;
            let clause = match row.name() {
                "reference" => "remittance-structured.reference.length".to_owned(),
                // A number that is one character short is too short for its bank, but within every limit.
                number @ ("iban" | "bban") if name == "answer-one-too-short" => {
                    format!("account.{number}.response")
                }
                _ => clause,
            };
            Some(made(row, clause, Change::Characters(of(row)?), says))
        })
    };
    vec![
        characters("answer-one-too-long", |row| Some(row.most? + 1), "one character too many in"),
        characters("answer-far-too-long", |row| Some(row.most? * 10), "ten times too many characters in"),
        characters(
            "answer-one-too-short",
            |row| row.least.checked_sub(1).filter(|_| row.most.is_some()),
            "one character too few in",
        ),
    ]
}

/// Returns the clause of a value of another type.
fn typed(row: &Member) -> Option<String> {
    clause::of_answer(row)
        .map(|clause| if row.name() == "reference" { without_limit(clause) } else { clause })
}

/// Returns the clause of a string in another form, or None if another operator covers it.
fn written(row: &Member, operator: &str) -> Option<String> {
    let clause = clause::of_answer(row)?;
    let is_amount = row.name() == "amount";
    let is_bic = row.name().ends_with("Agent");
    match operator {
        "answer-amount-one-digit-more" if is_amount => Some("amount.digits".to_owned()),
        "answer-amount-one-digit-less" | "answer-amount-whole" if is_amount => {
            Some("amount.digits.fewer.response".to_owned())
        }
        "answer-amount-long" if is_amount => Some("amount.precision".to_owned()),
        "answer-date-with-time" | "answer-date-with-zone" | "answer-date-without-hyphens" => {
            Some("date.form.response".to_owned())
        }
        _ if operator.starts_with("answer-amount") => is_amount.then(|| "amount.form".to_owned()),
        "answer-bic-small-letters" if is_bic => Some("bic.pattern".to_owned()),
        "answer-bic-short" if is_bic => Some("bic.whole".to_owned()),
        _ if operator.starts_with("answer-bic") => None,
        // The verbs of these links are not a closed list.
        _ if row.operation == Operation::Customers && row.pointer.contains("/verbs") => None,
        _ => Some(match (row.name(), row.operation) {
            ("transactionStatus", Operation::Basket) => clause,
            ("transactionStatus", _) => "transaction-status.listed".to_owned(),
            ("currency", _) => "currency.response.unlisted".to_owned(),
            _ => clause,
        }),
    }
}

/// Returns the clause of a missing field.
fn missing(row: &Member, clause: String) -> String {
    match row.name() {
        "amount" => "amount.string".to_owned(),
        _ => clause,
    }
}

fn without_limit(clause: String) -> String {
    clause.strip_suffix(".length").map(str::to_owned).unwrap_or(clause)
}

/// Changes the first letter to uppercase, and the rest to lowercase if all letters are uppercase.
fn capital_first(text: &str) -> String {
    let rest = text.get(1..).unwrap_or_default();
    let is_word = text.bytes().all(|byte| byte.is_ascii_uppercase());
    let rest = if is_word { rest.to_ascii_lowercase() } else { rest.to_owned() };
    text.get(..1).unwrap_or_default().to_ascii_uppercase() + &rest
}

fn made(row: &Member, clause: String, change: Change, says: &str) -> Made {
    let alteration = Alteration { operation: row.operation, pointer: row.pointer, change };
    let member = row.pointer.trim_start_matches('/').replace('/', " ");
    let says = format!("{} returns {says} {member}.", title(row.operation));
    let mut made = Made::new(clause, Effect::Alters(alteration), says);
    let first = row.pointer.split('/').nth(1).unwrap_or_default();
    if let Some((name, json)) = ABSENT.iter().find(|(name, _)| *name == first) {
        let pointer: &'static str = format!("/{name}").leak();
        let set = Alteration { operation: row.operation, pointer, change: Change::Set(json) };
        made.effects.insert(0, Effect::Alters(set));
    }
    made
}
