//! The knowledge about a target that cases share. It grows while cases are judged. Entries do not change.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use xs2aspec_record::{Came, CaseVerdict, Exchange, Reason, RefusedSince, Verdict};
use xs2aspec_suite::{Case, RequestSpec};

use crate::{
    Judge,
    answer::ExchangeError,
    done::Done,
    judge::{self, Outcome},
    probe::{Substituted, Values},
    question::{Doubt, Found, Named, Swap},
    view::answer,
};

/// Number of consecutive cases without a response before the deadline after which a target counts as gone.
const UNANSWERED: usize = 32;

/// The results that cases share.
#[derive(Debug, Default)]
pub struct Known {
    cases: HashMap<String, Arc<Done>>,
    /// Responses that show that a capability is absent, by capability.
    capabilities: BTreeMap<String, Option<String>>,
    doubts: HashMap<Doubt, Found>,
    named: Option<Named>,
    /// Substitutes for the requests of operations whose baseline request is rejected.
    pub(crate) substitutes: BTreeMap<String, Arc<Substituted>>,
    /// The delay until the target shows a created resource, if there is one.
    pub(crate) shows_after: Option<Duration>,
    /// The reason why no further baseline request is sent: none of the first ones got a response.
    pub(crate) silence: Option<Reason>,
    /// True if nothing else is sent either, because many consecutive cases got no response.
    pub(crate) is_gone: bool,
    /// Number of consecutive cases, up to now, that waited for a response until the deadline.
    unanswered: usize,
    pub(crate) plain: Plain,
    /// Results of resending baseline requests, in order of time.
    checks: BTreeMap<String, Vec<Check>>,
    /// Baseline requests that are no longer accepted.
    pub(crate) refused: Vec<RefusedSince>,
}

/// The result of resending a baseline request.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// The number of its request. If nothing was sent it is the maximum, so that no later request supersedes
    /// it.
    pub(crate) number: u64,
    /// The reason why rejections do not count, if the request was not accepted.
    pub(crate) reason: Option<Reason>,
    /// True if the request must be resent alone. It was the first rejection, and other requests were in
    /// flight: a target may know only the most recently created resource.
    pub(crate) is_open: bool,
}

/// The combined result of all baseline requests.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Plain {
    is_weighed: bool,
    /// True if neither a baseline request nor a substitute was accepted.
    pub(crate) is_hopeless: bool,
    /// True if a reading baseline request was accepted, so the target knows the key.
    pub(crate) knows_key: bool,
}

impl Known {
    /// Returns the result of a case.
    pub fn case(&self, id: &str) -> Option<&Arc<Done>> {
        self.cases.get(id)
    }

    /// Adds the result of a case.
    pub fn add(&mut self, judge: &Judge, done: Arc<Done>) {
        self.learn(judge, &done);
        self.cases.insert(done.verdict.case.clone(), done);
    }

    /// Learns from the result of a case without storing it.
    pub fn learn(&mut self, judge: &Judge, done: &Done) {
        if self.shows_after.is_none() {
            self.shows_after = done.shows_after;
        }
        let verdict = &done.verdict;
        let plain = judge.suite().case(&verdict.case).filter(|case| case.is_plain);
        if let Some(plain) = plain.filter(|case| !self.is_suspected(case))
            && let Some(substitute) = judge.substituted(plain, verdict.culprit.as_deref())
        {
            self.substitutes.insert(plain.request.operation.clone(), Arc::new(substitute));
        }
    }

    /// Adds the final verdict of an earlier part of the run. `judged` is its judged exchange.
    pub fn keep(&mut self, judge: &Judge, verdict: &CaseVerdict, judged: Option<&Exchange>) {
        let case = judge.suite().case(&verdict.case);
        let answered = case.zip(judged).and_then(|(case, judged)| judge.outcome(case, judged));
        let done = Done {
            verdict: verdict.clone(),
            exchanges: judged.cloned().into_iter().collect(),
            answered,
            status: judged.and_then(|exchange| Some(exchange.response.as_ref()?.status)),
            values: Values::First,
            shows_after: None,
            shows_it: false,
            failure: None,
            is_held_back: false,
        };
        self.add(judge, Arc::new(done));
    }

    /// Returns the number of a case's judged request if it was accepted.
    pub(crate) fn asked_at(&self, id: &str) -> Option<u64> {
        self.case(id).filter(|done| done.is_accepted())?.verdict.exchange
    }

    /// Returns true if a case ran and its request was not accepted.
    pub(crate) fn was_not_accepted(&self, id: &str) -> bool {
        self.case(id).is_some_and(|done| !done.is_accepted())
    }

    /// Returns the response that shows that a capability is absent, or None inside if the target has it.
    /// Returns None if the capability was not tested.
    pub fn capability(&self, need: &str) -> Option<&Option<String>> {
        self.capabilities.get(need)
    }

    /// Adds the result of testing a capability. `absent` is the response that shows that the target lacks it.
    pub fn add_capability(&mut self, need: String, absent: Option<String>) {
        self.capabilities.insert(need, absent);
    }

    /// Returns the capabilities that were tested and are absent.
    pub fn absent(&self) -> Vec<String> {
        let absent = self.capabilities.iter().filter(|(_, answer)| answer.is_some());
        absent.map(|(need, _)| need.clone()).collect()
    }

    /// Returns the result for a value of the profile. A clear result from a case of the other kind counts
    /// too.
    pub fn found(&self, doubt: &Doubt) -> Option<&Found> {
        let other = Doubt { is_rejected: !doubt.is_rejected, ..doubt.clone() };
        let is_shown = |found: &&Found| matches!(found, Found::Known | Found::Wrong(_));
        self.doubts.get(&other).filter(is_shown).or_else(|| self.doubts.get(doubt))
    }

    /// Returns true if a value in the requests of a case is known to be wrong.
    fn is_suspected(&self, case: &Case) -> bool {
        let is_wrong = |value: &String| {
            let doubts = [Swap::Alone, Swap::Together].map(|swap| Doubt {
                value: value.clone(),
                swap,
                is_rejected: true,
            });
            doubts.iter().any(|doubt| matches!(self.found(doubt), Some(Found::Wrong(_))))
        };
        values(case).any(|value| is_wrong(&value))
    }

    /// Adds the result for a value of the profile.
    pub fn add_found(&mut self, doubt: Doubt, found: Found) {
        self.doubts.insert(doubt, found);
    }

    /// Returns the values that the target itself names, if they were requested.
    pub fn named(&self) -> Option<&Named> {
        self.named.as_ref()
    }

    /// Adds the values that the target itself names.
    pub fn add_named(&mut self, named: Named) {
        self.named = Some(named);
    }

    /// Returns true if an operation continues with a substitute for its baseline request.
    pub fn goes_on(&self, operation: &str) -> bool {
        self.substitutes.contains_key(operation)
    }

    /// Returns true if cases that depend on baseline requests are sent: the results of those are known, and
    /// the target is not hopeless.
    pub fn is_under_way(&self) -> bool {
        self.plain.is_weighed && !self.plain.is_hopeless
    }

    /// Decides whether a target is hopeless: baseline requests were sent, and neither one of them nor a
    /// substitute was accepted. Cases that depend on them are then not sent.
    pub fn weigh_plain<'a>(&mut self, judge: &Judge, plain: impl Iterator<Item = &'a str>) {
        let asked: Vec<&Arc<Done>> = self.applicable(plain).collect();
        let is_understood = |done: &&Arc<Done>| done.is_accepted() || done.verdict.culprit.is_some();
        let is_read = |done: &&Arc<Done>| done.is_accepted() && judge.reads(&done.verdict.case);
        self.plain = Plain {
            is_weighed: true,
            is_hopeless: judge.asks_again() && !asked.is_empty() && !asked.iter().any(is_understood),
            knows_key: asked.iter().any(is_read),
        };
    }

    /// Decides whether the target is silent: none of the run's first baseline requests got a response. Then
    /// no others are sent, because each would wait until the deadline.
    pub fn weigh_silence<'a>(&mut self, judge: &Judge, first: impl Iterator<Item = &'a str>) {
        let asked: Vec<&Arc<Done>> = self.applicable(first).collect();
        if judge.asks_again() && asked.iter().all(|done| is_silent(done)) {
            self.silence = asked.first().and_then(|done| done.verdict.reason.clone());
        }
    }

    /// Notes whether a case got a response. After `UNANSWERED` consecutive timeouts the target is gone, and
    /// no other request is sent. A rejected connection costs no time and does not count.
    pub fn weigh_response(&mut self, judge: &Judge, done: &Done) {
        let is_late = matches!(done.failure, Some(ExchangeError::Deadline(_)));
        self.unanswered = if is_late && is_silent(done) { self.unanswered + 1 } else { 0 };
        if judge.asks_again() && self.unanswered >= UNANSWERED && !self.is_gone {
            self.is_gone = true;
            self.silence.clone_from(&done.verdict.reason);
        }
    }

    pub(crate) fn checks(&self, plain: &str) -> &[Check] {
        self.checks.get(plain).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add_check(&mut self, plain: &str, check: Check) {
        self.checks.entry(plain.to_owned()).or_default().push(check);
    }

    /// Notes that a baseline request is accepted again, with the request of this number.
    pub(crate) fn end_refusal(&mut self, plain: &str, number: u64) -> Option<RefusedSince> {
        let is_open = |refused: &&mut RefusedSince| refused.plain == plain && refused.again.is_none();
        let refused = self.refused.iter_mut().rev().find(is_open)?;
        refused.again = Some(number);
        Some(refused.clone())
    }

    /// Takes a rejection that violates the clause of its baseline request, for the first case that shows it.
    pub(crate) fn take_broken(&mut self, plain: &str) -> Option<RefusedSince> {
        let is_broken = |refused: &&mut RefusedSince| refused.plain == plain && refused.is_broken;
        let refused = self.refused.iter_mut().find(is_broken)?;
        let taken = refused.clone();
        refused.is_broken = false;
        Some(taken)
    }

    /// Returns the results of those cases that apply to the target.
    fn applicable<'a>(&self, ids: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &Arc<Done>> {
        let asked = ids.filter_map(|id| self.cases.get(id));
        asked.filter(|done| done.verdict.verdict != Verdict::NotApplicable)
    }
}

/// Returns true if a case got no response to a request.
fn is_silent(done: &Done) -> bool {
    done.verdict.verdict == Verdict::Error && done.failure.is_some() && !done.is_held_back
}

impl Judge {
    /// Returns the outcome of an exchange and a summary of its response.
    pub(crate) fn outcome(&self, case: &Case, judged: &Exchange) -> Option<(Outcome, Came)> {
        let answer = answer(judged)?;
        let operation = &case.request.operation;
        let field = |name: &str| judged.request.header(name).map(str::to_owned);
        let examined = judge::examine(operation, field, &answer, self.suite.answers(), &self.levels);
        Some((examined.outcome, Came::Got(examined.got)))
    }
}

/// Returns the requests of a case, setup steps first.
pub(crate) fn requests_of(case: &Case) -> impl Iterator<Item = &RequestSpec> {
    let steps = case.before.iter().map(|step| &*step.request);
    steps.chain([&*case.request])
}

/// Returns the profile values in the requests of a case, in sending order.
pub(crate) fn values(case: &Case) -> impl Iterator<Item = String> {
    requests_of(case).flat_map(|request| of_target(request.placeholders()))
}

/// Returns the profile values among placeholders.
pub(crate) fn of_target(names: Vec<String>) -> impl Iterator<Item = String> {
    names.into_iter().filter_map(|name| name.strip_prefix("target.").map(str::to_owned))
}
