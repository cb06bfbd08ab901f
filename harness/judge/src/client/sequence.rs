//! What a client sends after what.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use chrono::DateTime;
use xs2aspec_record::{Body, Exchange};

use crate::client::{condition::header, state::State};

/// Methods by which asking again changes nothing (RFC 9110 section 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// What of an exchange tells what was sent after what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) number: u64,
    /// When it began, and how long it took, in microseconds.
    pub(crate) at: u64,
    micros: u64,
    /// Its request without what is fresh in it, as a hash.
    request: u64,
    is_safe: bool,
    /// How many seconds its answer asks to wait.
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

/// Requests by what is not fresh in them.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    /// In the order in which they began.
    seen: &'a [Seen],
    /// Positions of the exchanges with the same request.
    same: HashMap<u64, Vec<usize>>,
    /// Of each exchange, the position of the next one with another request.
    other: Vec<usize>,
}

impl<'a> Sequence<'a> {
    /// Looks at exchanges in the order in which they began.
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

    /// Returns Shown if the client sends another request after this one.
    pub(crate) fn goes_on(&self, index: usize) -> State {
        let one = &self.seen[index];
        let later = self.later(index);
        let is_other = self.seen.get(later).is_some_and(|next| next.request != one.request);
        let other = if is_other { Some(&later) } else { self.other.get(later) };
        let other = other.and_then(|at| self.seen.get(*at));
        other.map_or(State::NotShown { met: Some(one.number) }, |other| State::Shown(other.number))
    }

    /// Returns Broken if the client sends the same request again, and `is_so` holds for that one too. A
    /// request that changes nothing may be repeated.
    pub(crate) fn corrects_it(&self, index: usize, is_so: impl Fn(u64) -> bool) -> State {
        let one = &self.seen[index];
        if !one.is_safe
            && let Some(again) = self.again(index).find(|again| is_so(again.number))
        {
            let words = format!(
                "sends the request of exchange {} again as it was, with the same outcome",
                one.number
            );
            return State::Broken(again.number, words);
        }
        self.goes_on(index)
    }

    /// Returns Shown if the client sends the same request again, and not before the time that the response
    /// says.
    pub(crate) fn again_later(&self, index: usize) -> State {
        let one = &self.seen[index];
        let (Some(again), Some(wait)) = (self.again(index).next(), one.wait) else {
            return State::NotShown { met: Some(one.number) };
        };
        let waited = again.at.saturating_sub(one.ended());
        // The clocks of both ends need not tick at once.
        if waited / 1_000 + 100 >= wait.saturating_mul(1_000) {
            return State::Shown(again.number);
        }
        let seconds = std::time::Duration::from_micros(waited).as_secs_f64();
        let words = format!(
            "asks again after {seconds:.1} s, while the answer of exchange {} says {wait} s",
            one.number
        );
        State::Broken(again.number, words)
    }

    /// The position of the first exchange that began after this one had ended.
    fn later(&self, index: usize) -> usize {
        let ended = self.seen[index].ended();
        self.seen.partition_point(|other| other.at < ended).max(index + 1)
    }

    /// Exchanges with the same request that began after this one had ended.
    fn again(&self, index: usize) -> impl Iterator<Item = &Seen> {
        let same = self.same.get(&self.seen[index].request).map_or(&[][..], Vec::as_slice);
        let later = self.later(index);
        same[same.partition_point(|at| *at < later)..].iter().map(|at| &self.seen[*at])
    }
}

/// A request without what is fresh in it.
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

/// A value as a number.
pub(crate) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// How many seconds an answer asks to wait: a number, or a date after its own (RFC 9110 section 10.2.3).
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
