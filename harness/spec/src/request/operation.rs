//! The requests of one operation: its places, with their rules, and its forms.

use serde_json::{Map, Value};

use super::{form::Form, rule::Rule};

/// The requests of one operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// The clause of its plain request.
    pub(super) plain: String,
    /// Whether the document says how its requests are signed.
    pub(super) is_signed: bool,
    pub(super) places: Vec<Place>,
    /// Rules that no single place has.
    pub(super) rules: Vec<Rule>,
    pub(super) forms: Vec<Form>,
}

/// A place of a request.
#[derive(Debug)]
pub(super) struct Place {
    /// `body/a/b`, `header/NAME`, `query/NAME`.
    pub(super) at: String,
    pub(super) rules: Vec<Rule>,
    /// What its row says of it, by name: `operation`, `at`, `kind`, `clause`, and what the kind has besides.
    pub(super) row: Map<String, Value>,
}
