//! A view: the requests and responses of one case or task.

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

/// The steps of one case or task so far. Anything else that the judge requires is a [`Need`](crate::Need) if
/// the view is open. A recorded view simply lacks it.
#[derive(Debug, Default)]
pub struct View {
    seen: Vec<Seen>,
    /// Results of resending valid requests, by mark.
    again: BTreeMap<String, Again>,
    /// Values from the responses that are masked.
    pub learned: Learned,
    kind: Kind,
}

/// The source of a view.
#[derive(Debug, Default)]
enum Kind {
    /// A live target.
    #[default]
    Open,
    /// A live target whose responses do not change over time.
    OpenAtOnce,
    /// A history with this verdict.
    Recorded(Option<Box<CaseVerdict>>),
}

/// A step that was sent.
#[derive(Debug)]
pub struct Seen {
    /// The case and the step under which it is recorded.
    pub recorded: (String, String),
    /// The request that the judge asked for. None in a history, which has the bytes.
    pub sent: Option<Arc<Sent>>,
    /// The headers that were sent last.
    pub headers: Vec<(String, String)>,
    /// All attempts, masked.
    pub exchanges: Vec<Exchange>,
    /// The last response, or the reason why there is none.
    pub answer: Result<Arc<Answer>, Stop>,
    /// The reason why a sent request got no complete response.
    pub failure: Option<ExchangeError>,
    /// True if the request limit held it back.
    pub is_held_back: bool,
    /// Number of quota calls sent before it.
    pub calls_before: usize,
    /// True if a busy target gets the request again.
    pub waits: bool,
    /// The examination of the response, once it is computed.
    pub examined: OnceLock<Examined>,
}

impl Seen {
    /// Returns a step that was not sent.
    pub fn unsent(probe: &Probe, stop: Stop) -> Self {
        Self { sent: Some(Arc::clone(&probe.sent)), ..Self::of(probe.recorded.clone(), Err(stop)) }
    }

    /// Returns a step that was sent. `waits` is true if a busy target gets the request again.
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

    /// Returns a step from a history. Quota use by other requests is unknown here, but the recorded verdicts
    /// reflect it.
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

    /// Returns the value of a header that was sent.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut fields = self.headers.iter();
        Some(fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?.1.clone())
    }
}

impl View {
    /// Returns the view for a live target. `waits` is true if responses may change over time.
    pub fn open(waits: bool) -> Self {
        Self { kind: if waits { Kind::Open } else { Kind::OpenAtOnce }, ..Self::default() }
    }

    /// Returns the view of a case in a history.
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

    /// Adds a step that was sent.
    pub fn add(&mut self, seen: Seen) {
        self.seen.push(seen);
    }

    /// Adds the result of resending a valid request.
    pub fn add_again(&mut self, mark: String, again: Again) {
        self.again.insert(mark, again);
    }

    /// Returns true if nothing was sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Returns true if the judge can ask for more requests.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.kind, Kind::Recorded(_))
    }

    /// Returns true if a response may change when the request is resent.
    pub(crate) fn may_change(&self) -> bool {
        !matches!(self.kind, Kind::OpenAtOnce)
    }

    /// Returns the recorded verdict.
    pub(crate) fn verdict(&self) -> Option<&CaseVerdict> {
        if let Kind::Recorded(verdict) = &self.kind { verdict.as_deref() } else { None }
    }

    /// Returns a step by the names under which it is recorded.
    pub(crate) fn step(&self, (case, step): (&str, &str)) -> Option<&Seen> {
        self.seen.iter().find(|seen| seen.recorded.0 == case && seen.recorded.1 == step)
    }

    /// Returns the result of resending a valid request.
    pub(crate) fn again(&self, mark: &str) -> Option<&Again> {
        self.again.get(mark)
    }

    /// Returns the stop for a step that the history lacks.
    pub(crate) fn missing(&self, step: &str) -> Stop {
        let reason = self.verdict().filter(|verdict| verdict.verdict == Verdict::Error);
        let reason = reason.and_then(|verdict| verdict.reason.clone());
        Stop::error(reason.unwrap_or_else(|| Reason::NotRecorded { step: step.to_owned() }))
    }
}

/// Returns the response of an exchange, if it is complete.
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
