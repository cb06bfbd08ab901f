//! Calendar dates of ISO 8601 that exist.

use chrono::NaiveDate;

/// Whether a text is a date in the extended format, `2024-02-29`.
pub(crate) fn is_calendar_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && exists(text.get(..4), text.get(5..7), text.get(8..))
}

/// Whether a text is a date in the basic format, `20240229`, which ISO 8601 allows and the document does not
/// exclude.
pub(crate) fn is_basic_date(text: &str) -> bool {
    text.len() == 8 && exists(text.get(..4), text.get(4..6), text.get(6..))
}

fn exists(year: Option<&str>, month: Option<&str>, day: Option<&str>) -> bool {
    let date = || NaiveDate::from_ymd_opt(number(year?)?.try_into().ok()?, number(month?)?, number(day?)?);
    date().is_some()
}

/// Digits only: `parse` alone would take a sign.
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
}
