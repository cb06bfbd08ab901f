//! The layers before a target. A request passes the pace that its profile allows ([`pace`]), the permission
//! and the limit ([`gate`]), and the history. It is then sent over HTTP, over the exact-bytes path, or to a
//! bank in this process ([`crate::exchange`]). Responses are masked before anything else sees them.

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
    /// The history of the run, if there is one.
    history: OnceLock<Appender>,
    /// Held while a request gets its number and is reported, so that numbers follow the order of the history.
    turn: Mutex<()>,
    /// Requests that were built for the same case and step, for other targets. A runner that keeps its
    /// exchanges has no cache.
    cache: Option<Arc<RequestCache>>,
    /// True if a request is resent after a pause while its response is not yet what the case requires.
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

    /// Sends the request of a probe, and resends it while the target is too busy. Learns masks from the
    /// responses. `fill` rebuilds the request for each attempt, counted from 1, with another date and other
    /// ids: X-Request-ID is unique per call, so a bank may reject one that it has seen.
    pub(crate) async fn send(
        &self,
        judge: &Judge,
        probe: &Probe,
        fill: &(dyn Fn(u32) -> Result<WireRequest, Stop> + Sync),
        learned: &mut Learned,
    ) -> Seen {
        let operation = &probe.sent.request.operation;
        let mut exchanges = Vec::new();
        loop {
            let attempt = u32::try_from(exchanges.len() + 1).unwrap_or(u32::MAX);
            let under_way = self.pace.enter().await;
            let sent = self.pace.wait(operation).await;
            let request = match fill(attempt) {
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

    /// Returns the permission to send a request, once the history has recorded it. The flag in the error is
    /// true if the limit was reached.
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

    /// Returns the requests that are shared with runs against other targets.
    pub(crate) fn cache(&self) -> Option<&RequestCache> {
        self.cache.as_deref()
    }

    /// Returns true if a request is resent after a pause while its response is not yet what the case
    /// requires.
    pub(crate) fn may_change(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Sets whether such requests are resent from now on.
    pub(crate) fn wait_for_answers(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Sets the history that records requests from now on, unless one is set.
    pub(crate) fn tell(&self, history: Appender) {
        drop(self.history.set(history));
    }

    /// Returns true if a history records the requests.
    pub(crate) fn is_told(&self) -> bool {
        self.history.get().is_some()
    }

    /// Returns the gate, which counts and blocks requests.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns the number of requests that were resent.
    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Returns the number of responses.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Returns the current shortest interval between two requests.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.pace.interval()
    }
}
