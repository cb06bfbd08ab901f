//! Why reports are not whole.

use std::{io, path::PathBuf};

use xs2aspec_record::{Counts, ReadError};

use crate::words::counts;

/// Why reports are not whole.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// A file or the folder.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A record that cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// What is drawn cannot be written.
    #[error("cannot be written: {0}")]
    Draw(#[source] io::Error),
    /// The events are no run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Why events are no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// No `run-started` at the beginning.
    #[error("expected `run-started` as the first event, found {found}")]
    NoStart {
        /// What is there instead.
        found: &'static str,
    },
    /// A second `run-started`, or anything after `run-finished`.
    #[error("expected no `{found}` here: it is event {number} of the record")]
    Misplaced {
        /// Kind of the event.
        found: &'static str,
        /// Its number, from 1.
        number: usize,
    },
    /// A clause or source that was there before.
    #[error("expected one {what} `{id}`, found two")]
    Twice {
        /// `clause` or `source`.
        what: &'static str,
        /// Id or file.
        id: String,
    },
    /// A case of a clause that the record does not carry, so that its strength is unknown.
    #[error("expected the record to carry the clause `{clause}` of the case `{case}`, found none")]
    UnknownClause {
        /// The clause.
        clause: String,
        /// The case.
        case: String,
    },
    /// The counts of `run-finished` are not those of the verdicts: events were lost or edited.
    #[error("expected the verdicts that `run-finished` counts ({}), found {}", counts(.counted), counts(.found))]
    Counts {
        /// Counts of `run-finished`.
        counted: Box<Counts>,
        /// Counts of the verdicts.
        found: Box<Counts>,
    },
    /// The exit code of `run-finished` is not that of the verdicts.
    #[error(
        "`run-finished` says exit {said}, and the verdicts come to exit {found}, so that the record was edited"
    )]
    Exit {
        /// Exit code of `run-finished`.
        said: u8,
        /// Exit code of the verdicts.
        found: u8,
    },
    /// A waived case that no waiver names.
    #[error(
        "the case `{case}` is waived, and `run-finished` has no waiver in force that names it, so that the record was edited"
    )]
    NotWaived {
        /// The case.
        case: String,
    },
}
