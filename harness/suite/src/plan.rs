//! Selects the cases of a run: those that patterns match, and the controls that they need.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use sha2::{Digest, Sha256};

use crate::{case::Case, definition::Depth, nearest, suite::Suite};

/// The cases of a run, in the order of the suite.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The selected cases.
    pub selected: Vec<&'a Case>,
    /// Cases that run only because a selected one, or its control, needs them as control.
    pub controls: Vec<&'a Case>,
    /// Cases that the patterns select but the depth excludes, each with the reason.
    pub left_out: Vec<(&'a Case, Cow<'static, str>)>,
}

impl Plan<'_> {
    /// Returns the number of selected cases that repeat the baseline request of their operation, so that
    /// nothing is sent for them.
    pub fn said_by_name(&self) -> usize {
        self.selected.iter().filter(|case| case.same_as.is_some()).count()
    }
}

/// One of several parts of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub number: u32,
    /// Number of parts.
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

    /// Parses `2/3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected K/N with 1 <= K <= N, found `{text}`");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of): (u32, u32) =
            (number.parse().map_err(|_| wrong())?, of.parse().map_err(|_| wrong())?);
        if (1..=of).contains(&number) { Ok(Self { number, of }) } else { Err(wrong()) }
    }
}

/// The reason why no plan is possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A pattern that matches no case.
    #[error("`{}{pattern}` matches no case{}", .option.map(|option| format!("{option} ")).unwrap_or_default(), .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    NoMatch {
        /// `--only` or `--skip`, or `None` for a positional argument.
        option: Option<&'static str>,
        /// The pattern.
        pattern: String,
        /// The most similar id.
        near: Option<String>,
    },
    /// All selected cases are skipped.
    #[error("`--skip` excludes {}", if *.has_only { "all cases that `--only` selects" } else { "every case" })]
    Skipped {
        /// True if `--only` was given.
        has_only: bool,
    },
    /// None of the selected cases runs at this depth.
    #[error("none of the selected cases runs at depth {}: {case}: {why}", .depth.word())]
    Depth {
        /// The depth.
        depth: Depth,
        /// A selected case.
        case: String,
        /// The reason why it does not run.
        why: String,
    },
    /// The limit does not even allow the first case.
    #[error("`--requests {requests}` is too low: {case} needs {needs} requests with its control")]
    Requests {
        /// The highest number of requests.
        requests: u64,
        /// The first case.
        case: String,
        /// The number of requests that it needs.
        needs: usize,
    },
}

impl PlanError {
    /// Returns the same error for patterns that are positional arguments.
    #[must_use]
    pub fn of_arguments(self) -> Self {
        match self {
            Self::NoMatch { pattern, near, .. } => Self::NoMatch { option: None, pattern, near },
            other => other,
        }
    }
}

impl Suite {
    /// Selects cases. Without `only`, all are selected, and `skip` removes some. A pattern that matches
    /// nothing is an error.
    ///
    /// A pattern is an area, a clause id, a case id, or the start of an id up to a `.` or `/`. `*` matches
    /// any characters.
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

    /// Returns the part of a plan that a shard runs, with the controls that its cases need. A hash of its id
    /// assigns a case to a shard, so that a new case moves no other one.
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

    /// Splits the cases into those that run at a depth and those that do not, with the reason. Depth quick
    /// has the most effective cases, and one of each class that has none of them.
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
                    left_out.push((case, format!("at depth quick, {representative} represents it").into()));
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

/// Returns true if a pattern matches a case: an area, a clause id, a case id, or the start of an id up to a
/// `.` or `/`. `*` matches any characters.
pub fn matches(pattern: &str, case: &Case) -> bool {
    if pattern.contains('*') {
        return [&case.id, &case.clause, &case.area].into_iter().any(|text| glob(pattern, text));
    }
    begins(pattern, &case.id) || pattern == case.area
}

/// Returns true if a pattern matches a clause: its id, or the start of it up to a `.`. `*` matches any
/// characters.
pub fn matches_clause(pattern: &str, clause: &str) -> bool {
    if pattern.contains('*') { glob(pattern, clause) } else { begins(pattern, clause) }
}

/// Returns true if an id is this one or one below it.
fn begins(pattern: &str, id: &str) -> bool {
    id.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}

/// Returns true if the whole string matches a pattern in which `*` matches any characters.
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
