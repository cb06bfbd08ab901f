//! Finds the placeholders behind single values of a request (digests, dates, ids), and recognizes headers
//! that concern no operation.

use chrono::{Datelike, NaiveDate, Weekday};
use serde_json::Value;
use xs2aspec_record::Untold;
use xs2aspec_signing::diagnosis::{
    Held,
    digests::{self, Instance, Is},
};
use xs2aspec_suite::template;

use super::{message::Sent, vocabulary::filled};
use crate::request_signer::RequestSigner;

/// Returns the template behind a Digest. Each of its hashes is compared with those of the body. Text around a
/// digest stays around its template.
pub(crate) fn digested(text: &str, templates: &[Value], body: &[u8]) -> Digested {
    let lookup = |name: &str| RequestSigner::digest(name.strip_prefix("digest.")?, body).map(Value::from);
    let written = |fits: &dyn Fn(&str) -> bool| {
        let filled = |written: &Value| filled(written, &lookup)?.as_str().map(fits);
        templates.iter().find(|written| filled(written) == Some(true)).cloned()
    };
    if let Some(written) = written(&|filled| filled == text) {
        return Digested::Known(written);
    }
    let read = digests::read(text, body);
    let has = |fits: &dyn Fn(&Is) -> bool| read.iter().any(|one| fits(&one.is));
    let right = read.iter().find_map(|one| match &one.is {
        Is::Right(algorithm) | Is::Odd(algorithm, _) => Some(algorithm.header_value(body)),
        _ => None,
    });
    let is_wrong = |is: &Is| matches!(is, Is::Wrong(..) | Is::NoForm);
    if let (Some(right), false) = (&right, has(&is_wrong)) {
        let usual = written(&|filled| filled == right).unwrap_or_else(|| Value::from(right.clone()));
        let odd = read
            .iter()
            .find_map(|one| if let Is::Odd(_, odd) = &one.is { Some(odd.as_slice()) } else { None });
        if let Some(odd) = odd {
            let (held, says) = digests::odd(odd);
            let quoted = || written(&|filled| filled == format!("\"{right}\""));
            return match held {
                Held::No => Digested::Known(quoted().unwrap_or(usual)),
                Held::Yes | Held::Open => Digested::Open(usual, Untold::Form { says }),
            };
        }
        let is_unsure = |one: &Instance| match one.is {
            Is::Unknown => !is_right(one, body),
            ref is => *is == Is::Nothing,
        };
        if read.iter().any(is_unsure) {
            return Digested::Open(usual, Untold::OtherHash);
        }
        // Case does not matter, nor do order and spaces of a list.
        let alike = |filled: &str| {
            let parts = filled.split_once('=').zip(right.split_once('='));
            parts.is_some_and(|((token, hash), (usual, right))| {
                hash == right && token != usual && token.eq_ignore_ascii_case(usual)
            })
        };
        let list = || templates.iter().find(|written| template::names(written).len() > 1).cloned();
        let found = if read.len() > 1 { list() } else { written(&alike) };
        return Digested::Known(found.unwrap_or(usual));
    }
    // If all digests are wrong, the first one is reported. If one is right, a wrong one is reported with it.
    let canonical = |one: &Instance| {
        if one.is == Is::NoForm { one.token.clone() } else { format!("{}={}", one.token, one.value) }
    };
    let wrong = read
        .iter()
        .find(|one| is_wrong(&one.is))
        .filter(|_| read.len() > 1 || has(&|is| matches!(is, Is::Wrong(..))));
    let text = match (wrong.map(canonical), right) {
        (Some(wrong), Some(right)) => format!("{right},{wrong}"),
        (Some(wrong), None) => wrong,
        (None, _) => text.to_owned(),
    };
    if let Some(written) = written(&|filled| filled == text) {
        return Digested::Known(written);
    }
    let mut names: Vec<String> = templates.iter().flat_map(template::names).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let inside = names.iter().fold(text, |text, name| match lookup(name) {
        Some(Value::String(value)) => text.replace(&value, &format!("${{{name}}}")),
        _ => text,
    });
    Digested::Known(Value::from(inside))
}

/// Returns true if a digest with an algorithm outside the document matches the body.
fn is_right(one: &Instance, body: &[u8]) -> bool {
    let name = match one.token.as_str() {
        "MD5" => "md5",
        "SHA" | "SHA-1" => "sha-1",
        "SHA-384" => "sha-384",
        _ => return false,
    };
    RequestSigner::digest(name, body).is_some_and(|right| right == one.value)
}

/// The placeholder behind a digest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Digested {
    Known(Value),
    /// The digest is right except for its notation, which leaves the result open for this reason.
    Open(Value, Untold),
}

/// Returns true if a body starts with a JSON object.
pub(crate) fn begins_with_json(bytes: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    values.next().is_some_and(|first| first.is_ok_and(|first| first.is_object()))
}

/// Returns a date as days from today, followed by any ISO 8601 suffix.
pub(crate) fn date(text: &str, today: NaiveDate) -> Option<Value> {
    let begin = text.len() - text.trim_start().len();
    let (day, rest) = text.get(begin..begin + 10).zip(text.get(begin + 10..))?;
    let is_form = rest.is_empty() || rest == "Z" || rest.starts_with('T') || rest.trim().is_empty();
    let is_date = day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    if !is_form || !is_date {
        return None;
    }
    let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
    let ahead = (day - today).num_days();
    let word = if ahead >= 0 && is_workday(day) { "workday" } else { "day" };
    if (begin > 0 || !rest.is_empty()) && (ahead < 0 || word == "day") {
        // The rules define such forms only for workdays.
        return Some(Value::from(format!("{}${{workday+{}}}{rest}", &text[..begin], ahead.abs())));
    }
    Some(Value::from(format!("{}${{{word}+{ahead}}}{rest}", &text[..begin])))
}

/// Returns true for an id in the form that valid requests use for fresh ids (RFC 9562 section 4).
pub(crate) fn is_uuid(text: &str) -> bool {
    // Other notations have other lengths.
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Returns true if a day is a workday in every bank calendar: no weekend, no fixed holiday, and none that
/// moves with Easter.
fn is_workday(day: NaiveDate) -> bool {
    const FIXED: [(u32, u32); 8] = [(1, 1), (5, 1), (5, 17), (6, 23), (12, 24), (12, 25), (12, 26), (12, 31)];
    // From the earliest Maundy Thursday to the latest Whit Monday, Tuesdays and Wednesdays are workdays.
    let may_move = (318..=614).contains(&(day.month() * 100 + day.day()));
    match day.weekday() {
        Weekday::Sat | Weekday::Sun => false,
        _ if FIXED.contains(&(day.month(), day.day())) => false,
        Weekday::Mon | Weekday::Thu | Weekday::Fri => !may_move,
        Weekday::Tue | Weekday::Wed => true,
    }
}

/// Returns true for headers about transport, or that browsers and tools add to all requests (RFC 9110, RFC
/// 9112, RFC 9113, the Fetch standard). They concern no operation. Headers that a bank may interpret, such as
/// Forwarded and Referer, are excluded.
pub(crate) fn is_of_transport(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "cache-control",
        "connection",
        "content-length",
        "dnt",
        "expect",
        "keep-alive",
        "origin",
        "postman-token",
        "pragma",
        "priority",
        "proxy-connection",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
    ];
    NAMES.contains(&name) || name.starts_with("sec-")
}

/// Returns true if a Host header names the host of the URL, in any notation (RFC 9110 sections 4.2.3 and
/// 7.2).
pub(crate) fn is_own_host(name: &str, text: &str, sent: &Sent) -> bool {
    if name != "host" {
        return false;
    }
    let plain = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let default = if sent.url.starts_with("https:") { ":443" } else { ":80" };
        text.strip_suffix(default).map_or(text.clone(), str::to_owned)
    };
    sent.authority().is_none_or(|authority| plain(authority) == plain(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_days_from_today() {
        let today = NaiveDate::from_ymd_opt(2026, 1, 5).unwrap();
        for (text, expected) in [
            ("2026-01-07", Some("${workday+2}")),
            ("2026-01-10", Some("${day+5}")),
            ("2026-01-04", Some("${day+-1}")),
            ("2026-01-07T00:00:00Z", Some("${workday+2}T00:00:00Z")),
            (" 2026-01-07", Some(" ${workday+2}")),
            ("2026-01-07\n", Some("${workday+2}\n")),
            ("2026-01-10Z", Some("${workday+5}Z")),
            ("2026-01-07x", None),
            ("2026-02-30", None),
            ("2026-1-7", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(date(text, today), expected.map(Value::from), "{text}");
        }
    }

    #[test]
    fn holidays_are_no_workdays() {
        let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap();
        for (month, number, expected) in [
            (1, 1, false),
            (1, 2, true),
            (4, 3, false),
            (4, 7, true),
            (5, 14, false),
            (8, 1, false),
            (8, 3, true),
        ] {
            assert_eq!(is_workday(day(month, number)), expected, "{month}-{number}");
        }
    }
}
