//! Variations: uses of the freedoms that the document leaves, one at a time. A suite must not report one as a
//! fault, and may warn if the plain reading is another. Each is an [`Entry`], a row in the file of its rule
//! (`cases/AREA/RULE.yaml`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::declaration::Declaration;
use crate::rules::{Effect, Entry, UnknownName, rows::ROWS};

/// One named way in which a bank uses a freedom of the document.
#[derive(Clone, Copy)]
pub struct Variation(&'static Entry);

impl Variation {
    /// Returns all variations.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.variations.iter().map(Self)
    }

    /// Returns the name, `<clause>/<effect>`. The clause leaves the freedom.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Returns the id of the clause that leaves the freedom, which is the name up to its slash.
    pub fn clause(self) -> &'static str {
        self.0.clause()
    }

    /// Returns one sentence about what the bank does.
    pub fn says(self) -> &'static str {
        &self.0.says
    }

    /// Returns the declarations in which the target profile of such a bank differs from the default.
    pub fn declares(self) -> &'static [Declaration] {
        self.0.declares
    }

    /// Returns true if the variation shows only over a connection.
    pub fn is_of_http(self) -> bool {
        self.0.effects.iter().any(|effect| match effect {
            Effect::Forms(form) => form.is_coding(),
            other => other.is_of_names(),
        })
    }

    /// Returns keys for its subjects: its clause, the places and forms that it changes, and its declarations.
    /// Two variations that share a key contradict each other.
    pub(crate) fn decides(self) -> BTreeSet<String> {
        let declared = self.0.declares.iter().map(|declaration| match declaration {
            // A value that is accepted as declared has no treatment, but contradicts a rejection of it.
            Declaration::Choice("x-accept-fix.longer-name", _) => "x-accept-fix".to_owned(),
            Declaration::Choice(key, _) | Declaration::NoChoice(key) => format!("choice {key}"),
            Declaration::Path(operation, _) => format!("path {operation}"),
            Declaration::Lacks(capability) | Declaration::MayLack(capability) => format!("has {capability}"),
            Declaration::Prefix(_) => "prefix".to_owned(),
        });
        let effects = self.0.effects.iter().filter_map(|effect| match effect {
            Effect::Treats(one) => Some(one.subject()),
            // Two changes of the same object can make it violate the document.
            Effect::Alters(one) => {
                let object: Vec<&str> = one.pointer.split('/').take(3).collect();
                Some(format!("{} answers {}", one.operation, object.join("/")))
            }
            Effect::Refuses(rule, ..) => Some(format!("refuses {rule}")),
            Effect::Forms(form) => Some(form.subject().to_owned()),
            Effect::Reads(_) | Effect::Policy(_) | Effect::Wraps(_) => None,
        });
        declared.chain(effects).chain([self.clause().to_owned()]).collect()
    }

    pub(crate) fn entry(self) -> &'static Entry {
        self.0
    }
}

impl FromStr for Variation {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Entry::find(&ROWS.variations, "variation", name).map(Self)
    }
}

impl fmt::Debug for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variation({:?})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_well_formed() {
        crate::rules::assert_well_formed(&ROWS.variations);
        assert!(ROWS.variations.len() >= 60, "{}", ROWS.variations.len());
    }

    #[test]
    fn an_unknown_name_suggests_a_near_one() {
        let error = "error.body/problems".parse::<Variation>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected the name of a variation, found \"error.body/problems\"; did you mean \"error.body/problem\"?"
        );
    }
}
