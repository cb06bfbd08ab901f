//! Entries of the lists of faults and variations, and lookup by name.

use super::{Beside, Effect, Treatment};
use crate::declaration::Declaration;

/// A fault or a variation.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The name, `<clause>/<effect>`.
    pub(crate) name: String,
    /// One sentence about what the bank does.
    pub(crate) says: String,
    pub(crate) effects: Vec<Effect>,
    /// The condition under which the effects apply.
    pub(crate) beside: Option<Beside>,
    /// The operator that generated the entry, or None for one of a rule file.
    pub(crate) operator: Option<&'static str>,
    /// The rule-file fault that this one restricts to fewer requests.
    pub(crate) whole: Option<String>,
    /// The declarations in the target profile of the bank.
    pub(crate) declares: &'static [Declaration],
}

impl Entry {
    pub(crate) fn new(name: impl Into<String>, effects: Vec<Effect>, says: impl Into<String>) -> Self {
        let (name, says) = (name.into(), says.into());
        Self { name, says, effects, beside: None, operator: None, whole: None, declares: &[] }
    }

    pub(crate) fn treats(name: impl Into<String>, treatment: Treatment, says: impl Into<String>) -> Self {
        Self::new(name, vec![Effect::Treats(treatment)], says)
    }

    /// Adds a condition.
    pub(crate) fn only(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// Sets the operator.
    pub(crate) fn by(self, operator: &'static str) -> Self {
        Self { operator: Some(operator), ..self }
    }

    /// Marks the entry as a restriction of this one.
    pub(crate) fn part_of(self, whole: &Self) -> Self {
        Self { whole: Some(whole.name.clone()), ..self }
    }

    /// Returns the clause in the name.
    pub(crate) fn clause(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(clause, _)| clause)
    }

    /// Returns the entry with this name in a list of faults or variations. `kind` names the list in errors.
    pub(crate) fn find(
        list: &'static [Self],
        kind: &'static str,
        name: &str,
    ) -> Result<&'static Self, UnknownName> {
        list.iter().find(|entry| entry.name == name).ok_or_else(|| UnknownName {
            kind,
            name: name.to_owned(),
            near: near(name, list.iter().map(|entry| entry.name.as_str())),
        })
    }
}

/// An unknown name of a fault, a variation or a style.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a {kind}, found {name:?}{}", suggestion(kind, *near))]
pub struct UnknownName {
    /// `fault`, `variation` or `style`.
    pub kind: &'static str,
    /// The unknown name.
    pub name: String,
    /// The most similar name, if one is similar.
    pub near: Option<&'static str>,
}

/// Returns the candidate that is most similar to `name` without regard to case, or else the first that starts
/// with it.
pub(crate) fn near(name: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let candidates: Vec<&str> = candidates.collect();
    let like = candidates
        .iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(&name, candidate), *candidate))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let longer = || candidates.iter().find(|candidate| !name.is_empty() && candidate.starts_with(&name));
    like.map(|(_, candidate)| candidate).or_else(|| longer().copied())
}

fn suggestion(kind: &str, near: Option<&str>) -> String {
    match near {
        Some(name) => format!("; did you mean {name:?}?"),
        None if kind == "style" => "; styles are plain, strict, lenient, other and drawn-N".to_owned(),
        None => String::new(),
    }
}

/// Asserts that the entries of a list are well-formed and their names unique.
#[cfg(test)]
pub(crate) fn assert_well_formed(list: &[Entry]) {
    let mut names = std::collections::BTreeSet::new();
    for Entry { name, says, .. } in list {
        let (clause, what) = name.split_once('/').expect("a clause and an effect");
        let is_kebab = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(clause.split('.').all(is_kebab) && is_kebab(what), "{name}");
        assert!(says.len() > 15 && says.ends_with('.'), "{name}");
        let is_word = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase());
        assert!(!says.split('{').skip(1).any(is_word), "{name}: a word is not replaced in {says:?}");
        assert!(names.insert(name), "{name} twice");
    }
}
