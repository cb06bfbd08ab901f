//! What a client sends after what.

use chrono::DateTime;
use xs2aspec_record::{Body, Exchange};

use crate::{condition::header, state::State};

/// Methods by which asking again changes nothing (RFC 9110 section 9.2.1).
const SAFE: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// Requests by what is not fresh in them.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// Of each exchange, the number of the first one with the same request.
    same_as: Vec<usize>,
}

impl Sequence {
    /// Looks at exchanges in the order in which they began.
    pub(crate) fn new(exchanges: &[Exchange], fresh: &[String]) -> Self {
        let mut known = std::collections::HashMap::new();
        let number = |(index, exchange)| *known.entry(request(exchange, fresh)).or_insert(index);
        Self { same_as: exchanges.iter().enumerate().map(number).collect() }
    }

    /// Whether the client sends another request after this one. The same one again, with an answer of which
    /// the same is so, is no going on; a request that changes nothing may be repeated.
    pub(crate) fn goes_on(
        &self,
        exchanges: &[Exchange],
        index: usize,
        is_so: impl Fn(&Exchange) -> bool,
    ) -> State {
        let exchange = &exchanges[index];
        let is_safe = SAFE.contains(&exchange.request.method.as_str());
        let mut state = State::NotShown;
        for (later, other) in later(exchanges, index) {
            if self.same_as[later] != self.same_as[index] {
                state = if state == State::NotShown { State::Shown(other.number) } else { state };
            } else if !is_safe && is_so(other) {
                let words = format!(
                    "sends the request of exchange {} again as it was, with the same outcome",
                    exchange.number
                );
                return State::Broken(other.number, words);
            }
        }
        state
    }

    /// Whether the client sends the same request again, and not before the time that the answer says.
    pub(crate) fn again_later(&self, exchanges: &[Exchange], index: usize) -> State {
        let exchange = &exchanges[index];
        let again = later(exchanges, index).find(|(later, _)| self.same_as[*later] == self.same_as[index]);
        let (Some((_, again)), Some(wait)) = (again, retry_after(exchange)) else { return State::NotShown };
        let waited = again.at.saturating_sub(exchange.at + exchange.micros);
        // The clocks of both ends need not tick at once.
        if waited / 1_000 + 100 >= wait * 1_000 {
            return State::Shown(again.number);
        }
        let seconds = std::time::Duration::from_micros(waited).as_secs_f64();
        let words = format!(
            "asks again after {seconds:.1} s, while the answer of exchange {} says {wait} s",
            exchange.number
        );
        State::Broken(again.number, words)
    }
}

/// Exchanges that began after this one had ended.
fn later(exchanges: &[Exchange], index: usize) -> impl Iterator<Item = (usize, &Exchange)> {
    let ended = exchanges[index].at + exchanges[index].micros;
    exchanges.iter().enumerate().skip(index + 1).filter(move |(_, other)| other.at >= ended)
}

/// A request without what is fresh in it.
fn request(exchange: &Exchange, fresh: &[String]) -> (String, String, Vec<(String, String)>, Option<String>) {
    let request = &exchange.request;
    let lasting = request.headers.iter().map(|field| (field.0.to_ascii_lowercase(), field.1.clone()));
    let mut headers: Vec<_> = lasting.filter(|(name, _)| !fresh.contains(name)).collect();
    headers.sort();
    let body = request.body.as_ref().map(|body| match body {
        Body::Text(text) => text.clone(),
        Body::Base64(code) => format!("base64:{code}"),
    });
    (request.method.clone(), request.url.clone(), headers, body)
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
