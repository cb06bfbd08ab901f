//! Faults that take one value of a request for another, or stumble over it. They act before the rules do, so
//! that one place serves whole families: a bank that accepts 71 characters reads them as 70, and one that
//! knows no `SALA` refuses it.

use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Map, Value};
use xs2aspec_bank::header::fields::Fields;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::refusal::{Code, Refusal};

use super::When;
use super::when::Around;

/// A value that is treated in a way of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Treatment {
    /// The operation whose requests are treated so.
    pub(crate) operation: Operation,
    /// Where the value stands.
    pub(crate) place: Place,
    /// Which values are meant.
    pub(crate) when: When,
    /// What is done with them.
    pub(crate) then: Then,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// A header field, by its name in lower case.
    Header(&'static str),
    /// A query parameter.
    Query(&'static str),
    /// A member of the body, by its JSON pointer (RFC 6901).
    Body(&'static str),
}

impl Place {
    /// Whether a request has a value there.
    pub(super) fn has_value(self, fields: Fields<'_>, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Header(name) => fields.bytes(name).is_some(),
            Self::Query(name) => parameter(uri, name).is_some(),
            Self::Body(pointer) => body.pointer(pointer).is_some(),
        }
    }

    /// The text that a request has there.
    pub(super) fn text(self, fields: Fields<'_>, uri: &Uri, body: &Value) -> Option<String> {
        match self {
            Self::Header(name) => {
                fields.bytes(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
            Self::Query(name) => parameter(uri, name),
            Self::Body(pointer) => body.pointer(pointer)?.as_str().map(str::to_owned),
        }
    }
}

/// What is done with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Then {
    /// It is taken for this JSON text.
    TakeFor(&'static str),
    /// It is cut to so many characters.
    Cut(usize),
    /// It is taken for absent.
    Drop,
    /// It is taken for the same in capital letters.
    Capitals,
    /// It is a list, and taken for its first item.
    First,
    /// The request is refused.
    Refuse,
    /// The bank fails.
    Fail,
}

impl Treatment {
    /// The header, or the operation with the parameter, or with the member of the body that it is or is in.
    pub(crate) fn subject(&self) -> String {
        match self.place {
            Place::Header(name) => name.to_owned(),
            Place::Query(name) => format!("{} {name}", self.operation),
            Place::Body(pointer) => {
                format!("{} {}", self.operation, pointer.split('/').nth(1).unwrap_or_default())
            }
        }
    }

    /// Treats header fields and query parameters.
    pub(crate) fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal> {
        if operation != self.operation || matches!(self.place, Place::Body(_)) {
            return Ok(());
        }
        let around = Around::Head(fields, uri);
        if self.when.holds(around.value(self.place).as_deref(), around) { self.refuse() } else { Ok(()) }
    }

    /// Treats a member of the body.
    pub(crate) fn body(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal> {
        let Place::Body(pointer) = self.place else { return Ok(()) };
        if operation != self.operation {
            return Ok(());
        }
        let mut body = Value::Object(std::mem::take(members));
        let mut outcome = Ok(());
        if self.when.holds(body.pointer(pointer), Around::Body(&body)) {
            outcome = match self.then {
                Then::Refuse | Then::Fail => self.refuse(),
                Then::Cut(limit) => {
                    let text = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    let cut: String = text.chars().take(limit).collect();
                    put(&mut body, pointer, cut.into());
                    Ok(())
                }
                Then::Drop => {
                    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
                    if let Some(Value::Object(members)) = body.pointer_mut(parent) {
                        members.remove(key);
                    }
                    Ok(())
                }
                Then::First => {
                    let first = body.pointer(pointer).and_then(|list| list.get(0)).cloned();
                    put(&mut body, pointer, first.unwrap_or_default());
                    Ok(())
                }
                Then::Capitals => {
                    let text = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    let capitals = text.to_uppercase();
                    put(&mut body, pointer, capitals.into());
                    Ok(())
                }
                Then::TakeFor(json) => {
                    put(&mut body, pointer, serde_json::from_str(json).unwrap_or_default());
                    Ok(())
                }
            };
        }
        if let Value::Object(back) = body {
            *members = back;
        }
        outcome
    }

    fn refuse(&self) -> Result<(), Refusal> {
        let says = "expected another value, found one that this bank does not take";
        let refusal = match self.then {
            Then::Fail => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::SystemError,
                "system.failure",
                "the bank failed on this value",
            ),
            _ => Refusal::format("value.taken", says),
        };
        let (Place::Header(name) | Place::Query(name) | Place::Body(name)) = self.place;
        Err(refusal.at(name))
    }
}

fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next_back()
}

/// Puts a value at a pointer whose parent is there.
fn put(body: &mut Value, pointer: &str, value: Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    match body.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.insert(key.to_owned(), value)),
        Some(Value::Array(items)) => {
            if let Some(slot) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *slot = value;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use serde_json::json;

    use super::*;

    fn treated(when: When, then: Then, body: &Value) -> Result<Value, u16> {
        let treatment =
            Treatment { operation: Operation::Ncbct, place: Place::Body("/account/name"), when, then };
        let mut members = body.as_object().unwrap().clone();
        treatment
            .body(Operation::Ncbct, &mut members)
            .map(|()| members["account"].clone())
            .map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn each_consequence_does_what_it_says() {
        let body = json!({ "account": { "name": "abcd" } });
        assert_eq!(treated(When::Present, Then::Fail, &body), Err(500));
        assert_eq!(treated(When::Present, Then::Cut(2), &body).unwrap(), json!({ "name": "ab" }));
        assert_eq!(treated(When::Present, Then::TakeFor("[1]"), &body).unwrap(), json!({ "name": [1] }));
        assert_eq!(treated(When::Present, Then::Capitals, &body).unwrap(), json!({ "name": "ABCD" }));
        let list = json!({ "account": { "name": ["abcd"] } });
        assert_eq!(treated(When::Items(1), Then::First, &list).unwrap(), json!({ "name": "abcd" }));
        let mut members = body.as_object().unwrap().clone();
        let (operation, place) = (Operation::Ncbct, Place::Body("/account/name"));
        let drops = Treatment { operation, place, when: When::Present, then: Then::Drop };
        assert!(drops.body(operation, &mut members).is_ok() && members["account"] == json!({}));
        let empty = json!({ "account": {} });
        assert_eq!(treated(When::Absent, Then::TakeFor("\"x\""), &empty).unwrap(), json!({ "name": "x" }));
    }

    #[test]
    fn headers_and_parameters_of_one_operation() {
        let head = |place, when, operation| {
            let treatment = Treatment { operation: Operation::Ncbct, place, when, then: Then::Refuse };
            let mut headers = HeaderMap::new();
            headers.insert("psu-context", "PRIVATE".parse().unwrap());
            let uri = "/v1?flag=true&flag=false".parse().unwrap();
            treatment.head(operation, Fields(&headers), &uri).is_err()
        };
        assert!(head(Place::Header("psu-context"), When::Is("PRIVATE"), Operation::Ncbct));
        assert!(!head(Place::Header("psu-context"), When::Is("PRIVATE"), Operation::Periodic));
        assert!(head(Place::Header("psu-device-id"), When::Absent, Operation::Ncbct));
        assert!(head(Place::Query("flag"), When::Is("false"), Operation::Ncbct));
        assert!(!head(Place::Query("flag"), When::Is("true"), Operation::Ncbct));
    }
}
