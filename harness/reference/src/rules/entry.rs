//! What the lists of faults and variations hold, and how one is found in them.

use super::{Beside, Effect, Treatment};
use crate::declaration::Declaration;

/// A fault or a variation as its subject's file declares it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `<clause>/<what is special>`.
    pub(crate) name: String,
    /// One sentence about what the bank then does.
    pub(crate) says: String,
    pub(crate) effects: Vec<Effect>,
    /// What else has to be so of a request for the effects to be there.
    pub(crate) beside: Option<Beside>,
    /// The operator that made it of a row of the bank's tables; none where somebody wrote it.
    pub(crate) operator: Option<&'static str>,
    /// The fault that somebody wrote of which it is a part: the same in fewer requests.
    pub(crate) whole: Option<String>,
    /// What a target profile declares for such a bank.
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

    /// The same where this is so as well, and nowhere else.
    pub(crate) fn only(self, beside: Beside) -> Self {
        Self { beside: Some(beside), ..self }
    }

    /// The same as this operator makes it.
    pub(crate) fn by(self, operator: &'static str) -> Self {
        Self { operator: Some(operator), ..self }
    }

    /// The same as a part of this one.
    pub(crate) fn part_of(self, whole: &Self) -> Self {
        Self { whole: Some(whole.name.clone()), ..self }
    }

    /// The clause that the name begins with.
    pub(crate) fn clause(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(clause, _)| clause)
    }

    /// The entry of this name in a list of faults or variations, which `kind` says.
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

/// A name that no fault, variation or style has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the name of a {kind}, found {name:?}{}", suggestion(kind, *near))]
pub struct UnknownName {
    /// `fault`, `variation` or `style`.
    pub kind: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// The name that is nearest, if one is near.
    pub near: Option<&'static str>,
}

/// The candidate most like `name` in any letter case, or else the first that begins with it.
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

/// Holds the entries of a list to their form, and their names to be different ones.
#[cfg(test)]
pub(crate) fn assert_well_formed(list: &[Entry]) {
    let mut names = std::collections::BTreeSet::new();
    for Entry { name, says, .. } in list {
        let (clause, what) = name.split_once('/').expect("a clause and what is special");
        let is_kebab = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(clause.split('.').all(is_kebab) && is_kebab(what), "{name}");
        assert!(says.len() > 15 && says.ends_with('.'), "{name}");
        let is_word = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase());
        assert!(!says.split('{').skip(1).any(is_word), "{name}: a word is left in {says:?}");
        assert!(names.insert(name), "{name} twice");
    }
}
