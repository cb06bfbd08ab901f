//! The clock of a run.

use std::time::Instant;

use chrono::{DateTime, Utc};

/// A clock that starts at a given time, and is fixed or runs.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The start time.
    pub start: DateTime<Utc>,
    running: Option<Instant>,
}

impl Clock {
    /// Returns a fixed clock.
    pub fn at(start: DateTime<Utc>) -> Self {
        Self { start, running: None }
    }

    /// Returns a clock fixed at the given time. Without one, the clock runs from now, so that targets that
    /// check dates see current ones.
    pub fn new(given: Option<DateTime<Utc>>) -> Self {
        match given {
            Some(start) => Self::at(start),
            None => Self { running: Some(Instant::now()), ..Self::at(Utc::now()) },
        }
    }

    /// Returns true if the clock runs.
    pub fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// Returns the time.
    pub fn now(&self) -> DateTime<Utc> {
        self.running.map_or(self.start, |since| self.start + since.elapsed())
    }
}
