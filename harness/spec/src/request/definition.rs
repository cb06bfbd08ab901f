//! The file of requests as it is written: `fixtures/spec/requests.yaml`.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::form::Form;
use crate::yaml::At;

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/requests.yaml";

/// Everything that the file says. Places and kinds are mappings whose other keys are parameters, so that they
/// are read as values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) nothing_created: Vec<String>,
    /// Clauses of which only the bank knows whether a request breaks them.
    #[serde(default)]
    pub(super) known_to_the_bank: Vec<String>,
    /// The clause that an operation breaks which needs a header field of others.
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

/// What else may be there when a mistake is made: lawful forms by place and label, of which the place may end
/// with `*`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Surrounding {
    /// Name, a part of case ids.
    pub name: String,
    /// The forms: `header/* present`, or the label alone of a form of the request as a whole.
    #[serde(default)]
    pub forms: Vec<String>,
    /// Whether the mistake is the first and only request of a connection.
    #[serde(default)]
    pub own_connection: bool,
    /// Whether two mistakes of a clause are enough at any depth, and no further lawful form is met.
    #[serde(default)]
    pub few: bool,
}

impl Surrounding {
    /// Whether a form belongs to it.
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

/// A list of words: of the file, of the document, or a column of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    #[serde(default)]
    pub(super) words: Vec<String>,
    /// The words of the block of the document after the line that begins so.
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
    /// The heading of its column, where a table of the document has one column for each operation.
    pub(super) column: Option<String>,
    /// Whether the document says how its requests are signed.
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

/// What ways of signing break. Which header fields are signed stands in `signing.yaml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Signing {
    /// The clause of a list that leaves one of them out.
    pub(super) missing: String,
    /// The clause of a list that names a field that is not sent.
    pub(super) not_sent: String,
    /// The clause of a list that names more than was signed.
    pub(super) unsigned: String,
    /// The clause of a field that is another than was signed.
    pub(super) altered: String,
    /// The clause of a list in another order; open where nothing is said.
    pub(super) order: Option<String>,
    /// What the refusal of a signature must be, as a case file says it.
    #[serde(default)]
    pub(super) refused: Map<String, Value>,
    /// What is signed instead of a field's value.
    pub(super) instead: IndexMap<String, String>,
    /// The clause of what is found of a signature that somebody else made, by its name.
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
    /// Why both answers are right, where they are.
    pub(super) open: Option<String>,
    /// What its refusal must be, where that is not what holds of all of them.
    pub(super) refused: Option<Map<String, Value>>,
    /// What differs from signing as the document says, as a case file writes it.
    pub(super) signing: Map<String, Value>,
}

/// A header field as the table has it.
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
