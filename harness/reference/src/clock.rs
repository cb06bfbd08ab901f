//! The bank's idea of now.

use chrono::{DateTime, NaiveDate, Utc};

/// Where the bank takes the time from. Only the daily limit on transaction details depends on it (the document,
/// section Limits), so a fixed clock gives the same answers in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The clock of the machine.
    #[default]
    System,
    /// Always this instant.
    Fixed(DateTime<Utc>),
}

impl Clock {
    /// The current instant, in UTC.
    pub fn now(self) -> DateTime<Utc> {
        match self {
            Self::System => Utc::now(),
            Self::Fixed(instant) => instant,
        }
    }

    /// The current calendar day, in UTC.
    pub fn today(self) -> NaiveDate {
        self.now().date_naive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_stands_still() {
        let instant = DateTime::parse_from_rfc3339("2025-03-01T23:59:59Z").unwrap().to_utc();
        assert_eq!(Clock::Fixed(instant).now(), instant);
        assert_eq!(Clock::Fixed(instant).today(), NaiveDate::from_ymd_opt(2025, 3, 1).unwrap());
    }
}
