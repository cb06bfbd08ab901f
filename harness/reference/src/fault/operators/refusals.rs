//! Operators on rejections: another status, or another code where the document gives one.

use axum::http::StatusCode;
use xs2aspec_bank::member::kebab_case;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::refusal::Code;

use super::table::{self, Kind};
use super::{Made, Operator, apply, clause};
use crate::rules::rows::title;
use crate::rules::{Effect, Entry};

/// A rejection by one rule of the bank.
struct Row {
    operation: Operation,
    place: &'static str,
    /// The rule, as the bank names it.
    rule: String,
    /// The clause of the cases that trigger it.
    clause: String,
}

/// Statuses of success, redirection, or a failure of the bank.
const WRONG: [(&str, u16); 4] = [
    ("refused-with-200", 200),
    ("refused-with-302", 302),
    ("refused-with-500", 500),
    ("refused-with-503", 503),
];

/// Rules whose status and code the document gives.
const GIVEN: [(&str, &str, Code, &[u16]); 2] = [
    (
        "basket.mix",
        "basket.mix",
        Code::ReferenceMixInvalid,
        &[200, 401, 403, 404, 406, 409, 410, 412, 415, 422, 429, 500],
    ),
    (
        "error.corporate-id-missing",
        "error.corporate-id",
        Code::BadRequest,
        &[200, 401, 402, 403, 404, 409, 410, 412, 415, 422, 428, 500],
    ),
];

pub(super) fn faults() -> Vec<Entry> {
    let operators: Vec<Operator<Row>> = WRONG
        .map(|(name, status)| {
            Operator::new(name, move |row: &Row| {
                let (clause, code) = if status < 500 {
                    (row.clause.clone(), Code::FormatError)
                } else {
                    ("http.no-server-error".to_owned(), Code::SystemError)
                };
                Some(refused(row, clause, status, code))
            })
        })
        .into();
    let mut faults = apply(&operators, &rows(), |row| (row.operation, row.place));
    for (rule, clause, code, statuses) in GIVEN {
        let row =
            |operation| Row { operation, place: "rule", rule: rule.to_owned(), clause: clause.to_owned() };
        let operator = Operator::several("status-of-the-document", move |row: &Row| {
            let made = |status: &u16| refused(row, row.clause.clone(), *status, code).of(status.to_string());
            statuses.iter().map(made).collect()
        });
        faults.extend(apply(&[operator], &[row(Operation::Basket)], |row| (row.operation, row.place)));
    }
    faults
}

/// Returns the rules that a request can violate alone: required headers and fields, types and lengths.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for field in table::fields().into_iter().filter(|field| field.is_required) {
        let rule = format!("header.{}.{}", field.name, field.operation);
        rows.push(Row { operation: field.operation, place: field.name, clause: rule.clone(), rule });
    }
    for member in table::requests().into_iter().filter(|member| member.parent().is_none()) {
        let rule = format!("{}.{}", member.operation, kebab_case(member.name()));
        let mut row = |aspect: &str, clause: String| {
            let place: &'static str = format!("{}-{aspect}", member.pointer).leak();
            let rule = format!("{rule}.{aspect}");
            rows.push(Row { operation: member.operation, place, rule, clause });
        };
        if member.is_required {
            row("required", clause::required(&member));
        }
        if !matches!(member.kind, Kind::Date | Kind::Word) {
            row("type", clause::of_type(&member));
        }
        if member.most.is_some() {
            row("length", clause::length(&member));
        }
    }
    rows
}

fn refused(row: &Row, clause: String, status: u16, code: Code) -> Made {
    let effect = Effect::Refuses(
        row.rule.clone().leak(),
        StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST),
        code,
    );
    let says = format!("{} rejects violations of {} with {status}.", title(row.operation), row.rule);
    Made::new(clause, effect, says)
}
