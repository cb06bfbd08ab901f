//! Faults of months and days (the document, section Endpoints > Create periodic NDCT payment).

use serde_json::Value;

use crate::operation::Operation;
use crate::rules::{Breach, Entry, MonthsBreach as M, Place, Then, Treatment, When};

pub(super) fn faults() -> Vec<Entry> {
    let mut faults: Vec<Entry> = DUPLICATES
        .iter()
        .map(|(name, breach, says)| {
            Entry::breach(format!("periodic.months.duplicate/{name}"), Breach::Months(*breach), *says)
        })
        .collect();
    faults.push(Entry::breach(
        "periodic.months/ascending",
        Breach::Months(M::Ascending),
        "Months have to ascend.",
    ));
    let on = |pointer, name: &str, when, then, says: &str| {
        let treatment = Treatment { operation: Operation::Periodic, place: Place::Body(pointer), when, then };
        Entry::treats(name, treatment, says)
    };
    let months = |name: &str, says: fn(&Value) -> bool, then, sentence: &str| {
        on("/monthsOfExecution", name, When::Value(says), then, sentence)
    };
    let take = Then::TakeFor("[1]");
    faults.extend([
        months("periodic.months.range/zero", |v| has(v, |n| n == 0), take, "Month 0 is accepted."),
        months("periodic.months.range/thirteen", |v| has(v, |n| n == 13), take, "Month 13 is accepted."),
        months(
            "periodic.months.range/below-zero",
            |v| has(v, |n| n < 0),
            take,
            "Months below 0 are accepted.",
        ),
        months("periodic.months.range/any", |v| has(v, |n| n > 12), take, "Any month above 12 is accepted."),
        months(
            "periodic.months.type/texts",
            |v| any(v, Value::is_string),
            take,
            "Months may be written as texts.",
        ),
        months("periodic.months.type/fractions", |v| any(v, Value::is_f64), take, "Months may be fractions."),
        months("periodic.months.type/no-list", Value::is_number, take, "One month need not be a list."),
        months("periodic.months/no-eleven", |v| has(v, |n| n == 11), Then::Refuse, "Month 11 is refused."),
        months(
            "periodic.months/no-one",
            |v| has(v, |n| n == 1),
            Then::Refuse,
            "Month 1 is refused: months count from 0.",
        ),
        months(
            "periodic.months/at-most-six",
            |v| count(v) > 6,
            Then::Refuse,
            "More than six months are refused.",
        ),
    ]);
    let day = |name: &str, says: fn(&str) -> bool, then, sentence: &str| {
        on("/dayOfExecution", name, When::Text(says), then, sentence)
    };
    let first = Then::TakeFor("\"1\"");
    faults.extend([
        day("periodic.day/two-digits", |day| day.len() == 1, Then::Refuse, "A day of one digit is refused."),
        day("periodic.day/no-28", |day| day == "28", Then::Refuse, "Day 28 is refused."),
        day(
            "periodic.day.form/three-digits",
            |day| day.len() == 3,
            first,
            "A day of three digits is accepted.",
        ),
        day("periodic.day.form/empty", str::is_empty, first, "An empty day is accepted."),
        day(
            "periodic.day.form/letters",
            |day| !day.bytes().all(|byte| byte.is_ascii_digit()),
            first,
            "A day may have other characters than digits.",
        ),
    ]);
    faults
}

const DUPLICATES: [(&str, M, &str); 4] = [
    ("only-adjacent", M::OnlyAdjacent, "Duplicate months are refused only where they stand side by side."),
    ("only-first", M::OnlyOfFirst, "Only a duplicate of the first month is refused."),
    ("dropped", M::Dropped, "Duplicate months are dropped silently."),
    ("only-pairs", M::OnlyPairs, "Duplicate months are refused only in lists of two."),
];

fn any(months: &Value, says: fn(&Value) -> bool) -> bool {
    months.as_array().is_some_and(|months| months.iter().any(says))
}

fn has(months: &Value, says: fn(i64) -> bool) -> bool {
    months.as_array().is_some_and(|months| months.iter().filter_map(Value::as_i64).any(says))
}

fn count(months: &Value) -> usize {
    months.as_array().map_or(0, Vec::len)
}
