//! The knowledge about a target that cases share. It grows while cases are judged. An entry never changes.

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

/// The number of cases in a row without a response within the deadline after which a target is gone.
const UNANSWERED: usize = 32;

/// The answers to questions that cases share.
#[derive(Debug, Default)]
pub struct Known {
    cases: HashMap<String, Arc<Done>>,
    /// Responses of a target without a capability, by capability.
    capabilities: BTreeMap<String, Option<String>>,
    doubts: HashMap<Doubt, Found>,
    named: Option<Named>,
    /// Substitutes for the requests of operations whose plain one is rejected.
    pub(crate) substitutes: BTreeMap<String, Arc<Substituted>>,
    /// How long after it was made the target shows a thing, where it needs a while.
    pub(crate) shows_after: Option<Duration>,
    /// Why no plain request is sent any more: none of the first ones got a response.
    pub(crate) silence: Option<Reason>,
    /// True if nothing else is sent either: many cases in a row got no response.
    pub(crate) is_gone: bool,
    /// The number of cases in a row, up to now, that waited for a response until the deadline.
    unanswered: usize,
    pub(crate) plain: Plain,
    /// Answers to whether plain requests are still accepted, in the order of time.
    checks: BTreeMap<String, Vec<Check>>,
    /// Plain requests that are not accepted any more.
    pub(crate) refused: Vec<RefusedSince>,
}

/// An answer to whether a plain request is still accepted.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    /// The number of its request; the highest one where nothing was sent, so that nothing later says more.
    pub(crate) number: u64,
    /// Why rejections say nothing, if it was not accepted.
    pub(crate) reason: Option<Reason>,
    /// True if it is to be asked alone, since it was the first rejection, and other requests were under way:
    /// a target may only know what was made last.
    pub(crate) is_open: bool,
}

/// The results of all plain requests together.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Plain {
    is_weighed: bool,
    /// True if none was accepted, nor another lawful one in its place.
    pub(crate) is_hopeless: bool,
    /// True if one that reads was accepted, so that the target knows the key.
    pub(crate) knows_key: bool,
}

impl Known {
    /// Returns what became of a case.
    pub fn case(&self, id: &str) -> Option<&Arc<Done>> {
        self.cases.get(id)
    }

    /// Adds what became of a case.
    pub fn add(&mut self, judge: &Judge, done: Arc<Done>) {
        self.learn(judge, &done);
        self.cases.insert(done.verdict.case.clone(), done);
    }

    /// Learns from what became of a case that is not kept.
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

    /// Adds the verdict of an earlier part of the run, which stays. `judged` is its judged exchange.
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

    /// Returns the number of the request of a case that was accepted.
    pub(crate) fn asked_at(&self, id: &str) -> Option<u64> {
        self.case(id).filter(|done| done.is_accepted())?.verdict.exchange
    }

    /// Returns true if a case was asked, and its request was not accepted.
    pub(crate) fn was_not_accepted(&self, id: &str) -> bool {
        self.case(id).is_some_and(|done| !done.is_accepted())
    }

    /// Returns whether a capability was asked for, and what the target answered that has none.
    pub fn capability(&self, need: &str) -> Option<&Option<String>> {
        self.capabilities.get(need)
    }

    /// Adds what the target answered that was asked for a capability, if it has none.
    pub fn add_capability(&mut self, need: String, absent: Option<String>) {
        self.capabilities.insert(need, absent);
    }

    /// Returns the capabilities that the target was asked for and lacks.
    pub fn absent(&self) -> Vec<String> {
        let absent = self.capabilities.iter().filter(|(_, answer)| answer.is_some());
        absent.map(|(need, _)| need.clone()).collect()
    }

    /// Returns what was found of a value of the profile. What a case of the other kind has shown holds too.
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

    /// Adds what was found of a value of the profile.
    pub fn add_found(&mut self, doubt: Doubt, found: Found) {
        self.doubts.insert(doubt, found);
    }

    /// Returns what the target names by itself, if it was asked.
    pub fn named(&self) -> Option<&Named> {
        self.named.as_ref()
    }

    /// Adds what the target names by itself.
    pub fn add_named(&mut self, named: Named) {
        self.named = Some(named);
    }

    /// Returns true if an operation goes on with another request than its plain one.
    pub fn goes_on(&self, operation: &str) -> bool {
        self.substitutes.contains_key(operation)
    }

    /// Returns true if the cases that lean on plain requests are asked: it is known what those came to, and
    /// the target is not hopeless.
    pub fn is_under_way(&self) -> bool {
        self.plain.is_weighed && !self.plain.is_hopeless
    }

    /// Notes whether a target is hopeless: it was asked some of these plain requests, and accepted neither
    /// one of them nor another lawful one in its place. What leans on them is not asked then.
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

    /// Notes whether nobody answers: none of these plain requests, the first of a run, got a response. Then
    /// no other one is sent, which would wait as long.
    pub fn weigh_silence<'a>(&mut self, judge: &Judge, first: impl Iterator<Item = &'a str>) {
        let asked: Vec<&Arc<Done>> = self.applicable(first).collect();
        if judge.asks_again() && asked.iter().all(|done| is_silent(done)) {
            self.silence = asked.first().and_then(|done| done.verdict.reason.clone());
        }
    }

    /// Notes whether a case got a response. After `UNANSWERED` in a row that waited for one until the
    /// deadline the target is gone, and no other request is sent, which would wait as long. A connection
    /// that is refused costs no time.
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

    /// Notes that a plain request is accepted again, with the request of this number.
    pub(crate) fn end_refusal(&mut self, plain: &str, number: u64) -> Option<RefusedSince> {
        let is_open = |refused: &&mut RefusedSince| refused.plain == plain && refused.again.is_none();
        let refused = self.refused.iter_mut().rev().find(is_open)?;
        refused.again = Some(number);
        Some(refused.clone())
    }

    /// Takes a rejection that breaks the clause of its plain request, for the first case that shows it.
    pub(crate) fn take_broken(&mut self, plain: &str) -> Option<RefusedSince> {
        let is_broken = |refused: &&mut RefusedSince| refused.plain == plain && refused.is_broken;
        let refused = self.refused.iter_mut().find(is_broken)?;
        let taken = refused.clone();
        refused.is_broken = false;
        Some(taken)
    }

    /// Returns those of these cases that apply to the target.
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
    /// The outcome that an exchange shows, and the response in short.
    pub(crate) fn outcome(&self, case: &Case, judged: &Exchange) -> Option<(Outcome, Came)> {
        let answer = answer(judged)?;
        let operation = &case.request.operation;
        let field = |name: &str| judged.request.header(name).map(str::to_owned);
        let examined = judge::examine(operation, field, &answer, self.suite.answers(), &self.levels);
        Some((examined.outcome, Came::Got(examined.got)))
    }
}

/// Returns the requests of a case, those that prepare it first.
pub(crate) fn requests_of(case: &Case) -> impl Iterator<Item = &RequestSpec> {
    let steps = case.before.iter().map(|step| &*step.request);
    steps.chain([&*case.request])
}

/// Returns the values of the profile in the requests of a case, in the order in which they are sent.
pub(crate) fn values(case: &Case) -> impl Iterator<Item = String> {
    requests_of(case).flat_map(|request| of_target(request.placeholders()))
}

/// Returns the values of the profile among placeholders.
pub(crate) fn of_target(names: Vec<String>) -> impl Iterator<Item = String> {
    names.into_iter().filter_map(|name| name.strip_prefix("target.").map(str::to_owned))
}
