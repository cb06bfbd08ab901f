//! Faults of months and days (the document, section Endpoints > Create periodic NDCT payment).

use chrono::Datelike as _;
use serde_json::{Map, Value};

use super::{kebab, on_member};
use crate::date;
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
    faults.extend(of_days());
    faults.extend(of_months());
    faults.extend(of_dates());
    faults.extend(DATES.into_iter().flat_map(of_forms));
    faults
}

fn of_days() -> Vec<Entry> {
    let first = Then::TakeFor("\"1\"");
    let day = |name: &str, says: fn(&str) -> bool, then, sentence: &str| {
        on("/dayOfExecution", name, When::Text(says), then, sentence)
    };
    vec![
        day(
            "value.spaces/line-break-after-day",
            |day| digits(day.strip_suffix('\n')),
            first,
            "A line break may follow a day.",
        ),
        day(
            "value.spaces/trimmed-day",
            |day| day != day.trim() && digits(Some(day.trim())),
            first,
            "A day may have blanks around it.",
        ),
        day(
            "periodic.day.form/other-digits",
            |day| !day.is_ascii() && day.chars().all(char::is_numeric),
            first,
            "A day may be in digits of other scripts.",
        ),
        day("periodic.day.form/sign", |day| day.starts_with(['+', '-']), first, "A day may have a sign."),
        day("periodic.day.impossible/thirty-two", |day| day == "32", first, "Day 32 is accepted."),
        day("periodic.day.impossible/zero", |day| matches!(day, "0" | "00"), first, "Day 0 is accepted."),
        day(
            "periodic.day.impossible/above-thirty-two",
            |day| day.parse::<u8>().is_ok_and(|day| (33..100).contains(&day)),
            first,
            "Days from 33 on are accepted.",
        ),
        day("periodic.day.end-of-month/no-31", |day| day == "31", Then::Refuse, "Day 31 is refused."),
        day("periodic.day.end-of-month/no-29", |day| day == "29", Then::Refuse, "Day 29 is refused."),
        day("periodic.day.end-of-month/no-30", |day| day == "30", Then::Refuse, "Day 30 is refused."),
        on(
            "/dayOfExecution",
            "periodic.day.end-of-month/no-31-from-a-month-of-30",
            When::Together(|body| starts_in(body, 30)),
            Then::Refuse,
            "Day 31 is refused in a series that starts in a month of 30 days.",
        ),
        on(
            "/dayOfExecution",
            "periodic.day.end-of-month/no-31-from-a-month-of-31",
            When::Together(|body| starts_in(body, 31)),
            Then::Refuse,
            "Day 31 is refused in a series that starts in a month of 31 days.",
        ),
        on(
            "/dayOfExecution",
            "http.no-server-error/day-31-from-a-month-of-30",
            When::Together(|body| starts_in(body, 30)),
            Then::Fail,
            "The bank fails on day 31 in a series that starts in a month of 30 days.",
        ),
        on(
            "/dayOfExecution",
            "http.no-server-error/day-31-from-a-month-of-31",
            When::Together(|body| starts_in(body, 31)),
            Then::Fail,
            "The bank fails on day 31 in a series that starts in a month of 31 days.",
        ),
        on(
            "/dayOfExecution",
            "http.no-server-error/day-31-from-february",
            When::Together(|body| starts_in(body, 28) || starts_in(body, 29)),
            Then::Fail,
            "The bank fails on day 31 in a series that starts in a February.",
        ),
        day(
            "periodic.day.leading-zero/refused",
            |day| day.starts_with('0') && day.len() == 2,
            Then::Refuse,
            "A day with a leading zero is refused.",
        ),
    ]
}

/// Returns true for a series on day 31 whose first month has so many days.
fn starts_in(body: &Map<String, Value>, days: u8) -> bool {
    let start = body.get("startDate").and_then(Value::as_str).and_then(|text| date::parse(text).ok());
    body.get("dayOfExecution").is_some_and(|day| day == "31")
        && start.is_some_and(|start| start.num_days_in_month() == days)
}

fn of_months() -> Vec<Entry> {
    let take = Then::TakeFor("[1]");
    let months = |name: &str, says: fn(&Value) -> bool, then, sentence: &str| {
        on("/monthsOfExecution", name, When::Value(says), then, sentence)
    };
    vec![
        months(
            "periodic.months.type/booleans",
            |v| any(v, Value::is_boolean),
            take,
            "Months may be booleans.",
        ),
        months(
            "periodic.months.empty/taken",
            |v| count(v) == 0 && v.is_array(),
            take,
            "A list of months may be empty.",
        ),
        months(
            "periodic.months.range/last",
            |v| v.as_array().and_then(|months| months.last()?.as_i64()).is_some_and(|month| month > 12),
            take,
            "The last month is not looked at.",
        ),
        on(
            "/monthsOfExecution",
            "periodic.months.absent/taken",
            When::Together(lacks_months),
            take,
            "MonthlyVariable may come without months.",
        ),
    ]
}

/// Where dates stand, and one that is in order.
const DATES: [(Operation, &str, &str); 3] = [
    (Operation::Ncbct, "/requestedExecutionDate", "\"2099-12-01\""),
    (Operation::Periodic, "/startDate", "\"2030-03-01\""),
    (Operation::Periodic, "/endDate", "\"2099-12-31\""),
];

/// Forms of ISO 8601 that are more than a date, or another form of one, and days that exist.
fn of_forms((operation, pointer, valid): (Operation, &'static str, &'static str)) -> [Entry; 8] {
    let (take, place) = (Then::TakeFor(valid), kebab(pointer));
    let form = |name: &str, says: fn(&str) -> bool, then, which: &str| {
        let sentence = format!("accepts {which} as {}", &pointer[1..]);
        on_member(
            operation,
            pointer,
            format!("date.form/{name}-as-{place}"),
            (When::Text(says), then),
            &sentence,
        )
    };
    [
        form(
            "time",
            |text| begins_with_day(text) && text[10..].starts_with(['T', ' ']),
            Then::Cut(10),
            "a date with a time",
        ),
        form(
            "zone",
            |text| begins_with_day(text) && text[10..].starts_with(['Z', '+']),
            Then::Cut(10),
            "a date with a zone",
        ),
        form(
            "line-break",
            |text| begins_with_day(text) && text[10..].trim().is_empty() && text.len() > 10,
            Then::Cut(10),
            "a date with a line break or blanks after it",
        ),
        form(
            "basic",
            |text| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()),
            take,
            "a date without hyphens",
        ),
        form("week", |text| text.contains("-W"), take, "a day of a week"),
        form("one-digit", has_one_digit, take, "a date whose month or day has one digit"),
        form("ordinal", |text| text.len() == 8 && text.as_bytes()[4] == b'-', take, "a day of a year"),
        on_member(
            operation,
            pointer,
            format!("date.leap-day/refused-as-{place}"),
            (When::Text(|text| text.ends_with("-02-29")), Then::Refuse),
            &format!("refuses 29 February as {}", &pointer[1..]),
        ),
    ]
}

/// Returns true for a date that lacks the zero of its month, its day or both.
fn has_one_digit(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let is_short = year.len() == 4 && (month.len() == 1 || day.len() == 1);
    is_short && date::parse(&format!("{year}-{month:0>2}-{day:0>2}")).is_ok()
}

fn begins_with_day(text: &str) -> bool {
    text.get(..10).is_some_and(|day| date::parse(day).is_ok())
}

/// Days that are past, and series that end before they start.
fn of_dates() -> Vec<Entry> {
    let mut faults = vec![
        on(
            "/executionRule",
            "periodic.execution-rule.preceding/taken",
            When::Is("preceding"),
            Then::TakeFor("\"preceeding\""),
            "The usual spelling of preceding is taken as well.",
        ),
        on(
            "/endDate",
            "periodic.end-date.absent/demanded",
            When::Absent,
            Then::Refuse,
            "A series has to end.",
        ),
        on(
            "/endDate",
            "periodic.end-date.before-start/same-year",
            When::Together(|body| ends_before(body, 4)),
            Then::TakeFor("\"2099-12-31\""),
            "A series may end before it starts, in the same year.",
        ),
        on(
            "/endDate",
            "periodic.end-date.before-start/same-month",
            When::Together(|body| ends_before(body, 7)),
            Then::TakeFor("\"2099-12-31\""),
            "A series may end before it starts, in the same month.",
        ),
        on(
            "/endDate",
            "periodic.end-date.before-start/any",
            When::Together(|body| ends_before(body, 0)),
            Then::TakeFor("\"2099-12-31\""),
            "A series may end whenever it starts.",
        ),
    ];
    for (clause, pointer) in [
        ("periodic.start-date.past", "/startDate"),
        ("ncbct.requested-execution-date.past", "/requestedExecutionDate"),
    ] {
        for (name, days, most) in
            [("yesterday", 1, "one day"), ("a-month", 31, "a month"), ("any", i64::MAX, "any number of days")]
        {
            faults.push(Entry::breach(
                format!("{clause}/{name}"),
                Breach::PastDays(pointer, days),
                format!("{} may be past, by {most} at most.", &pointer[1..]),
            ));
        }
    }
    faults
}

fn on(pointer: &'static str, name: &str, when: When, then: Then, says: &str) -> Entry {
    let treatment = Treatment { operation: Operation::Periodic, place: Place::Body(pointer), when, then };
    Entry::treats(name, treatment, says)
}

/// Whether this is one or two digits.
fn digits(day: Option<&str>) -> bool {
    day.is_some_and(|day| matches!(day.len(), 1 | 2) && day.bytes().all(|byte| byte.is_ascii_digit()))
}

fn lacks_months(body: &Map<String, Value>) -> bool {
    body.get("frequency").is_some_and(|frequency| frequency == "MonthlyVariable")
        && !body.contains_key("monthsOfExecution")
}

/// Whether the end is a day before the start, and both begin with the same so many characters.
fn ends_before(body: &Map<String, Value>, same: usize) -> bool {
    let day = |name: &str| body.get(name)?.as_str().filter(|text| date::parse(text).is_ok());
    day("startDate")
        .zip(day("endDate"))
        .is_some_and(|(start, end)| end < start && end[..same] == start[..same])
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
