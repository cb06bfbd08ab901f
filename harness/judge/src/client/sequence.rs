//! The order in which a client sends its requests.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use chrono::DateTime;
use xs2aspec_record::{Body, Exchange};

use crate::{
    client::{
        condition::header,
        plan::Then,
        state::{Breach, State},
    },
    traffic::hash,
};

/// Methods that do not change anything when repeated (RFC 9110 section 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// The parts of an exchange that are needed to compare it with later ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) number: u64,
    /// Start and duration in microseconds.
    pub(crate) at: u64,
    micros: u64,
    /// Hash of the request without its fresh headers.
    request: u64,
    is_safe: bool,
    /// Seconds that the response asks the client to wait.
    wait: Option<u64>,
}

impl Seen {
    pub(crate) fn of(exchange: &Exchange, fresh: &[String]) -> Self {
        let Exchange { number, at, micros, .. } = *exchange;
        Self {
            number,
            at,
            micros,
            request: request(exchange, fresh),
            is_safe: SAFE.contains(&exchange.request.method.as_str()),
            wait: retry_after(exchange),
        }
    }

    fn ended(&self) -> u64 {
        self.at.saturating_add(self.micros)
    }
}

/// Exchanges grouped by their request without fresh headers.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    /// Exchanges in the order of their start.
    seen: &'a [Seen],
    /// Positions of the exchanges with the same request.
    same: HashMap<u64, Vec<usize>>,
    /// For each exchange, the position of the next one with a different request.
    other: Vec<usize>,
}

impl<'a> Sequence<'a> {
    /// Indexes exchanges that are in the order of their start.
    pub(crate) fn new(seen: &'a [Seen]) -> Self {
        let mut same: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, one) in seen.iter().enumerate() {
            same.entry(one.request).or_default().push(index);
        }
        let mut other = vec![seen.len(); seen.len()];
        for index in (1..seen.len()).rev() {
            let is_same = seen[index].request == seen[index - 1].request;
            other[index - 1] = if is_same { other[index] } else { index };
        }
        Self { seen, same, other }
    }

    /// Returns what the client does after an exchange. `is_so` holds the exchanges that meet the item's
    /// condition.
    pub(crate) fn after(&self, index: usize, then: Then, is_so: &HashSet<u64>) -> State {
        let one = &self.seen[index];
        let not_shown = State::NotShown { met: Some(one.number) };
        // The first exchange that started after this one had ended.
        let later = self.seen.partition_point(|other| other.at < one.ended()).max(index + 1);
        let same = self.same.get(&one.request).map_or(&[][..], Vec::as_slice);
        let mut again = same[same.partition_point(|at| *at < later)..].iter().map(|at| &self.seen[*at]);
        if then == Then::AgainLater {
            let (Some(again), Some(wait)) = (again.next(), one.wait) else { return not_shown };
            let waited = Duration::from_micros(again.at.saturating_sub(one.ended()));
            // Tolerates clocks that differ slightly between the two sides.
            if waited + Duration::from_millis(100) >= Duration::from_secs(wait) {
                return State::Shown(again.number);
            }
            return State::Broken(again.number, Breach::TooEarly { number: one.number, wait, waited });
        }
        // A safe request may be repeated.
        if then == Then::CorrectsIt
            && !one.is_safe
            && let Some(again) = again.find(|again| is_so.contains(&again.number))
        {
            return State::Broken(again.number, Breach::SentAgain { number: one.number });
        }
        let next = self.seen.get(later).filter(|next| next.request != one.request);
        let other = next.or_else(|| self.seen.get(*self.other.get(later)?));
        other.map_or(not_shown, |other| State::Shown(other.number))
    }
}

/// Returns a hash of a request without its fresh headers.
fn request(exchange: &Exchange, fresh: &[String]) -> u64 {
    let request = &exchange.request;
    let lasting = request.headers.iter().map(|field| (field.0.to_ascii_lowercase(), field.1.clone()));
    let mut headers: Vec<_> = lasting.filter(|(name, _)| !fresh.contains(name)).collect();
    headers.sort();
    let body = request.body.as_ref().map(|body| match body {
        Body::Text(text) => (false, text),
        Body::Base64(code) => (true, code),
    });
    hash(&(&request.method, &request.url, headers, body))
}

/// Returns the seconds that a response asks the client to wait. The value is a number or a date, which is
/// compared with the response's Date (RFC 9110 section 10.2.3).
fn retry_after(exchange: &Exchange) -> Option<u64> {
    let answer = exchange.response.as_ref()?;
    let value = header(&answer.headers, "retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(seconds);
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text.trim()).ok();
    let wait = date(value)?.signed_duration_since(date(header(&answer.headers, "date")?)?);
    Some(u64::try_from(wait.num_seconds()).unwrap_or_default())
}
