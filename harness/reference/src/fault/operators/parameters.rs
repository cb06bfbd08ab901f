//! Operators on query parameters, all of them optional booleans.

use serde_json::json;
use xs2aspec_bank::member::kebab_case;
use xs2aspec_bank::operation::Operation;

use super::table::{self, Parameter};
use super::{Made, Operator, apply};
use crate::rules::rows::title;
use crate::rules::{Effect, Entry, Pattern, Place, Then, When};

/// Strings that some languages and people read as a boolean, each with a name.
const BOOLEANS: [(&str, &str); 13] = [
    ("capitals", "TRUE"),
    ("capital", "True"),
    ("false-in-capitals", "FALSE"),
    ("one", "1"),
    ("zero", "0"),
    ("minus-one", "-1"),
    ("yes", "yes"),
    ("no", "no"),
    ("on", "on"),
    ("letter", "t"),
    ("null", "null"),
    ("empty", ""),
    ("truth", "truth"),
];

pub(super) fn faults() -> Vec<Entry> {
    let operators: Vec<Operator<Parameter>> = vec![
        Operator::several("boolean-loosened", |row: &Parameter| {
            let taken = |(name, text): &(&'static str, &'static str)| {
                // For payments, readers of the document disagree about other words and numbers for a boolean.
                let is_word = row.operation == Operation::Ncbct && !matches!(*text, "null" | "truth");
                let clause = format!("{}.{}", clause(row), if is_word { "words" } else { "type" });
                let effect = Effect::policy(json!({ "query": { "also-true": { row.name: [text] } } }));
                let says = format!("{} treats {text:?} as true in {}.", title(row.operation), row.name);
                Made::new(clause, effect, says).of(*name)
            };
            BOOLEANS.iter().map(taken).collect()
        }),
        Operator::new("parameter-not-known", |row: &Parameter| {
            Some(made(row, clause(row), (When::Present, Then::Refuse), "rejects a request with"))
        }),
        Operator::new("parameter-demanded", |row: &Parameter| {
            let clause = format!("{}.path", row.operation);
            Some(made(row, clause, (When::Absent, Then::Refuse), "rejects a request without"))
        }),
        Operator::new("parameter-fails", |row: &Parameter| {
            let of = (When::Present, Then::Fail);
            Some(made(row, "http.no-server-error".to_owned(), of, "fails on a request with"))
        }),
        Operator::new("parameter-of-no-boolean-fails", |row: &Parameter| {
            let of = (When::Unmatched(Pattern("^(?:true|false)$")), Then::Fail);
            Some(made(row, "http.no-server-error".to_owned(), of, "fails on a non-boolean value of"))
        }),
    ];
    apply(&operators, &table::parameters(), |row| (row.operation, row.name))
}

fn clause(row: &Parameter) -> String {
    format!("{}.{}", row.operation, kebab_case(row.name))
}

fn made(row: &Parameter, clause: String, of: (When, Then), says: &str) -> Made {
    Made::treats(clause, (row.operation, Place::Query(row.name)), of, &format!("{says} {}", row.name))
}
