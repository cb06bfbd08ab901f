//! Operators on dates: more or fewer forms than the document allows, and days that are unknown. Amounts, BICs
//! and days of the month have faults for every form in the rule files.

use super::requests::made;
use super::table::{self, Kind, Member, valid};
use super::{Made, Operator, apply, clause};
use crate::rules::{Entry, Pattern, Sort, Then, When};

/// The name of an operator, its values, and a description.
type Form = (&'static str, When, &'static str);

/// Values that are not dates in the document.
const LOOSENED: [Form; 16] = [
    ("date-with-slashes", becomes("/", "-"), "2030/03/01"),
    ("date-with-points", becomes(r"\.", "-"), "2030.03.01"),
    ("date-with-blanks", becomes(" ", "-"), "2030 03 01"),
    ("date-day-first", becomes("^(..)-(..)-(....)$", "$3-$2-$1"), "01-03-2030"),
    ("date-short-year", becomes("^.{8}$", "20$0"), "30-03-01"),
    ("date-one-digit", becomes(r"-([0-9])\b", "-0$1"), "2030-3-1"),
    ("date-blank-before", becomes(r"^ \s*(.*?)\s*$", "$1"), " 2030-03-01"),
    ("date-blank-after", becomes(r"^\s*(.*?)\s* $", "$1"), "2030-03-01 "),
    ("date-month-alone", becomes("^.{7}$", "$0-01"), "2030-03"),
    ("date-empty", matches("^$"), "an empty string"),
    ("date-words", matches("^[A-Za-z]+$"), "a word"),
    ("date-month-13", matches("^[0-9]{4}-(?:1[3-9]|[2-9][0-9])-[0-9]{2}$"), "month 13"),
    ("date-month-0", matches("^[0-9]{4}-00-[0-9]{2}$"), "month 0"),
    ("date-day-0", matches("^[0-9]{4}-[0-9]{2}-00$"), "day 0"),
    ("date-day-32", matches("^[0-9]{4}-[0-9]{2}-(?:3[2-9]|[4-9][0-9])$"), "day 32"),
    ("date-30-february", OVERFLOW, "February 30"),
];

/// A day after the end of a month with fewer days.
const OVERFLOW: When = When::All(&[
    When::Matches(Pattern("^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:29|3[01])$")),
    When::Not(&When::A(Sort::Day)),
]);

/// Days that exist.
const TIGHTENED: [Form; 3] = [
    ("date-leap-day-refused", matches("-02-29$"), "February 29"),
    ("date-last-of-month-refused", matches("-31$"), "the 31st of a month"),
    ("date-december-refused", matches("^[0-9]{4}-12-[0-9]{2}$"), "a day in December"),
];

const fn matches(pattern: &'static str) -> When {
    When::Matches(Pattern(pattern))
}

const fn becomes(pattern: &'static str, by: &'static str) -> When {
    When::Becomes(Pattern(pattern), by, &When::A(Sort::Day))
}

pub(super) fn faults() -> Vec<Entry> {
    let rows: Vec<Member> = table::requests().into_iter().filter(|row| row.kind == Kind::Date).collect();
    let mut operators: Vec<Operator<Member>> = Vec::new();
    operators.extend(LOOSENED.map(|(name, when, what)| {
        Operator::new(name, move |row: &Member| {
            let of = (when, Then::TakeFor(valid(row)));
            let is_near = ["date-blank-before", "date-blank-after", "date-month-alone"].contains(&name);
            let clause = if is_near { "date.form".to_owned() } else { clause::format(row) };
            Some(made(row, clause, of, &format!("accepts {what} as")))
        })
    }));
    operators.extend(TIGHTENED.map(|(name, when, what)| {
        Operator::new(name, move |row: &Member| -> Option<Made> {
            let clause = if name.contains("leap") { "date.leap-day".to_owned() } else { clause::format(row) };
            Some(made(row, clause, (when, Then::Refuse), &format!("rejects {what} as")))
        })
    }));
    apply(&operators, &rows, |row| (row.operation, row.pointer))
}
