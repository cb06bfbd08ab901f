//! The loop around the judge: sends the requests that it needs, adds the responses to the view, and calls it
//! again. The runner makes no decisions.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::{self, BoxFuture};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use xs2aspec_judge::{
    Done, Identity, Judge, JudgeError, Known, Need, Probe, Question, RequestCache, Seen, View,
    answer::micros,
    case::NotReady,
    fill::{FillError, WireRequest},
    mask::Learned,
    probe::Judged,
    profile::AuthorizedProfile,
    question::{Again, Doubt, StillAccepting},
};
use xs2aspec_record::Reason;
use xs2aspec_suite::{Case, Suite};

use crate::{
    clock::Clock,
    exchange::{Exchanger, InProcess},
    history::Appender,
    transport::{Gate, Live, Pace},
};

/// One target, and the knowledge about it.
#[derive(Debug)]
pub struct Runner {
    judge: Judge,
    target: Live,
    clock: Clock,
    known: RwLock<Known>,
    /// Locks for the tasks that cases share, so that each runs once.
    asked: Mutex<HashMap<Key, Arc<AsyncMutex<()>>>>,
    /// Number of calls that used up the quota of the day.
    calls: AtomicUsize,
    /// Number of exchanges at the last acceptance of each resent valid request.
    accepted: Mutex<HashMap<String, u64>>,
    /// Signatures of another runner with the same identity and clock.
    signed: Option<Arc<RequestCache>>,
}

/// A task that runs once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Case(String),
    Capability(String),
    Doubt(Doubt),
    Named,
}

impl Runner {
    /// Returns a runner for the target of a profile. Sends nothing yet, and later only what the profile
    /// authorizes. Fails if the key does not match its certificate.
    pub fn new(
        suite: Arc<Suite>,
        profile: AuthorizedProfile,
        identity: Identity,
        clock: Clock,
    ) -> Result<Self, JudgeError> {
        let gate = Gate::new(Exchanger::new(&profile)?, profile.permission(), identity.shard());
        let target = Live::new(gate, Pace::new(profile.limits.clone()), None);
        Ok(Self::of(Judge::new(suite, profile, identity)?, target, clock))
    }

    /// Returns a runner with the same suite, key, identity and clock for another target
    /// ([`Judge::for_target`]). `inside` is the function that handles requests to a target in this process.
    /// Profiles that share `requests` may differ only in their base URL and choices.
    pub fn for_target(
        &self,
        mut profile: AuthorizedProfile,
        requests: &Arc<RequestCache>,
        inside: Option<InProcess>,
    ) -> Result<Self, JudgeError> {
        let is_inside = inside.is_some();
        if is_inside {
            // A bank in this process is never overloaded, so a busy response is deliberate.
            profile.is_never_busy();
        }
        let exchanger = match inside {
            Some(inside) => Exchanger::inside(&profile, inside)?,
            None => Exchanger::new(&profile)?,
        };
        let (permission, limits) = (profile.permission(), profile.limits.clone());
        let judge = self.judge.for_target(profile)?;
        let requests = if judge.signs_like(&self.judge) { Arc::clone(requests) } else { Arc::default() };
        let pace = if is_inside { Pace::inside(limits) } else { Pace::new(limits) };
        let target = Live::new(Gate::new(exchanger, permission, None), pace, Some(requests));
        // The state of such a target changes only with requests, not with time.
        target.wait_for_answers(!is_inside);
        Ok(Self::of(judge, target, self.clock))
    }

    fn of(judge: Judge, target: Live, clock: Clock) -> Self {
        Self {
            judge,
            target,
            clock,
            known: RwLock::default(),
            asked: Mutex::default(),
            calls: AtomicUsize::new(0),
            accepted: Mutex::default(),
            signed: None,
        }
    }

    /// Replaces the judge.
    #[must_use]
    pub fn with_judge(self, other: impl FnOnce(Judge) -> Judge) -> Self {
        Self { judge: other(self.judge), ..self }
    }

    /// Shares signatures with another runner that has the same suite, key, identity and clock. Has no effect
    /// if the target needs signatures in another form.
    #[must_use]
    pub fn sharing_signatures(self, other: &Self, requests: &Arc<RequestCache>) -> Self {
        let is_same = self.judge.signs_like(&other.judge);
        Self { signed: is_same.then(|| Arc::clone(requests)), ..self }
    }

    /// Continues a run that has sent this many requests, with new ids and amounts. The earlier part may have
    /// used up the daily calls.
    #[must_use]
    pub fn resumed(self, exchanges: u64) -> Self {
        self.target.gate().go_on_after(exchanges);
        self.share_quota();
        self.with_judge(Judge::resumed)
    }

    /// Returns the judge.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Returns the knowledge about the target.
    pub fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the knowledge about the target, for changes.
    pub(crate) fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Runs a case after its control, each at most once, and returns the result. Returns `None` if the suite
    /// has no such case.
    pub fn case<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<Arc<Done>>> {
        Box::pin(async move {
            let case = self.judge.suite().case(id)?;
            let _turn = self.turn(Key::Case(id.to_owned())).await;
            if let Some(done) = self.known().case(id) {
                return Some(Arc::clone(done));
            }
            let done = Arc::new(self.judged(case).await);
            self.known_mut().add(&self.judge, Arc::clone(&done));
            Some(done)
        })
    }

    /// Runs a case, which need not be in the suite. Its control, if it names one, must be.
    ///
    /// Boxed so that the code is generated once and not for each caller.
    pub fn run<'a>(&'a self, case: &'a Case) -> BoxFuture<'a, Done> {
        Box::pin(async move {
            let done = self.judged(case).await;
            self.known_mut().learn(&self.judge, &done);
            done
        })
    }

    async fn judged(&self, case: &Case) -> Done {
        let start = Instant::now();
        let mut done = self.ask(|view, known| self.judge.case(case, view, known)).await;
        done.verdict.micros = micros(start.elapsed());
        if self.target.is_told() {
            // The history has the other exchanges, which do not all fit into memory.
            done.exchanges.retain(|exchange| Some(exchange.number) == done.verdict.exchange);
        }
        done
    }

    /// Calls the judge and meets its needs until it returns a result.
    pub(crate) async fn ask<T>(&self, mut judge: impl FnMut(&View, &Known) -> Judged<T>) -> T {
        let mut view = View::open(self.target.may_change());
        loop {
            let judged = judge(&view, &self.known());
            match judged {
                Ok(answer) => return answer,
                Err(Need::Requests(probes)) => self.send(&probes, &mut view).await,
                Err(Need::Answer(question)) => self.answer(question, &mut view).await,
            }
        }
    }

    /// Sends requests concurrently.
    async fn send(&self, probes: &[Probe], view: &mut View) {
        if let [probe] = probes {
            let seen = self.sent(probe, &mut view.learned).await;
            view.add(seen);
            return;
        }
        let sent = probes.iter().map(async |probe| {
            let mut learned = Learned::default();
            let seen = self.sent(probe, &mut learned).await;
            (seen, learned)
        });
        for (seen, learned) in future::join_all(sent).await {
            view.learned.append(learned);
            view.add(seen);
        }
    }

    async fn sent(&self, probe: &Probe, learned: &mut Learned) -> Seen {
        if !probe.pause.is_zero() {
            tokio::time::sleep(probe.pause).await;
        }
        let fill = |attempt| self.fill(probe, attempt).map_err(|error| self.judge.unfilled(error));
        let calls_before = if probe.is_call { self.calls.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let seen = self.target.send(&self.judge, probe, &fill, learned).await;
        Seen { calls_before, ..seen }
    }

    fn fill(&self, probe: &Probe, attempt: u32) -> Result<WireRequest, FillError> {
        self.judge.fill((probe, attempt), self.clock.now(), (self.target.cache(), self.signed.as_deref()))
    }

    /// Runs a task of the judge. A task that cases share runs once.
    ///
    /// Boxed because a task may need others.
    fn answer<'a>(&'a self, question: Question, view: &'a mut View) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            match question {
                Question::Case(id) => drop(self.case(&id).await),
                Question::Capability(need) => {
                    let _turn = self.turn(Key::Capability(need.clone())).await;
                    if self.known().capability(&need).is_none() {
                        let absent = self.ask(|view, known| self.judge.capability(&need, view, known)).await;
                        self.known_mut().add_capability(need, absent);
                    }
                }
                Question::Doubt(doubt, failed) => {
                    let _turn = self.turn(Key::Doubt(doubt.clone())).await;
                    if self.known().found(&doubt).is_none() {
                        let found =
                            self.ask(|view, known| self.judge.doubt(&doubt, &failed, view, known)).await;
                        self.known_mut().add_found(doubt, found);
                    }
                }
                Question::Named(failed) => {
                    let _turn = self.turn(Key::Named).await;
                    if self.known().named().is_none() {
                        let named = self.ask(|view, known| self.judge.names(&failed, view, known)).await;
                        self.known_mut().add_named(named);
                    }
                }
                Question::StillAccepting(question) => {
                    let again = self.still_accepting(&question).await;
                    view.add_again(question.mark, again);
                }
            }
        })
    }

    /// Waits until nobody else runs the same task.
    async fn turn(&self, key: Key) -> OwnedMutexGuard<()> {
        let turn = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(key).or_default())
        };
        turn.lock_owned().await
    }

    /// Resends a valid request, unless it was accepted a moment ago.
    pub(crate) async fn still_accepting(&self, question: &StillAccepting) -> Again {
        let accepted = || self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        let last = accepted().get(&question.plain).copied();
        if last.is_some_and(|number| self.exchanges() < number + question.within) {
            return Again::default();
        }
        let again = self.ask(|view, known| self.judge.again(question, view, known)).await;
        if again.refused.is_none() {
            accepted().insert(question.plain.clone(), self.exchanges());
        }
        again
    }

    /// Returns the judged request of a case, signed and ready for others to send. Sends the set-up requests.
    pub async fn ready(&self, case: &Case) -> Result<WireRequest, NotReady> {
        let probe = self.ask(|view, known| self.judge.ready(case, view, known)).await?;
        self.fill(&probe, 1).map_err(|error| match error {
            FillError::Unusable(_) => NotReady::Target(*self.judge.unfilled(error).reason),
            _ => NotReady::Profile(*self.judge.unfilled(error).reason),
        })
    }

    /// Returns why a case cannot run against the target, with the line to add to its profile.
    pub async fn cannot_run(&self, case: &Case) -> Option<Reason> {
        self.ask(|view, known| self.judge.cannot_run(case, view, known)).await
    }

    /// Sets the history that records requests from now on, if exchanges are recorded. A runner has one run.
    pub(crate) fn tell(&self, history: Appender) {
        if self.judge.asks_again() {
            self.target.tell(history);
        }
    }

    /// Assumes from now on that other callers may have used up the daily calls.
    pub fn share_quota(&self) {
        self.calls.fetch_add(self.judge.calls_of_a_day(), Ordering::SeqCst);
    }

    /// Limits the total number of exchanges, including those so far. A case that is not run because of the
    /// limit reports it.
    pub fn limit_exchanges(&self, most: u64) {
        self.target.gate().set_limit(most);
    }

    /// Reserves some of these exchanges for checking that valid requests are still accepted. Without that
    /// check, a rejection is inconclusive.
    pub fn reserve_exchanges(&self, reserve: u64) {
        self.target.gate().set_reserve(reserve);
    }

    /// Sets whether a request is resent for some seconds while its response is not yet what the case
    /// requires. Initially it is.
    pub fn wait_for_answers(&self, waits: bool) {
        self.target.wait_for_answers(waits);
    }

    /// Returns the number of exchanges so far.
    pub fn exchanges(&self) -> u64 {
        self.target.gate().passed()
    }

    /// Returns the number of exchanges that are left.
    pub fn exchanges_left(&self) -> u64 {
        self.target.gate().limit().saturating_sub(self.exchanges())
    }

    /// Returns the number of exchanges that resent a request.
    pub fn retries(&self) -> u64 {
        self.target.retries()
    }

    /// Returns the number of responses so far.
    pub fn answers(&self) -> u64 {
        self.target.answered()
    }

    /// Returns the shortest interval between two requests, by the limits of the profile and of the target.
    /// Returns `None` without a limit.
    pub fn interval(&self) -> Option<Duration> {
        self.target.interval()
    }
}
