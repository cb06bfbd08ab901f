//! The rules for requests as written in `fixtures/spec/requests.yaml`.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::form::Form;
use crate::yaml::At;

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/requests.yaml";

/// The contents of the file. Places and kinds are read as mappings, since their other keys are parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) nothing_created: Vec<String>,
    /// Clauses whose violation only the bank can determine.
    #[serde(default)]
    pub(super) known_to_the_bank: Vec<String>,
    /// The clause for an operation that requires a header of other operations.
    pub(super) fields_of_others: Option<String>,
    pub(super) lists: IndexMap<String, At<List>>,
    #[serde(default)]
    pub(super) surroundings: Vec<Surrounding>,
    pub(super) every_member: At<Map<String, Value>>,
    pub(super) every_header: At<Map<String, Value>>,
    pub(super) every_query: At<Map<String, Value>>,
    pub(super) every_request: At<Map<String, Value>>,
    pub(super) kinds: IndexMap<String, At<Map<String, Value>>>,
    pub(super) headers: IndexMap<String, At<Map<String, Value>>>,
    pub(super) other_headers: At<Map<String, Value>>,
    pub(super) operations: IndexMap<String, Operation>,
    pub(super) signing: At<Signing>,
}

/// Further test values in a request with an invalid value. They are allowed forms, given by place and label.
/// The place may end with `*`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Surrounding {
    /// Name, which is part of case ids.
    pub name: String,
    /// The forms: `header/* present`, or the label alone for a form of the whole request.
    #[serde(default)]
    pub forms: Vec<String>,
    /// True if the invalid value is in the first and only request of a connection.
    #[serde(default)]
    pub own_connection: bool,
    /// True if two invalid values per clause are enough at any depth, without further allowed forms.
    #[serde(default)]
    pub few: bool,
}

impl Surrounding {
    /// Returns true if a form belongs to these surroundings.
    pub fn has(&self, form: &Form) -> bool {
        self.forms.iter().any(|wanted| {
            let (place, label) = wanted.split_once(' ').unwrap_or(("", wanted));
            let is_there = match place.strip_suffix('*') {
                Some(begin) => form.place.starts_with(begin),
                None => form.place == place,
            };
            is_there && form.label == label
        })
    }
}

/// A list of words from the file, from the document, or from a column of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// Start of the line of the document that introduces the block with the words.
    pub(super) after: Option<String>,
    pub(super) table: Option<String>,
    pub(super) column: Option<String>,
    #[serde(default)]
    pub(super) r#where: Map<String, Value>,
}

/// The requests of one operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operation {
    pub(super) plain: String,
    /// Heading of its column, if a table of the document has one column for each operation.
    pub(super) column: Option<String>,
    /// True if the document says how its requests are signed.
    #[serde(default = "usual")]
    pub(super) signed: bool,
    #[serde(default)]
    pub(super) with: Map<String, Value>,
    #[serde(default)]
    pub(super) members: Vec<At<Map<String, Value>>>,
    #[serde(default)]
    pub(super) queries: Vec<At<Map<String, Value>>>,
    #[serde(default)]
    pub(super) rules: Vec<At<Map<String, Value>>>,
    #[serde(default)]
    pub(super) forms: Vec<At<Map<String, Value>>>,
}

fn usual() -> bool {
    true
}

/// The clauses that ways of signing violate. `signing.yaml` lists the headers to sign.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Signing {
    /// The clause for a list that omits one of them.
    pub(super) missing: String,
    /// The clause for a list that names a header that is not sent.
    pub(super) not_sent: String,
    /// The clause for a list that names more than was signed.
    pub(super) unsigned: String,
    /// The clause for a header that was changed after signing.
    pub(super) altered: String,
    /// The clause for a list in another order. Without it, the order is open.
    pub(super) order: Option<String>,
    /// The required rejection of a wrong signature, as in a case file.
    #[serde(default)]
    pub(super) refused: Map<String, Value>,
    /// Values that are signed instead of those of headers.
    pub(super) instead: IndexMap<String, String>,
    /// The clauses for problems in a signature that another client made, by name.
    #[serde(default)]
    pub(super) found: IndexMap<String, String>,
    pub(super) ways: Vec<Way>,
}

/// A way of signing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Way {
    pub(super) name: String,
    pub(super) clause: String,
    #[serde(default)]
    pub(super) accepted: bool,
    /// The reason why acceptance and rejection are both right, if they are.
    pub(super) open: Option<String>,
    /// The required rejection, if it differs from the common one.
    pub(super) refused: Option<Map<String, Value>>,
    /// The deviation from the signing in the document, as in a case file.
    pub(super) signing: Map<String, Value>,
}

/// A row of the table of headers.
#[expect(clippy::struct_field_names, reason = "columns of the table")]
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Header {
    pub(super) operation: String,
    pub(super) header: String,
    pub(super) name: String,
    pub(super) presence: String,
    pub(super) group: String,
    pub(super) sample: String,
}
