//! A request and what came back, as a record has them.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

/// A request that is about to be sent. It is written before the first byte leaves, so that a run that is
/// killed knows what it may have made.
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

/// One request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Number of the request in the order in which the run sent its requests, from 1. Every report names a
    /// request by this number. Shard K of N has the numbers K, K + N, K + 2N and so on.
    pub number: u64,
    /// Case that caused it.
    pub case: String,
    /// Why it was sent, where it is no step of the case itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Look>,
    /// Step of the case: `request` for the judged one, else the name of the preparing step.
    pub step: String,
    /// Operation of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// How often this request was sent, this time included.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The request as sent.
    pub request: Request,
    /// The answer, as far as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Response>,
    /// Why there is no complete answer; `response` is then as much as was seen of one, its body cut after 16
    /// KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// When it began, in microseconds since the run did.
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

/// One header field line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header(
    /// Name, in the letter case of the wire.
    pub String,
    /// Value; bytes that are not UTF-8 are replaced.
    pub String,
);

/// The name under which a message lists header lines that are malformed (RFC 9112 section 5), and bytes that
/// follow its end.
pub const MALFORMED: &str = "";

/// A request as sent. Secrets are masked before they come here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Header fields, in the order of the wire.
    pub headers: Vec<Header>,
    /// Body, if one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// A second look: why a request was sent that is no step of its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Look {
    /// A valid request is sent again, to see if it is still accepted.
    StillAccepting,
    /// A failed case is sent again in isolation.
    Alone,
    /// A valid request that was rejected once is sent again after the requests that came before it.
    Company,
    /// Another valid request is sent instead of a rejected plain one.
    Substitute,
    /// Which of several lawful forms is rejected.
    MinimalCause,
    /// A request is sent with another value of the profile, which may be wrong.
    Profile,
    /// A request shows if the target has a capability.
    Capability,
}

impl Request {
    /// The value of the first header field of this name, in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|Header(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|Header(_, value)| value.as_str())
    }

    /// How long its header section and its body are, in bytes, near enough.
    pub fn length(&self) -> usize {
        let headers: usize =
            self.headers.iter().map(|Header(name, value)| name.len() + value.len() + 4).sum();
        headers + self.url.len() + self.body.as_ref().map_or(0, |body| body.shown().len())
    }
}

/// An answer as received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header fields, in the order of the wire.
    pub headers: Vec<Header>,
    /// Body; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// Bytes of a body: text where they are UTF-8, base64 elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// UTF-8 text.
    Text(String),
    /// Anything else, in base64.
    Base64(String),
}

impl Body {
    /// The body for these bytes; `None` when there are none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(BASE64_STANDARD.encode(bytes)),
        })
    }

    /// The body as text to show: base64 is shown as such, with its label.
    pub fn shown(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Base64(code) => format!("base64:{code}").into(),
        }
    }
}
