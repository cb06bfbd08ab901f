//! The errors of reading a record.

use crate::{event::RunStarted, lines::LONGEST_WORDS, parts::PartsError};

/// The error that makes a record unreadable.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read the record: {0}")]
    Io(#[from] std::io::Error),
    /// A line that is not an event. Only the last line of a killed run may be truncated.
    #[error("line {line} of the record is not an event: {source}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// A verdict that contradicts its own findings. No run writes one, so the record was edited.
    #[error("line {line} of the record contradicts itself: {what}; the record was edited")]
    Contradiction {
        /// Line, from 1.
        line: usize,
        /// The contradiction.
        what: String,
    },
    /// The lines differ from those that the run wrote.
    #[error(
        "line {line} of the record: its hash chain does not match the lines before it; one of them was edited after the run \
         wrote it"
    )]
    Chain {
        /// Number of the last line, from 1.
        line: usize,
    },
    /// A finished run without a hash chain.
    #[error("line {line} of the record has no `chain`, which every run writes; the record was edited")]
    NoChain {
        /// Number of the last line, from 1.
        line: usize,
    },
    /// A line after the end of the run.
    #[error("line {line} of the record comes after `run-finished`; it was added later")]
    AfterEnd {
        /// Line, from 1.
        line: usize,
    },
    /// A second start.
    #[error("line {line} of the record is a second `run-started`; it was added later")]
    StartedTwice {
        /// Line, from 1.
        line: usize,
    },
    /// A line that is longer than any line of a run.
    #[error("line {line} of the record is longer than {LONGEST_WORDS}")]
    Long {
        /// Line, from 1.
        line: usize,
    },
    /// A record in the format of another version of this program.
    #[error(
        "the record has format {found}, but this version reads format {}: read it with the version that wrote it",
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
    #[error("the record does not start with `run-started`")]
    NoStart,
}
