//! Parts of a report that are stored until the text above them is known.

use std::{
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
};

use tempfile::SpooledTempFile;

/// Limit of the bytes of a report's parts that are stored in memory. More are stored in a file.
const IN_MEMORY: usize = 1 << 22;

/// The stored parts of a report.
#[derive(Debug)]
pub(crate) struct Parts {
    file: BufWriter<SpooledTempFile>,
    written: u64,
    failed: Option<io::Error>,
}

impl Parts {
    /// Creates an empty store. Many parts are stored in an unnamed file in `folder`, or in memory without a
    /// folder.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let file = match folder {
            Some(folder) => tempfile::spooled_tempfile_in(IN_MEMORY, folder),
            None => tempfile::spooled_tempfile(usize::MAX),
        };
        Self { file: BufWriter::with_capacity(1 << 16, file), written: 0, failed: None }
    }

    /// Adds a part and returns its byte range.
    pub(crate) fn add(&mut self, part: &[u8]) -> Range<u64> {
        let start = self.written;
        if self.failed.is_none() {
            self.failed = self.file.write_all(part).err();
            self.written += part.len() as u64;
        }
        start..self.written
    }

    /// Copies a byte range of the parts.
    pub(crate) fn copy(&mut self, range: Range<u64>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(range.start))?;
        let length = range.end - range.start;
        let capacity = usize::try_from(length).map_or(1 << 16, |length| length.min(1 << 16));
        let copied = io::copy(&mut BufReader::with_capacity(capacity, file).take(length), out)?;
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
            let (one, two) = (vec![b'a'; length], vec![b'b'; length]);
            let (first, second) = (parts.add(&one), parts.add(&two));
            for (range, wanted) in [
                (second, two.clone()),
                (first, one.clone()),
                (0..2 * length as u64, [one.clone(), two.clone()].concat()),
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
        assert!(parts.copy(0..1, &mut io::sink()).is_err());
    }
}
