//! A request and its answer as somebody else sent them, wherever they were read.

use chrono::{DateTime, Utc};
use percent_encoding::percent_decode_str;
use xs2aspec_record::{Changed, Untold};

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traffic {
    /// Its number where it was read, from 1: the entry of an archive, the line of a record.
    pub number: u64,
    /// What it was read from says of it, in words: a comment, the case of a run.
    pub label: Option<String>,
    /// When the request was begun.
    pub began: DateTime<Utc>,
    /// From the first byte sent to the last byte read, in microseconds.
    pub micros: u64,
    /// The request.
    pub request: Sent,
    /// The answer; `None` where there is none.
    pub answer: Option<Received>,
    /// Why there is no whole answer.
    pub failure: Option<String>,
}

/// A rejection by the reference bank, which names its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Its status.
    pub status: u16,
    /// Its rule.
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
    /// Header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Payload,
    /// Why the bytes of the body may be others than were sent.
    pub changed: Option<Changed>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Status code.
    pub status: u16,
    /// Header fields in the order of the wire.
    pub headers: Vec<(String, String)>,
    /// Body, as it was before a content coding.
    pub body: Payload,
}

/// A body, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// All of its bytes; none where there is no body.
    Bytes(Vec<u8>),
    /// A body of which not all is known, for this reason.
    Unknown(Untold),
}

impl Payload {
    /// No body.
    pub const NONE: Self = Self::Bytes(Vec::new());

    /// The bytes, where they are known.
    pub fn bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

impl Sent {
    /// The first value of a header field, by its name in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The path of the URL and its query, as they go over the wire.
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

    /// Returns the parts of the path that are not empty.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.target().0.split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Returns the parameters of the query, without percent-encoding.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let parts = self.target().1.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        pairs.map(|(name, value)| (decoded(name), decoded(&value.replace('+', " ")))).collect()
    }

    /// Returns true if the path has an empty part, which makes it another path (RFC 3986, section 3.3).
    pub fn has_gap(&self) -> bool {
        self.target().0.split('/').skip(1).any(str::is_empty)
    }

    /// Returns true if the path has this part twice in a row.
    pub fn repeats(&self, part: &str) -> bool {
        let parts: Vec<&str> = self.target().0.split('/').collect();
        parts.windows(2).any(|two| two == [part, part])
    }

    /// Host and port of the URL, as they are written in it.
    pub fn authority(&self) -> Option<&str> {
        let (_, rest) = self.url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        Some(authority.rsplit_once('@').map_or(authority, |(_, host)| host))
    }
}

impl Received {
    /// The first value of a header field, by its name in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// Returns the first value of a header field, by its name in any letter case.
pub fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A text without percent-encoding (RFC 3986, section 2.1). What is no encoding stays.
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
