//! Merges the records of shards into one record, after checking that they are the parts of one run and that
//! none is missing.

use std::{
    io::{self, BufReader, Write as _},
    path::PathBuf,
};

use xs2aspec_record::{
    ReadError, RecordReader, compressed,
    lines::{NextLine, read_line},
    outputs::Output,
};

use crate::{error::ReportsError, stream, summary::RunSummary};

/// The reason that records are not the parts of one run.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A record that is not from a shard.
    #[error("record {number} is not from a shard: create one with `run --shard K/N`")]
    NoShard {
        /// Position of the record, from 1.
        number: usize,
    },
    /// A record that cannot be read.
    #[error("record {number}: {error}")]
    Record {
        /// Position of the record, from 1.
        number: usize,
        /// The cause.
        error: Box<ReportsError>,
    },
    /// The merged record cannot be written.
    #[error("cannot be written: {0}")]
    Write(#[from] io::Error),
    /// Records that do not belong together.
    #[error(transparent)]
    Whole(#[from] ReportsError),
    /// A run that was killed or stopped.
    #[error("shard {shard} did not finish: run it again")]
    Unfinished {
        /// The shard.
        shard: String,
    },
    /// Cases without a verdict.
    #[error("the records have only {found} of {planned} cases: a shard is missing")]
    Missing {
        /// Cases of the whole plan.
        planned: usize,
        /// Cases with a verdict.
        found: usize,
    },
}

/// Concatenates the records of all shards, byte for byte, and returns the summary.
pub fn merge(shards: &[PathBuf], out: &mut Output) -> Result<RunSummary, MergeError> {
    for (path, number) in shards.iter().zip(1..) {
        let wrong = |error| MergeError::Record { number, error: Box::new(error) };
        let read = |error: io::Error| wrong(ReadError::Io(error).into());
        let part = stream::summary(RecordReader::open(path).map_err(read)?).map_err(wrong)?;
        if part.start().part().is_none() {
            return Err(MergeError::NoShard { number });
        }
        if part.finish().is_none_or(|finish| finish.stopped_early) {
            return Err(MergeError::Unfinished { shard: part.start().shard.clone().unwrap_or_default() });
        }
        let (mut file, mut line) = (BufReader::new(compressed::open_record(path).map_err(read)?), Vec::new());
        while read_line(&mut file, &mut line).map_err(read)? == NextLine::Line {
            // The last line may lack its line end.
            out.write_all(line.strip_suffix(b"\n").unwrap_or(&line))?;
            out.write_all(b"\n")?;
        }
    }
    let whole = stream::summary(RecordReader::open(out.written()?)?)?;
    let (planned, found) = (whole.start().cases, whole.totals().counts().total());
    if found < planned { Err(MergeError::Missing { planned, found }) } else { Ok(whole) }
}

#[cfg(test)]
mod tests;
