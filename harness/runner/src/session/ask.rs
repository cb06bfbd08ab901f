//! How a session asks: requests filled, sent, answered and recorded.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use xs2aspec_record::{Exchange, Verdict};
use xs2aspec_suite::{Case, Expectation, RequestSpec};

use super::{Prepared, Session, Stop, Trail, gate::Held};
use crate::{
    exchange::{Answer, Exchanged},
    fill::{FillError, Filled, Filler},
    judge::{self, Examined},
};

/// The capability of cases that use up a quota of the day.
pub(super) const QUOTA: &str = "quota";

/// Requests by case and step, with their URLs below the base URL.
#[derive(Debug, Default)]
pub struct Requests(Mutex<HashMap<(String, String), Filled>>);

/// Why there is no request that somebody else could send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// With this profile the request cannot be made.
    Profile(String),
    /// A request that prepares it did not come to what it must.
    Target(String),
}

impl From<Stop> for NotReady {
    fn from(stop: Stop) -> Self {
        match stop.verdict {
            Verdict::NotApplicable => Self::Profile(stop.reason),
            _ => Self::Target(stop.reason),
        }
    }
}

impl Requests {
    fn known(&self) -> MutexGuard<'_, HashMap<(String, String), Filled>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// The requests of a case as they would be sent, preparing ones first, each with its name. Nothing is
    /// sent, so that what an answer would give is shown as `<STEP.KEY>`. The error says what cannot be
    /// filled.
    pub fn preview(&self, case: &Case) -> Result<Vec<(String, Filled)>, FillError> {
        let mut kept = BTreeMap::new();
        for step in &case.before {
            for (key, _) in &step.keep {
                let name = format!("{}.{key}", step.name);
                let value = Value::from(format!("<{name}>"));
                let value = step.times.map_or(value.clone(), |times| Value::Array(vec![value; times]));
                kept.insert(name, value);
            }
        }
        let steps = case.before.iter().map(|step| (step.name.as_str(), &step.request));
        steps
            .chain([("request", &case.request)])
            .map(|(name, request)| Ok((name.to_owned(), self.filler(&case.id, name, &kept).fill(request)?)))
            .collect()
    }

    /// The judged request of a case, signed and ready to be sent by somebody else. Requests that prepare it
    /// are sent.
    pub async fn ready(&self, case: &Case) -> Result<Filled, NotReady> {
        self.offered(case).await?;
        let Prepared { kept, refused, .. } = self.set_up(case, &mut Trail::default()).await?;
        if let Some(words) = refused {
            return Err(NotReady::Target(format!(
                "a request that prepares it was refused ({words}), which is all it asks for"
            )));
        }
        self.filler(&case.id, "request", &kept).fill(&case.request).map_err(|error| match error {
            FillError::NotOffered(name) => NotReady::Profile(self.not_offered(&name).reason),
            other => NotReady::Profile(other.to_string()),
        })
    }

    /// What a case expects, with the values of the target and of the answers that prepare it.
    pub(super) fn expectation<'a>(
        &self,
        case: &'a Case,
        kept: &BTreeMap<String, Value>,
    ) -> Result<Cow<'a, Expectation>, Stop> {
        let value = |name: &str| match name.strip_prefix("target.") {
            Some(name) => self.profile.value(name),
            None => kept.get(name).cloned(),
        };
        for name in case.expect.placeholders() {
            if let Some(name) = name.strip_prefix("target.").filter(|name| self.profile.value(name).is_none())
            {
                return Err(self.not_offered(name));
            }
        }
        case.expect.filled(&value).map_err(|error| Stop::error(error.to_string()))
    }

    pub(super) fn filler<'a>(
        &'a self,
        case: &'a str,
        step: &'a str,
        kept: &'a BTreeMap<String, Value>,
    ) -> Filler<'a> {
        Filler {
            profile: &self.profile,
            seal: &self.seal,
            // A case that had begun before is another one for the target.
            seed: self.seed ^ self.started.get(case).copied().unwrap_or_default(),
            now: self.clock(),
            case,
            step,
            kept,
        }
    }

    /// The request as bytes. What depends on earlier answers is filled anew each time.
    fn filled(
        &self,
        case: &Case,
        step: &str,
        request: &RequestSpec,
        kept: &BTreeMap<String, Value>,
    ) -> Result<Filled, FillError> {
        let fill = || self.filler(&case.id, step, kept).fill(request);
        // Host is that of the target, and each of those that share their requests has another.
        let is_shared = kept.is_empty() && request.header("host").is_none();
        let Some(requests) = self.beside.as_ref().filter(|_| is_shared) else { return fill() };
        let key = (case.id.clone(), step.to_owned());
        if let Some(known) = requests.known().get(&key) {
            let mut filled = known.clone();
            filled.url.insert_str(0, &self.profile.base_url);
            return Ok(filled);
        }
        let filled = fill()?;
        if let Some(path) = filled.url.strip_prefix(self.profile.base_url.as_str()) {
            requests.known().insert(key, Filled { url: path.to_owned(), ..filled.clone() });
        }
        Ok(filled)
    }

    /// Sends a step of a case and examines the answer; where a record is judged, it is the recorded answer.
    pub(super) async fn exchange(
        &self,
        case: &Case,
        step: &str,
        request: &RequestSpec,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Result<(Answer, Examined), Stop> {
        let answer = match &self.recorded {
            Some(recorded) => recorded.answer(&case.id, step, trail)?,
            None => self.sent(case, step, request, kept, trail).await?,
        };
        let examined = judge::examine(&request.operation, &answer, self.suite.answers(), &self.strict);
        Ok((answer, examined))
    }

    async fn sent(
        &self,
        case: &Case,
        step: &str,
        request: &RequestSpec,
        kept: &BTreeMap<String, Value>,
        trail: &mut Trail,
    ) -> Result<Answer, Stop> {
        let mut attempt = 0;
        let answer = loop {
            attempt += 1;
            let sent = self.pace.wait(&request.operation).await;
            // Made anew each time: its date may be another by now.
            let filled = self.filled(case, step, request, kept).map_err(|error| match error {
                FillError::NotOffered(name) => self.not_offered(&name),
                FillError::NotApplicable(why) => Stop::declared_absent(why),
                FillError::Defect(message) => Stop::error(format!("the request cannot be made: {message}")),
            })?;
            let pass = self.gate.pass(&filled.method).map_err(|held| {
                trail.is_held_back |= held == Held::UsedUp;
                Stop::held(held)
            })?;
            let noting = self.journal.as_ref().filter(|_| request.method != "GET" && !trail.is_again);
            if let Some(journal) = noting {
                let noted = journal.note(&case.id, step);
                noted.map_err(|error| {
                    Stop::error(format!("what is sent cannot be noted, so it was not sent: {error}"))
                })?;
            }
            let (number, at) = (pass.number, micros(self.began.elapsed()));
            let Exchanged { answer, seen, took } = pass.send(&filled).await;
            if self.beside.is_none() {
                let seen = answer.as_ref().ok().or(seen.as_ref());
                if let Some(answer) = seen {
                    self.masker.learn(&filled, answer, &mut trail.learned);
                }
                let learned = &trail.learned;
                trail.exchanges.push(Exchange {
                    number,
                    case: case.id.clone(),
                    step: step.to_owned(),
                    attempt,
                    request: self.masker.request(&filled),
                    response: seen.map(|answer| self.masker.response(answer, learned)),
                    failure: answer.as_ref().err().map(|error| self.masker.text(&error.to_string())),
                    at,
                    micros: micros(took),
                });
            }
            // A quota of the day is not there again in a moment.
            let is_quota = answer.as_ref().is_ok_and(|answer| judge::is_quota(answer, self.suite.answers()));
            if is_quota || !self.pace.again(&request.method, &answer, attempt, sent).await {
                break answer;
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
        };
        trail.failure = answer.as_ref().err().cloned();
        answer.map_err(|error| Stop::error(error.to_string()))
    }
}

/// A duration in whole microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
