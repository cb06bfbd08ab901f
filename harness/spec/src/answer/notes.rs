//! Where the rules write down what they find while they look at one answer.

use std::fmt::Display;

use serde_json::Value;

use super::{
    checked::{Checked, Finding, Observation},
    show,
};

/// How much is written down of one answer. A long list of customers can break one clause a hundred thousand
/// times; the record holds the body, and nobody reads further.
const LIMIT: usize = 200;

/// Longest place that is written down, in characters; the names of links are the bank's.
const LONGEST_PLACE: usize = 300;

/// Findings, observations and the number of rules evaluated so far.
#[derive(Debug, Default)]
pub(super) struct Notes {
    checks: u32,
    findings: Vec<Finding>,
    observations: Vec<Observation>,
}

impl Notes {
    /// One more rule was evaluated.
    pub(super) fn checked(&mut self) {
        self.checks = self.checks.saturating_add(1);
    }

    /// A clause is broken. `at` is `body` or `body/` with a JSON pointer.
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

    /// A freedom of the bank was used.
    pub(super) fn observe(&mut self, clause: &str, at: impl Display, text: impl Display) {
        if self.observations.len() < LIMIT {
            let text = text.to_string();
            self.observations.push(Observation { clause: clause.to_owned(), at: place(at), text });
        }
    }

    /// How much is broken so far.
    pub(super) fn broken(&self) -> usize {
        self.findings.len()
    }

    /// Whether further findings are left out.
    pub(super) fn is_full(&self) -> bool {
        self.findings.len() >= LIMIT
    }

    /// Turns every finding into an observation under `clause`, which leaves the shape of this answer free.
    pub(super) fn demand_nothing(&mut self, clause: &str) {
        for finding in std::mem::take(&mut self.findings) {
            let text = format!("not {}: {}", finding.expected, finding.actual);
            self.observe(clause, finding.at, text);
        }
    }

    /// Adds what is wrong with a body that has the first of two members with one name, under `clause`, where
    /// the last one is right. Without such a clause it is as wrong as any other.
    pub(super) fn add_first(&mut self, first: Self, clause: Option<&str>) {
        self.checks = self.checks.saturating_add(first.checks);
        for finding in first.findings {
            match clause {
                Some(clause) => {
                    let text = format!("there twice, first not {}: {}", finding.expected, finding.actual);
                    self.observe(clause, finding.at, text);
                }
                None if !self.is_full() => self.findings.push(finding),
                None => {}
            }
        }
    }

    /// The result, with the body it is about.
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
