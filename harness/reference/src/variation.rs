//! The ways in which the bank can use the freedoms that the document leaves, one at a time: what a suite must
//! not take for a fault, and may warn of where the plain reading is another. Each is an [`Entry`]: a row in
//! the file of its rule (`cases/AREA/RULE.yaml`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::declaration::Declaration;
use crate::rules::{Effect, Entry, UnknownName, rows::ROWS};

/// One named way in which the bank does what the document leaves to it.
#[derive(Clone, Copy)]
pub struct Variation(&'static Entry);

impl Variation {
    /// Every variation.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.variations.iter().map(Self)
    }

    /// The name, `<clause>/<what is special>`; the clause is the one that leaves the freedom.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// The id of the clause that leaves the freedom: the name up to its slash.
    pub fn clause(self) -> &'static str {
        self.0.clause()
    }

    /// One sentence about what the bank then does.
    pub fn says(self) -> &'static str {
        &self.0.says
    }

    /// What the target profile of such a bank declares in another way than that of the clean bank.
    pub fn declares(self) -> &'static [Declaration] {
        self.0.declares
    }

    /// Whether it shows only to those who ask over a connection.
    pub fn is_of_http(self) -> bool {
        self.0.effects.iter().any(|effect| match effect {
            Effect::Forms(form) => form.is_coding(),
            other => other.is_of_names(),
        })
    }

    /// What it decides, each in words that another which contradicts it has as well: its clause, the places
    /// and forms that it changes, and what is declared.
    pub(crate) fn decides(self) -> BTreeSet<String> {
        let declared = self.0.declares.iter().map(|declaration| match declaration {
            // What is taken as the profile says is treated at no place, and still contradicts who refuses it.
            Declaration::Choice("x-accept-fix.longer-name", _) => "x-accept-fix".to_owned(),
            Declaration::Choice(key, _) | Declaration::NoChoice(key) => format!("choice {key}"),
            Declaration::Path(operation, _) => format!("path {operation}"),
            Declaration::Lacks(capability) | Declaration::MayLack(capability) => format!("has {capability}"),
            Declaration::Prefix(_) => "prefix".to_owned(),
        });
        let effects = self.0.effects.iter().filter_map(|effect| match effect {
            Effect::Treats(one) => Some(one.subject()),
            // Two that change the same object may make it an unlawful one.
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
