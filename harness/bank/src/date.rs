//! Dates in requests (ISO 8601 calendar dates in the extended format).

use chrono::NaiveDate;

/// Parses `YYYY-MM-DD` (ISO 8601 calendar date, extended format).
pub fn parse(text: &str) -> Result<NaiveDate, DateError> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = bytes.get(range)?;
        part.iter()
            .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0')))
    };
    let form = || {
        let dashes = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
        let year = i32::try_from(digits(0..4)?).ok()?;
        dashes.then_some((year, digits(5..7)?, digits(8..10)?))
    };
    let (year, month, day) = form().ok_or(DateError::Form)?;
    NaiveDate::from_ymd_opt(year, month, day).ok_or(DateError::NoSuchDay)
}

/// The reason why a string is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DateError {
    /// Not four, two and two digits with dashes between them.
    #[error("expected a date as YYYY-MM-DD")]
    Form,
    /// The calendar does not have this day.
    #[error("expected a day that exists")]
    NoSuchDay,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_exist() {
        for text in ["2025-01-01", "2024-02-29", "2000-02-29", "2025-12-31"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn days_that_do_not() {
        for text in ["2025-02-29", "1900-02-29", "2025-04-31", "2025-13-01", "2025-00-10", "2025-01-00"] {
            assert_eq!(parse(text), Err(DateError::NoSuchDay), "{text}");
        }
    }

    #[test]
    fn other_forms() {
        let forms = ["", "20250101", "2025-1-1", "01-01-2025", "2025/01/01", "2025-01-01T00:00:00Z"];
        for text in forms.into_iter().chain([" 2025-01-01", "2025-01-0å", "+025-01-01", "2025-W01-1"]) {
            assert_eq!(parse(text), Err(DateError::Form), "{text}");
        }
    }
}
