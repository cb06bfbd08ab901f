//! A request as its rules look at it.

use serde_json::{Map, Value};

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
