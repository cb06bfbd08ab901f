//! Which cases a run has: those that patterns select, and the controls that they need.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use sha2::{Digest, Sha256};

use crate::{case::Case, definition::Depth, nearest, suite::Suite};

/// The cases of a run, in the order of the suite.
#[derive(Debug)]
pub struct Plan<'a> {
    /// Cases that were asked for.
    pub selected: Vec<&'a Case>,
    /// Cases that run only because a selected one, or its control, needs them as control.
    pub controls: Vec<&'a Case>,
    /// Cases that the patterns select and the depth leaves out, each with the reason.
    pub left_out: Vec<(&'a Case, Cow<'static, str>)>,
}

impl Plan<'_> {
    /// How many of the selected cases are the plain request of their operation once more, so that nothing is
    /// sent for them.
    pub fn said_by_name(&self) -> usize {
        self.selected.iter().filter(|case| case.same_as.is_some()).count()
    }
}

/// One of several parts of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// Returns true if the cases with this key are in this part.
    fn has(self, key: &str) -> bool {
        let hash = Sha256::digest(key);
        let number = hash[..8].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        number % u64::from(self.of) == u64::from(self.number - 1)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `2/3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected K/N with 1 <= K <= N, found `{text}`");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of): (u32, u32) =
            (number.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if (1..=of).contains(&number) { Ok(Self { number, of }) } else { Err(wrong()) }
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A pattern without a match.
    #[error("`{}{pattern}` matches no case{}", .option.map(|option| format!("{option} ")).unwrap_or_default(), .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    NoMatch {
        /// `--only` or `--skip`; none for an argument without a name.
        option: Option<&'static str>,
        /// The pattern.
        pattern: String,
        /// The nearest id.
        near: Option<String>,
    },
    /// Everything is skipped.
    #[error("`--skip` takes away {}", if *.has_only { "all that `--only` selects" } else { "every case" })]
    Skipped {
        /// Whether `--only` was given.
        has_only: bool,
    },
    /// Nothing of what is left runs at this depth.
    #[error("nothing of what was asked for runs at depth {}: {case}: {why}", .depth.word())]
    Depth {
        /// The depth.
        depth: Depth,
        /// A case that was asked for.
        case: String,
        /// Why it does not run.
        why: String,
    },
    /// Not even the first case can be asked.
    #[error(
        "`--requests {requests}` suffices for nothing of what was asked for: {case} takes {needs} with its control"
    )]
    Requests {
        /// How many there may be.
        requests: u64,
        /// The case that comes first.
        case: String,
        /// What it takes.
        needs: usize,
    },
}

impl PlanError {
    /// The same for patterns that are given as arguments without a name.
    #[must_use]
    pub fn of_arguments(self) -> Self {
        match self {
            Self::NoMatch { pattern, near, .. } => Self::NoMatch { option: None, pattern, near },
            other => other,
        }
    }
}

impl Suite {
    /// Selects cases. Without `only` all are selected; `skip` takes away. A pattern that matches nothing is
    /// an error.
    ///
    /// A pattern is an area, a clause id, a case id, or a beginning of an id that ends before `.` or `/`; `*`
    /// stands for any characters.
    pub fn plan(&self, only: &[String], skip: &[String], depth: Depth) -> Result<Plan<'_>, PlanError> {
        for (option, patterns) in [("--only", only), ("--skip", skip)] {
            for pattern in patterns {
                if !self.cases().iter().any(|case| matches(pattern, case)) {
                    return Err(PlanError::NoMatch {
                        option: Some(option),
                        pattern: pattern.clone(),
                        near: self.near(pattern),
                    });
                }
            }
        }
        let any = |patterns: &[String], case: &Case| patterns.iter().any(|pattern| matches(pattern, case));
        let chosen =
            self.cases().iter().filter(|case| (only.is_empty() || any(only, case)) && !any(skip, case));
        let (selected, left_out) = self.at_depth(chosen, depth);
        if selected.is_empty() {
            return Err(match left_out.first() {
                None => PlanError::Skipped { has_only: !only.is_empty() },
                Some((case, why)) => PlanError::Depth { depth, case: case.id.clone(), why: why.to_string() },
            });
        }
        Ok(self.with_controls(selected, left_out))
    }

    /// The part of a plan that a shard runs: cases by a hash of their ids, so that a new case moves no other
    /// one, and the controls that they need.
    pub fn shard<'a>(&'a self, plan: &Plan<'a>, shard: Shard) -> Plan<'a> {
        let quota = self.answers().quota();
        self.part(plan, |case| shard.has(case.shard_key(quota)))
    }

    pub(crate) fn with_controls<'a>(
        &'a self,
        selected: Vec<&'a Case>,
        left_out: Vec<(&'a Case, Cow<'static, str>)>,
    ) -> Plan<'a> {
        let number = |id: &str| self.number(id);
        let chosen: HashSet<usize> = selected.iter().filter_map(|case| number(&case.id)).collect();
        let mut needed = BTreeSet::new();
        for case in &selected {
            needed.extend(case.same_as.as_deref().and_then(number).filter(|case| !chosen.contains(case)));
            let mut next = case.control.as_deref().and_then(number);
            while let Some(control) = next {
                if !chosen.contains(&control) && !needed.insert(control) {
                    break;
                }
                next = self.cases()[control].control.as_deref().and_then(number);
            }
        }
        let controls = needed.into_iter().map(|control| &self.cases()[control]).collect();
        Plan { selected, controls, left_out }
    }

    /// Parts the cases into those that run at a depth and those that do not, with the reason. At depth quick
    /// these are the most telling ones, and one of each class that has none of them.
    fn at_depth<'a>(
        &'a self,
        cases: impl Iterator<Item = &'a Case>,
        depth: Depth,
    ) -> (Vec<&'a Case>, Vec<(&'a Case, Cow<'static, str>)>) {
        let class = |case: &'a Case| (case.file.as_str(), case.group, case.clause.as_str());
        let is_beyond = |case: &&Case| case.depth > depth && case.depth == Depth::Exhaustive;
        let (beyond, mut selected): (Vec<&Case>, Vec<&Case>) = cases.partition(is_beyond);
        let exhaustive = |case| (case, "it runs at depth exhaustive only".into());
        let mut left_out: Vec<(&Case, Cow<'static, str>)> = beyond.into_iter().map(exhaustive).collect();
        if depth == Depth::Quick {
            let most_telling: HashSet<&str> = self.most_telling().map(|case| case.id.as_str()).collect();
            let is_telling = |case: &Case| most_telling.contains(case.id.as_str());
            let mut representatives = BTreeMap::new();
            for case in
                selected.iter().copied().filter(|case| is_telling(case)).chain(selected.iter().copied())
            {
                representatives.entry(class(case)).or_insert(case.id.as_str());
            }
            selected.retain(|case| {
                let representative = representatives[&class(case)];
                let is_quick = representative == case.id || is_telling(case);
                if !is_quick {
                    left_out.push((case, format!("at depth quick {representative} stands for it").into()));
                }
                is_quick
            });
        }
        (selected, left_out)
    }

    fn near(&self, pattern: &str) -> Option<String> {
        let ids = self.cases().iter().flat_map(|case| [case.area.as_str(), &case.clause, &case.id]);
        nearest(pattern, ids).map(str::to_owned)
    }
}

/// Whether a pattern is meant for a case: an area, a clause id, a case id, a beginning of an id that ends
/// before `.` or `/`, or a text in which `*` stands for any characters.
pub fn matches(pattern: &str, case: &Case) -> bool {
    if pattern.contains('*') {
        return [&case.id, &case.clause, &case.area].into_iter().any(|text| glob(pattern, text));
    }
    begins(pattern, &case.id) || pattern == case.area
}

/// Whether a pattern is meant for a clause: its id, a beginning of it that ends before `.`, or a text in
/// which `*` stands for any characters.
pub fn matches_clause(pattern: &str, clause: &str) -> bool {
    if pattern.contains('*') { glob(pattern, clause) } else { begins(pattern, clause) }
}

/// Whether an id is this one, or one below it.
fn begins(pattern: &str, id: &str) -> bool {
    id.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}

/// Whether the whole text fits a pattern in which `*` stands for any characters.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_fits_whole_texts_only() {
        let fits =
            [("a*", "abc"), ("*c", "abc"), ("a*c", "abc"), ("*b*", "abc"), ("a*b*c", "aXbYc"), ("*", "")];
        let misses = [("a*", "bc"), ("*c", "abd"), ("a*c", "ab"), ("a*a", "a"), ("*b*", "ac")];
        assert!(fits.iter().all(|(pattern, text)| glob(pattern, text)));
        assert!(!misses.iter().any(|(pattern, text)| glob(pattern, text)));
    }
}
