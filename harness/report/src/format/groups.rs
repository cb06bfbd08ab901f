//! Counts of equal reasons and observations.

use std::{collections::BTreeMap, fmt::Display};

use xs2aspec_record::{CaseVerdict, Reason};

/// Limit of the groups that are counted individually. It bounds the memory if every response of a target is
/// different.
const APART: usize = 2_000;

/// Limit of the cases of a group that are named.
const NAMED: usize = 5;

/// Name of the group beyond the limit.
const FURTHER: &str = "others, all different";

/// Counts of values, such as reasons, each with the first cases that have it.
#[derive(Debug)]
pub(crate) struct Groups<T> {
    /// The groups within the limit.
    apart: BTreeMap<T, Group>,
    /// Everything beyond the limit.
    further: Group,
    times: usize,
}

/// The cases that share a value.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Number of cases.
    pub(crate) times: usize,
    /// The first few cases and their places.
    pub(crate) cases: Vec<(String, String)>,
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Self { apart: BTreeMap::new(), further: Group::default(), times: 0 }
    }
}

impl Groups<Reason> {
    /// Counts the reason of a verdict.
    pub(crate) fn add_reason(&mut self, verdict: &CaseVerdict) {
        self.add(verdict.why(), verdict);
    }
}

impl<T: Ord + Display> Groups<T> {
    /// Counts a value of this case.
    pub(crate) fn add(&mut self, said: T, verdict: &CaseVerdict) {
        self.times += 1;
        let is_apart = self.apart.len() < APART || self.apart.contains_key(&said);
        let group = if is_apart { self.apart.entry(said).or_default() } else { &mut self.further };
        group.times += 1;
        if group.cases.len() < NAMED {
            group.cases.push((verdict.case.clone(), verdict.place.to_string()));
        }
    }

    /// Returns the number of values counted.
    pub(crate) fn times(&self) -> usize {
        self.times
    }

    /// Returns the groups by name, the most frequent first.
    pub(crate) fn by_times(&self) -> Vec<(String, &Group)> {
        let further = (FURTHER.to_owned(), &self.further);
        let groups = self.apart.iter().map(|(said, group)| (said.to_string(), group));
        let mut groups: Vec<_> = groups.chain([further]).filter(|(_, group)| group.times > 0).collect();
        groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.times));
        groups
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Verdict;

    use super::*;
    use crate::sample::Sample;

    #[test]
    fn texts_that_are_all_different_are_counted_together_beyond_a_limit() {
        let mut sample = Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Error).clone();
        let mut groups = Groups::default();
        for number in 0..APART + 10 {
            groups.add(format!("reason {number:05}"), &verdict);
        }
        groups.add("reason 00000".to_owned(), &verdict);
        let counted = groups.by_times();
        let (first, second) = (&counted[0], &counted[1]);
        assert_eq!((first.0.as_str(), first.1.times, first.1.cases.len()), (FURTHER, 10, NAMED));
        assert_eq!((second.0.as_str(), second.1.times), ("reason 00000", 2));
        assert_eq!((counted.len(), groups.times()), (APART + 1, APART + 11));
    }
}
