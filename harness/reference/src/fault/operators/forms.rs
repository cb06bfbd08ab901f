//! Operators on dates: forms that are more or less than the one of the document, and days that some banks do
//! not know. Amounts, BICs and days of the month have faults that somebody wrote for every form.

use super::requests::made;
use super::table::{self, Kind, Member, valid};
use super::{Made, Operator, apply, clause};
use crate::date;
use crate::rules::{Entry, Then, When};

/// A name, which texts are meant, and what they are.
type Form = (&'static str, fn(&str) -> bool, &'static str);

/// What is no date for the document.
const LOOSENED: [Form; 16] = [
    ("date-with-slashes", |text| is_day(text, "/"), "2030/03/01"),
    ("date-with-points", |text| is_day(text, "."), "2030.03.01"),
    ("date-with-blanks", |text| is_day(text, " "), "2030 03 01"),
    ("date-day-first", |text| text.len() == 10 && date::parse(&turned(text)).is_ok(), "01-03-2030"),
    ("date-short-year", |text| text.len() == 8 && date::parse(&format!("20{text}")).is_ok(), "30-03-01"),
    ("date-one-digit", |text| date::parse(text).is_err() && date::parse(&padded(text)).is_ok(), "2030-3-1"),
    ("date-blank-before", |text| text.starts_with(' ') && date::parse(text.trim()).is_ok(), " 2030-03-01"),
    ("date-blank-after", |text| text.ends_with(' ') && date::parse(text.trim()).is_ok(), "2030-03-01 "),
    ("date-month-alone", |text| text.len() == 7 && date::parse(&format!("{text}-01")).is_ok(), "2030-03"),
    ("date-empty", str::is_empty, "an empty text"),
    ("date-words", |text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic()), "a word"),
    ("date-month-13", |text| has_form(text) && &text[5..7] > "12", "month 13"),
    ("date-month-0", |text| has_form(text) && &text[5..7] == "00", "month 0"),
    ("date-day-0", |text| has_form(text) && &text[8..] == "00", "day 0"),
    ("date-day-32", |text| has_form(text) && &text[8..] > "31", "day 32"),
    ("date-30-february", is_overflow, "the 30th of February"),
];

/// Days that exist.
const TIGHTENED: [Form; 3] = [
    ("date-leap-day-refused", |text| text.ends_with("-02-29"), "29 February"),
    ("date-last-of-month-refused", |text| text.ends_with("-31"), "the 31st of a month"),
    ("date-december-refused", |text| has_form(text) && &text[5..7] == "12", "a day of December"),
];

pub(super) fn faults() -> Vec<Entry> {
    let rows: Vec<Member> = table::requests().into_iter().filter(|row| row.kind == Kind::Date).collect();
    let mut operators: Vec<Operator<Member>> = Vec::new();
    operators.extend(LOOSENED.map(|(name, is_meant, what)| {
        Operator::new(name, move |row: &Member| {
            let of = (When::Text(is_meant), Then::TakeFor(valid(row)));
            let is_near = ["date-blank-before", "date-blank-after", "date-month-alone"].contains(&name);
            let clause = if is_near { "date.form".to_owned() } else { clause::format(row) };
            Some(made(row, clause, of, &format!("takes {what} as")))
        })
    }));
    operators.extend(TIGHTENED.map(|(name, is_meant, what)| {
        Operator::new(name, move |row: &Member| -> Option<Made> {
            let clause = if name.contains("leap") { "date.leap-day".to_owned() } else { clause::format(row) };
            Some(made(row, clause, (When::Text(is_meant), Then::Refuse), &format!("refuses {what} as")))
        })
    }));
    apply(&operators, &rows, |row| (row.operation, row.pointer))
}

/// A date with other separators.
fn is_day(text: &str, separator: &str) -> bool {
    text.len() == 10 && text.contains(separator) && date::parse(&text.replace(separator, "-")).is_ok()
}

fn has_form(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([4, 2, 2])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A day beyond the end of its month, which is a shorter one.
fn is_overflow(text: &str) -> bool {
    has_form(text)
        && date::parse(text).is_err()
        && date::parse(&format!("{}-01", &text[..7])).is_ok()
        && ("29"..="31").contains(&&text[8..])
}

/// The parts in the opposite order.
fn turned(text: &str) -> String {
    text.split('-').rev().collect::<Vec<_>>().join("-")
}

/// The parts in two digits at least.
fn padded(text: &str) -> String {
    text.split('-').map(|part| format!("{part:0>2}")).collect::<Vec<_>>().join("-")
}
