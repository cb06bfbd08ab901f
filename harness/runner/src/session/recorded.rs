//! The record of a run in place of a target: the same judgement of the answers that were recorded.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, Utc};
use xs2aspec_record::{Body, CaseVerdict, Event, Exchange, Header, TargetProfile, Verdict};
use xs2aspec_suite::Suite;

use super::{Session, SessionError, Stop, Trail};
use crate::{exchange::Answer, profile::Profile};

/// What a record says of each case.
#[derive(Debug)]
pub(super) struct Recorded {
    /// The last exchange of each step, by case and step.
    exchanges: HashMap<(String, String), Exchange>,
    verdicts: BTreeMap<String, CaseVerdict>,
}

impl Session {
    /// A session that asks nobody: its answers are those of a record, which was made with this profile.
    pub fn of_record(
        suite: Arc<Suite>,
        events: &[Event],
        recorded: &TargetProfile,
    ) -> Result<Self, SessionError> {
        let mut exchanges = HashMap::new();
        let mut verdicts = BTreeMap::new();
        for event in events {
            match event {
                Event::Exchange(exchange) => {
                    let step = (exchange.case.clone(), exchange.step.clone());
                    exchanges.insert(step, exchange.clone());
                }
                Event::Verdict(verdict) => drop(verdicts.insert(verdict.case.clone(), verdict.clone())),
                _ => {}
            }
        }
        let session =
            Self::new(suite, Profile::recorded(recorded).for_show(), 0, DateTime::<Utc>::UNIX_EPOCH)?;
        Ok(Self { recorded: Some(Recorded { exchanges, verdicts }), ..session })
    }
}

impl Recorded {
    /// Whether the case was asked at all; otherwise it stays as it is. One whose request was sent did apply, whatever its verdict says.
    pub(super) fn offered(&self, case: &str) -> Result<(), Stop> {
        let verdict = self.verdicts.get(case).filter(|verdict| verdict.verdict == Verdict::NotApplicable);
        let was_asked = self.exchanges.contains_key(&(case.to_owned(), "request".to_owned()));
        match verdict.filter(|_| !was_asked) {
            Some(verdict) => {
                let absence = verdict.absence.clone();
                let reason = verdict.reason.clone().unwrap_or_default();
                Err(Stop { absence, ..Stop::new(Verdict::NotApplicable, reason) })
            }
            None => Ok(()),
        }
    }

    /// Whether a step was recorded.
    pub(super) fn has(&self, case: &str, step: &str) -> bool {
        self.exchanges.contains_key(&(case.to_owned(), step.to_owned()))
    }

    /// The answer to a step.
    pub(super) fn answer(&self, case: &str, step: &str, trail: &mut Trail) -> Result<Answer, Stop> {
        let Some(exchange) = self.exchanges.get(&(case.to_owned(), step.to_owned())) else {
            let verdict = self.verdicts.get(case);
            let reason = verdict.filter(|verdict| verdict.verdict == Verdict::Error);
            let reason = reason.and_then(|verdict| verdict.reason.clone());
            return Err(Stop::error(reason.unwrap_or_else(|| format!("no `{step}` was recorded"))));
        };
        trail.exchanges.push(exchange.clone());
        answer(exchange).ok_or_else(|| {
            Stop::error(exchange.failure.clone().unwrap_or_else(|| "no answer was recorded".to_owned()))
        })
    }
}

/// The answer of an exchange, if there was a whole one.
pub(super) fn answer(exchange: &Exchange) -> Option<Answer> {
    let response = exchange.response.as_ref().filter(|_| exchange.failure.is_none())?;
    let body = match &response.body {
        None => Vec::new(),
        Some(Body::Text(text)) => text.clone().into_bytes(),
        Some(Body::Base64(code)) => BASE64_STANDARD.decode(code).ok()?,
    };
    let headers = response.headers.iter().map(|Header(name, value)| (name.clone(), value.clone())).collect();
    Some(Answer { status: response.status, headers, body })
}
