//! Calendar dates of ISO 8601. A date that does not exist is rejected.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

/// Returns true for a date in the extended format, `2024-02-29`.
pub(crate) fn is_calendar_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && exists(text.get(..4), text.get(5..7), text.get(8..))
}

/// Returns true for a date in the basic format, `20240229`. ISO 8601 allows it, and the document does not
/// exclude it.
pub(crate) fn is_basic_date(text: &str) -> bool {
    text.len() == 8 && exists(text.get(..4), text.get(4..6), text.get(6..))
}

/// Returns true for a date in any ISO 8601 format except the extended one. These are the basic format, week
/// dates, ordinal dates, months, and dates with a time or a zone.
pub(crate) fn is_other_date(text: &str) -> bool {
    static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let week = "W(0[1-9]|[1-4][0-9]|5[0-3])";
        let day = "00[1-9]|0[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6]";
        let month = "0[1-9]|1[0-2]";
        Regex::new(&format!("^[0-9]{{4}}(-?{week}(-?[1-7])?|-?({day})|-({month}))$")).ok()
    });
    static REST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let two = "[0-5][0-9]";
        let time = format!("T([01][0-9]|2[0-4])(:?{two}(:?{two}([.,][0-9]+)?)?)?");
        let zone = format!("Z|[+-]([01][0-9]|2[0-4])(:?{two})?");
        Regex::new(&format!("^({time}({zone})?|{zone})$")).ok()
    });
    let is =
        |form: &LazyLock<Option<Regex>>, text: &str| form.as_ref().is_some_and(|form| form.is_match(text));
    let begins = |length: usize, is_date: fn(&str) -> bool| {
        let rest = text.get(length..).filter(|_| text.get(..length).is_some_and(is_date));
        rest.is_some_and(|rest| is(&REST, rest))
    };
    is_basic_date(text) || is(&OTHER, text) || begins(10, is_calendar_date) || begins(8, is_basic_date)
}

fn exists(year: Option<&str>, month: Option<&str>, day: Option<&str>) -> bool {
    let date = || NaiveDate::from_ymd_opt(number(year?)?.try_into().ok()?, number(month?)?, number(day?)?);
    date().is_some()
}

/// Parses digits only, since `parse` alone would accept a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_exist_are_told_from_those_that_do_not() {
        for good in ["2024-02-29", "2000-02-29", "2023-12-31", "0001-01-01", "9999-12-31"] {
            assert!(is_calendar_date(good), "{good}");
            assert!(is_basic_date(&good.replace('-', "")), "{good}");
        }
        for bad in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-04-31",
            "2024-1-1",
            "24-01-01",
            "+024-01-01",
            "2024-01-01T00:00:00Z",
            "2024/01/01",
            "01.02.2024",
            "2024-W09-4",
            "2024-060",
            "",
            "2024-01-0\u{661}",
            "ø024-01-1",
        ] {
            assert!(!is_calendar_date(bad), "{bad}");
            assert!(!is_basic_date(bad), "{bad}");
        }
    }

    #[test]
    fn other_forms_of_iso_8601_are_told_from_what_is_none() {
        for other in [
            "20240229",
            "2024-W09-4",
            "2024-W53",
            "2024W094",
            "2024-060",
            "2024060",
            "2024-02",
            "2024-02-29T00:00:00",
            "2024-02-29T10:00:00.5Z",
            "20240229T1000+0100",
            "2024-02-29Z",
            "2024-02-29+01:00",
        ] {
            assert!(is_other_date(other) && !is_calendar_date(other), "{other}");
        }
        for none in [
            "2024-02-29",
            "2023-02-29T00:00:00Z",
            "2024-02-29 ",
            "2024-02-29T25:00",
            "2024-02-29T",
            "2024-W54-1",
            "2024-W09-8",
            "2024-000",
            "2024-367",
            "2024-13",
            "2024-00",
            "202402",
            "20230229",
            "29.02.2024",
            "2024-02-29T00:00:00Z\n",
            "",
        ] {
            assert!(!is_other_date(none), "{none}");
        }
    }
}
