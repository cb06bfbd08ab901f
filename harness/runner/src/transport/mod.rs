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
    BoxFuture,
    answer::{Answer, micros},
    fill::WireRequest,
    profile::Permission,
    transport::{Append, Asked, Held, RequestCache, Stop, Target, Trail},
};
use xs2aspec_record::{Exchange, Sending};

use self::gate::Pass;
pub(crate) use self::{gate::Gate, pace::Pace};
use crate::exchange::Exchanged;

/// Why a request was not sent that nobody could prove.
const NOT_WRITTEN: &str = "what is sent cannot be recorded, so it was not sent";

/// The layers before a target.
#[derive(Debug)]
pub(crate) struct Live {
    gate: Gate,
    pace: Pace,
    /// The history of the run, where there is one.
    history: OnceLock<Box<dyn Append>>,
    /// Held while a request gets its number and is told: numbers are in the order of the history.
    turn: Mutex<()>,
    /// What was filled before for the same case and step, by sessions of other targets; nothing in a session
    /// of its own, which keeps its exchanges instead.
    cache: Option<Arc<RequestCache>>,
    /// Whether an answer that is not yet what a case demands is asked for again, after a pause.
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

    async fn asked(&self, asked: &Asked<'_>, trail: &mut Trail) -> Result<Answer, Stop> {
        let mut attempt = 0;
        let answer = loop {
            attempt += 1;
            let under_way = self.pace.enter().await;
            let sent = self.pace.wait(asked.operation).await;
            let request = (asked.make)()?;
            let pass = self.pass(&request, asked, trail).await?;
            let (number, at) = (pass.number, micros(self.began.elapsed()));
            let Exchanged { answer, seen, took } = pass.send(&request).await;
            let is_final = answer.as_ref().is_ok_and(|answer| (asked.is_final)(answer));
            if let Ok(answer) = &answer {
                self.answered.fetch_add(1, Ordering::Relaxed);
                let among = under_way.as_ref().map_or(1, |under_way| under_way.among);
                self.pace.answered(asked.operation, (answer, is_final), took, among);
            }
            drop(under_way);
            if self.cache.is_none() {
                let seen = answer.as_ref().ok().or(seen.as_ref());
                if let Some(answer) = seen {
                    asked.masker.learn(&request, answer, &mut trail.learned);
                }
                let learned = &trail.learned;
                let (case, step) = trail.recorded_as(asked.case, asked.step);
                let exchange = Exchange {
                    number,
                    case,
                    step,
                    operation: Some(asked.operation.to_owned()),
                    attempt,
                    request: asked.masker.request(&request),
                    response: seen.map(|answer| asked.masker.response(answer, learned)),
                    failure: answer.as_ref().err().map(|error| asked.masker.text(&error.to_string())),
                    at,
                    micros: micros(took),
                };
                if let Some(history) = self.history.get() {
                    history.exchange(exchange.clone());
                }
                trail.exchanges.push(exchange);
            }
            if is_final || !self.pace.again(&request.method, &answer, attempt, sent).await {
                break answer;
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
        };
        trail.failure = answer.as_ref().err().cloned();
        answer.map_err(|error| Stop::error(error.to_string()))
    }
}

impl Live {
    /// Gives leave to send a request, once the history has it.
    async fn pass(
        &self,
        request: &WireRequest,
        asked: &Asked<'_>,
        trail: &mut Trail,
    ) -> Result<Pass<'_>, Stop> {
        let (pass, written) = {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let pass = self.gate.pass(&request.method, trail.is_confirming).map_err(|held| {
                trail.is_held_back |= held == Held::UsedUp;
                Stop::held(held)
            })?;
            let (case, step) = trail.recorded_as(asked.case, asked.step);
            let sending = Sending { number: pass.number, case, step, method: request.method.clone() };
            (pass, self.history.get().map(|history| history.sending(sending)))
        };
        if let Some(written) = written
            && !written.await
        {
            return Err(Stop::error(NOT_WRITTEN.to_owned()));
        }
        Ok(pass)
    }
}

impl Target for Live {
    fn ask<'a>(&'a self, asked: &'a Asked<'a>, trail: &'a mut Trail) -> BoxFuture<'a, Result<Answer, Stop>> {
        Box::pin(self.asked(asked, trail))
    }

    fn cache(&self) -> Option<&RequestCache> {
        self.cache.as_deref()
    }

    fn permission(&self) -> Permission {
        self.gate.permission()
    }

    fn waits_for(&self, answer: &Answer) -> bool {
        self.pace.waits_for(answer)
    }

    fn may_change(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    fn wait_for_answers(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    fn pause(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn tell(&self, history: Box<dyn Append>) {
        drop(self.history.set(history));
    }

    fn go_on_after(&self, sent: u64) {
        self.gate.go_on_after(sent);
    }

    fn limit(&self, most: u64) {
        self.gate.set_limit(most);
    }

    fn reserve(&self, reserve: u64) {
        self.gate.set_reserve(reserve);
    }

    fn left(&self) -> u64 {
        self.gate.limit().saturating_sub(self.gate.passed())
    }

    fn sent(&self) -> u64 {
        self.gate.passed()
    }

    fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    fn interval(&self) -> Option<Duration> {
        self.pace.interval()
    }
}
