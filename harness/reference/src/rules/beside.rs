//! What else has to be so of a request for a fault to be there.

use axum::http::Uri;
use serde::Deserialize;
use serde_json::Value;

use super::Place;
use crate::header::fields::Fields;
use crate::operation::Operation;
use crate::state::State;

/// What a request has besides its body.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) uri: &'a Uri,
    /// How many requests came before it on its connection; 0 without one.
    pub(crate) turn: usize,
}

/// What else is so where a bank breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Beside {
    /// There is a value at another place.
    Value(Place),
    /// There is this text at another place.
    Is(Place, &'static str),
    /// The request has this turn on its connection.
    Turn(Turn),
    /// It is one of this operation.
    On(Operation),
    /// It is one of about every second, told apart by X-Request-ID: what is sent again with the same id is
    /// treated in the same way.
    AtTimes,
    /// One with the same path, query and body came before.
    Again,
}

/// Which requests of a connection are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Turn {
    /// The first one.
    First,
    /// Those after so many.
    After(usize),
}

impl Beside {
    /// Whether it is so of a request.
    pub(super) fn is_so(self, operation: Operation, head: Head<'_>, body: &[u8], state: &State) -> bool {
        match self {
            Self::Value(place) => place.has_value(head.fields, head.uri, &read(place, body)),
            Self::Is(place, text) => place.has_text(text, head.fields, head.uri, &read(place, body)),
            Self::Turn(Turn::First) => head.turn == 0,
            Self::Turn(Turn::After(count)) => head.turn >= count,
            Self::On(own) => own == operation,
            Self::Again => {
                state.count("request", &format!("{} {}", head.uri, String::from_utf8_lossy(body))) > 1
            }
            Self::AtTimes => is_of_every_second(&head.fields.bytes("x-request-id").unwrap_or_default()),
        }
    }
}

/// The body as JSON, if the place is in it.
fn read(place: Place, body: &[u8]) -> Value {
    let body = matches!(place, Place::Body(_)).then(|| serde_json::from_slice(body).ok());
    body.flatten().unwrap_or(Value::Null)
}

/// Whether a request is one of about every second, by its X-Request-ID.
pub(crate) fn is_of_every_second(id: &[u8]) -> bool {
    id.iter().map(|byte| byte.count_ones()).sum::<u32>() % 2 == 0
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use chrono::NaiveDate;
    use serde_json::json;

    use super::*;
    use crate::seed::Seed;

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
            Beside::Turn(Turn::After(1)),
            Beside::On(Operation::Ncbct),
        ] {
            assert!(is_so(beside), "{beside:?}");
        }
        for beside in [
            Beside::Value(Place::Body("/d")),
            Beside::Is(Place::Header("psu-context"), "CORPORATE"),
            Beside::Is(Place::Query("flag"), "false"),
            Beside::Is(Place::Body("/a"), "1"),
            Beside::Turn(Turn::First),
            Beside::On(Operation::Periodic),
            Beside::AtTimes,
            Beside::Again,
        ] {
            assert!(!is_so(beside), "{beside:?}");
        }
        assert!(is_so(Beside::Again), "it came before");
    }
}
