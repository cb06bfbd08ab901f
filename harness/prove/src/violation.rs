//! What drawn requests show: a violation or a warning, by the smallest request that shows it.

use std::collections::BTreeSet;

use xs2aspec_generate::{AppliedForm, Combination, Due, Edit, export};
use xs2aspec_record::{Finding, Level};
use xs2aspec_suite::{Case, Suite};

use crate::drawn_sequence::{AREA, DrawnSequence};

/// A violation or a warning, and what shows it.
#[derive(Debug)]
pub struct Violation {
    /// The clause that is broken first.
    pub clause: String,
    /// Everything that is wrong with the answer.
    pub findings: Vec<Finding>,
    /// What shows it.
    pub shown: Shown,
    /// How many violations were known with it.
    pub number: usize,
}

/// What shows a violation.
#[derive(Debug)]
pub enum Shown {
    /// A request of the suite: the plain one of its operation.
    Plain(Box<Case>),
    /// A drawn request.
    Request(Box<DrawnRequest>),
    /// A drawn sequence of requests.
    Sequence(Box<DrawnSequence>),
}

/// A drawn request, and what must become of it.
#[derive(Debug, Clone)]
pub struct DrawnRequest {
    /// What is different from the plain request, in words.
    said: Vec<String>,
    pub(crate) combination: Combination,
    pub(crate) case: Case,
    pub(crate) due: Due,
}

impl DrawnRequest {
    /// A request with what must become of it. It leans on the plain request of its operation, and what is of
    /// no clause of the ledger is of that of the plain request. `None` if its forms do not go together.
    pub(crate) fn new(combination: Combination, suite: &Suite, plain: Option<&Case>) -> Option<Self> {
        let (mut case, due) = suite.drawn(&combination)?;
        case.control = plain.map(|plain| plain.id.clone());
        if let Some(plain) = plain.filter(|_| !suite.clauses().contains_key(&case.clause)) {
            case.clause.clone_from(&plain.clause);
        }
        // What is made before it stands in a case file by itself.
        let said = case.changes();
        case.notes = case.request.signing.describe();
        Some(Self { said, combination, case, due })
    }

    /// Gives it the id and the file that it has as a case of the suite.
    pub(crate) fn name(&mut self, name: &str) {
        let case = &mut self.case;
        case.id = format!("{}/{name}", case.clause);
        AREA.clone_into(&mut case.area);
        case.file = format!("cases/{AREA}/{name}.yaml");
        (case.line, case.column) = (export::ALONE, 5);
    }

    /// The operation.
    pub fn operation(&self) -> &str {
        &self.combination.operation
    }

    /// What is different from the plain request, in words, one for each change.
    pub fn changes(&self) -> &[String] {
        &self.said
    }
}

impl Violation {
    /// The level of the worst that is wrong.
    pub fn level(&self) -> Level {
        self.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Deny)
    }

    /// The text of a case file that shows it again. `None` where it takes more than a case file can say, or
    /// where the suite has the case.
    pub fn case_file(&self, suite: &Suite, name: &str) -> Option<String> {
        match &self.shown {
            Shown::Plain(_) => None,
            Shown::Request(drawn) => export::file(suite, &drawn.combination, &drawn.case, &drawn.due, name),
            Shown::Sequence(drawn) => export::sequence_file(suite, &drawn.written, name),
        }
    }
}

/// What tells one violation from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A plain request, by its case.
    Plain(String),
    /// The operation, the clauses that are broken, and what the request does that takes part in it.
    Request { operation: String, broken: BTreeSet<String>, forms: BTreeSet<Touched> },
    /// The rule by which the last request of a sequence was judged, and the clauses that are broken.
    Sequence { rule: usize, broken: BTreeSet<String> },
}

/// What a form in a request is about, whatever the value: its clause, and the places that it touches.
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
