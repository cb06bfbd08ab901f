//! Options, steps and result of an exploration.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use xs2aspec_record::{Event, Exit, Reason};
use xs2aspec_runner::Options;

use crate::violation::Violation;

/// The options of an exploration.
#[derive(Debug, Clone)]
pub struct ExploreOptions {
    /// Operations to generate requests for, or all if empty.
    pub only: Vec<String>,
    /// Limit of the requests, for any purpose.
    pub budget: u64,
    /// Time limit.
    pub time: Option<Duration>,
    /// True to stop at the first violation.
    pub fail_fast: bool,
    /// Requests in flight at once.
    pub jobs: usize,
    /// Set to true to end the exploration.
    pub is_ended: Arc<AtomicBool>,
    /// Options of the run for the record.
    pub record: Options,
}

/// A step of an exploration.
#[derive(Debug)]
pub enum Step<'a> {
    /// The beginning.
    Begin {
        /// The number of partitions of requests.
        partitions: usize,
    },
    /// The next event of its record.
    Event(&'a Event),
    /// A new violation.
    Found(&'a Violation),
    /// The progress, every few seconds.
    Progress(Progress),
}

/// The progress of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Requests sent.
    pub requests: u64,
    /// Partitions reached.
    pub reached: usize,
    /// Number of all partitions.
    pub partitions: usize,
    /// Pairs of partitions that were in one request.
    pub pairs: usize,
    /// Violations found.
    pub violations: usize,
    /// Warnings found.
    pub warnings: usize,
}

/// The reason that an exploration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A violation was found, with `fail_fast`.
    Found,
    /// Only the requests reserved for shrinking are left.
    Budget {
        /// The whole budget.
        all: u64,
        /// The reserved requests.
        kept: u64,
    },
    /// The time limit was reached.
    Time,
    /// The caller ended it.
    Asked,
    /// This many consecutive requests had no new coverage.
    Stale(usize),
    /// No baseline request was accepted, so other requests cannot be judged.
    NothingAccepted,
}

/// The result of an exploration.
#[derive(Debug)]
pub struct Explored {
    /// The progress at the end.
    pub progress: Progress,
    /// Partitions that were not reached, after a complete round.
    pub unreached: Vec<String>,
    /// Number of generated requests by verdict.
    pub counts: BTreeMap<&'static str, usize>,
    /// Reasons of verdicts other than pass and fail, with their counts.
    pub reasons: BTreeMap<Reason, usize>,
    /// The reason that it ended.
    pub end: End,
    /// The duration.
    pub took: Duration,
    /// The exit code of its record.
    pub exit: Exit,
}
