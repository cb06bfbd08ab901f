//! What a target answered, or why there is no answer.

use std::{fmt, time::Duration};

use chrono::{DateTime, Utc};
pub use xs2aspec_record::MALFORMED;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// Body, as it was before a content coding that the server may have used.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns true for 2xx.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first value of a header, by its name in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Why there is no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// No connection: nothing was sent.
    #[error("cannot connect to the target: {0}")]
    Unreachable(Trouble),
    /// The deadline passed.
    #[error("no complete answer within {} ms", .0.as_millis())]
    Deadline(Duration),
    /// The connection broke, or what came is no HTTP.
    #[error("the answer is broken: {0}")]
    Broken(Trouble),
    /// The body has a content coding that cannot be decoded, or takes too much to decode.
    #[error("the response cannot be decoded: {0}")]
    Coding(String),
    /// The request cannot be written; a defect of the suite.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// The request would go to another address than the one that the profile names.
    #[error("the request was not sent: {0}")]
    OutOfScope(String),
    /// TLS or the proxy cannot be set up; the profile is wrong.
    #[error("cannot use TLS or the proxy: {0}")]
    Tls(String),
}

/// What stands behind a failure, as far as a profile can change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The target speaks no TLS at this address.
    NoTls,
    /// The target wants a client certificate, or another one.
    ClientCertificate,
    /// Both have no cipher suite or version of TLS in common, or the target wants a client certificate.
    NothingInCommon,
    /// The certificate of the target cannot be trusted.
    Untrusted,
    /// The proxy does not lead to the target.
    Proxy,
    /// What the target speaks is no HTTP.
    NoHttp,
    /// Something else.
    Other,
}

/// A failure: its cause, and what happened in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The cause.
    pub cause: Cause,
    /// The words.
    pub says: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.says)
    }
}

impl<T: Into<String>> From<T> for Trouble {
    fn from(says: T) -> Self {
        Self { cause: Cause::Other, says: says.into() }
    }
}

/// How long a target asks to wait: seconds, or a date, which is held against its own clock where it tells it.
pub fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = answer.header("retry-after")?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc());
    let now = answer.header("date").and_then(date).unwrap_or_else(Utc::now);
    Some((date(text)? - now).to_std().unwrap_or_default())
}

/// A duration in whole microseconds.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
