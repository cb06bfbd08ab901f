//! A view: the requests that were sent for one question, and the responses.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use xs2aspec_record::{Body, CaseEvents, CaseVerdict, Exchange, Header, Reason, Verdict};

use crate::{
    answer::{Answer, ExchangeError},
    judge::Examined,
    mask::Learned,
    probe::{Probe, Sent},
    question::Again,
    stop::Stop,
};

/// The steps of one question so far. What the judge needs besides is a [`Need`](crate::Need) where the view
/// is open, and is missing in that of a record.
#[derive(Debug, Default)]
pub struct View {
    seen: Vec<Seen>,
    /// Results of valid requests that were sent again, by the marks of these questions.
    again: BTreeMap<String, Again>,
    /// Values in the responses that are masked.
    pub learned: Learned,
    kind: Kind,
}

/// Where a view comes from.
#[derive(Debug, Default)]
enum Kind {
    /// A target is being asked.
    #[default]
    Open,
    /// A target is being asked whose responses do not change with time.
    OpenAtOnce,
    /// A record, which has this verdict.
    Recorded(Option<Box<CaseVerdict>>),
}

/// A step that was asked.
#[derive(Debug)]
pub struct Seen {
    /// The case and the step as which it is recorded.
    pub recorded: (String, String),
    /// Its request as the judge wanted it. None in a record, which has the bytes.
    pub sent: Option<Arc<Sent>>,
    /// The header fields that were sent last.
    pub headers: Vec<(String, String)>,
    /// All attempts, masked.
    pub exchanges: Vec<Exchange>,
    /// The last response, or why there is none.
    pub answer: Result<Arc<Answer>, Stop>,
    /// Why no whole response came to a request that was sent.
    pub failure: Option<ExchangeError>,
    /// True if it was not sent since no more may be.
    pub is_held_back: bool,
    /// Calls of the quota of the day that were sent before it.
    pub calls_before: usize,
    /// True if a target that had no time for it is asked again.
    pub waits: bool,
    /// The response as the rules see it, once it was examined.
    pub examined: OnceLock<Examined>,
}

impl Seen {
    /// A step that was not sent.
    pub fn unsent(probe: &Probe, stop: Stop) -> Self {
        Self { sent: Some(Arc::clone(&probe.sent)), ..Self::of(probe.recorded.clone(), Err(stop)) }
    }

    /// A step that was sent. `waits` says whether a target that had no time for it is asked again.
    pub fn sent(
        probe: &Probe,
        headers: Vec<(String, String)>,
        exchanges: Vec<Exchange>,
        (answer, waits): (Result<Answer, ExchangeError>, bool),
    ) -> Self {
        let failure = answer.as_ref().err().cloned();
        let answer = answer.map(Arc::new).map_err(|error| Stop::error(Reason::no_response(error)));
        let sent = Some(Arc::clone(&probe.sent));
        Self { sent, headers, exchanges, failure, waits, ..Self::of(probe.recorded.clone(), answer) }
    }

    /// A step of a record. What other requests of a recorded run used up is said by its verdicts.
    pub(crate) fn recorded(exchange: Exchange) -> Self {
        let answer = answer(&exchange).map(Arc::new).ok_or_else(|| {
            let failure = exchange.failure.as_ref();
            Stop::error(failure.map_or(Reason::NoResponseRecorded, Reason::no_response))
        });
        let own = Self::of((exchange.case.clone(), exchange.step.clone()), answer);
        Self { headers: fields(&exchange.request.headers), exchanges: vec![exchange], waits: true, ..own }
    }

    fn of(recorded: (String, String), answer: Result<Arc<Answer>, Stop>) -> Self {
        Self {
            recorded,
            sent: None,
            headers: Vec::new(),
            exchanges: Vec::new(),
            answer,
            failure: None,
            is_held_back: false,
            calls_before: 0,
            waits: false,
            examined: OnceLock::new(),
        }
    }

    /// Returns the value of a header field that was sent.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut fields = self.headers.iter();
        Some(fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?.1.clone())
    }
}

impl View {
    /// The view of a question that is asked of a target. `waits` says whether responses may change with time.
    pub fn open(waits: bool) -> Self {
        Self { kind: if waits { Kind::Open } else { Kind::OpenAtOnce }, ..Self::default() }
    }

    /// The view of a case in a record.
    pub fn recorded(events: CaseEvents) -> Self {
        let kind = Kind::Recorded(events.verdict.map(Box::new));
        let mut view = Self { kind, ..Self::default() };
        for exchange in events.exchanges {
            let is_same =
                |seen: &&mut Seen| seen.recorded.0 == exchange.case && seen.recorded.1 == exchange.step;
            match view.seen.iter_mut().find(is_same) {
                Some(seen) => {
                    let before = std::mem::take(&mut seen.exchanges);
                    *seen = Seen::recorded(exchange);
                    seen.exchanges.splice(0..0, before);
                }
                None => view.seen.push(Seen::recorded(exchange)),
            }
        }
        view
    }

    /// Adds a step that was asked.
    pub fn add(&mut self, seen: Seen) {
        self.seen.push(seen);
    }

    /// Adds what came of asking a valid request again.
    pub fn add_again(&mut self, mark: String, again: Again) {
        self.again.insert(mark, again);
    }

    /// Returns true if nothing was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Returns true if the judge can need more.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.kind, Kind::Recorded(_))
    }

    /// Returns true if a response may become another one when it is asked for again.
    pub(crate) fn may_change(&self) -> bool {
        !matches!(self.kind, Kind::OpenAtOnce)
    }

    /// Returns the verdict that a record has.
    pub(crate) fn verdict(&self) -> Option<&CaseVerdict> {
        if let Kind::Recorded(verdict) = &self.kind { verdict.as_deref() } else { None }
    }

    /// Returns a step, as it is recorded.
    pub(crate) fn step(&self, (case, step): (&str, &str)) -> Option<&Seen> {
        self.seen.iter().find(|seen| seen.recorded.0 == case && seen.recorded.1 == step)
    }

    /// Returns what came of asking a valid request again.
    pub(crate) fn again(&self, mark: &str) -> Option<&Again> {
        self.again.get(mark)
    }

    /// Returns why a step is missing that a record does not have.
    pub(crate) fn missing(&self, step: &str) -> Stop {
        let reason = self.verdict().filter(|verdict| verdict.verdict == Verdict::Error);
        let reason = reason.and_then(|verdict| verdict.reason.clone());
        Stop::error(reason.unwrap_or_else(|| Reason::NotRecorded { step: step.to_owned() }))
    }
}

/// Returns the response of an exchange, if there was a whole one.
pub(crate) fn answer(exchange: &Exchange) -> Option<Answer> {
    let response = exchange.response.as_ref().filter(|_| exchange.failure.is_none())?;
    let body = match &response.body {
        None => Vec::new(),
        Some(Body::Text(text)) => text.clone().into_bytes(),
        Some(Body::Base64(code)) => BASE64_STANDARD.decode(code).ok()?,
    };
    Some(Answer { status: response.status, headers: fields(&response.headers), body })
}

fn fields(headers: &[Header]) -> Vec<(String, String)> {
    headers.iter().map(|Header(name, value)| (name.clone(), value.clone())).collect()
}
