//! Texts that many cases have in common, counted.

use std::collections::BTreeMap;

use xs2aspec_record::CaseVerdict;

use crate::words;

/// Texts that are kept apart. A target that makes each of its answers another one does not fill the memory.
const APART: usize = 2_000;

/// Cases of a group that are named at most.
const NAMED: usize = 5;

/// What is said of texts beyond those that are kept apart.
const FURTHER: &str = "further ones, each of them different";

/// Texts, how often each was said, and the first cases of which it was said.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_text: BTreeMap<String, Group>,
    times: usize,
}

/// One text.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// How often it was said.
    pub(crate) times: usize,
    /// The first few cases and their places.
    pub(crate) cases: Vec<(String, String)>,
}

impl Groups {
    /// Counts a text that was said of this case.
    pub(crate) fn add(&mut self, text: &str, verdict: &CaseVerdict) {
        self.times += 1;
        let text = if self.by_text.contains_key(text) || self.by_text.len() < APART { text } else { FURTHER };
        if !self.by_text.contains_key(text) {
            self.by_text.insert(text.to_owned(), Group::default());
        }
        let Some(group) = self.by_text.get_mut(text) else { return };
        group.times += 1;
        if group.cases.len() < NAMED {
            group.cases.push((verdict.case.clone(), verdict.place.to_string()));
        }
    }

    /// Counts the reason of a verdict.
    pub(crate) fn add_reason(&mut self, verdict: &CaseVerdict) {
        self.add(words::reason(verdict), verdict);
    }

    /// How often all of them were said.
    pub(crate) fn times(&self) -> usize {
        self.times
    }

    /// All of them, the most frequent first.
    pub(crate) fn by_times(&self) -> Vec<(&str, &Group)> {
        let mut groups: Vec<_> = self.by_text.iter().map(|(text, group)| (text.as_str(), group)).collect();
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
            groups.add(&format!("reason {number:05}"), &verdict);
        }
        groups.add("reason 00000", &verdict);
        let counted = groups.by_times();
        let (first, second) = (&counted[0], &counted[1]);
        assert_eq!((first.0, first.1.times, first.1.cases.len()), (FURTHER, 10, NAMED));
        assert_eq!((second.0, second.1.times), ("reason 00000", 2));
        assert_eq!((counted.len(), groups.times()), (APART + 1, APART + 11));
    }
}
