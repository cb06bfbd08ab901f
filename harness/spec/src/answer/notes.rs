//! Collects what the rules find in one response.

use std::fmt::Display;

use serde_json::Value;

use super::{
    checked::{Checked, Finding, Observation},
    show,
};

/// Maximum number of findings, and of observations, for one response. A long list of customers can violate
/// one clause a hundred thousand times, and the history holds the whole body.
const LIMIT: usize = 200;

/// Maximum length of a recorded place, in characters. Banks choose the names of links.
const LONGEST_PLACE: usize = 300;

/// The findings, observations and number of evaluated rules so far.
#[derive(Debug, Default)]
pub(super) struct Notes {
    checks: u32,
    findings: Vec<Finding>,
    observations: Vec<Observation>,
}

impl Notes {
    /// Counts one evaluated rule.
    pub(super) fn checked(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    /// Records a violation of a clause. `at` is `body`, or `body/` with a JSON pointer.
    pub(super) fn finding(
        &mut self,
        clause: &str,
        at: impl Display,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) {
        if !self.is_full() {
            let (expected, actual) = (expected.into(), actual.into());
            self.findings.push(Finding { clause: clause.to_owned(), expected, actual, at: place(at) });
        }
    }

    /// Records the use of a freedom.
    pub(super) fn observe(&mut self, clause: &str, at: impl Display, text: impl Display) {
        if self.observations.len() < LIMIT {
            let text = text.to_string();
            self.observations.push(Observation { clause: clause.to_owned(), at: place(at), text });
        }
    }

    /// Returns the number of violations so far.
    pub(super) fn broken(&self) -> usize {
        self.findings.len()
    }

    /// Returns true if further findings are dropped.
    pub(super) fn is_full(&self) -> bool {
        self.findings.len() >= LIMIT
    }

    /// Turns every finding into an observation under `clause`, which leaves the shape of this response open.
    pub(super) fn demand_nothing(&mut self, clause: &str) {
        for finding in std::mem::take(&mut self.findings) {
            let text = format!("not {}: {}", finding.expected, finding.actual);
            self.observe(clause, finding.at, text);
        }
    }

    /// Adds the findings for a body with the first of duplicate fields, where the last one is right. With a
    /// clause, they become observations under it.
    pub(super) fn add_first(&mut self, first: Self, clause: Option<&str>) {
        self.checks = self.checks.saturating_add(first.checks);
        for finding in first.findings {
            match clause {
                Some(clause) => {
                    let text = format!(
                        "duplicate field whose first value is not {}: {}",
                        finding.expected, finding.actual
                    );
                    self.observe(clause, finding.at, text);
                }
                None if !self.is_full() => self.findings.push(finding),
                None => {}
            }
        }
    }

    /// Returns the result, with the checked body.
    pub(super) fn into_checked(self, document: Option<Value>) -> Checked {
        let Self { checks, findings, observations } = self;
        Checked { checks, findings, observations, document }
    }
}

fn place(at: impl Display) -> String {
    show::cut(at.to_string(), LONGEST_PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_written_down() {
        let mut notes = Notes::default();
        for number in 0..=LIMIT {
            assert_eq!(notes.is_full(), number == LIMIT);
            notes.finding("a.b", "body", "one", "two");
            notes.observe("a.b", "body", "three");
        }
        let checked = notes.into_checked(None);
        assert_eq!((checked.findings.len(), checked.observations.len()), (LIMIT, LIMIT));
    }

    #[test]
    fn where_nothing_is_demanded_a_finding_becomes_an_observation_with_its_place() {
        let mut notes = Notes::default();
        notes.finding("a.b", "body/c", "a string", "5");
        notes.demand_nothing("a.free");
        let checked = notes.into_checked(None);
        assert!(checked.findings.is_empty());
        let Observation { clause, at, text } = &checked.observations[0];
        assert_eq!((clause.as_str(), at.as_str(), text.as_str()), ("a.free", "body/c", "not a string: 5"));
    }
}
