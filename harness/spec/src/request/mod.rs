//! What the document says of requests, as data: `fixtures/spec/requests.yaml` and the table of header fields.
//! A request is judged as a whole by the rules of its places; forms are values that keep or break them.
//!
//! Nothing here names a member, a header field or a clause, and nothing knows how a request was made.

mod compile;
mod condition;
mod definition;
mod draw;
mod form;
mod left_out;
mod operation;
mod outcome;
mod parameters;
mod reading;
mod rule;
mod scope;
mod signing;
mod view;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use self::{
    compile::HEADERS,
    definition::{FILE, Surrounding},
    draw::draw,
    form::{Before, Edit, Form, Prepared},
    left_out::LeftOut,
    outcome::Due,
    parameters::computed,
    view::{Payload, View},
};
use self::{
    operation::Operation,
    outcome::{Findings, Outcome},
    rule::Rule,
    scope::Scope,
    signing::Signing,
};
use crate::{problem::Problem, tree::Tree};

/// What is known of the requests of every operation.
#[derive(Debug, Default)]
pub struct RequestRules {
    operations: BTreeMap<String, Operation>,
    /// Parts of a request in which a broken rule means that nothing is made: `header`, `signing`.
    nothing_created: Vec<String>,
    surroundings: Vec<Surrounding>,
    /// Clauses of which only the bank knows whether a request breaks them.
    known_to_the_bank: Vec<String>,
    fields_of_others: Option<String>,
    signing: Signing,
}

/// A clause that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Its place in the request (`body/a/b`, `header/NAME`, `query/NAME`, `signing`); nothing for the whole
    /// of it.
    pub at: String,
    /// The clause.
    pub clause: String,
}

impl RequestRules {
    /// Reads the rules of a tree; `plain` gives the plain requests of its operations. Without such a file
    /// there are none.
    pub fn load(tree: &Tree, plain: &BTreeMap<String, View<'_>>) -> Result<Self, Problem> {
        tree.text(FILE).map_or_else(|| Ok(Self::default()), |text| Self::new(tree, text, plain))
    }

    fn new(tree: &Tree, text: &str, plain: &BTreeMap<String, View<'_>>) -> Result<Self, Problem> {
        let (file, signing) = compile::read(tree, text)?;
        let operations = compile::operations(tree, &file, &signing, plain)?;
        let (nothing_created, surroundings) = (file.nothing_created, file.surroundings);
        Ok(Self {
            operations,
            nothing_created,
            surroundings,
            known_to_the_bank: file.known_to_the_bank,
            fields_of_others: file.fields_of_others,
            signing,
        })
    }

    /// Names of the operations.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(String::as_str)
    }

    /// The clause of an operation's plain request.
    pub fn plain_clause(&self, operation: &str) -> Option<&str> {
        self.operations.get(operation).map(|operation| operation.plain.as_str())
    }

    /// Operations that have a column of their own in a table of the document, each with its heading.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = self
            .operations
            .iter()
            .map(|(name, operation)| Some((name.as_str(), operation.column.as_deref()?)));
        columns.flatten()
    }

    /// What is known of each place of each operation, by name: `operation`, `at`, `kind`, `clause`, and what
    /// the kind has besides.
    pub fn places(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.operations.values().flat_map(|operation| &operation.places).map(|place| &place.row)
    }

    /// What is tried in requests of an operation.
    pub fn forms(&self, operation: &str) -> &[Form] {
        self.operations.get(operation).map_or(&[], |operation| &operation.forms)
    }

    /// Parts of a request, besides the place itself, on which the rules of a place depend.
    pub fn depends_on(&self, operation: &str, place: &str) -> impl Iterator<Item = &str> {
        let places = self.operations.get(operation).into_iter().flat_map(|operation| &operation.places);
        let own = view::part(place);
        let watched = places.filter(move |known| known.at == place).flat_map(|known| &known.watches);
        watched.flatten().map(String::as_str).filter(move |part| **part != own)
    }

    /// What is tried at other places of an operation, or of the same place in other operations, and makes no
    /// sense at one of its own.
    pub fn left_out(&self, operation: &str) -> &[LeftOut] {
        self.operations.get(operation).map_or(&[], |operation| &operation.left_out)
    }

    /// In which lawful surroundings mistakes are made.
    pub fn surroundings(&self) -> &[Surrounding] {
        &self.surroundings
    }

    /// Every clause that a rule or a form names.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        self.operations
            .values()
            .flat_map(|operation| {
                let rules = operation.places.iter().flat_map(|place| &place.rules).chain(&operation.rules);
                let forms = operation.forms.iter().map(|form| form.clause.as_str());
                rules.filter_map(Rule::clause).chain(forms).chain([operation.plain.as_str()])
            })
            .chain(self.signing.clauses())
    }

    /// What a request must come to. `plain` is the plain request of its operation, the same each time (what
    /// rules said of a value is remembered), `prepared` what is made before it, and `is_expected` says
    /// whether a clause is only the plain reading, which has others.
    pub fn judge(
        &self,
        request: &View<'_>,
        plain: &View<'_>,
        prepared: &Prepared,
        is_expected: &dyn Fn(&str) -> bool,
    ) -> Due {
        let Some(operation) = self.operations.get(request.operation) else {
            return Due::Open("an operation without rules".to_owned());
        };
        let mut findings = Findings::default();
        let scope = Scope::new(operation.listed(), request, plain, prepared);
        let changed = view::changed(request, plain, prepared, &operation.parts);
        for place in &operation.places {
            for outcome in place.outcomes(&scope, changed.as_ref()).iter().flat_map(|all| all.iter()) {
                findings.add(Some(outcome.clone()), self.makes_nothing(&place.at));
            }
        }
        findings.add(self.signing.judge(request, operation.is_signed), self.makes_nothing("signing"));
        findings.add(operation.rules.iter().find_map(|rule| rule.applied(&scope, "")), false);
        findings.due(is_expected)
    }

    /// What a request breaks, each with its place, in the order of [`Due::Refused`].
    pub fn breaches(&self, request: &View<'_>, plain: &View<'_>, prepared: &Prepared) -> Vec<Breach> {
        let Some(operation) = self.operations.get(request.operation) else { return Vec::new() };
        let scope = Scope::new(operation.listed(), request, plain, prepared);
        let mut found = Vec::new();
        let mut add = |at: &str, outcome: Option<Outcome>| {
            if let Some(Outcome::Breaks { clause, .. }) = outcome {
                found.push(Breach { at: at.to_owned(), clause });
            }
        };
        for place in &operation.places {
            for at in scope.every(&place.at) {
                add(&at, place.outcome(&scope, &at));
            }
        }
        add("signing", self.signing.judge(request, operation.is_signed));
        add("", operation.rules.iter().find_map(|rule| rule.applied(&scope, "")));
        found
    }

    /// Returns true if the document says how requests of an operation are signed.
    pub fn is_signed(&self, operation: &str) -> bool {
        self.operations.get(operation).is_some_and(|operation| operation.is_signed)
    }

    /// Returns the clause that the signature of a request breaks, whatever its operation is.
    pub fn broken_by_signature(&self, request: &View<'_>) -> Option<String> {
        match self.signing.judge(request, true)? {
            Outcome::Breaks { clause, .. } => Some(clause),
            _ => None,
        }
    }

    /// The values with placeholders that rules name, each with its place; a number is any item of a list.
    pub fn written(&self, operation: &str) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        if let Some(operation) = self.operations.get(operation) {
            for place in &operation.places {
                place.rules.iter().for_each(|rule| rule.written(&place.at, &mut found));
            }
            operation.rules.iter().for_each(|rule| rule.written("", &mut found));
        }
        found
    }

    /// Names under which rules of an operation ask how often its request was sent before.
    pub fn repeats(&self, operation: &str) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(operation) = self.operations.get(operation) {
            let rules = operation.places.iter().flat_map(|place| &place.rules).chain(&operation.rules);
            rules.for_each(|rule| rule.repeats(&mut found));
        }
        found
    }

    /// A way of signing that has a name, as a case file writes it.
    pub fn way(&self, name: &str) -> Option<&Map<String, Value>> {
        self.signing.way(name)
    }

    /// What is signed instead of the value of a header field where another one is to be signed.
    pub fn signed_instead(&self, header: &str) -> Option<&str> {
        self.signing.instead(header)
    }

    /// Whether only the bank knows if a clause is broken: whoever reads a request does not.
    pub fn is_known_to_the_bank_alone(&self, clause: &str) -> bool {
        self.known_to_the_bank.iter().any(|known| known == clause)
    }

    /// The clause that an operation breaks which needs a header field that only others have.
    pub fn fields_of_others(&self) -> Option<&str> {
        self.fields_of_others.as_deref()
    }

    fn makes_nothing(&self, at: &str) -> bool {
        let part = at.split('/').next().unwrap_or(at);
        self.nothing_created.iter().any(|known| known == part)
    }
}
