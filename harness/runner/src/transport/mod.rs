//! A target, through layers. A request goes through the rate that its profile allows ([`pace`]), the
//! permission and the limit ([`gate`]), and the history. Then it goes over HTTP, over a path of its own where
//! the exact bytes matter, or to a bank in this process ([`crate::exchange`]). What came back is masked
//! before anybody sees it.

mod flow;
mod gate;
mod named;
mod pace;

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use xs2aspec_judge::{
    Judge, Probe, RequestCache, Seen, answer::micros, fill::WireRequest, mask::Learned, stop::Stop,
};
use xs2aspec_record::{Exchange, Reason, Sending};

use self::gate::Pass;
pub(crate) use self::{gate::Gate, pace::Pace};
use crate::{exchange::Exchanged, history::Appender};

/// The layers before a target.
#[derive(Debug)]
pub(crate) struct Live {
    gate: Gate,
    pace: Pace,
    /// The history of the run, where there is one.
    history: OnceLock<Appender>,
    /// Held while a request gets its number and is told: numbers are in the order of the history.
    turn: Mutex<()>,
    /// Requests that were filled before for the same case and step, for other targets. A runner that keeps
    /// its exchanges has none.
    cache: Option<Arc<RequestCache>>,
    /// True if a request is sent again, after a pause, whose response is not yet what a case requires.
    waits: AtomicBool,
    began: Instant,
    retries: AtomicU64,
    answered: AtomicU64,
}

impl Live {
    pub(crate) fn new(gate: Gate, pace: Pace, cache: Option<Arc<RequestCache>>) -> Self {
        Self {
            gate,
            pace,
            history: OnceLock::new(),
            turn: Mutex::default(),
            cache,
            waits: AtomicBool::new(true),
            began: Instant::now(),
            retries: AtomicU64::new(0),
            answered: AtomicU64::new(0),
        }
    }

    /// Sends the request of a probe, again while the target has no time for it. Masks are learned from what
    /// comes back. The request is made anew for each attempt, since the date may have changed: `fill` makes
    /// it.
    pub(crate) async fn send(
        &self,
        judge: &Judge,
        probe: &Probe,
        fill: &(dyn Fn() -> Result<WireRequest, Stop> + Sync),
        learned: &mut Learned,
    ) -> Seen {
        let operation = &probe.sent.request.operation;
        let mut exchanges = Vec::new();
        loop {
            let attempt = u32::try_from(exchanges.len() + 1).unwrap_or(u32::MAX);
            let under_way = self.pace.enter().await;
            let sent = self.pace.wait(operation).await;
            let request = match fill() {
                Ok(request) => request,
                Err(stop) => return Seen { exchanges, ..Seen::unsent(probe, stop) },
            };
            let pass = match self.pass(&request, probe).await {
                Ok(pass) => pass,
                Err((stop, is_held_back)) => {
                    return Seen { exchanges, is_held_back, ..Seen::unsent(probe, stop) };
                }
            };
            let (number, at) = (pass.number, micros(self.began.elapsed()));
            let Exchanged { answer, seen, took } = pass.send(&request).await;
            let is_final = answer.as_ref().is_ok_and(|answer| judge.is_final(probe, answer));
            if let Ok(answer) = &answer {
                self.answered.fetch_add(1, Ordering::Relaxed);
                let among = under_way.as_ref().map_or(1, |under_way| under_way.among);
                self.pace.answered(operation, (answer, is_final), took, among);
            }
            drop(under_way);
            if self.cache.is_none() {
                let seen = answer.as_ref().ok().or(seen.as_ref());
                let masker = judge.masker();
                if let Some(answer) = seen {
                    masker.learn(&request, answer, learned);
                }
                let exchange = Exchange {
                    number,
                    case: probe.recorded.0.clone(),
                    step: probe.recorded.1.clone(),
                    look: probe.look,
                    operation: Some(operation.clone()),
                    attempt,
                    request: masker.request(&request),
                    response: seen.map(|answer| masker.response(answer, learned)),
                    failure: answer.as_ref().err().map(|error| masker.text(&error.to_string())),
                    at,
                    micros: micros(took),
                };
                if let Some(history) = self.history.get() {
                    history.exchange(exchange.clone());
                }
                exchanges.push(exchange);
            }
            if is_final || !self.pace.again(&request.method, &answer, attempt, sent).await {
                let waits = answer.as_ref().is_ok_and(|answer| self.pace.waits_for(answer));
                return Seen::sent(probe, request.headers, exchanges, (answer, waits));
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Gives leave to send a request, once the history has it. Returns early with true if no more may be
    /// sent.
    async fn pass(&self, request: &WireRequest, probe: &Probe) -> Result<Pass<'_>, (Stop, bool)> {
        let (pass, written) = {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let pass = self.gate.pass(&request.method, probe.is_confirming);
            let pass = pass.map_err(|held| {
                let is_limit = held == Reason::NoMoreRequests;
                (Stop::declared_absent(held), is_limit)
            })?;
            let (case, step) = probe.recorded.clone();
            let sending = Sending { number: pass.number, case, step, method: request.method.clone() };
            (pass, self.history.get().map(|history| history.sending(sending)))
        };
        if let Some(written) = written
            && !written.await
        {
            return Err((Stop::error(Reason::NotWritten), false));
        }
        Ok(pass)
    }

    /// Requests that are shared with runs against other targets.
    pub(crate) fn cache(&self) -> Option<&RequestCache> {
        self.cache.as_deref()
    }

    /// Returns true if a response that is not yet what a case demands is asked for again, after a pause.
    pub(crate) fn may_change(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// From now on such a response is asked for again, or taken as it is.
    pub(crate) fn wait_for_answers(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Tells this history what is sent from now on, if no other one is told.
    pub(crate) fn tell(&self, history: Appender) {
        drop(self.history.set(history));
    }

    /// Returns true if a history has what was sent.
    pub(crate) fn is_told(&self) -> bool {
        self.history.get().is_some()
    }

    /// Counts and holds back what is sent.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How many requests were sent once more.
    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// How many responses came.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// The shortest time between two requests, as it is kept now.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.pace.interval()
    }
}
