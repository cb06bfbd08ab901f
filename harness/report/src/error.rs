//! Errors of reading records and writing reports.

use std::{io, path::PathBuf};

use xs2aspec_record::{Counts, ReadError};

use crate::words::counts;

/// The error of an incomplete report.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// A file or folder cannot be written.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// Path of the file or folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The record cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// The rendered report cannot be written.
    #[error("cannot be written: {0}")]
    Draw(#[source] io::Error),
    /// The events do not form a run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The reason that events do not form a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The record does not begin with `run-started`.
    #[error("expected `run-started` as the first event, found {found}")]
    NoStart {
        /// Kind of the first event.
        found: &'static str,
    },
    /// A second `run-started`, or an event after `run-finished`.
    #[error("unexpected `{found}`, event {number} of the record")]
    Misplaced {
        /// Kind of the event.
        found: &'static str,
        /// Its number, from 1.
        number: usize,
    },
    /// A clause or source that occurs twice.
    #[error("the record has the {what} `{id}` twice")]
    Twice {
        /// `clause` or `source`.
        what: &'static str,
        /// Id or file.
        id: String,
    },
    /// A case of a clause that the record does not contain, so that the strength of the clause is unknown.
    #[error("the record does not contain the clause `{clause}` of the case `{case}`")]
    UnknownClause {
        /// The clause.
        clause: String,
        /// The case.
        case: String,
    },
    /// The counts of `run-finished` differ from those of the verdicts: events were lost or edited.
    #[error("`run-finished` counts {}, but the record has {}", counts(.counted), counts(.found))]
    Counts {
        /// Counts of `run-finished`.
        counted: Box<Counts>,
        /// Counts of the verdicts.
        found: Box<Counts>,
    },
    /// The exit code of `run-finished` differs from that of the verdicts.
    #[error("`run-finished` has exit code {said}, but the verdicts give {found}: the record was edited")]
    Exit {
        /// Exit code of `run-finished`.
        said: u8,
        /// Exit code of the verdicts.
        found: u8,
    },
    /// A waived case that no waiver names.
    #[error(
        "the case `{case}` is waived, but no waiver in force in `run-finished` names it: the record was edited"
    )]
    NotWaived {
        /// The case.
        case: String,
    },
}
