//! Operators on fields of requests: presence, null, and JSON types.

use super::table::{self, Kind, Member, valid};
use super::{Made, Operator, apply, clause};
use crate::rules::{Entry, Pattern, Place, Then, When};

/// JSON types: the operator that accepts a value of the type, the one that fails on it, and a description.
const TYPES: [(&str, &str, char, &str); 5] = [
    ("text-taken", "text-fails", 's', "a string"),
    ("number-taken", "number-fails", 'n', "a number"),
    ("boolean-taken", "boolean-fails", 'b', "a boolean"),
    ("list-taken", "list-fails", 'a', "an array"),
    ("object-taken", "object-fails", 'o', "an object"),
];

pub(super) fn faults() -> Vec<Entry> {
    let mut operators = vec![
        Operator::new("not-demanded", |row: &Member| {
            let of = (When::Absent, Then::TakeFor(valid(row)));
            row.is_required.then(|| made(row, clause::required(row), of, "accepts a request without"))
        }),
        Operator::new("demanded", |row: &Member| {
            let clause = clause::optional(row).filter(|_| !row.is_required)?;
            let when = row.parent().map_or(When::Absent, When::AbsentWith);
            Some(made(row, clause, (when, Then::Refuse), "rejects a request without"))
        }),
        Operator::new("not-known", |row: &Member| {
            let clause = clause::taken(row).filter(|_| !row.is_required)?;
            Some(made(row, clause, (When::Present, Then::Refuse), "rejects a request with"))
        }),
        Operator::new("null-taken", |row: &Member| {
            let (clause, then) = if row.kind == Kind::List && row.is_required {
                (clause::of_type(row), Then::TakeFor(valid(row)))
            } else if row.is_required {
                (clause::required(row), Then::TakeFor(valid(row)))
            } else if row.name().starts_with("regulatoryReporting") {
                // Required from the threshold on, and the baseline request is above it.
                (clause::required(row), Then::TakeFor(valid(row)))
            } else {
                ("json.null.request".to_owned(), Then::Drop)
            };
            Some(made(row, clause, (When::Null, then), "accepts null as"))
        }),
        Operator::new("null-fails", |row: &Member| Some(fails(row, When::Null, "fails on null as"))),
        Operator::new("absence-fails", |row: &Member| {
            row.is_required.then(|| fails(row, When::Absent, "fails on a request without"))
        }),
        Operator::new("length-fails", |row: &Member| {
            Some(fails(row, When::Longer(row.most?), "fails on a longer"))
        }),
        Operator::new("emptiness-fails", |row: &Member| {
            (row.kind.letter() == 's').then(|| fails(row, When::Is(""), "fails on an empty"))
        }),
    ];
    operators.push(Operator::new("list-of-one-taken", |row: &Member| {
        let of = (When::Items(1), Then::First);
        (row.kind != Kind::List)
            .then(|| made(row, clause::of_type(row), of, "accepts an array of one item as"))
    }));
    for (taken, failing, letter, words) in TYPES {
        let is_other = move |row: &Member| row.kind.letter() != letter;
        operators.push(Operator::new(taken, move |row: &Member| {
            let of = (When::Type(letter), Then::TakeFor(valid(row)));
            let says = format!("accepts {words} as");
            is_other(row).then(|| made(row, clause::of_type(row), of, &says))
        }));
        operators.push(Operator::new(failing, move |row: &Member| {
            is_other(row).then(|| fails(row, When::Type(letter), &format!("fails on {words} as")))
        }));
    }
    operators.extend(of_items());
    apply(&operators, &table::requests(), |row| (row.operation, row.pointer))
}

/// Returns faults that check the type of one array item only. Another item is an object or null, which no
/// array of the document has.
fn of_items() -> Vec<Operator<Member>> {
    let operator = |name, pattern, says: &'static str| {
        Operator::new(name, move |row: &Member| {
            let of = (When::Json(Pattern(pattern)), Then::TakeFor(valid(row)));
            (row.kind == Kind::List).then(|| made(row, clause::of_type(row), of, says))
        })
    };
    let first = r"^\[.*,(?:\{|null)";
    let last = r"^\[(?:.*,)?(?:\{.*\}|null),";
    vec![
        operator("only-first-item-typed", first, "checks the JSON type of only the first item of"),
        operator("only-last-item-typed", last, "checks the JSON type of only the last item of"),
    ]
}

pub(super) fn made(row: &Member, clause: String, of: (When, Then), says: &str) -> Made {
    let member = row.pointer[1..].replace('/', " ");
    Made::treats(clause, (row.operation, Place::Body(row.pointer)), of, &format!("{says} {member}"))
}

pub(super) fn fails(row: &Member, when: When, says: &str) -> Made {
    made(row, "http.no-server-error".to_owned(), (when, Then::Fail), says)
}
