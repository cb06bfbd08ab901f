//! The shape of rule files (`cases/AREA/RULE.yaml`). The JSON Schema for editors is generated from these
//! types.

use schemars::JsonSchema;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use xs2aspec_spec::yaml::At;

use crate::definition::{FormGroup, Group};

/// A rule file, `cases/AREA/RULE.yaml`: what the document says about one subject, the cases that test it, and
/// the faults that violate it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "xs2aspec case file")]
pub struct CaseFile {
    /// The subject of the file, in one line.
    pub title: String,
    /// The statements of the document. `xs2aspec-spec` reads them.
    #[serde(default)]
    #[schemars(with = "Vec<xs2aspec_spec::clause::Entry>")]
    pub clauses: Skipped,
    /// The groups. Each is one case, or one case for every combination of its axes.
    #[serde(default)]
    pub cases: Vec<At<Group>>,
    /// Groups that each have one case for every form of every place.
    #[serde(default)]
    pub forms: Vec<At<FormGroup>>,
    /// Ways in which a bank violates the clauses. `xs2aspec-reference` reads them.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub faults: Skipped,
    /// Ways in which a conforming bank differs from the usual one. `xs2aspec-reference` reads them.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub variations: Skipped,
    /// Faults that show only if two parts of a request come together.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub interactions: Skipped,
}

impl CaseFile {
    /// Returns true if all its lists are empty.
    pub fn is_empty(&self) -> bool {
        let skipped = [self.clauses, self.faults, self.variations, self.interactions];
        self.cases.is_empty() && self.forms.is_empty() && skipped.iter().all(|list| list.0 == 0)
    }
}

/// The length of a list of a rule file that another crate reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped(pub usize);

impl<'de> Deserialize<'de> for Skipped {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<IgnoredAny>::deserialize(deserializer).map(|items| Self(items.len()))
    }
}

/// The lists of a rule file that describe how banks differ. No run is planned from them.
pub(crate) const OF_BANKS: [&str; 3] = ["faults:", "variations:", "interactions:"];

/// Returns true if a line starts a list of a rule file.
pub(crate) fn begins_list(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns the JSON Schema (2020-12) of case files, for editors.
pub fn case_file_schema() -> Value {
    schemars::schema_for!(CaseFile).to_value()
}
