//! The clock of a run.

use std::time::Instant;

use chrono::{DateTime, Utc};

/// A time that was handed over, and whether it goes on from there.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The time that was handed over.
    pub start: DateTime<Utc>,
    running: Option<Instant>,
}

impl Clock {
    /// A clock that stands.
    pub fn at(start: DateTime<Utc>) -> Self {
        Self { start, running: None }
    }

    /// A clock that stands at a time that was given. Without one it runs from now on: dates are then those of
    /// the moment in which a request is made, as a target wants them that looks at its own clock.
    pub fn new(given: Option<DateTime<Utc>>) -> Self {
        match given {
            Some(start) => Self::at(start),
            None => Self { running: Some(Instant::now()), ..Self::at(Utc::now()) },
        }
    }

    /// Returns true if it goes on.
    pub fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// The time.
    pub fn now(&self) -> DateTime<Utc> {
        self.running.map_or(self.start, |since| self.start + since.elapsed())
    }
}
