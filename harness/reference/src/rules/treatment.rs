//! Treatments of request values: replace, reject, or fail. They run before the rules of the bank, so one
//! mechanism serves many faults. For example, a bank that accepts 71 characters truncates the value to 70,
//! and a bank without `SALA` rejects it.

use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Map, Value};
use xs2aspec_bank::header::fields::Fields;
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::refusal::{Code, Refusal};

use super::When;
use super::when::Around;

/// A treatment of some values of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Treatment {
    /// The operation.
    pub(crate) operation: Operation,
    /// The place of the value.
    pub(crate) place: Place,
    /// The values that are treated.
    pub(crate) when: When,
    /// The treatment.
    pub(crate) then: Then,
}

/// A place in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// A header, by its lowercase name.
    Header(&'static str),
    /// A query parameter.
    Query(&'static str),
    /// A field of the body, by its JSON pointer (RFC 6901).
    Body(&'static str),
}

impl Place {
    /// Returns true if a request has a value at the place.
    pub(super) fn has_value(self, fields: Fields<'_>, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Header(name) => fields.bytes(name).is_some(),
            Self::Query(name) => parameter(uri, name).is_some(),
            Self::Body(pointer) => body.pointer(pointer).is_some(),
        }
    }

    /// Returns the string at the place.
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

/// A treatment of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Then {
    /// Replaces it with this JSON text.
    TakeFor(&'static str),
    /// Truncates it to this number of characters.
    Cut(usize),
    /// Removes it.
    Drop,
    /// Converts it to uppercase.
    Capitals,
    /// Replaces an array with its first item.
    First,
    /// Rejects the request.
    Refuse,
    /// Fails with a server error.
    Fail,
}

impl Treatment {
    /// Returns a key for the subject: the header, or the operation with the parameter or the top-level field.
    pub(crate) fn subject(&self) -> String {
        match self.place {
            Place::Header(name) => name.to_owned(),
            Place::Query(name) => format!("{} {name}", self.operation),
            Place::Body(pointer) => {
                format!("{} {}", self.operation, pointer.split('/').nth(1).unwrap_or_default())
            }
        }
    }

    /// Treats headers and query parameters.
    pub(crate) fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal> {
        if operation != self.operation || matches!(self.place, Place::Body(_)) {
            return Ok(());
        }
        let around = Around::Head(fields, uri);
        if self.when.holds(around.value(self.place).as_deref(), around) { self.refuse() } else { Ok(()) }
    }

    /// Treats a field of the body.
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
        let says = "expected a value that this bank accepts, found another";
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

/// Sets a value at a pointer whose parent exists.
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
