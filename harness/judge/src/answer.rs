//! The response of a target, or the reason why there is none.

use std::{fmt, time::Duration};

use chrono::{DateTime, Utc};
pub use xs2aspec_record::MALFORMED;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers in the order in which they were received.
    pub headers: Vec<(String, String)>,
    /// Body after decoding any content coding.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns true for 2xx.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the first value of a header. Names are compared case-insensitively.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// The reason why there is no complete response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeError {
    /// The connection failed and nothing was sent.
    #[error("cannot connect to the target: {0}")]
    Unreachable(Trouble),
    /// The deadline passed.
    #[error("no complete response within {} ms", .0.as_millis())]
    Deadline(Duration),
    /// The connection broke, or the data received is not HTTP.
    #[error("the response is broken: {0}")]
    Broken(Trouble),
    /// The body has a content coding that cannot be decoded or is too expensive to decode.
    #[error("the response cannot be decoded: {0}")]
    Coding(String),
    /// The request cannot be written, which is a defect of the suite.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// The request would go to an address outside the profile's base URL.
    #[error("the request was not sent: {0}")]
    OutOfScope(String),
    /// TLS or the proxy cannot be set up because the profile is wrong.
    #[error("cannot use TLS or the proxy: {0}")]
    Tls(String),
}

/// The cause of a failure, as far as a profile can change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The target does not use TLS at this address.
    NoTls,
    /// The target requires a client certificate, or a different one.
    ClientCertificate,
    /// The two sides share no cipher suite or TLS version, or the target requires a client certificate.
    NothingInCommon,
    /// The certificate of the target is not trusted.
    Untrusted,
    /// The proxy does not lead to the target.
    Proxy,
    /// The target does not speak HTTP.
    NoHttp,
    /// Any other cause.
    Other,
}

/// A failure with its cause and its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The cause.
    pub cause: Cause,
    /// The description.
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

/// Returns the time to wait that Retry-After gives, in seconds or as a date. A date is compared with the
/// target's Date header, or with the local clock if there is none.
pub fn retry_after(answer: &Answer) -> Option<Duration> {
    let text = answer.header("retry-after")?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc());
    let now = answer.header("date").and_then(date).unwrap_or_else(Utc::now);
    Some((date(text)? - now).to_std().unwrap_or_default())
}

/// Returns a duration in whole microseconds.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
