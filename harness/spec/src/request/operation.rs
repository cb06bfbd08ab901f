//! The requests of one operation: its places, with their rules, and its forms.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    form::{Form, Prepared},
    left_out::LeftOut,
    outcome::Outcome,
    rule::Rule,
    scope::Scope,
    view::{View, part},
};

/// The requests of one operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// The clause of its plain request.
    pub(super) plain: String,
    /// The heading of its column in a table of the document.
    pub(super) column: Option<String>,
    /// Whether the document says how its requests are signed.
    pub(super) is_signed: bool,
    pub(super) places: Vec<Place>,
    /// Rules that no single place has.
    pub(super) rules: Vec<Rule>,
    pub(super) forms: Vec<Form>,
    /// Forms of other places that make no sense at one of these.
    pub(super) left_out: Vec<LeftOut>,
}

/// A place of a request.
#[derive(Debug)]
pub(super) struct Place {
    /// `body/a/b`, `header/NAME`, `query/NAME`; a number is an item of a list and stands for each of them.
    pub(super) at: String,
    pub(super) rules: Vec<Rule>,
    /// Parts of a request on which its rules depend: where none of them is another than in the plain request
    /// its rules are kept. None if the plain request itself does not keep them.
    pub(super) watches: Option<BTreeSet<String>>,
    /// What its row says of it, by name: `operation`, `at`, `kind`, `clause`, and what the kind has besides.
    pub(super) row: Map<String, Value>,
}

impl Operation {
    /// Names of all of its places.
    pub(super) fn listed(&self) -> Vec<&str> {
        self.places.iter().map(|place| place.at.as_str()).collect()
    }

    /// Finds the parts on which the rules of each place depend.
    pub(super) fn watch(&mut self, plain: &View<'_>) {
        let nothing = Prepared::new();
        let scope = Scope::new(self.listed(), plain, plain, &nothing);
        let watches: Vec<Option<BTreeSet<String>>> =
            self.places.iter().map(|place| place.watched(&scope)).collect();
        for (place, watches) in self.places.iter_mut().zip(watches) {
            place.watches = watches;
        }
    }
}

impl Place {
    /// What the first of its rules that says something decides of its value at `at`: of the place itself, or of
    /// the same place in another item of a list.
    pub(super) fn outcome(&self, scope: &Scope<'_>, at: &str) -> Option<Outcome> {
        self.rules.iter().find_map(|rule| rule.applied(scope, at))
    }

    fn watched(&self, plain: &Scope<'_>) -> Option<BTreeSet<String>> {
        let mut outcomes = plain.every(&self.at).into_iter().map(|at| self.outcome(plain, &at));
        let is_kept = outcomes.all(|outcome| matches!(outcome, None | Some(Outcome::Keeps)));
        let mut parts = BTreeSet::from([part(&self.at)]);
        self.rules.iter().for_each(|rule| rule.watches(&mut parts));
        is_kept.then_some(parts)
    }

    /// Whether it has to be looked at in a request in which these parts are others; in any if all may be.
    pub(super) fn is_touched(&self, changed: Option<&BTreeSet<String>>) -> bool {
        match (&self.watches, changed) {
            (Some(watches), Some(changed)) => !watches.is_disjoint(changed),
            _ => true,
        }
    }
}
