//! The requests of one operation: its places with their rules, and its forms.

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

/// The outcomes of a place, wherever it is in a request, except [`Outcome::Keeps`].
pub(super) type Outcomes = Vec<Outcome>;

/// Maximum number of cached outcomes per place.
const MOST_KNOWN: usize = 1 << 14;

/// The requests of one operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// The clause of its baseline request.
    pub(super) plain: String,
    /// Heading of its column in a table of the document.
    pub(super) column: Option<String>,
    /// True if the document says how its requests are signed.
    pub(super) is_signed: bool,
    pub(super) places: Vec<Place>,
    /// The parts of a request that the rules of the places depend on.
    pub(super) parts: Parts,
    /// Rules that belong to no single place.
    pub(super) rules: Vec<Rule>,
    pub(super) forms: Vec<Form>,
    /// Forms of other places that make no sense at one of these.
    pub(super) left_out: Vec<LeftOut>,
}

/// A place of a request.
#[derive(Debug)]
pub(super) struct Place {
    /// `body/a/b`, `header/NAME`, `query/NAME`. A number matches each item of a list.
    pub(super) at: String,
    pub(super) rules: Vec<Rule>,
    /// The parts of a request that its rules depend on. If none of them differs from the baseline request,
    /// the request meets the rules. `None` if the baseline request itself violates them.
    pub(super) watches: Option<BTreeSet<String>>,
    /// The same parts as a set.
    pub(super) watched: PartSet,
    /// Cached outcomes, by the values of these parts ([`Changed::values_of`]). Most requests share a few
    /// values.
    pub(super) known: Mutex<HashMap<u64, Arc<Outcomes>>>,
    /// Its properties by name: `operation`, `at`, `kind`, `clause`, and the parameters of its kind.
    pub(super) row: Map<String, Value>,
}

impl Operation {
    /// Returns the names of all its places.
    pub(super) fn listed(&self) -> Vec<&str> {
        self.places.iter().map(|place| place.at.as_str()).collect()
    }

    /// Finds the parts that the rules of each place depend on.
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
    /// Creates a place from its rules and its row. [`Operation::watch`] fills in the rest.
    pub(super) fn new(at: String, rules: Vec<Rule>, row: Map<String, Value>) -> Self {
        Self { at, rules, watches: None, watched: 0, known: Mutex::default(), row }
    }

    /// Returns the outcomes of the place in a request that differs from the baseline in `changed`, or in any
    /// part if that is `None`. Returns `None` if the rules depend on nothing that changed.
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

    /// Returns the outcome of the first rule that decides about the value at `at`. This is the place itself,
    /// or the same place in another item of a list.
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
