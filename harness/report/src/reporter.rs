//! A report as it is drawn, case after case: no report needs all cases of a run in memory.

use std::{
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
};

use tempfile::SpooledTempFile;
use xs2aspec_record::{CaseVerdict, Exchange, Role};

use crate::summary::RunSummary;

/// A case as a report is told of it.
#[derive(Debug, Clone)]
pub struct CaseReport<'a> {
    /// What was concluded.
    pub verdict: &'a CaseVerdict,
    /// What was sent for it, in the order in which it was sent.
    pub exchanges: Vec<&'a Exchange>,
}

impl CaseReport<'_> {
    /// The judged exchange, if one took place.
    pub fn judged(&self) -> Option<&Exchange> {
        let number = self.verdict.exchange?;
        self.exchanges.iter().find(|exchange| exchange.number == number).copied()
    }
}

/// A report that is drawn.
pub trait Reporter {
    /// Draws a selected case. They come in the order of their ids, and of the summary only the clauses and the start are known by then. What
    /// cannot be kept is said by [`Self::finish`].
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>);

    /// Draws a control that nobody selected and that is a violation by itself ([`CaseVerdict::is_broken_control`]).
    fn control(&mut self, _summary: &RunSummary, _report: &CaseReport<'_>) {}

    /// Draws a case that a report shows, be it selected or a control.
    fn show(&mut self, summary: &RunSummary, report: &CaseReport<'_>) {
        match report.verdict.role {
            Role::Selected => self.case(summary, report),
            Role::Control => self.control(summary, report),
        }
    }

    /// Writes the report of the cases that were drawn, when all of the summary is known.
    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()>;

    /// The bytes of the same report, for one that keeps its parts in memory.
    fn render(&mut self, summary: &RunSummary) -> Vec<u8> {
        let mut drawn = Vec::new();
        // Writing to memory does not fail.
        drop(self.finish(summary, &mut drawn));
        drawn
    }
}

/// Bytes of the parts of one report that are kept in memory; more are kept in a file.
const IN_MEMORY: usize = 1 << 22;

/// The parts of a report that come before what must stand above them is known.
#[derive(Debug)]
pub(crate) struct Parts {
    file: BufWriter<SpooledTempFile>,
    written: u64,
    failed: Option<io::Error>,
}

impl Parts {
    /// No parts yet. Many of them are kept in a file of this folder that has no name; without a folder all are kept in memory.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => tempfile::spooled_tempfile_in(IN_MEMORY, folder),
            None => tempfile::spooled_tempfile(usize::MAX),
        };
        Self { file: BufWriter::with_capacity(1 << 16, file), written: 0, failed: None }
    }

    /// Adds a part. Where it stands among all, in bytes.
    pub(crate) fn add(&mut self, part: &[u8]) -> Range<u64> {
        let start = self.written;
        if self.failed.is_none() {
            self.failed = self.file.write_all(part).err();
            self.written += part.len() as u64;
        }
        start..self.written
    }

    /// All parts.
    pub(crate) fn all(&self) -> Range<u64> {
        0..self.written
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.written == 0
    }

    /// Copies some of what was added.
    pub(crate) fn copy(&mut self, range: Range<u64>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end - range.start;
        let copied = io::copy(&mut BufReader::with_capacity(1 << 16, file).take(length), out)?;
        if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_whole_from_memory_and_from_a_file() {
        for length in [10, IN_MEMORY] {
            let folder = tempfile::TempDir::new().unwrap();
            let mut parts = Parts::new(Some(folder.path()));
            assert!(parts.is_empty());
            let (one, two) = (vec![b'a'; length], vec![b'b'; length]);
            let (first, second) = (parts.add(&one), parts.add(&two));
            for (range, wanted) in [
                (second, two.clone()),
                (first, one.clone()),
                (parts.all(), [one.clone(), two.clone()].concat()),
            ] {
                let mut out = Vec::new();
                parts.copy(range, &mut out).unwrap();
                assert!(out == wanted);
            }
        }
    }

    #[test]
    fn parts_that_cannot_be_kept_are_an_error_at_the_end() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut parts = Parts::new(Some(&folder.path().join("nowhere")));
        for _ in 0..3 {
            parts.add(&vec![b'a'; IN_MEMORY]);
        }
        assert!(parts.copy(parts.all(), &mut io::sink()).is_err());
    }
}
