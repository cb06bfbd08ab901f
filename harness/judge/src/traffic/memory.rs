//! Remembers earlier exchanges that later ones depend on: created resources and sent requests. Its size is
//! bounded, however long the traffic is.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

use chrono::NaiveDate;
use serde_json::Value;
use xs2aspec_suite::{Location, Suite};

use super::message::{Sent, decoded};

/// Maximum number of remembered resources and of remembered requests. The oldest are dropped.
const MOST: usize = 1 << 17;

/// The key under which requests refer to the id of a created resource.
const ID: &str = "id";

/// A created resource.
#[derive(Debug)]
struct Made {
    operation: String,
    who: u64,
    is_touched: bool,
}

/// The memory of earlier exchanges.
#[derive(Debug)]
pub(crate) struct Memory {
    /// JSON pointers to the ids of created resources in the responses of each operation.
    places: BTreeMap<String, BTreeSet<String>>,
    /// Created resources: the operation and caller that created them, and true if a later request referred to
    /// them.
    made: Bounded<Made>,
    /// Request ids, and the header with them.
    sent_ids: Bounded<()>,
    id_header: Option<String>,
    /// Headers that identify the caller, in lowercase.
    identities: Vec<String>,
    /// Accepted requests, by their amounts.
    accepted: Bounded<()>,
    /// The day and number of times that a request was sent.
    sent: Bounded<(NaiveDate, usize)>,
    /// The names with which rules count earlier requests of an operation.
    repeats: BTreeMap<String, Vec<String>>,
}

impl Memory {
    pub(crate) fn new(suite: &Suite) -> Self {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let baselines = suite.baselines();
        let mut add = |baseline: &str, at: &str| {
            if let (Some(made_by), Ok(Location::Body(pointer))) = (baselines.get(baseline), at.parse()) {
                places.entry(made_by.request.operation.clone()).or_default().insert(pointer);
            }
        };
        for step in baselines.values().flat_map(|baseline| &baseline.before) {
            step.keep.iter().filter(|(key, _)| *key == ID).for_each(|(_, at)| add(&step.baseline, at));
        }
        let requests = suite.requests();
        let forms = requests.operations().flat_map(|operation| requests.forms(operation));
        for step in forms.flat_map(|form| &form.before) {
            step.keep.iter().filter(|(key, _)| *key == ID).for_each(|(_, at)| add(&step.baseline, at));
        }
        let spec = suite.spec();
        let personal = spec.signing.signed_headers.iter().filter(|name| spec.masks.is_personal_header(name));
        let certificate = spec.signing.certificate_header.as_ref();
        let identities = personal.chain(certificate).map(|name| name.to_ascii_lowercase()).collect();
        let repeats = requests.operations().map(|name| (name.to_owned(), requests.repeats(name)));
        Self {
            places,
            made: Bounded::default(),
            identities,
            sent_ids: Bounded::default(),
            id_header: spec.signing.request_id_header.clone(),
            accepted: Bounded::default(),
            sent: Bounded::default(),
            repeats: repeats.filter(|(_, names)| !names.is_empty()).collect(),
        }
    }

    /// Returns the operation that created the resource with this id.
    pub(crate) fn made_by(&self, id: &str) -> Option<&str> {
        self.made.get(hash(&id)).map(|made| made.operation.as_str())
    }

    /// Returns true if the same caller created the resource and no request has used it since.
    pub(crate) fn is_untouched(&self, id: &str, who: u64) -> bool {
        self.made.get(hash(&id)).is_some_and(|made| !made.is_touched && made.who == who)
    }

    /// Returns true if an earlier request had the same request id.
    pub(crate) fn was_sent(&self, request: &Sent) -> bool {
        self.id_of(request).is_some_and(|id| self.sent_ids.get(id).is_some())
    }

    fn id_of(&self, request: &Sent) -> Option<u64> {
        Some(hash(request.header(self.id_header.as_deref()?)?))
    }

    /// Returns a hash of the headers that identify the caller.
    pub(crate) fn who(&self, request: &Sent) -> u64 {
        let said: Vec<_> = self.identities.iter().map(|name| request.header(name)).collect();
        hash(&said)
    }

    /// Returns true if a request with the same amounts was accepted before.
    pub(crate) fn was_accepted(&self, operation: &str, asks: u64) -> bool {
        asks != 0 && self.accepted.get(hash(&(operation, asks))).is_some()
    }

    /// Returns the names with which rules count earlier requests, each with the count.
    pub(crate) fn sent_before(
        &self,
        operation: &str,
        request: &Sent,
        day: NaiveDate,
    ) -> Vec<(String, usize)> {
        let Some(names) = self.repeats.get(operation) else { return Vec::new() };
        let times = self.times(alike(operation, request), day);
        names.iter().filter(|_| times > 0).map(|name| (name.clone(), times)).collect()
    }

    fn times(&self, key: u64, day: NaiveDate) -> usize {
        self.sent.get(key).filter(|(known, _)| *known == day).map_or(0, |(_, times)| *times)
    }

    /// Returns the ids of created resources in a response.
    fn ids(&self, operation: &str, answer: &Value) -> BTreeSet<String> {
        let places = self.places.get(operation).into_iter().flatten();
        places.filter_map(|place| answer.pointer(place)?.as_str()).map(str::to_owned).collect()
    }

    /// Remembers a request and, if it was accepted, the resources that its response names.
    pub(crate) fn add(
        &mut self,
        operation: &str,
        (request, day, asks): (&Sent, NaiveDate, u64),
        answer: Option<&Value>,
    ) {
        if self.repeats.contains_key(operation) {
            let key = alike(operation, request);
            self.sent.insert(key, (day, self.times(key, day) + 1));
        }
        if let Some(id) = self.id_of(request) {
            self.sent_ids.insert(id, ());
        }
        let Some(answer) = answer else { return };
        if request.method != "GET" {
            self.touch(request);
        }
        let who = self.who(request);
        for id in self.ids(operation, answer) {
            let made = Made { operation: operation.to_owned(), who, is_touched: false };
            self.made.insert(hash(&id), made);
        }
        if self.places.contains_key(operation) {
            self.accepted.insert(hash(&(operation, asks)), ());
        }
    }

    /// Marks all resources that a request refers to as used.
    fn touch(&mut self, request: &Sent) {
        let (path, _) = request.target();
        let mut named: Vec<u64> = path.split('/').map(|part| hash(&decoded(part))).collect();
        let body = request.body.bytes().and_then(|body| serde_json::from_slice(body).ok());
        if let Some(body) = body {
            texts(&body, &mut named);
        }
        for key in named {
            if let Some(made) = self.made.values.get_mut(&key) {
                made.is_touched = true;
            }
        }
    }
}

/// Adds hashes of the strings in a value.
pub(crate) fn texts(value: &Value, found: &mut impl Extend<u64>) {
    match value {
        Value::String(text) => found.extend([hash(text)]),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// Returns a hash that is the same for requests with the same target and the same header names.
fn alike(operation: &str, request: &Sent) -> u64 {
    let names: BTreeSet<String> = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    hash(&(operation, request.target(), names))
}

/// Returns a hash of a value.
pub(crate) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A map that keeps only the most recent entries.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    values: HashMap<u64, T>,
    order: VecDeque<u64>,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Bounded<T> {
    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        self.values.get(&key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.values.values()
    }

    /// Returns the value of a key, and inserts a default if it is new.
    pub(crate) fn entry(&mut self, key: u64) -> &mut T
    where
        T: Default,
    {
        if !self.values.contains_key(&key) {
            self.insert(key, T::default());
        }
        self.values.entry(key).or_default()
    }

    pub(crate) fn insert(&mut self, key: u64, value: T) {
        if self.values.insert(key, value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut known = Bounded::default();
        for number in 0..=MOST as u64 {
            known.insert(number, number);
            known.insert(number, number);
        }
        assert_eq!((known.get(0), known.get(1)), (None, Some(&1)));
        assert_eq!(known.values.len(), MOST);
    }
}
