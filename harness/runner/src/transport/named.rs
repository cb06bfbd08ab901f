//! The limits that a target names in its responses. `RateLimit` and `RateLimit-Policy` are defined by
//! draft-ietf-httpapi-ratelimit-headers (sections 3 and 4 since -08, `limit=.., remaining=.., reset=..` in
//! -07). `RateLimit-Limit`, `-Remaining` and `-Reset` are from the same draft up to -06. The older
//! `X-RateLimit-` headers have no specification. Their reset is in seconds, or a time since 1970.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::exchange::Answer;

/// A larger reset is a time, not a number of seconds.
const TIMES_BEGIN_AT: u64 = 1_000_000_000;
/// Added to the length of a window, because requests sent at even intervals do not arrive so.
const JITTER: Duration = Duration::from_millis(100);

/// A quota of requests per window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) quota: u64,
    pub(super) window: Duration,
}

impl Policy {
    /// Returns the interval between requests that keeps the policy, whenever its windows start.
    pub(super) fn interval(self) -> Duration {
        (self.window + JITTER) / u32::try_from(self.quota).unwrap_or(u32::MAX).max(1)
    }
}

/// The requests that are left until a window ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) requests: u64,
    pub(super) reset: Duration,
}

/// The limits named by a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamedLimits {
    pub(super) policies: Vec<Policy>,
    pub(super) left: Vec<Left>,
    /// A quota without a window.
    pub(super) quota: Option<u64>,
}

/// Returns the limits named by a response, if any.
pub(super) fn named(answer: &Answer) -> Option<NamedLimits> {
    let is_of_limits = |name: &str| {
        let name = name.as_bytes();
        let has =
            |at: usize| name.get(at..at + 9).is_some_and(|part| part.eq_ignore_ascii_case(b"ratelimit"));
        has(0) || has(2)
    };
    // Every response is checked, and nearly none has these headers.
    if !answer.headers.iter().any(|(name, _)| is_of_limits(name)) {
        return None;
    }
    let mut limits = NamedLimits::default();
    for item in items(answer, "ratelimit-policy") {
        let quota = item.number("q").or_else(|| item.name.parse().ok());
        let is_of_requests = item.text("qu").is_none_or(|unit| unit == "requests");
        if let (Some(quota @ 1..), Some(window @ 1..), true) = (quota, item.number("w"), is_of_requests) {
            limits.policies.push(Policy { quota, window: Duration::from_secs(window) });
        }
    }
    for item in items(answer, "ratelimit") {
        if let (Some(requests), Some(reset)) = (item.number("r"), item.number("t")) {
            limits.left.push(Left { requests, reset: Duration::from_secs(reset) });
        }
    }
    for begin in ["ratelimit", "x-ratelimit"] {
        let number = |end: &str| -> Option<u64> {
            let text = answer.header(&format!("{begin}-{end}"))?;
            text.split([',', ';']).next()?.trim().parse().ok()
        };
        if let (Some(requests), Some(reset)) = (number("remaining"), number("reset")) {
            limits.left.push(Left { requests, reset: until(answer, reset) });
        }
        limits.quota = limits.quota.or_else(|| number("limit")).filter(|quota| *quota > 0);
    }
    // A dictionary, as in draft -07.
    let words = items(answer, "ratelimit");
    let word = |key: &str| {
        let mut values = words.iter().filter_map(|item| item.name.split_once('='));
        values.find(|(name, _)| *name == key)?.1.trim().parse().ok()
    };
    if let (Some(requests), Some(reset)) = (word("remaining"), word("reset")) {
        limits.left.push(Left { requests, reset: Duration::from_secs(reset) });
        limits.quota = limits.quota.or_else(|| word("limit"));
    }
    (limits != NamedLimits::default()).then_some(limits)
}

/// Returns the time until a reset.
fn until(answer: &Answer, reset: u64) -> Duration {
    if reset < TIMES_BEGIN_AT {
        return Duration::from_secs(reset);
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc());
    let now = answer.header("date").and_then(date).unwrap_or_else(Utc::now);
    Duration::from_secs(reset.saturating_sub(u64::try_from(now.timestamp()).unwrap_or_default()))
}

/// An item of a list with its parameters (RFC 8941 section 3.1).
struct Item {
    name: String,
    parameters: Vec<(String, String)>,
}

impl Item {
    fn text(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.text(key)?.parse().ok()
    }
}

/// Returns the items of a header, which may occur more than once.
fn items(answer: &Answer, name: &str) -> Vec<Item> {
    let fields = answer.headers.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
    let items = fields.flat_map(|(_, text)| parts(text, ','));
    items
        .map(|text| {
            let mut pieces = parts(&text, ';').into_iter();
            let bare = |text: &str| text.trim().trim_matches('"').to_owned();
            Item {
                name: pieces.next().map(|name| bare(&name)).unwrap_or_default(),
                parameters: pieces
                    .filter_map(|piece| piece.split_once('=').map(|(key, value)| (bare(key), bare(value))))
                    .collect(),
            }
        })
        .collect()
}

/// Splits a string at `mark`, except within quotes.
fn parts(text: &str, mark: char) -> Vec<String> {
    let (mut parts, mut is_quoted) = (vec![String::new()], false);
    for letter in text.chars() {
        is_quoted ^= letter == '"';
        if letter == mark && !is_quoted {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Option<NamedLimits> {
        let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        named(&Answer { status: 200, headers, body: vec![] })
    }

    fn policy(quota: u64, window: u64) -> Policy {
        Policy { quota, window: Duration::from_secs(window) }
    }

    fn left(requests: u64, reset: u64) -> Left {
        Left { requests, reset: Duration::from_secs(reset) }
    }

    #[test]
    fn limits_are_read_in_all_forms_that_are_in_use() {
        let said = |policies: &[Policy], left: &[Left], quota| {
            Some(NamedLimits { policies: policies.to_vec(), left: left.to_vec(), quota })
        };
        let table: [(&[(&str, &str)], _); 8] = [
            (
                &[
                    ("RateLimit-Policy", r#""burst";q=100;w=60, "day, all";q=1000;w=86400"#),
                    ("RateLimit", r#""burst";r=50;t=30"#),
                ],
                said(&[policy(100, 60), policy(1000, 86400)], &[left(50, 30)], None),
            ),
            // A unit of bytes is ignored, and a quota without a window cannot be paced.
            (&[("ratelimit-policy", r#""b";q=65535;qu="content-bytes";w=10;pk=:c2Rm:, "p";q=100"#)], None),
            (
                &[
                    ("RateLimit-Policy", "10;w=1, 50;w=60"),
                    ("RateLimit-Limit", "10"),
                    ("RateLimit-Remaining", "9"),
                    ("RateLimit-Reset", "1"),
                ],
                said(&[policy(10, 1), policy(50, 60)], &[left(9, 1)], Some(10)),
            ),
            (&[("RateLimit", "limit=100, remaining=50, reset=7")], said(&[], &[left(50, 7)], Some(100))),
            (
                &[("X-RateLimit-Limit", "5"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1")],
                said(&[], &[left(0, 1)], Some(5)),
            ),
            (
                &[
                    ("X-RateLimit-Remaining", "3"),
                    ("X-RateLimit-Reset", "1893456010"),
                    ("Date", "Tue, 01 Jan 2030 00:00:00 GMT"),
                ],
                said(&[], &[left(3, 10)], None),
            ),
            (
                &[("RateLimit-Policy", r#""p";q=0;w=1, "p";q=1;w=0, x, ;;="#), ("X-RateLimit-Limit", "none")],
                None,
            ),
            (&[("Content-Type", "text/plain"), ("Rate", "1")], None),
        ];
        for (fields, expected) in table {
            assert_eq!(of(fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn requests_at_its_distance_keep_a_policy_wherever_its_windows_begin() {
        for policy in [policy(5, 1), policy(1, 1), policy(300, 60)] {
            // One request more than the quota, with the first late and the last early.
            let span = policy.interval() * u32::try_from(policy.quota).unwrap();
            assert!(span + Duration::from_micros(1) >= policy.window + JITTER, "{policy:?}: {span:?}");
        }
    }
}
