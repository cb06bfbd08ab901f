//! Query parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings for query parameters.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Query {
    /// Words that mean `true` in a parameter (`ncbct.allow-logical-duplicate.words`).
    also_true: BTreeMap<String, Vec<String>>,
    /// Parameters that are ignored if they are not boolean (`customers.with-accounts.type`).
    others_passed_over: Vec<String>,
}

impl Query {
    /// Returns true if a word means `true` in a parameter.
    pub(crate) fn is_true(&self, parameter: &str, word: &str) -> bool {
        self.also_true.get(parameter).is_some_and(|words| words.iter().any(|known| known == word))
    }

    /// Returns true if a parameter is ignored if it is not boolean.
    pub(crate) fn passes_over(&self, parameter: &str) -> bool {
        self.others_passed_over.iter().any(|known| known == parameter)
    }
}
