//! What is asked of an exploration, what it tells while it goes on, and what it came to.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use xs2aspec_record::{Event, Exit, Reason};
use xs2aspec_runner::Options;

use crate::violation::Violation;

/// What is explored, and how far.
#[derive(Debug, Clone)]
pub struct ExploreOptions {
    /// Operations whose requests are drawn; all of them where none is named.
    pub only: Vec<String>,
    /// Requests to send at most, whatever they are for.
    pub budget: u64,
    /// Time to take at most.
    pub time: Option<Duration>,
    /// Whether to stop at the first violation.
    pub fail_fast: bool,
    /// Requests in flight at once.
    pub jobs: usize,
    /// Set to true by whoever wants it to end.
    pub is_ended: Arc<AtomicBool>,
    /// What the record says of how it was made.
    pub record: Options,
}

/// What happens in an exploration.
#[derive(Debug)]
pub enum Step<'a> {
    /// It begins, with so many partitions of requests.
    Begin {
        /// How many.
        partitions: usize,
    },
    /// The next event of its record.
    Event(&'a Event),
    /// A violation that was not known before.
    Found(&'a Violation),
    /// How far it is, every few seconds.
    Progress(Progress),
}

/// How far an exploration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Requests that were sent.
    pub requests: u64,
    /// Partitions that were reached.
    pub reached: usize,
    /// Partitions that there are.
    pub partitions: usize,
    /// Pairs of partitions that were in one request.
    pub pairs: usize,
    /// Violations that were found.
    pub violations: usize,
    /// Warnings that were found.
    pub warnings: usize,
}

/// Why an exploration came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A violation was found, and one is enough.
    Found,
    /// There were no requests left but those that are kept for making findings smaller.
    Budget {
        /// All requests that there might have been.
        all: u64,
        /// Those that were kept.
        kept: u64,
    },
    /// The time was over.
    Time,
    /// Somebody asked it to end.
    Asked,
    /// So many requests in a row reached nothing new.
    Stale(usize),
    /// No plain request was accepted, so that nothing could be told of any other.
    NothingAccepted,
}

/// What an exploration came to.
#[derive(Debug)]
pub struct Explored {
    /// How far it came.
    pub progress: Progress,
    /// Partitions that were not reached, if every one was to be.
    pub unreached: Vec<String>,
    /// How many drawn requests had each verdict.
    pub counts: BTreeMap<&'static str, usize>,
    /// Why verdicts are neither pass nor fail, and how often.
    pub reasons: BTreeMap<Reason, usize>,
    /// Why it ended.
    pub end: End,
    /// How long it took.
    pub took: Duration,
    /// What its record comes to.
    pub exit: Exit,
}
