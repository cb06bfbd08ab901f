//! Conditions on the rest of a request, or on earlier requests, under which a fault applies.

use axum::http::Uri;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::operations::Head;
use xs2aspec_bank::state::{Payment, State};
use xs2aspec_bank::status::Status;

use super::Place;
use super::rows::{kept, list};

/// A condition under which a fault applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Beside {
    /// Another place has a value.
    Value(Place),
    /// Another place has this string.
    Is(Place, &'static str),
    /// Another place has a string that starts with one of these.
    Begins(Place, #[serde(deserialize_with = "list")] &'static [&'static str]),
    /// Another place has a string that contains this one.
    Has(Place, &'static str),
    /// The request has this position on its connection.
    Turn(Turn),
    /// The operation is this one.
    On(Operation),
    /// The method is this one.
    Method(&'static str),
    /// The path contains this string.
    Path(&'static str),
    /// Another place has a number above this one.
    Above(Place, i64),
    /// The request refers to a payment like this.
    Payment(Of),
    /// All conditions hold. They are evaluated in order, up to the first that fails.
    #[serde(deserialize_with = "list")]
    All(&'static [Self]),
    /// The condition does not hold.
    #[serde(deserialize_with = "kept")]
    Not(&'static Self),
    /// The request is one of about every second, by its X-Request-ID. A request with the same id gets the
    /// same result.
    AtTimes,
    /// A request with the same path, query and body came before.
    Again,
    /// A request with the same values of these headers was accepted before.
    Accepted(#[serde(deserialize_with = "list")] &'static [&'static str]),
    /// The request has no value at the second place. An earlier request with the same value at the first
    /// place had one.
    Once(Place, Place),
    /// The request is every second one of its operation, counted by successful responses.
    EverySecond,
    /// At least this many requests succeeded at the path with this suffix.
    Answered(&'static str, u32),
}

/// A kind of payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Of {
    /// Payments with this status.
    Status(Status),
    /// Payments in a basket.
    Basket,
    /// Payments of the seed data.
    Earlier,
}

/// A position of a request on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Turn {
    /// The first request.
    First,
    /// Requests after this number of earlier ones.
    After(usize),
}

impl Beside {
    /// Returns true if the condition holds for a request.
    pub(super) fn is_so(self, operation: Operation, head: Head<'_>, body: &[u8], state: &State) -> bool {
        let text_at = |place: Place| place.text(head.fields, head.uri, &read(place, body));
        match self {
            Self::Value(place) => place.has_value(head.fields, head.uri, &read(place, body)),
            Self::Is(place, text) => text_at(place).is_some_and(|found| found == text),
            Self::Begins(place, list) => {
                text_at(place).is_some_and(|found| list.iter().any(|one| found.starts_with(one)))
            }
            Self::Has(place, part) => {
                place.text(head.fields, head.uri, &read(place, body)).is_some_and(|text| text.contains(part))
            }
            Self::Turn(Turn::First) => head.turn == 0,
            Self::Turn(Turn::After(count)) => head.turn >= count,
            Self::On(own) => own == operation,
            Self::Method(method) => operation.method() == method,
            Self::Path(part) => head.uri.path().contains(part),
            Self::Above(place, most) => place
                .text(head.fields, head.uri, &read(place, body))
                .and_then(|text| text.parse::<Decimal>().ok())
                .is_some_and(|number| number > most.into()),
            Self::Payment(of) => {
                let ids = payment_ids(operation, head.uri, body);
                ids.iter().any(|id| state.payment(id).is_some_and(|payment| of.is_so(id, &payment, state)))
            }
            Self::All(all) => all.iter().all(|one| one.is_so(operation, head, body, state)),
            Self::Not(one) => !one.is_so(operation, head, body, state),
            Self::Again => {
                state.count("request", &format!("{} {}", head.uri, String::from_utf8_lossy(body))) > 1
            }
            Self::Once(key, place) => {
                let key = key.text(head.fields, head.uri, &read(key, body)).unwrap_or_default();
                if place.has_value(head.fields, head.uri, &read(place, body)) {
                    state.is_new("once", &key);
                    return false;
                }
                state.is_known("once", &key)
            }
            Self::EverySecond => state.times("answered", operation.id()) % 2 == 1,
            Self::Answered(end, times) => {
                state.times("answered at", &format!("{}{end}", head.uri.path())) >= times
            }
            Self::AtTimes => is_of_every_second(&head.fields.bytes("x-request-id").unwrap_or_default()),
            Self::Accepted(names) => state.is_known("accepted", &values(names, head)),
        }
    }

    /// Records that a request succeeded, for conditions that count.
    pub(super) fn note_answer(self, operation: Operation, head: Head<'_>, state: &State) {
        match self {
            Self::All(all) => all.iter().for_each(|one| one.note_answer(operation, head, state)),
            Self::Not(one) => one.note_answer(operation, head, state),
            Self::EverySecond => drop(state.count("answered", operation.id())),
            Self::Answered(..) => drop(state.count("answered at", head.uri.path())),
            Self::Accepted(names) => drop(state.is_new("accepted", &values(names, head))),
            _ => {}
        }
    }
}

impl Of {
    fn is_so(self, id: &str, payment: &Payment, state: &State) -> bool {
        match self {
            Self::Status(status) => payment.status == status,
            Self::Basket => state.is_in_a_basket(id),
            Self::Earlier => payment.made.is_none(),
        }
    }
}

/// Returns the values of these headers, one per line.
fn values(names: &[&str], head: Head<'_>) -> String {
    let values: Vec<_> = names.iter().map(|name| head.fields.bytes(name).unwrap_or_default()).collect();
    String::from_utf8_lossy(&values.join(&b'\n')).into_owned()
}

/// Returns the ids of the payments that a request refers to: that in its path, or those of a basket.
pub(super) fn payment_ids(operation: Operation, uri: &Uri, body: &[u8]) -> Vec<String> {
    match operation {
        Operation::Payment(_) | Operation::Status(_) | Operation::Deletion(_) => {
            uri.path().split('/').nth(4).map(str::to_owned).into_iter().collect()
        }
        Operation::Basket => {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let ids = body["paymentIds"].as_array().into_iter().flatten();
            ids.filter_map(|id| id.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the body as JSON if the place is in the body.
fn read(place: Place, body: &[u8]) -> Value {
    let body = matches!(place, Place::Body(_)).then(|| serde_json::from_slice(body).ok());
    body.flatten().unwrap_or(Value::Null)
}

/// Returns true for about every second X-Request-ID.
pub(crate) fn is_of_every_second(id: &[u8]) -> bool {
    id.iter().map(|byte| byte.count_ones()).sum::<u32>() % 2 == 0
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use chrono::NaiveDate;
    use serde_json::json;

    use super::*;
    use xs2aspec_bank::header::Fields;
    use xs2aspec_bank::seed::Seed;

    #[test]
    fn a_place_has_a_value_or_none() {
        let (mut headers, uri) = (HeaderMap::new(), "/v1?flag=true".parse().unwrap());
        headers.insert("psu-context", "PRIVATE".parse().unwrap());
        let has = |place: Place| place.has_value(Fields(&headers), &uri, &json!({ "a": { "b": null } }));
        assert!(has(Place::Header("psu-context")) && has(Place::Query("flag")) && has(Place::Body("/a/b")));
        assert!(!has(Place::Header("date")) && !has(Place::Query("a")) && !has(Place::Body("/b")));
    }

    #[test]
    fn something_else_is_so_of_a_request_or_not() {
        let (mut headers, uri) = (HeaderMap::new(), "/v1?flag=true".parse().unwrap());
        headers.insert("psu-context", "PRIVATE".parse().unwrap());
        headers.insert("x-request-id", "1".parse().unwrap());
        let head = Head { fields: Fields(&headers), uri: &uri, turn: 1 };
        let state = State::new(0, &Seed::built_in(), NaiveDate::default());
        let is_so = |beside: Beside| beside.is_so(Operation::Ncbct, head, br#"{ "a": 1, "b": "c" }"#, &state);
        for beside in [
            Beside::Value(Place::Body("/a")),
            Beside::Is(Place::Header("psu-context"), "PRIVATE"),
            Beside::Is(Place::Query("flag"), "true"),
            Beside::Is(Place::Body("/b"), "c"),
            Beside::Begins(Place::Header("psu-context"), &["CO", "PRIV"]),
            Beside::Has(Place::Header("psu-context"), "VAT"),
            Beside::Turn(Turn::After(1)),
            Beside::On(Operation::Ncbct),
            Beside::Method("POST"),
            Beside::Path("v1"),
            Beside::Above(Place::Header("x-request-id"), 0),
            Beside::Not(&Beside::On(Operation::Periodic)),
            Beside::All(&[Beside::On(Operation::Ncbct), Beside::Value(Place::Body("/a"))]),
        ] {
            assert!(is_so(beside), "{beside:?}");
        }
        for beside in [
            Beside::Value(Place::Body("/d")),
            Beside::Is(Place::Header("psu-context"), "CORPORATE"),
            Beside::Is(Place::Query("flag"), "false"),
            Beside::Is(Place::Body("/a"), "1"),
            Beside::Begins(Place::Body("/b"), &["d"]),
            Beside::Has(Place::Header("psu-context"), "vat"),
            Beside::Turn(Turn::First),
            Beside::On(Operation::Periodic),
            Beside::AtTimes,
            Beside::Again,
            Beside::Method("GET"),
            Beside::Path("v2"),
            Beside::Above(Place::Header("x-request-id"), 1),
            Beside::All(&[Beside::On(Operation::Ncbct), Beside::Value(Place::Body("/d"))]),
            Beside::Once(Place::Header("x-request-id"), Place::Body("/a")),
            Beside::EverySecond,
            Beside::Answered("", 1),
            Beside::Accepted(&["x-request-id"]),
        ] {
            assert!(!is_so(beside), "{beside:?}");
        }
        assert!(is_so(Beside::Again), "it came before");
        assert!(is_so(Beside::Once(Place::Header("x-request-id"), Place::Body("/d"))), "/a was there before");
        for beside in [Beside::EverySecond, Beside::Answered("", 1), Beside::Accepted(&["x-request-id"])] {
            beside.note_answer(Operation::Ncbct, head, &state);
            assert!(is_so(beside), "{beside:?}: one succeeded");
        }
        assert!(!is_so(Beside::Accepted(&["date"])));
    }
}
