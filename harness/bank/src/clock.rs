//! The bank's idea of now.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

/// Where the bank takes the time from. Daily limits, the ages of consents and the statuses of payments depend
/// on it (the document, section Limits), so a fixed clock gives the same answers in every run.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Always this instant, or the clock of the machine.
    base: Option<DateTime<Utc>>,
    /// How many seconds it was moved, and whether it may be.
    moved: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// Always this instant; the clock of the machine where there is none.
    pub fn at(instant: Option<DateTime<Utc>>) -> Self {
        Self { base: instant, moved: None }
    }

    /// The same, but that it can be moved at `/clock`.
    #[must_use]
    pub fn controlled(self) -> Self {
        Self { moved: Some(Arc::default()), ..self }
    }

    /// Whether it can be moved.
    pub fn is_controlled(&self) -> bool {
        self.moved.is_some()
    }

    /// Moves it to an instant, to the second, from where it goes on as before. A clock that cannot be moved
    /// stays.
    pub fn set(&self, instant: DateTime<Utc>) {
        if let Some(moved) = &self.moved {
            moved.store((instant - self.unmoved()).num_seconds(), Ordering::Relaxed);
        }
    }

    /// The current instant, in UTC.
    pub fn now(&self) -> DateTime<Utc> {
        self.unmoved().checked_add_signed(self.moved()).unwrap_or_else(|| self.unmoved())
    }

    /// How far it was moved.
    pub fn moved(&self) -> TimeDelta {
        let seconds = self.moved.as_ref().map_or(0, |moved| moved.load(Ordering::Relaxed));
        TimeDelta::try_seconds(seconds).unwrap_or_default()
    }

    /// The current instant as HTTP writes it (RFC 9110 section 5.6.7), unless it is the machine's.
    pub fn date(&self) -> Option<String> {
        self.base.map(|_| self.now().format("%a, %d %b %Y %H:%M:%S GMT").to_string())
    }

    fn unmoved(&self) -> DateTime<Utc> {
        self.base.unwrap_or_else(Utc::now)
    }

    /// The current calendar day, in UTC.
    pub fn today(&self) -> NaiveDate {
        self.now().date_naive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    #[test]
    fn a_fixed_clock_stands_still() {
        let clock = Clock::at(Some(instant("2025-03-01T23:59:59Z")));
        clock.set(instant("2026-01-01T00:00:00Z"));
        assert_eq!(clock.now(), instant("2025-03-01T23:59:59Z"));
        assert_eq!(clock.today(), NaiveDate::from_ymd_opt(2025, 3, 1).unwrap());
    }

    #[test]
    fn a_controlled_clock_is_moved_for_all_who_look_at_it() {
        let clock = Clock::at(Some(instant("2025-03-01T12:00:00Z"))).controlled();
        let other = clock.clone();
        clock.set(instant("2025-06-01T00:00:00Z"));
        assert_eq!(other.now(), instant("2025-06-01T00:00:00Z"));
        other.set(instant("2025-03-01T12:00:00Z"));
        assert_eq!(clock.now(), instant("2025-03-01T12:00:00Z"));
        let running = Clock::at(None).controlled();
        running.set(instant("2040-01-01T00:00:00Z"));
        assert!((running.now() - instant("2040-01-01T00:00:00Z")).num_seconds() <= 1);
    }
}
