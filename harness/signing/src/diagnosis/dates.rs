//! Dates: which are HTTP dates, and which may have been signed instead of the one that was sent.

use chrono::{DateTime, NaiveDateTime, TimeDelta};

/// The formats of RFC 9110, section 5.6.7: one that senders must use, and two that receivers must accept as
/// well.
const OF_HTTP: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Other formats that programs write.
const OTHERS: [&str; 9] = [
    "%a, %-d %b %Y %H:%M:%S GMT",
    "%a, %d %b %Y %H:%M:%S UTC",
    "%a, %d %b %Y %H:%M:%S Z",
    "%a, %d %b %Y %H:%M:%S +0000",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S+00:00",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%s",
];

/// Seconds before and after a date that are tried.
const NEAR: i64 = 300;

/// Limit of the offset of local time from UTC, in hours.
const HOURS: i64 = 14;

/// Returns true if a string is an HTTP date (RFC 9110, section 5.6.7).
pub fn is_http_date(text: &str) -> bool {
    OF_HTTP.into_iter().any(|format| {
        NaiveDateTime::parse_from_str(text, format).is_ok_and(|date| date.format(format).to_string() == text)
    })
}

/// Returns the format of a date that is not an HTTP date.
pub(super) fn oddity(text: &str) -> &'static str {
    match () {
        () if DateTime::parse_from_rfc3339(text).is_ok() || text.get(4..5) == Some("-") => " (ISO 8601)",
        () if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => " (a number of seconds)",
        () if read(text).is_some() => " (an e-mail date: expected two digits for the day, and GMT)",
        () => "",
    }
}

fn read(text: &str) -> Option<NaiveDateTime> {
    let of_format = |format: &&str| NaiveDateTime::parse_from_str(text, format).ok();
    let mail = DateTime::parse_from_rfc2822(text).or_else(|_| DateTime::parse_from_rfc3339(text));
    mail.map(|date| date.naive_utc()).ok().or_else(|| OF_HTTP.iter().chain(&OTHERS).find_map(of_format))
}

/// Returns dates that may have been signed instead of the one that was sent, the nearest first, each with an
/// explanation.
pub(super) fn others(text: &str) -> impl Iterator<Item = (String, String)> {
    let near = (0..=NEAR).flat_map(|seconds| [seconds, -seconds]);
    let zones = (1..=HOURS).flat_map(|hours| [hours * 3600, -hours * 3600]);
    let sent = read(text);
    let ahead = near.chain(zones).filter_map(move |ahead| Some((sent? + TimeDelta::seconds(ahead), ahead)));
    ahead.flat_map(|(date, ahead)| {
        let formats = OF_HTTP.into_iter().chain(OTHERS);
        formats.map(move |format| {
            let signed = date.format(format).to_string();
            let says = says(&signed, ahead);
            (signed, says)
        })
    })
}

fn says(signed: &str, ahead: i64) -> String {
    let (count, unit, why) = match ahead.abs() {
        0 => return format!("it was signed with Date {signed:?}, the same moment in another format"),
        far if far > NEAR => (far / 3600, "hour", "a local time labeled with another time zone"),
        near => (near, "second", "something between client and bank replaced it"),
    };
    let s = if count == 1 { "" } else { "s" };
    let word = if ahead < 0 { "earlier" } else { "later" };
    format!("it was signed with Date {signed:?}, {count} {unit}{s} {word}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http_have_three_formats() {
        for date in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert!(is_http_date(date), "{date}");
        }
        for date in [
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Nov 1994 09:49:37 +0100",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "sun, 06 nov 1994 08:49:37 gmt",
            "søn., 06 nov. 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
            "784111777",
            "now",
            "",
        ] {
            assert!(!is_http_date(date), "{date}");
        }
    }

    #[test]
    fn the_dates_around_one_are_tried_in_every_format() {
        let sent = "Sat, 28 Nov 2026 07:43:24 GMT";
        for (signed, says) in [
            ("Sat, 28 Nov 2026 07:43:23 GMT", "1 second earlier"),
            ("Sat, 28 Nov 2026 07:48:24 GMT", "300 seconds later"),
            ("Sat Nov 28 07:43:24 2026", "the same moment"),
            ("2026-11-28T07:43:20Z", "4 seconds earlier"),
            ("1795851804", "the same moment"),
            ("Sat, 28 Nov 2026 08:43:24 GMT", "1 hour later: a local time"),
        ] {
            let found = others(sent).find(|(other, _)| other == signed);
            assert!(found.as_ref().is_some_and(|(_, found)| found.contains(says)), "{signed}: {found:?}");
        }
        assert_eq!(others("now").count(), 0);
    }
}
