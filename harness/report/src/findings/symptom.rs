//! Symptoms: defects in the responses to some cases, by clause and place. Several symptoms may have one
//! cause.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;
use xs2aspec_record::{
    Body, CaseVerdict, Culprit, End, Exchange, Finding, Level, Mismatch, Place, Response, RunStarted,
    Verdict, finding_id,
};

use crate::words;

use super::requests;

/// Limit of the symptoms that are recorded individually. It bounds the memory if every response of a target
/// is different.
const APART: usize = 5_000;

/// Limit of the witnesses of a symptom that are named in addition to the smallest.
const NAMED: usize = 20;

/// The status of a response, as the place of a finding.
const STATUS: &str = "status";

/// The kind of defect. Those that most likely explain others come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The baseline request of an operation is not accepted.
    Plain,
    /// A response does not have the required shape.
    Answer,
    /// A request with one change gets another outcome than the rule for it requires.
    Rule,
    /// A request with many valid variants at once is rejected for some of them.
    Row,
    /// A response is wrong only because it is of the wrong kind.
    Consequence,
}

/// The target's reaction to a request, as data. Two symptoms with equal outcomes may have one cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The kind of mismatch.
    pub(super) kind: Mismatch,
    /// Status of the response; 0 if there was none.
    pub(super) status: u16,
    /// Error codes in the response.
    pub(super) codes: Vec<String>,
}

impl Outcome {
    /// Returns the first digit of the status.
    pub(super) const fn class(&self) -> u16 {
        self.status / 100
    }

    /// Returns true if the status is about the client or the address (RFC 9110 sections 15.4, 15.5.2, 15.5.4
    /// to 15.5.6 and 15.5.8). Any request may get such a status for the same reason.
    pub(super) const fn is_about_the_client(&self) -> bool {
        matches!(self.status, 300..=399 | 401 | 403 | 404 | 405 | 407)
    }
}

/// A case that shows a defect.
#[derive(Debug, Clone)]
pub struct Witness {
    /// Id of the case.
    pub case: String,
    /// Its file and line.
    pub place: Place,
}

impl Witness {
    fn of(verdict: &CaseVerdict) -> Self {
        Self { case: verdict.case.clone(), place: verdict.place.clone() }
    }
}

/// A defect under one clause at one place.
#[derive(Debug, Clone)]
pub struct Symptom {
    /// Level of the symptom.
    pub level: Level,
    /// The end that caused the violation, in recorded traffic.
    pub end: Option<End>,
    /// The violated clause.
    pub clause: String,
    /// The place in the response, and the places of the request that were found to cause it.
    pub place: String,
    /// The expected and the actual value, as the smallest witness shows them.
    pub mismatch: String,
    /// The changes of the smallest witness to an accepted request.
    pub changes: Vec<String>,
    /// The minimal cause of the smallest witness, in a sentence.
    pub culprit: Option<String>,
    /// The smallest witness.
    pub witness: Witness,
    /// The number of its judged request, if one was sent.
    pub request: Option<u64>,
    /// Method and URL of that request.
    pub sent_to: Option<(String, String)>,
    /// The first of the other witnesses.
    pub others: Vec<Witness>,
    /// The number of cases that show it.
    pub witnesses: usize,
    /// The clause that a valid variant shows to be violated, if this request is rejected.
    pub(super) named: Option<String>,
    pub(super) kind: Kind,
    /// Places in which the request of the smallest witness differs from its control, each with the value sent
    /// there, if that is known.
    smallest: BTreeMap<String, Option<String>>,
    /// The number of witnesses that differ at each place.
    changed: HashMap<String, usize>,
    /// The outcome of the smallest witness.
    pub(super) outcome: Outcome,
    /// A hash of the value that the response to the smallest witness has at the place of the finding.
    found: Option<u64>,
    /// True if it is about the outcome of the whole request.
    pub(super) is_of_status: bool,
    /// True if its smallest witness shows that the target no longer accepts a baseline request.
    pub(super) is_unconfirmed: bool,
    /// Operation of its smallest witness.
    pub(super) operation: String,
    /// The rank of its smallest witness: cases of the same clause and with fewer changes come first.
    pub(super) rank: (bool, usize, usize, usize),
    /// A hash of the set of cases, equal for equal sets.
    pub(super) cases: u64,
    /// Places of responses whose values the judged request of the smallest witness has.
    used: BTreeSet<String>,
}

impl Symptom {
    fn new((level, clause, place): Key, end: Option<End>, verdict: &CaseVerdict) -> Self {
        Self {
            level,
            end,
            clause,
            place,
            mismatch: String::new(),
            changes: Vec::new(),
            culprit: None,
            witness: Witness::of(verdict),
            request: None,
            sent_to: None,
            others: Vec::new(),
            witnesses: 0,
            named: None,
            kind: Kind::Rule,
            smallest: BTreeMap::new(),
            changed: HashMap::new(),
            outcome: Outcome::default(),
            found: None,
            is_of_status: false,
            is_unconfirmed: false,
            operation: String::new(),
            rank: (true, usize::MAX, usize::MAX, usize::MAX),
            cases: 0,
            used: BTreeSet::new(),
        }
    }

    /// Returns the id, the same in every run that shows it. It depends on clause and place.
    pub fn id(&self) -> String {
        finding_id::id(&self.clause, &self.place)
    }

    /// Returns the key under which it is stored.
    pub(crate) fn key(&self) -> Key {
        (self.level, self.clause.clone(), self.place.clone())
    }

    /// Adds a case that shows it.
    fn add(
        &mut self,
        verdict: &CaseVerdict,
        finding: &Finding,
        (response, exchanges): (Option<&Response>, &[Exchange]),
    ) {
        self.witnesses += 1;
        let places = places(verdict);
        for place in places.keys() {
            *self.changed.entry(place.clone()).or_default() += 1;
        }
        self.cases = self.cases.wrapping_add(hashed(&verdict.case));
        let changes = words::changes(verdict);
        let size = changes.len().max(places.len());
        // Among witnesses with equally many differences, choose the one nearest to the baseline request.
        let (beside, letters) = (verdict.changes.len(), changes.concat().len());
        let rank = (finding.clause != verdict.clause, size, beside, letters);
        let mut other = Witness::of(verdict);
        if self.witnesses == 1 || rank < self.rank {
            self.rank = rank;
            self.mismatch = words::mismatch(self.end, finding);
            self.request = verdict.exchange;
            let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
            self.sent_to = judged.map(|judged| (judged.request.method.clone(), judged.request.url.clone()));
            std::mem::swap(&mut self.witness, &mut other);
            (self.changes, self.smallest) = (changes, places);
            self.describe(verdict, finding);
            let status = response.map_or(0, |response| response.status);
            self.outcome = Outcome { kind: finding.kind, status, codes: verdict.codes.clone() };
            self.found = response.and_then(|response| found(response, &finding.at));
            self.used = requests::used(verdict, exchanges);
        }
        if self.witnesses > 1 && self.others.len() < NAMED {
            self.others.push(other);
        }
    }

    /// Returns the places of the request that it is about: those of the smallest witness, and those that most
    /// witnesses have.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let common = self.changed.iter().filter(|(_, times)| **times * 2 > self.witnesses);
        self.smallest.keys().map(String::as_str).chain(common.map(|(place, _)| place.as_str()))
    }

    /// Returns the value that the smallest witness sends at a place, if that is known.
    pub(super) fn sent(&self, place: &str) -> Option<&str> {
        self.smallest.get(place)?.as_deref()
    }

    /// Returns true if any request may be rejected for the same reason: a header, the signature, or the
    /// client.
    pub(super) fn may_concern_any_request(&self) -> bool {
        let is_of_any = |place: &str| place.starts_with("header/") || place == "signing";
        let mut places = self.places().peekable();
        if places.peek().is_none() { self.outcome.is_about_the_client() } else { places.all(is_of_any) }
    }

    /// Returns true if both are about one value of a response, or about a missing one.
    pub(super) fn has_value_of(&self, other: &Self) -> bool {
        let is_missing = |symptom: &Self| symptom.outcome.kind == Mismatch::Missing;
        self.place == other.place
            && (is_missing(self) && is_missing(other) || self.found.is_some() && self.found == other.found)
    }

    /// Returns true if one operation rejects both with the same outcome, and the requests differ from
    /// accepted ones only in their setup.
    pub(super) fn is_refused_like(&self, other: &Self) -> bool {
        let is_refused = |symptom: &Self| {
            let mut places = symptom.places();
            let is_prepared = places.all(|place| matches!(place, "before" | "path"));
            symptom.is_of_status && symptom.outcome.class() == 4 && is_prepared
        };
        is_refused(self)
            && is_refused(other)
            && self.operation == other.operation
            && self.outcome == other.outcome
    }

    /// Returns true if its smallest witness is an unchanged request.
    pub(super) fn changes_nothing(&self) -> bool {
        self.smallest.is_empty()
    }

    /// Returns true if the smallest witnesses of both are about the same places of the request.
    pub(super) fn has_places_of(&self, other: &Self) -> bool {
        !self.smallest.is_empty() && self.smallest.keys().eq(other.smallest.keys())
    }

    /// Returns true if this rejected request reused a value that `wrong` reports as invalid in an earlier
    /// response.
    pub(super) fn is_refused_for(&self, wrong: &Self) -> bool {
        wrong.kind == Kind::Answer
            && !wrong.is_of_status
            && self.outcome.class() == 4
            && self.used.contains(&wrong.place)
    }

    /// Returns the number of places in which the smallest witness differs from an accepted request. The fewer
    /// they are, the more it says about a rule. It is 1 for defects of responses, which do not depend on
    /// changes.
    pub(super) fn distance(&self) -> usize {
        if self.kind == Kind::Answer { 1 } else { self.smallest.len().max(1) }
    }

    /// Records what its smallest witness says about its cause.
    fn describe(&mut self, verdict: &CaseVerdict, finding: &Finding) {
        let culprit = verdict.culprit.as_deref();
        let is_plain = finding.level == Level::Deny && is_plain(verdict);
        self.is_of_status = finding.at == STATUS;
        self.is_unconfirmed = verdict.unconfirmed;
        self.operation.clone_from(&verdict.operation);
        self.kind = match culprit {
            Some(Culprit::Found { forms, .. }) if verdict.changes.len() > forms.len() => Kind::Row,
            _ if finding.is_answer_to(verdict) && is_plain => Kind::Plain,
            _ if finding.is_answer_to(verdict) => Kind::Rule,
            _ if finding.clause == verdict.clause
                && verdict.findings.iter().any(|one| one.is_answer_to(verdict)) =>
            {
                Kind::Consequence
            }
            _ => Kind::Answer,
        };
        self.culprit = culprit.map(Culprit::says);
        self.named = match culprit {
            Some(Culprit::Accepted { form, .. }) => form.clause.clone(),
            _ => None,
        };
    }
}

/// Returns true if a case is the baseline request of an operation.
fn is_plain(verdict: &CaseVerdict) -> bool {
    verdict.control.is_none() && verdict.changes.is_empty() && verdict.same_as.is_none()
}

/// Returns the relevant places in which the request of a case differs from its control, each with the value
/// sent there, if that is known.
fn places(verdict: &CaseVerdict) -> BTreeMap<String, Option<String>> {
    let lower = |place: &String| place.to_lowercase();
    match verdict.culprit.as_deref() {
        Some(Culprit::Found { forms, .. }) => forms.iter().map(|form| (lower(&form.place), None)).collect(),
        Some(Culprit::Accepted { form, .. }) => [(lower(&form.place), None)].into(),
        _ => verdict.differences.iter().map(|one| (lower(&one.place), one.sent.clone())).collect(),
    }
}

/// Returns a hash of the value at a place of a response body.
fn found(response: &Response, at: &str) -> Option<u64> {
    let Some(Body::Text(text)) = &response.body else { return None };
    let body: Value = serde_json::from_str(text).ok()?;
    let value = body.pointer(at.strip_prefix("body").filter(|pointer| !pointer.is_empty())?)?;
    Some(hashed(&value.to_string()))
}

fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Level, clause, and place including the places of a rejected value.
pub(crate) type Key = (Level, String, String);

/// Returns the key under which a finding of a case is stored.
pub(crate) fn key(verdict: &CaseVerdict, finding: &Finding) -> Key {
    let place = finding_id::place_of(verdict, finding);
    (finding.level, finding.clause.clone(), place)
}

/// Returns the findings of a case that count. Of a control that was not selected, only those about its status
/// count.
pub(crate) fn counted(verdict: &CaseVerdict, is_control: bool) -> impl Iterator<Item = &Finding> {
    verdict.findings.iter().filter(move |finding| !is_control || finding.at == STATUS)
}

/// The symptoms of a run, in the order in which they were first seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Symptoms {
    /// The start event. In recorded traffic, each symptom has an end.
    start: RunStarted,
    pub(super) all: Vec<Symptom>,
    pub(super) index: HashMap<Key, usize>,
    /// The number of symptoms beyond the limit, by level.
    pub(super) beyond: HashMap<Level, usize>,
    /// The number of judged cases of each clause.
    pub(super) asked: HashMap<String, usize>,
    /// Places of the requests that a target accepted in passed cases of a clause and operation.
    accepted: HashMap<(String, String), HashSet<String>>,
    /// Clauses of passed cases that share a baseline request.
    pub(super) plain: HashSet<String>,
    /// Clauses of the baseline requests themselves, which say only that the request exists.
    pub(super) of_operations: HashSet<String>,
    /// True if the baseline request of an operation was accepted.
    pub(super) has_accepted_plain: bool,
    /// Clauses of inconclusive cases that share a baseline request, by the baseline case.
    pub(super) by_name: HashMap<String, BTreeSet<String>>,
}

impl Symptoms {
    /// Returns an empty collection for this run.
    pub(crate) fn of(start: &RunStarted) -> Self {
        Self { start: start.clone(), ..Self::default() }
    }

    /// Counts a judged case, and records an inconclusive one that shares a baseline request.
    pub(crate) fn ask(&mut self, verdict: &CaseVerdict, exchanges: &[Exchange]) {
        if let (Verdict::Inconclusive, Some(plain)) = (verdict.verdict, &verdict.same_as) {
            self.by_name.entry(plain.clone()).or_default().insert(verdict.clause.clone());
        }
        if !(verdict.verdict.is_pass()
            || matches!(verdict.verdict, Verdict::Fail | Verdict::Warn | Verdict::Waived))
        {
            return;
        }
        if let (true, Some(plain)) = (verdict.verdict.is_pass(), &verdict.same_as) {
            self.plain.insert(verdict.clause.clone());
            let clause = plain.split_once('/').map_or(plain.as_str(), |(clause, _)| clause);
            self.of_operations.insert(clause.to_owned());
        }
        self.has_accepted_plain |= verdict.verdict.is_pass() && is_plain(verdict);
        if verdict.verdict.is_pass()
            && let Some(request) = requests::accepted(verdict, exchanges)
        {
            let key = (verdict.clause.clone(), verdict.operation.clone());
            self.accepted.entry(key).or_default().extend(requests::places(request));
        }
        match self.asked.get_mut(&verdict.clause) {
            Some(asked) => *asked += 1,
            None => drop(self.asked.insert(verdict.clause.clone(), 1)),
        }
    }

    /// Adds the findings of a case.
    pub(crate) fn add(&mut self, verdict: &CaseVerdict, exchanges: &[Exchange], is_control: bool) {
        let judged = exchanges.iter().find(|exchange| Some(exchange.number) == verdict.exchange);
        let response = judged.and_then(|exchange| exchange.response.as_ref());
        let mut seen: Vec<usize> = Vec::new();
        for finding in counted(verdict, is_control) {
            let Some(at) = self.position(verdict, finding) else { continue };
            if !seen.contains(&at) {
                seen.push(at);
                self.all[at].add(verdict, finding, (response, exchanges));
            }
        }
    }

    /// Returns the position of a symptom, or None beyond the limit.
    fn position(&mut self, verdict: &CaseVerdict, finding: &Finding) -> Option<usize> {
        let key = key(verdict, finding);
        if let Some(at) = self.index.get(&key) {
            return Some(*at);
        }
        if self.all.len() >= APART {
            *self.beyond.entry(key.0).or_default() += 1;
            return None;
        }
        let end = words::end(&self.start, finding);
        self.all.push(Symptom::new(key.clone(), end, verdict));
        self.index.insert(key, self.all.len() - 1);
        Some(self.all.len() - 1)
    }

    /// Returns true if a case of the symptom's clause and operation was accepted with values at the places of
    /// the symptom.
    pub(super) fn is_accepted_otherwise(&self, symptom: &Symptom) -> bool {
        let accepted = self.accepted.get(&(symptom.clause.clone(), symptom.operation.clone()));
        let mut places = symptom.smallest.keys();
        accepted.is_some_and(|accepted| places.all(|place| accepted.contains(place)))
    }

    /// Returns true if a request of the operation that has a value at this place was accepted.
    pub(super) fn is_accepted_at(&self, operation: &str, place: &str) -> bool {
        self.accepted.iter().any(|((_, known), places)| known == operation && places.contains(place))
    }

    /// Returns the smallest witness of each symptom.
    pub(crate) fn witnesses(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|symptom| symptom.witness.case.as_str())
    }

    /// Returns the symptom with this key.
    pub(crate) fn get(&self, key: &Key) -> Option<&Symptom> {
        self.index.get(key).map(|at| &self.all[*at])
    }
}
