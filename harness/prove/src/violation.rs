//! The violations and warnings of generated requests, each with the smallest request that reveals it.

use std::collections::BTreeSet;

use xs2aspec_generate::{AppliedForm, Combination, Due, Edit, export};
use xs2aspec_record::{Finding, Level};
use xs2aspec_suite::{Case, Suite};

use crate::drawn_sequence::{AREA, DrawnSequence};

/// A violation or a warning, and the request that reveals it.
#[derive(Debug)]
pub struct Violation {
    /// The first violated clause.
    pub clause: String,
    /// All findings of the response.
    pub findings: Vec<Finding>,
    /// The request that reveals it.
    pub shown: Shown,
    /// The number of violations known so far, including this one.
    pub number: usize,
}

/// The request that reveals a violation.
#[derive(Debug)]
pub enum Shown {
    /// A request of the suite: the baseline of its operation.
    Plain(Box<Case>),
    /// A generated request.
    Request(Box<DrawnRequest>),
    /// A generated sequence of requests.
    Sequence(Box<DrawnSequence>),
}

/// A generated request with its expected outcome.
#[derive(Debug, Clone)]
pub struct DrawnRequest {
    /// The differences from the baseline request, in words.
    said: Vec<String>,
    pub(crate) combination: Combination,
    pub(crate) case: Case,
    pub(crate) due: Due,
}

impl DrawnRequest {
    /// Creates a request with its expected outcome. Its control is the baseline request of its operation,
    /// whose clause it also gets if its own is not in the ledger. Returns None if its forms cannot be
    /// combined.
    pub(crate) fn new(combination: Combination, suite: &Suite, plain: Option<&Case>) -> Option<Self> {
        let (mut case, due) = suite.drawn(&combination)?;
        case.control = plain.map(|plain| plain.id.clone());
        if let Some(plain) = plain.filter(|_| !suite.clauses().contains_key(&case.clause)) {
            case.clause.clone_from(&plain.clause);
        }
        // Setup steps are listed separately in a case file.
        let said = case.changes();
        case.notes = case.request.signing.describe();
        Some(Self { said, combination, case, due })
    }

    /// Sets the id and the file that it would have as a case of the suite.
    pub(crate) fn name(&mut self, name: &str) {
        let case = &mut self.case;
        case.id = format!("{}/{name}", case.clause);
        AREA.clone_into(&mut case.area);
        case.file = format!("cases/{AREA}/{name}.yaml");
        (case.line, case.column) = (export::ALONE, 5);
    }

    /// Returns the operation.
    pub fn operation(&self) -> &str {
        &self.combination.operation
    }

    /// Returns the differences from the baseline request, in words, one for each change.
    pub fn changes(&self) -> &[String] {
        &self.said
    }
}

impl Violation {
    /// Returns the highest level of its findings.
    pub fn level(&self) -> Level {
        self.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Deny)
    }

    /// Returns a case file that reproduces it. Returns None if a case file cannot express it, or if the suite
    /// already has the case.
    pub fn case_file(&self, suite: &Suite, name: &str) -> Option<String> {
        match &self.shown {
            Shown::Plain(_) => None,
            Shown::Request(drawn) => export::file(suite, &drawn.combination, &drawn.case, &drawn.due, name),
            Shown::Sequence(drawn) => export::sequence_file(suite, &drawn.written, name),
        }
    }
}

/// The key that identifies a violation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A baseline request, by its case.
    Plain(String),
    /// The operation, the violated clauses, and the parts of the request that contribute.
    Request { operation: String, broken: BTreeSet<String>, forms: BTreeSet<Touched> },
    /// The rule that judged the last request of a sequence, and the violated clauses.
    Sequence { rule: usize, broken: BTreeSet<String> },
}

/// The subject of a form, whatever its value: its clause, and the places that it changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Touched {
    clause: String,
    places: BTreeSet<String>,
}

impl Touched {
    fn new(one: &AppliedForm) -> Self {
        let places = one.edits.iter().map(|edit| match edit {
            Edit::Set(at, _) | Edit::Repeat(at, _) | Edit::Remove(at) => at.clone(),
            Edit::HeaderLast(_) | Edit::HeaderNameInAnotherCase(_) => "header".to_owned(),
            Edit::Raw(_) | Edit::MembersInAnotherOrder(_) => "body".to_owned(),
        });
        Self { clause: one.clause.clone(), places: places.collect() }
    }
}

impl Key {
    pub(crate) fn of_sequence(drawn: &DrawnSequence, findings: &[Finding]) -> Self {
        let broken = findings.iter().map(|finding| finding.clause.clone()).collect();
        Self::Sequence { rule: drawn.written.rule, broken }
    }

    pub(crate) fn of_request(drawn: &DrawnRequest, findings: &[Finding]) -> Self {
        Self::Request {
            operation: drawn.combination.operation.clone(),
            broken: findings.iter().map(|finding| finding.clause.clone()).collect(),
            forms: drawn.combination.forms.iter().map(Touched::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(clause: &str, at: &str, to: i32) -> AppliedForm {
        AppliedForm {
            form: format!("{at} = {to}"),
            place: at.to_owned(),
            clause: clause.to_owned(),
            touches: BTreeSet::new(),
            edits: vec![Edit::Set(at.to_owned(), to.into())],
            signing: None,
            before: vec![],
            needs: vec![],
        }
    }

    #[test]
    fn another_value_is_the_same_violation_and_another_place_or_clause_is_another() {
        let one = Touched::new(&set("a.listed", "body/a", 1));
        assert_eq!(one, Touched::new(&set("a.listed", "body/a", 2)));
        assert_ne!(one, Touched::new(&set("a.listed", "body/b", 1)));
        assert_ne!(one, Touched::new(&set("a.length", "body/a", 1)));
    }
}
