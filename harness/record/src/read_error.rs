//! Why a record is not read.

use crate::{event::RunStarted, lines::LONGEST_WORDS, parts::PartsError};

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file ends or breaks.
    #[error("cannot read the record: {0}")]
    Io(#[from] std::io::Error),
    /// A line that is no event; the last line of a killed run may be cut, any other is a defect.
    #[error("line {line} of the record is no event: {source}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A verdict that its own findings speak against: no run writes one, so the record was edited.
    #[error("line {line} of the record contradicts itself: {what}, so that it was edited")]
    Contradiction {
        /// Line, from 1.
        line: usize,
        /// What speaks against what.
        what: String,
    },
    /// Lines that are not those that the run wrote.
    #[error(
        "line {line} of the record: its hash chain does not match the lines of the record, so that one of them was edited after the run had \
         written it"
    )]
    Chain {
        /// Line, from 1: the last one.
        line: usize,
    },
    /// A finished run without a hash chain.
    #[error("line {line} of the record has no `chain`, which each run writes, so that it was edited")]
    NoChain {
        /// Line, from 1: the last one.
        line: usize,
    },
    /// Something behind the end of the run.
    #[error("line {line} of the record comes after `run-finished`, so that it was added")]
    AfterEnd {
        /// Line, from 1.
        line: usize,
    },
    /// A second beginning.
    #[error("line {line} of the record is a second `run-started`, so that it was added")]
    StartedTwice {
        /// Line, from 1.
        line: usize,
    },
    /// A line that is longer than any that a run writes.
    #[error("line {line} of the record is longer than {LONGEST_WORDS}")]
    Long {
        /// Line, from 1.
        line: usize,
    },
    /// A record of another version of this program.
    #[error(
        "the record has format {found}, and this version reads format {}: read it with the version that wrote it",
        RunStarted::FORMAT
    )]
    Format {
        /// The format found.
        found: u32,
    },
    /// Records that do not belong together.
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// The first line is not `run-started`.
    #[error("the record does not begin with `run-started`")]
    NoStart,
}
