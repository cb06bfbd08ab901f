//! The way from a session to the answers that it judges: a target, through layers, or the record of a run.
//!
//! A request to a target goes through the rate that its profile allows ([`pace`]), the permission and the
//! limit ([`gate`]), and the history; then over HTTP, over a path of its own where the exact bytes matter, or
//! to a bank in this process ([`crate::exchange`]). What came of it is masked before anybody sees it.

mod cache;
mod flow;
mod gate;
mod named;
mod pace;
mod replay;
mod stop;

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use xs2aspec_record::{Exchange, Sending};

pub use self::cache::RequestCache;
pub(crate) use self::{
    gate::{Gate, Held, Pass},
    pace::{Pace, retry_after},
    replay::{Replay, answer},
    stop::{Stop, Trail, Values},
};
use crate::{
    exchange::{Answer, Exchanged},
    fill::WireRequest,
    history::Appender,
    mask::Masker,
};

/// Why a request was not sent that nobody could prove.
const NOT_WRITTEN: &str = "what is sent cannot be recorded, so it was not sent";

/// Where answers come from.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A target.
    Live(Box<Live>),
    /// The record of a run.
    Replay(Box<Replay>),
}

/// The layers before a target.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) gate: Gate,
    pace: Pace,
    /// The history of the run, where there is one.
    history: OnceLock<Appender>,
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

/// A step of a case that is asked.
pub(crate) struct Asked<'a> {
    pub(crate) case: &'a str,
    pub(crate) step: &'a str,
    pub(crate) operation: &'a str,
    /// The request, made anew for each attempt.
    pub(crate) make: &'a (dyn Fn() -> Result<WireRequest, Stop> + Sync),
    /// Whether an answer is not asked for again, however busy the target says it is.
    pub(crate) is_final: &'a (dyn Fn(&Answer) -> bool + Sync),
    pub(crate) masker: &'a Masker,
}

impl Transport {
    /// The answer to a step.
    pub(crate) async fn ask(&self, asked: &Asked<'_>, trail: &mut Trail) -> Result<Answer, Stop> {
        match self {
            Self::Live(live) => live.ask(asked, trail).await,
            Self::Replay(replay) => replay.answer(asked.case, asked.step, trail),
        }
    }

    /// The target, where there is one.
    pub(crate) fn live(&self) -> Option<&Live> {
        if let Self::Live(live) = self { Some(live) } else { None }
    }

    /// The record, where there is no target.
    pub(crate) fn replay(&self) -> Option<&Replay> {
        if let Self::Replay(replay) = self { Some(replay) } else { None }
    }

    /// Requests that are shared with sessions of other targets.
    pub(crate) fn cache(&self) -> Option<&RequestCache> {
        self.live()?.cache.as_deref()
    }

    /// Whether exchanges are kept and shown: what is asked beside another session is compared, and never
    /// shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.cache().is_none()
    }

    /// Whether valid requests are asked again: there is a target, and nobody else asks it.
    pub(crate) fn asks_again(&self) -> bool {
        self.replay().is_none() && self.is_shown()
    }

    /// Whether a step of a case can be asked: a record may not have it.
    pub(crate) fn can_ask(&self, case: &str, step: &str) -> bool {
        self.replay().is_none_or(|replay| replay.has(case, step))
    }

    /// Whether a target that had no time for a request is asked again, as one of a record may have been.
    pub(crate) fn waits_for(&self, answer: &Answer) -> bool {
        self.live().is_none_or(|live| live.pace.waits_for(answer))
    }

    /// How many requests were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.live().map_or(0, |live| live.gate.passed())
    }

    /// How many of them sent a request once more.
    pub(crate) fn retries(&self) -> u64 {
        self.live().map_or(0, |live| live.retries.load(Ordering::Relaxed))
    }

    /// How many answers came.
    pub(crate) fn answered(&self) -> u64 {
        self.live().map_or(0, |live| live.answered.load(Ordering::Relaxed))
    }

    /// The shortest time between two requests, as it is kept now.
    pub(crate) fn interval(&self) -> Option<Duration> {
        self.live().and_then(|live| live.pace.interval())
    }

    /// Whether the answer to a step may come to be another one when it is asked again, as one of a record may
    /// have.
    pub(crate) fn may_change(&self) -> bool {
        self.live().is_none_or(|live| live.waits.load(Ordering::Relaxed))
    }

    /// Waits for a target, which a record does not need.
    pub(crate) async fn pause(&self, time: Duration) {
        if self.live().is_some() {
            tokio::time::sleep(time).await;
        }
    }
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

    /// Tells this history what is sent from now on, if no other one is told.
    pub(crate) fn tell(&self, history: Appender) {
        drop(self.history.set(history));
    }

    /// From now on such an answer is asked for again, or taken as it is.
    pub(crate) fn wait_for_answers(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Goes on counting requests from here.
    pub(crate) fn after(self, sent: u64) -> Self {
        Self { gate: self.gate.after(sent), ..self }
    }

    async fn ask(&self, asked: &Asked<'_>, trail: &mut Trail) -> Result<Answer, Stop> {
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
        if let Some(written) = written {
            written.await.map_err(|_| Stop::error(NOT_WRITTEN.to_owned()))?;
        }
        Ok(pass)
    }
}

/// A duration in whole microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
