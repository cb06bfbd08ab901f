//! The loop around the judge: sends the requests that it needs, adds the responses to the view, and calls it
//! again. The runner decides nothing.

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

/// One target, and what is known of it.
#[derive(Debug)]
pub struct Runner {
    judge: Judge,
    target: Live,
    clock: Clock,
    known: RwLock<Known>,
    /// Questions that cases share, each of which is asked once.
    asked: Mutex<HashMap<Key, Arc<AsyncMutex<()>>>>,
    /// Calls that used up the quota of the day.
    calls: AtomicUsize,
    /// At how many exchanges each valid request that was asked again was accepted last.
    accepted: Mutex<HashMap<String, u64>>,
    /// Signatures of another runner with the same identity and clock.
    signed: Option<Arc<RequestCache>>,
}

/// A question that is asked once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Case(String),
    Capability(String),
    Doubt(Doubt),
    Named,
}

impl Runner {
    /// A runner for the target of a profile. Nothing is sent yet, and never what the profile is not
    /// authorized for. A key that does not belong to its certificate is found here.
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

    /// A runner with the same suite, key, identity and clock for another target ([`Judge::for_target`]). A
    /// target that is `inside` this process is asked there. The profiles of all that share `requests` differ
    /// in their base URL and choices alone.
    pub fn for_target(
        &self,
        mut profile: AuthorizedProfile,
        requests: &Arc<RequestCache>,
        inside: Option<InProcess>,
    ) -> Result<Self, JudgeError> {
        let is_inside = inside.is_some();
        if is_inside {
            // In this process nobody is ever too busy: who says so says it by rule.
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
        // Such a target changes by requests, and not with time.
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

    /// Changes how is judged.
    #[must_use]
    pub fn with_judge(self, other: impl FnOnce(Judge) -> Judge) -> Self {
        Self { judge: other(self.judge), ..self }
    }

    /// Takes the signatures that this other runner with the same suite, key, identity and clock shares, and
    /// adds its own. Where the target wants them written in another way it makes all of them itself.
    #[must_use]
    pub fn sharing_signatures(self, other: &Self, requests: &Arc<RequestCache>) -> Self {
        let is_same = self.judge.signs_like(&other.judge);
        Self { signed: is_same.then(|| Arc::clone(requests)), ..self }
    }

    /// Goes on with a run that has sent so many requests, with new ids and amounts. The earlier part may have
    /// used up the daily calls.
    #[must_use]
    pub fn resumed(self, exchanges: u64) -> Self {
        self.target.gate().go_on_after(exchanges);
        self.share_quota();
        self.with_judge(Judge::resumed)
    }

    /// How is judged.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The knowledge about the target.
    pub fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, to add something.
    pub(crate) fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns what became of a case, its control first; each is run at most once. `None` if the suite has no
    /// such case.
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

    /// Returns what became of a case that need not be one of the suite. Its control, if it names one, is.
    ///
    /// Boxed, so that its code is in the program once, and not once for each caller.
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
            // The history has the others: a run has more of them than fit into memory.
            done.exchanges.retain(|exchange| Some(exchange.number) == done.verdict.exchange);
        }
        done
    }

    /// Asks the judge, and gives it what it needs, until it has the answer.
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

    /// Sends requests at the same time.
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
        let fill = || self.fill(probe).map_err(|error| self.judge.unfilled(error));
        let calls_before = if probe.is_call { self.calls.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let seen = self.target.send(&self.judge, probe, &fill, learned).await;
        Seen { calls_before, ..seen }
    }

    fn fill(&self, probe: &Probe) -> Result<WireRequest, FillError> {
        self.judge.fill(probe, self.clock.now(), (self.target.cache(), self.signed.as_deref()))
    }

    /// Answers a question of the judge: those that cases share once.
    ///
    /// Boxed, since answering it may raise others.
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

    /// Waits until nobody else asks a question.
    async fn turn(&self, key: Key) -> OwnedMutexGuard<()> {
        let turn = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(key).or_default())
        };
        turn.lock_owned().await
    }

    /// Asks a valid request again, unless it was accepted a moment ago.
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

    /// Returns the judged request of a case, signed and ready to be sent by somebody else. Requests that
    /// prepare it are sent.
    pub async fn ready(&self, case: &Case) -> Result<WireRequest, NotReady> {
        let probe = self.ask(|view, known| self.judge.ready(case, view, known)).await?;
        self.fill(&probe).map_err(|error| match error {
            FillError::Unusable(_) => NotReady::Target(*self.judge.unfilled(error).reason),
            _ => NotReady::Profile(*self.judge.unfilled(error).reason),
        })
    }

    /// Returns why a case cannot run against the target, with the line to add to its profile.
    pub async fn cannot_run(&self, case: &Case) -> Option<Reason> {
        self.ask(|view, known| self.judge.cannot_run(case, view, known)).await
    }

    /// Tells the history of a run what is sent from now on, if exchanges are shown. A runner has one run.
    pub(crate) fn tell(&self, history: Appender) {
        if self.judge.asks_again() {
            self.target.tell(history);
        }
    }

    /// From now on relies on no call that is left: somebody else may have called.
    pub fn share_quota(&self) {
        self.calls.fetch_add(self.judge.calls_of_a_day(), Ordering::SeqCst);
    }

    /// From now on nothing is sent beyond so many exchanges, those so far included. A case that is held back
    /// by that says so.
    pub fn limit_exchanges(&self, most: u64) {
        self.target.gate().set_limit(most);
    }

    /// So many of these exchanges are kept for asking whether valid requests are still accepted: a rejection
    /// says nothing without that.
    pub fn reserve_exchanges(&self, reserve: u64) {
        self.target.gate().set_reserve(reserve);
    }

    /// Returns true if a request whose response is not yet what a case demands is asked again for some
    /// seconds, as at first, or taken as it is.
    pub fn wait_for_answers(&self, waits: bool) {
        self.target.wait_for_answers(waits);
    }

    /// Exchanges so far.
    pub fn exchanges(&self) -> u64 {
        self.target.gate().passed()
    }

    /// How many exchanges there may still be.
    pub fn exchanges_left(&self) -> u64 {
        self.target.gate().limit().saturating_sub(self.exchanges())
    }

    /// How many exchanges sent a request once more.
    pub fn retries(&self) -> u64 {
        self.target.retries()
    }

    /// How many responses came so far.
    pub fn answers(&self) -> u64 {
        self.target.answered()
    }

    /// The shortest time between two requests, by the limits of the profile and those that the target names;
    /// none where nothing limits it.
    pub fn interval(&self) -> Option<Duration> {
        self.target.interval()
    }
}
