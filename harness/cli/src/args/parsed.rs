//! Parsers of argument values.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, Utc};
use xs2aspec_suite::Depth;

/// The years that a clock may have. Requests name days some years before and after it, and the year of an RFC
/// 3339 date has four digits.
const YEARS: RangeInclusive<i32> = 2000..=9900;

/// Parses an RFC 3339 time.
pub(super) fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let time = DateTime::parse_from_rfc3339(text);
    let time = time.map_err(|_| "expected an RFC 3339 time such as 2030-01-31T12:00:00Z")?.to_utc();
    if YEARS.contains(&time.year()) {
        return Ok(time);
    }
    Err(format!("expected a year from {} to {}", YEARS.start(), YEARS.end()))
}

pub(super) fn depth(text: &str) -> Result<Depth, String> {
    let all = [Depth::Quick, Depth::Standard, Depth::Exhaustive];
    all.into_iter()
        .find(|depth| depth.word() == text)
        .ok_or_else(|| "expected quick, standard or exhaustive".to_owned())
}

/// Parses a pattern of cases. A case may be written like the heading of a finding: `clause / rest`.
#[expect(clippy::unnecessary_wraps, reason = "clap calls it as a parser, which may fail")]
pub(super) fn pattern(text: &str) -> Result<String, String> {
    Ok(text.trim().replacen(" / ", "/", 1))
}

pub(super) fn method(text: &str) -> Result<String, String> {
    if crate::message::is_token(text) {
        return Ok(text.to_owned());
    }
    Err("expected a method such as POST, without spaces (RFC 9110, section 9.1)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_may_be_written_like_a_heading() {
        for (text, read) in [
            ("basket.mix / periodic", "basket.mix/periodic"),
            ("basket.mix/periodic", "basket.mix/periodic"),
            (" *quotes* ", "*quotes*"),
        ] {
            assert_eq!(pattern(text).as_deref(), Ok(read), "{text}");
        }
    }

    #[test]
    fn a_clock_is_in_a_year_of_four_digits_that_has_years_around_it() {
        for (text, is_taken) in [
            ("2030-01-31T12:00:00Z", true),
            ("2000-01-01T00:00:00+00:00", true),
            ("9900-12-31T23:59:59Z", true),
            ("9901-01-01T00:00:00Z", false),
            ("9999-12-31T23:59:59Z", false),
            ("1969-12-31T23:59:59Z", false),
            ("2030-01-31", false),
        ] {
            assert_eq!(time(text).is_ok(), is_taken, "{text}");
        }
    }
}
