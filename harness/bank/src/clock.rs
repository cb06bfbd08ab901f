//! The clock of the bank.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

/// A source of time. Daily limits, consent ages and payment statuses depend on it (the document, section
/// Limits). A fixed clock makes responses reproducible.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// The fixed instant, or None for the system clock.
    base: Option<DateTime<Utc>>,
    /// The offset in seconds, if the clock is adjustable.
    moved: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// Returns a clock fixed at this instant, or the system clock if there is none.
    pub fn at(instant: Option<DateTime<Utc>>) -> Self {
        Self { base: instant, moved: None }
    }

    /// Makes the clock adjustable through `/clock`.
    #[must_use]
    pub fn controlled(self) -> Self {
        Self { moved: Some(Arc::default()), ..self }
    }

    /// Returns true if the clock is adjustable.
    pub fn is_controlled(&self) -> bool {
        self.moved.is_some()
    }

    /// Sets an adjustable clock to an instant, to the second. Any other clock stays unchanged.
    pub fn set(&self, instant: DateTime<Utc>) {
        if let Some(moved) = &self.moved {
            moved.store((instant - self.unmoved()).num_seconds(), Ordering::Relaxed);
        }
    }

    /// Returns the current instant in UTC.
    pub fn now(&self) -> DateTime<Utc> {
        self.unmoved().checked_add_signed(self.moved()).unwrap_or_else(|| self.unmoved())
    }

    /// Returns the offset of an adjusted clock.
    pub fn moved(&self) -> TimeDelta {
        let seconds = self.moved.as_ref().map_or(0, |moved| moved.load(Ordering::Relaxed));
        TimeDelta::try_seconds(seconds).unwrap_or_default()
    }

    /// Returns the current instant as an HTTP date (RFC 9110 section 5.6.7), or None for the system clock.
    pub fn date(&self) -> Option<String> {
        self.base.map(|_| self.now().format("%a, %d %b %Y %H:%M:%S GMT").to_string())
    }

    fn unmoved(&self) -> DateTime<Utc> {
        self.base.unwrap_or_else(Utc::now)
    }

    /// Returns the current calendar day in UTC.
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
