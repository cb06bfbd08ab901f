//! A request and its response, as recorded.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

/// A request that is about to be sent. It is recorded before the first byte leaves, so that a killed run
/// knows what it may have created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    /// Number of the request, as in [`Exchange::number`].
    pub number: u64,
    /// Case that causes it.
    pub case: String,
    /// Step of the case, as in [`Exchange::step`].
    pub step: String,
    /// Method.
    pub method: String,
}

/// One request and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Number of the request in the order in which the run sent its requests, from 1. Every report refers to
    /// a request by this number. Shard K of N uses the numbers K, K + N, K + 2N and so on.
    pub number: u64,
    /// Case that caused it.
    pub case: String,
    /// Purpose of the request, if it is not a step of the case itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// Step of the case: `request` for the judged request, else the name of the set-up step.
    pub step: String,
    /// Operation of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Number of times this request was sent, including this one.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The request as sent.
    pub request: Request,
    /// The response, as far as it was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// Reason why there is no complete response. `response` is then the part that was received, with at most
    /// 16 KiB of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Start of the exchange, in microseconds since the start of the run.
    #[serde(default)]
    pub at: u64,
    /// Time from the first byte sent to the last byte read, in microseconds.
    pub micros: u64,
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

/// One header line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header(
    /// Name, spelled as on the wire.
    pub String,
    /// Value. Invalid UTF-8 is replaced with U+FFFD.
    pub String,
);

/// Name under which a message lists malformed header lines (RFC 9112 section 5) and bytes after its end.
pub const MALFORMED: &str = "";

/// A request as sent. Secrets are already masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Header lines, in the order of the wire.
    pub headers: Vec<Header>,
    /// Body, if one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// The purpose of a request that is not a step of its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// Checks that a valid request is still accepted.
    StillAccepting,
    /// Reruns a failed case in isolation.
    Alone,
    /// Resends a valid request that was rejected once, after the requests that preceded it.
    Company,
    /// Sends another valid request instead of a rejected baseline request.
    Substitute,
    /// Finds out which of several valid variants is rejected.
    MinimalCause,
    /// Uses another value of the profile, in case the original is wrong.
    Profile,
    /// Finds out if the target has a capability.
    Capability,
}

impl Request {
    /// Returns the value of the first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|Header(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|Header(_, value)| value.as_str())
    }

    /// Returns the approximate length of its header section and body, in bytes.
    pub fn length(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|Header(name, value)| name.len() + value.len() + 4).sum();
        headers + self.url.len() + self.body.as_ref().map_or(0, |body| body.shown().len())
    }
}

/// A response as received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header lines, in the order of the wire.
    pub headers: Vec<Header>,
    /// Body. Absent if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// The bytes of a body: as a string if they are UTF-8, otherwise in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// UTF-8 text.
    Text(String),
    /// Anything else, in base64.
    Base64(String),
}

impl Body {
    /// Returns the body with these bytes. Returns `None` if there are none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(BASE64_STANDARD.encode(bytes)),
        })
    }

    /// Returns the body as a printable string. Base64 gets a label.
    pub fn shown(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Base64(code) => format!("base64:{code}").into(),
        }
    }
}
