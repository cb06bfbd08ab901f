//! Symptoms: what is wrong with the answers to some cases, by clause and place. Several of them may have one
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

/// Symptoms that are kept apart. A target that makes each of its answers another one does not fill the
/// memory.
const APART: usize = 5_000;

/// Witnesses of a symptom that are named besides the smallest.
const NAMED: usize = 20;

/// The status of an answer, as the place of a finding.
const STATUS: &str = "status";

/// What kind of thing is wrong, the likeliest cause of others first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The plain request of an operation is not accepted.
    Plain,
    /// An answer has another shape than the document gives it.
    Answer,
    /// A request with one thing changed is not judged by the rule for it.
    Rule,
    /// A request with many lawful forms at once is refused for some of them.
    Row,
    /// An answer that is wrong since it is of another kind than it should be.
    Consequence,
}

/// What the target made of a request, as data: two symptoms with the same one may have one cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// What kind of thing is wrong.
    pub(super) kind: Mismatch,
    /// Status of the response; 0 if there was none.
    pub(super) status: u16,
    /// Error codes in the response.
    pub(super) codes: Vec<String>,
}

impl Outcome {
    /// First digit of the status.
    pub(super) const fn class(&self) -> u16 {
        self.status / 100
    }

    /// Returns true if the status is about who asks, or about the address (RFC 9110 sections 15.4, 15.5.2,
    /// 15.5.4 to 15.5.6 and 15.5.8), so that any request may get it for the same reason.
    pub(super) const fn is_about_the_client(&self) -> bool {
        matches!(self.status, 300..=399 | 401 | 403 | 404 | 405 | 407)
    }
}

/// A case that shows something wrong.
#[derive(Debug, Clone)]
pub struct Witness {
    /// Its id.
    pub case: String,
    /// Where it stands.
    pub place: Place,
}

impl Witness {
    fn of(verdict: &CaseVerdict) -> Self {
        Self { case: verdict.case.clone(), place: verdict.place.clone() }
    }
}

/// What is wrong under one clause at one place.
#[derive(Debug, Clone)]
pub struct Symptom {
    /// What it does.
    pub level: Level,
    /// Who broke it, where others sent the requests.
    pub end: Option<End>,
    /// The clause that is broken.
    pub clause: String,
    /// Where in the answer, and at which places of the request, if some were found guilty.
    pub place: String,
    /// What was expected and what came, as the smallest witness shows it.
    pub mismatch: String,
    /// What the smallest witness changes in a request that is accepted.
    pub changes: Vec<String>,
    /// What the target was found to mind in it, in a sentence.
    pub culprit: Option<String>,
    /// The smallest witness.
    pub witness: Witness,
    /// The number of its judged request, if one was sent for it.
    pub request: Option<u64>,
    /// The first of the others.
    pub others: Vec<Witness>,
    /// How many cases show it.
    pub witnesses: usize,
    /// The clause that another lawful request shows to be broken, where this one is refused.
    pub(super) named: Option<String>,
    pub(super) kind: Kind,
    /// Places that make the request of the smallest witness another than its control's, each with what was
    /// sent there, if that is known.
    smallest: BTreeMap<String, Option<String>>,
    /// How many witnesses have each place that does so.
    changed: HashMap<String, usize>,
    /// What the target made of the smallest witness.
    pub(super) outcome: Outcome,
    /// What the response to the smallest witness has at the place of the finding, as a hash.
    found: Option<u64>,
    /// Whether it is about what the target made of the whole request.
    pub(super) is_of_status: bool,
    /// Whether its smallest witness shows that the target does not accept a plain request any more.
    pub(super) is_unconfirmed: bool,
    /// Operation of its smallest witness.
    pub(super) operation: String,
    /// Whether its smallest witness is a case of another clause, and how much that changes.
    pub(super) rank: (bool, usize, usize, usize),
    /// The same for the same set of cases.
    pub(super) cases: u64,
    /// Places of answers whose values the judged request of the smallest witness has.
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

    /// What tells it from others, the same in every run that shows it: clause and place.
    pub fn id(&self) -> String {
        finding_id::id(&self.clause, &self.place)
    }

    /// What it is kept under.
    pub(crate) fn key(&self) -> Key {
        (self.level, self.clause.clone(), self.place.clone())
    }

    /// Takes a case that shows it.
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
        // Of witnesses that differ as much from their controls, the one that is nearest to the plain request.
        let (beside, letters) = (verdict.changes.len(), changes.concat().len());
        let rank = (finding.clause != verdict.clause, size, beside, letters);
        let mut other = Witness::of(verdict);
        if self.witnesses == 1 || rank < self.rank {
            self.rank = rank;
            self.mismatch = words::mismatch(self.end, finding);
            self.request = verdict.exchange;
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

    /// Places of the request that it is about: those of the smallest witness, and those that most witnesses
    /// have.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        let common = self.changed.iter().filter(|(_, times)| **times * 2 > self.witnesses);
        self.smallest.keys().map(String::as_str).chain(common.map(|(place, _)| place.as_str()))
    }

    /// What the smallest witness sends at a place, if that is known.
    pub(super) fn sent(&self, place: &str) -> Option<&str> {
        self.smallest.get(place)?.as_deref()
    }

    /// Returns true if any request may be rejected for the same reason: for a header, for its signature, or
    /// for who asks.
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

    /// Whether both are refused in the same words by one operation, though each request is one that is
    /// accepted, but for what was made before.
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

    /// Whether its smallest witness is a request without a change.
    pub(super) fn changes_nothing(&self) -> bool {
        self.smallest.is_empty()
    }

    /// Whether the smallest witnesses of both are about the same places of the request.
    pub(super) fn has_places_of(&self, other: &Self) -> bool {
        !self.smallest.is_empty() && self.smallest.keys().eq(other.smallest.keys())
    }

    /// Whether its request was refused, and has a value of another answer of which this one says that it is
    /// wrong.
    pub(super) fn is_refused_for(&self, wrong: &Self) -> bool {
        wrong.kind == Kind::Answer
            && !wrong.is_of_status
            && self.outcome.class() == 4
            && self.used.contains(&wrong.place)
    }

    /// In how many places the smallest witness differs from what is accepted: the fewer, the more it tells of
    /// a rule. What answers lack has nothing to do with that.
    pub(super) fn distance(&self) -> usize {
        if self.kind == Kind::Answer { 1 } else { self.smallest.len().max(1) }
    }

    /// Takes what its smallest witness tells of its cause.
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

/// Returns true if a case is the plain request of an operation.
fn is_plain(verdict: &CaseVerdict) -> bool {
    verdict.control.is_none() && verdict.changes.is_empty() && verdict.same_as.is_none()
}

/// Places that make the request of a case another than that of its control, as far as they matter, each with
/// what was sent there, if that is known.
fn places(verdict: &CaseVerdict) -> BTreeMap<String, Option<String>> {
    let lower = |place: &String| place.to_lowercase();
    match verdict.culprit.as_deref() {
        Some(Culprit::Found { forms, .. }) => forms.iter().map(|form| (lower(&form.place), None)).collect(),
        Some(Culprit::Accepted { form, .. }) => [(lower(&form.place), None)].into(),
        _ => verdict.differences.iter().map(|one| (lower(&one.place), one.sent.clone())).collect(),
    }
}

/// What a response has at a place of its body, as a hash.
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

/// Level, clause, and place with the places of what is refused.
pub(crate) type Key = (Level, String, String);

/// What a finding of a case is kept under.
pub(crate) fn key(verdict: &CaseVerdict, finding: &Finding) -> Key {
    let place = finding_id::place_of(verdict, finding);
    (finding.level, finding.clause.clone(), place)
}

/// What of the findings of a case counts: of a control that nobody selected only what its status says.
pub(crate) fn counted(verdict: &CaseVerdict, is_control: bool) -> impl Iterator<Item = &Finding> {
    verdict.findings.iter().filter(move |finding| !is_control || finding.at == STATUS)
}

/// The symptoms of a run, in the order in which they were seen first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Symptoms {
    /// What the run says of itself: of traffic each symptom has an end.
    start: RunStarted,
    pub(super) all: Vec<Symptom>,
    pub(super) index: HashMap<Key, usize>,
    /// Further ones that were not kept apart, by level.
    pub(super) beyond: HashMap<Level, usize>,
    /// Cases of each clause that were judged.
    pub(super) asked: HashMap<String, usize>,
    /// Places of the requests that a target accepted in cases of a clause and operation that pass.
    accepted: HashMap<(String, String), HashSet<String>>,
    /// Clauses that a plain request shows, too: of cases that are one once more.
    pub(super) plain: HashSet<String>,
    /// Clauses of the plain requests themselves, which say only that there is such a request.
    pub(super) of_operations: HashSet<String>,
    /// Whether the plain request of an operation was accepted.
    pub(super) has_accepted_plain: bool,
    /// Clauses of the cases that are a plain request once more and could not be judged, by the plain case.
    pub(super) by_name: HashMap<String, BTreeSet<String>>,
}

impl Symptoms {
    /// None yet, of this run.
    pub(crate) fn of(start: &RunStarted) -> Self {
        Self { start: start.clone(), ..Self::default() }
    }

    /// Counts a case that was judged, and notes one that could not be since it shares a plain request.
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

    /// Takes what is wrong with a case.
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

    /// Where it is kept; `None` beyond those that are kept apart.
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

    /// Whether a case of its clause and operation was accepted that has something at the places that it is
    /// about.
    pub(super) fn is_accepted_otherwise(&self, symptom: &Symptom) -> bool {
        let accepted = self.accepted.get(&(symptom.clause.clone(), symptom.operation.clone()));
        let mut places = symptom.smallest.keys();
        accepted.is_some_and(|accepted| places.all(|place| accepted.contains(place)))
    }

    /// Returns true if a request of the operation that has something at this place was accepted.
    pub(super) fn is_accepted_at(&self, operation: &str, place: &str) -> bool {
        self.accepted.iter().any(|((_, known), places)| known == operation && places.contains(place))
    }

    /// The smallest witness of each.
    pub(crate) fn witnesses(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|symptom| symptom.witness.case.as_str())
    }

    /// The one of this key.
    pub(crate) fn get(&self, key: &Key) -> Option<&Symptom> {
        self.index.get(key).map(|at| &self.all[*at])
    }
}
