//! The record and the reports of commands other than `run`.

use std::{
    fs,
    io::{self, BufWriter},
    path::Path,
};

use xs2aspec_record::{Event, RecordReader, RecordWriter, RunFolder, outputs};
use xs2aspec_report::{format::Report, stream};

use crate::{
    Failure,
    report::{cannot_write, claim},
};

/// A record that is written as events happen.
pub(crate) struct Recording<'a> {
    folder: &'a Path,
    claimed: RunFolder,
    writer: RecordWriter<BufWriter<fs::File>>,
    broken: Option<io::Error>,
}

impl<'a> Recording<'a> {
    /// Starts the record in a folder, if the command may write there.
    pub(crate) fn create(folder: &'a Path, reads: &[&Path]) -> Result<Self, Failure> {
        let claimed = claim(folder, reads)?;
        let writer = RecordWriter::create(&folder.join(outputs::RECORD));
        let writer = writer.map_err(|error| cannot_write(folder, &error))?;
        Ok(Self { folder, claimed, writer, broken: None })
    }

    /// Writes the next event. [`Self::finish`] returns the first error.
    pub(crate) fn write(&mut self, event: &Event) {
        if self.broken.is_none() {
            self.broken = self.writer.write(event).err();
        }
    }

    /// Ends the record, and writes the reports next to it.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let wrong = |error: io::Error| cannot_write(self.folder, &error);
        self.broken.map_or(Ok(()), Err).map_err(wrong)?;
        self.writer.finish().map_err(wrong)?;
        let record = RecordReader::open(&self.folder.join(outputs::RECORD)).map_err(wrong)?;
        let summary = stream::summary(record).map_err(Failure::input)?;
        let errors = stream::write(self.folder, &summary, &Report::USUAL, &mut []);
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        if !errors.is_empty() {
            return Err(Failure::input(errors.join("\n")));
        }
        self.claimed.end().map_err(wrong)
    }
}
