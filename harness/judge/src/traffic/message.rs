//! A request and its response as recorded from the traffic of others, whatever the source.

use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;
use xs2aspec_record::{Changed, Untold};

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// Its number in the source, from 1: the entry of an archive, the line of a history.
    pub number: u64,
    /// Label from the source: a comment, the case of a run.
    pub label: Option<String>,
    /// Start of the request.
    pub began: DateTime<Utc>,
    /// Time from the first byte sent to the last byte received, in microseconds.
    pub micros: u64,
    /// The request.
    pub request: Sent,
    /// The response, or None if there is none.
    pub answer: Option<Received>,
    /// The reason why there is no complete response.
    pub failure: Option<String>,
}

/// A rejection by the reference bank, with the rule behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Status code.
    pub status: u16,
    /// Id of the rule.
    pub rule: String,
    /// The place: a JSON pointer into the body, or the name of a header or parameter.
    pub at: Option<String>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Method.
    pub method: String,
    /// Whole URL.
    pub url: String,
    /// Headers in the order in which they were sent.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Payload,
    /// The reason why the body may differ from the bytes that were sent.
    pub changed: Option<Changed>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Status code.
    pub status: u16,
    /// Headers in the order in which they were received.
    pub headers: Vec<(String, String)>,
    /// Body after decoding any content coding.
    pub body: Payload,
}

/// A body, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// All of its bytes, or none if there is no body.
    Bytes(Vec<u8>),
    /// A body that is not completely known, for this reason.
    Unknown(Untold),
}

impl Payload {
    /// No body.
    pub const NONE: Self = Self::Bytes(Vec::new());

    /// Returns the bytes if they are known.
    pub fn bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

impl Sent {
    /// Returns the first value of a header. Names are compared case-insensitively.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the path and query of the URL as they are sent.
    pub fn target(&self) -> (&str, Option<&str>) {
        let rest = self
            .url
            .split_once("://")
            .map_or(self.url.as_str(), |(_, rest)| rest.find(['/', '?']).map_or("", |at| &rest[at..]));
        let rest = rest.split('#').next().unwrap_or_default();
        match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        }
    }

    /// Returns the nonempty parts of the path.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.target().0.split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Returns the percent-decoded query parameters.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let parts = self.target().1.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        pairs.map(|(name, value)| (decoded(name), decoded(&value.replace('+', " ")))).collect()
    }

    /// Returns true if the path has an empty part, which makes it a different path (RFC 3986 section 3.3).
    pub fn has_gap(&self) -> bool {
        self.target().0.split('/').skip(1).any(str::is_empty)
    }

    /// Returns true if this part occurs twice in a row in the path.
    pub fn repeats(&self, part: &str) -> bool {
        let parts: Vec<&str> = self.target().0.split('/').collect();
        parts.windows(2).any(|two| two == [part, part])
    }

    /// Returns the host and port as written in the URL.
    pub fn authority(&self) -> Option<&str> {
        let (_, rest) = self.url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        Some(authority.rsplit_once('@').map_or(authority, |(_, host)| host))
    }
}

impl Received {
    /// Returns the first value of a header. Names are compared case-insensitively.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// Returns the first value of a header. Names are compared case-insensitively.
pub fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Decodes percent-encoding (RFC 3986 section 2.1). Invalid sequences stay unchanged.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_undone_and_nothing_else_is() {
        for (text, expected) in [("a%21b", "a!b"), ("%", "%"), ("%2", "%2"), ("%zz", "%zz"), ("%c3%b8", "ø")]
        {
            assert_eq!(decoded(text), expected);
        }
    }
}
