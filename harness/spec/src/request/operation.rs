//! The requests of one operation: its places, with their rules, and its forms.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value};

use super::{
    form::{Form, Prepared},
    left_out::LeftOut,
    outcome::Outcome,
    rule::Rule,
    scope::Scope,
    view::{Changed, PartSet, Parts, View, part},
};

/// What a place comes to, wherever it is in a request, but for what it keeps.
pub(super) type Outcomes = Vec<Outcome>;

/// How many values a place remembers, at most.
const MOST_KNOWN: usize = 1 << 14;

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
    /// The parts of a request on which the rules of the places depend.
    pub(super) parts: Parts,
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
    /// The same as a set.
    pub(super) watched: PartSet,
    /// What its rules decided, by what these parts held ([`Changed::values_of`]): few values come often.
    pub(super) known: Mutex<HashMap<u64, Arc<Outcomes>>>,
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
        self.parts = Parts::new(watches.iter().flatten().flatten());
        for (place, watches) in self.places.iter_mut().zip(watches) {
            place.watched = self.parts.set(watches.iter().flatten());
            place.watches = watches;
        }
    }
}

impl Place {
    /// A place of which nothing is known yet but its rules and its row.
    pub(super) fn new(at: String, rules: Vec<Rule>, row: Map<String, Value>) -> Self {
        Self { at, rules, watches: None, watched: 0, known: Mutex::default(), row }
    }

    /// What it comes to in a request in which these parts are others than in the plain one, wherever it is in
    /// it, or in any if all may be. None where nothing changed that its rules depend on.
    pub(super) fn outcomes(&self, scope: &Scope<'_>, changed: Option<&Changed>) -> Option<Arc<Outcomes>> {
        let found = || {
            let every = scope.every(&self.at).into_iter();
            let outcomes = every.map(|at| self.outcome(scope, &at));
            Arc::new(outcomes.flatten().filter(|outcome| *outcome != Outcome::Keeps).collect())
        };
        let (Some(changed), true) = (changed, self.watches.is_some()) else { return Some(found()) };
        if changed.parts & self.watched == 0 {
            return None;
        }
        let values = changed.values_of(self.watched);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST_KNOWN {
            known.clear();
        }
        Some(Arc::clone(known.entry(values).or_insert_with(found)))
    }

    /// What the first of its rules that says something decides of its value at `at`: of the place itself, or
    /// of the same place in another item of a list.
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
}
