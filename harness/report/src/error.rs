//! Why reports are not whole.

use std::{io, path::PathBuf};

use xs2aspec_record::ReadError;

use crate::summary::RunError;

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
