//! A request as its rules look at it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::form::Prepared;

/// A request before its run-time placeholders are filled.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Operation id.
    pub operation: &'a str,
    /// Path below the base URL.
    pub path: &'a str,
    /// Query parameters in order.
    pub query: &'a [(String, Value)],
    /// Header fields in the order of the wire.
    pub headers: &'a [(String, Value)],
    /// Body.
    pub payload: Payload<'a>,
    /// How it is signed, where not as the document says; as a case file writes it.
    pub signing: &'a Map<String, Value>,
}

/// The body of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Payload<'a> {
    /// No body.
    None,
    /// A JSON value, and whether one of its members is sent a second time.
    Json(&'a Value, bool),
    /// Text that need not be JSON.
    Raw,
}

impl View<'_> {
    /// The first header field of this name, in any letter case.
    pub(super) fn header(&self, name: &str) -> Option<&Value> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The part of a request that stands for what is made before it.
pub(super) const BEFORE: &str = "before";

/// The part of a request in which a place is: a member of the body, a header field in small letters, a
/// parameter, or the whole of the path or body.
pub(super) fn part(at: &str) -> String {
    match at.split('/').collect::<Vec<_>>().as_slice() {
        ["body", member, ..] => format!("body/{member}"),
        ["header", name, ..] => format!("header/{}", name.to_lowercase()),
        _ => at.to_owned(),
    }
}

/// The parts in which a request is another than the plain one; `None` if all may be.
pub(super) fn changed<'a>(
    request: &View<'a>,
    plain: &View<'a>,
    prepared: &Prepared,
) -> Option<BTreeSet<String>> {
    let mut changed = BTreeSet::new();
    match (request.payload, plain.payload) {
        (Payload::None, Payload::None) => {}
        (Payload::Json(Value::Object(one), false), Payload::Json(Value::Object(other), false)) => {
            let names = one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name));
            changed.extend(names.map(|name| format!("body/{name}")));
        }
        _ => return None,
    }
    if request.headers != plain.headers {
        for (name, _) in request.headers.iter().chain(plain.headers) {
            let values = |view: &View<'a>| {
                let own = view.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
                own.map(|(_, value)| value)
            };
            if !values(request).eq(values(plain)) {
                changed.insert(format!("header/{}", name.to_lowercase()));
            }
        }
    }
    if request.query != plain.query {
        let names = request.query.iter().chain(plain.query).map(|(name, _)| format!("query/{name}"));
        changed.extend(names);
    }
    if request.path != plain.path {
        changed.insert("path".to_owned());
    }
    if !prepared.is_empty() {
        changed.insert(BEFORE.to_owned());
    }
    Some(changed)
}
