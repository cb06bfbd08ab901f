//! The response rules: what is checked on every 2xx body of every case, whatever the case is about.
//!
//! Two kinds of rules: the JSON Schemas in `fixtures/schemas/`, which hold what a table of the document says of one member, and
//! the rules that a schema cannot say (money, relations between members). Each finding names the clause that is broken; what
//! the document leaves open is an [`Observation`].
//!
//! Of a 4xx body only the shape of its `tppMessages` is checked, and only where it has them (readings, row 20): the document
//! shows no error body. Outside payment creation even that is recorded and no more (readings, row 96).

mod amount;
mod annotation;
mod body;
mod clause;
mod currency;
mod date;
mod exercise;
mod notes;
mod operation;
mod pointer;
mod relations;
mod schema;
pub(crate) mod words;

use std::collections::BTreeSet;

use serde_json::Value;
use xs2aspec_record::Finding;

pub use operation::{Operation, UnknownOperation};

use self::{currency::Currencies, notes::Notes, schema::Schemas};

/// Every response rule, compiled once and shared by all cases.
#[derive(Debug)]
pub struct ResponseRules {
    schemas: Schemas,
    currencies: Currencies,
}

/// What the rules say of one answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// How many rules were evaluated: reading the body and its schema count one each, and so does every further rule that
    /// found a value to judge. At least 1 for any 2xx; 0 for an answer of which nothing is demanded.
    pub checks: u32,
    /// Every mismatch, up to 200: a long list can break one clause without end.
    pub findings: Vec<Finding>,
    /// What the answer does where the document leaves it free.
    pub observations: Vec<Observation>,
    /// The body, where it is JSON; of any status.
    pub document: Option<Value>,
}

/// Something that is recorded and never a violation by itself. Where its clause is a choice of the bank, a target profile may
/// demand more than the default, and the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Id of the clause that leaves the freedom.
    pub clause: String,
    /// What was seen, with its place (`body/_links/self/href: a relative reference`).
    pub text: String,
}

impl ResponseRules {
    /// Compiles the embedded schemas and reads the embedded currency table.
    pub fn new() -> Self {
        Self { schemas: Schemas::embedded(), currencies: Currencies::embedded() }
    }

    /// The ids of all clauses that a finding or an observation can name, sorted. Each has to be in the ledger.
    pub fn clauses(&self) -> BTreeSet<&str> {
        clause::ALL.iter().copied().chain(self.schemas.clauses()).collect()
    }

    /// The clauses that a 2xx answer of this operation is held to, sorted; what is only observed is among them.
    pub fn clauses_of(&self, operation: Operation) -> BTreeSet<&str> {
        let mut clauses = self.schemas.of(operation).tree().clauses();
        clauses.insert(operation.shape_clause());
        clauses.extend(relations::clauses(operation));
        clauses
    }

    /// Those of [`Self::clauses_of`] that this body of a 2xx answer has a value for. Of the body of a refusal, those that its
    /// messages have to keep.
    pub fn exercised(&self, operation: Operation, status: u16, document: &Value) -> BTreeSet<&str> {
        match status {
            200..=299 => {
                let mut clauses = self.schemas.of(operation).tree().exercised(document);
                clauses.insert(operation.shape_clause());
                clauses.extend(relations::exercised(operation, document));
                clauses
            }
            400..=499 if operation.creates_payment() => self.schemas.refusal().tree().exercised(document),
            _ => BTreeSet::new(),
        }
    }

    /// Whether a body is that of the operation at all: of its kind, with every member that it must have.
    pub fn is_of(&self, operation: Operation, document: Option<&Value>) -> bool {
        document.is_some_and(|document| self.schemas.of(operation).has_members(document))
    }

    /// Checks the answer that `operation` gave.
    ///
    /// `content_type` is the value of the answer's `Content-Type`, if it has one; `body` is the content after any
    /// `Content-Encoding` was undone.
    pub fn check(
        &self,
        operation: Operation,
        status: u16,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Checked {
        match status {
            200..=299 => self.check_success(operation, content_type, body),
            400..=499 => self.check_refusal(operation, body),
            _ => Checked { document: body::read(body).document, ..Checked::default() },
        }
    }

    fn check_success(&self, operation: Operation, content_type: Option<&str>, body: &[u8]) -> Checked {
        let mut notes = Notes::default();
        body::content_type(operation, content_type, &mut notes);
        let read = body::read(body);
        notes.checked();
        if let Some(problem) = read.problem {
            notes.finding(operation.shape_clause(), "body", body::EXPECTED, problem);
        }
        let before = notes.broken();
        for document in read.document.iter().chain(&read.other) {
            if notes.broken() == before {
                self.schemas.of(operation).check(document, &mut notes);
                relations::check(operation, document, &self.currencies, &mut notes);
            }
        }
        notes.into_checked(read.document)
    }

    fn check_refusal(&self, operation: Operation, body: &[u8]) -> Checked {
        let read = body::read(body);
        let mut notes = Notes::default();
        for document in read.document.iter().chain(&read.other) {
            if notes.broken() == 0 && document.get("tppMessages").is_some() {
                self.schemas.refusal().check(document, &mut notes);
            }
        }
        if !operation.creates_payment() {
            notes.demand_nothing(clause::ERROR_BODY);
        }
        notes.into_checked(read.document)
    }
}

impl Default for ResponseRules {
    fn default() -> Self {
        Self::new()
    }
}
