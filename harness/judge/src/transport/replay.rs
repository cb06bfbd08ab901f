//! The record of a run in place of a target: the same judgement of the answers that were recorded.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use xs2aspec_record::{Body, CaseEvents, CaseVerdict, Exchange, Header, Verdict};

use super::stop::{Stop, Trail};
use crate::answer::Answer;

/// What a record says of the case that is judged, and of those that others rest on.
#[derive(Debug)]
pub(crate) struct Replay {
    rested_on: HashMap<String, CaseEvents>,
    current: Mutex<CaseEvents>,
}

impl Replay {
    /// What a record says of the cases that others rest on.
    pub(crate) fn new(rested_on: HashMap<String, CaseEvents>) -> Self {
        Self { rested_on, current: Mutex::default() }
    }

    /// Whether others rest on a case.
    pub(crate) fn is_rested_on(&self, case: &str) -> bool {
        self.rested_on.contains_key(case)
    }

    /// What it says of the case that is judged next.
    pub(crate) fn set_current(&self, events: CaseEvents) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = events;
    }

    /// Looks at what was recorded of a case.
    fn of_case<T>(&self, case: &str, look: impl FnOnce(&CaseEvents) -> Option<T>) -> Option<T> {
        if let Some(events) = self.rested_on.get(case) {
            return look(events);
        }
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.case == case { look(&current) } else { None }
    }

    /// Returns the exchanges of a step: more than one if the request was sent again.
    fn exchanges(&self, case: &str, step: &str) -> Vec<Exchange> {
        let of_step = |events: &CaseEvents| -> Vec<Exchange> {
            events.exchanges.iter().filter(|exchange| exchange.step == step).cloned().collect()
        };
        self.of_case(case, |events| Some(of_step(events))).unwrap_or_default()
    }

    fn verdict(&self, case: &str, word: Verdict) -> Option<CaseVerdict> {
        self.of_case(case, |events| events.verdict.clone()).filter(|verdict| verdict.verdict == word)
    }

    /// Whether the case was asked at all; otherwise it stays as it is. One whose request was sent did apply,
    /// whatever its verdict says.
    pub(crate) fn offered(&self, case: &str) -> Result<(), Stop> {
        match self.verdict(case, Verdict::NotApplicable).filter(|_| !self.has(case, "request")) {
            Some(CaseVerdict { absence, reason, .. }) => {
                Err(Stop { absence, ..Stop::new(Verdict::NotApplicable, reason.unwrap_or_default()) })
            }
            None => Ok(()),
        }
    }

    /// Whether nothing was asked for a case, and nothing said of it.
    pub(crate) fn was_given_up(&self, case: &str) -> bool {
        let is_open = |verdict: &CaseVerdict| verdict.verdict == Verdict::Inconclusive;
        let is_given_up =
            |events: &CaseEvents| events.exchanges.is_empty() && events.verdict.as_ref().is_some_and(is_open);
        self.of_case(case, |events| Some(is_given_up(events))).unwrap_or(false)
    }

    /// Whether a step was recorded.
    pub(crate) fn has(&self, case: &str, step: &str) -> bool {
        let has = |events: &CaseEvents| events.exchanges.iter().any(|exchange| exchange.step == step);
        self.of_case(case, |events| Some(has(events))).unwrap_or(false)
    }

    /// The answer to a step.
    pub(crate) fn answer(&self, case: &str, step: &str, trail: &mut Trail) -> Result<Answer, Stop> {
        let exchanges = self.exchanges(case, step);
        let Some(exchange) = exchanges.last().cloned() else {
            let reason = self.verdict(case, Verdict::Error).and_then(|verdict| verdict.reason);
            return Err(Stop::error(reason.unwrap_or_else(|| format!("no `{step}` was recorded"))));
        };
        trail.exchanges.extend(exchanges);
        answer(&exchange).ok_or_else(|| {
            Stop::error(exchange.failure.unwrap_or_else(|| "no answer was recorded".to_owned()))
        })
    }
}

/// The answer of an exchange, if there was a whole one.
pub(crate) fn answer(exchange: &Exchange) -> Option<Answer> {
    let response = exchange.response.as_ref().filter(|_| exchange.failure.is_none())?;
    let body = match &response.body {
        None => Vec::new(),
        Some(Body::Text(text)) => text.clone().into_bytes(),
        Some(Body::Base64(code)) => BASE64_STANDARD.decode(code).ok()?,
    };
    let headers = response.headers.iter().map(|Header(name, value)| (name.clone(), value.clone())).collect();
    Some(Answer { status: response.status, headers, body })
}
