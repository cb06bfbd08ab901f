//! The document's rules for requests, as data: `fixtures/spec/requests.yaml` and the table of headers. The
//! rules of its places judge a request as a whole. Forms are values that meet or violate the rules.
//!
//! The code names no field, header or clause, and it does not depend on how a request was made.

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

/// The rules for the requests of every operation.
#[derive(Debug, Default)]
pub struct RequestRules {
    operations: BTreeMap<String, Operation>,
    /// Parts of a request (`header`, `signing`) in which any violation means that nothing is created.
    nothing_created: Vec<String>,
    surroundings: Vec<Surrounding>,
    /// Clauses whose violation only the bank can determine.
    known_to_the_bank: Vec<String>,
    fields_of_others: Option<String>,
    signing: Signing,
}

/// A clause that a request violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Its place in the request (`body/a/b`, `header/NAME`, `query/NAME`, `signing`). Empty for the whole
    /// request.
    pub at: String,
    /// The clause.
    pub clause: String,
}

impl RequestRules {
    /// Reads the rules of a tree. `plain` has the baseline request of each operation. Returns no rules if the
    /// tree has no such file.
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

    /// Returns the names of the operations.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(String::as_str)
    }

    /// Returns the clause of an operation's baseline request.
    pub fn plain_clause(&self, operation: &str) -> Option<&str> {
        self.operations.get(operation).map(|operation| operation.plain.as_str())
    }

    /// Returns the operations that have a column in a table of the document, each with the heading of the
    /// column.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = self
            .operations
            .iter()
            .map(|(name, operation)| Some((name.as_str(), operation.column.as_deref()?)));
        columns.flatten()
    }

    /// Returns the properties of each place of each operation: `operation`, `at`, `kind`, `clause`, and the
    /// parameters of its kind.
    pub fn places(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.operations.values().flat_map(|operation| &operation.places).map(|place| &place.row)
    }

    /// Returns the forms that are tried in requests of an operation.
    pub fn forms(&self, operation: &str) -> &[Form] {
        self.operations.get(operation).map_or(&[], |operation| &operation.forms)
    }

    /// Returns the parts of a request, other than the place itself, that the rules of a place depend on.
    pub fn depends_on(&self, operation: &str, place: &str) -> impl Iterator<Item = &str> {
        let places = self.operations.get(operation).into_iter().flat_map(|operation| &operation.places);
        let own = view::part(place);
        let watched = places.filter(move |known| known.at == place).flat_map(|known| &known.watches);
        watched.flatten().map(String::as_str).filter(move |part| **part != own)
    }

    /// Returns the forms that make no sense at a place of this operation, although other places have them.
    pub fn left_out(&self, operation: &str) -> &[LeftOut] {
        self.operations.get(operation).map_or(&[], |operation| &operation.left_out)
    }

    /// Returns the allowed surroundings in which invalid values are tried.
    pub fn surroundings(&self) -> &[Surrounding] {
        &self.surroundings
    }

    /// Returns every clause that a rule or a form names.
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

    /// Returns the response that a request requires.
    ///
    /// `plain` is the baseline request of its operation. It must be the same each time, since outcomes are
    /// cached. `prepared` lists the requests sent before it. `is_expected` returns true for a clause that is
    /// only the plain reading.
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

    /// Returns the violations of a request with their places, in the order of [`Due::Refused`].
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

    /// Returns the clause that the signature of a request violates, whatever its operation is.
    pub fn broken_by_signature(&self, request: &View<'_>) -> Option<String> {
        match self.signing.judge(request, true)? {
            Outcome::Breaks { clause, .. } => Some(clause),
            _ => None,
        }
    }

    /// Returns the values with placeholders that rules name, each with its place. A number in a place matches
    /// any item of a list.
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

    /// Returns the names of earlier requests whose number the rules of an operation depend on.
    pub fn repeats(&self, operation: &str) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(operation) = self.operations.get(operation) {
            let rules = operation.places.iter().flat_map(|place| &place.rules).chain(&operation.rules);
            rules.for_each(|rule| rule.repeats(&mut found));
        }
        found
    }

    /// Returns a named way of signing, as in a case file.
    pub fn way(&self, name: &str) -> Option<&Map<String, Value>> {
        self.signing.way(name)
    }

    /// Returns the value that is signed instead of a header's, for ways of signing that need another value.
    pub fn signed_instead(&self, header: &str) -> Option<&str> {
        self.signing.instead(header)
    }

    /// Returns true if only the bank can determine a violation of this clause, which the request does not
    /// show.
    pub fn is_known_to_the_bank_alone(&self, clause: &str) -> bool {
        self.known_to_the_bank.iter().any(|known| known == clause)
    }

    /// Returns the clause for an operation that requires a header that only other operations have.
    pub fn fields_of_others(&self) -> Option<&str> {
        self.fields_of_others.as_deref()
    }

    fn makes_nothing(&self, at: &str) -> bool {
        let part = at.split('/').next().unwrap_or(at);
        self.nothing_created.iter().any(|known| known == part)
    }
}
