//! Parts of an open file. Several parts are read in parallel from the same open file, because its name may
//! lead elsewhere by now.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
};

/// A range of bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    file: &'a File,
    start: u64,
    at: u64,
    end: u64,
}

impl<'a> Slice<'a> {
    /// Returns `length` bytes of a file, or fewer if it is shorter.
    pub(crate) fn new(file: &'a File, start: u64, length: u64) -> Self {
        Self { file, start, at: start, end: start.saturating_add(length) }
    }

    /// Returns all bytes of a file, up to its end at the time of reading.
    pub(crate) fn whole(file: &'a File) -> Self {
        Self::new(file, 0, u64::MAX)
    }

    /// Returns a buffered reader.
    pub(crate) fn buffered(self) -> BufReader<Self> {
        BufReader::with_capacity(1 << 16, self)
    }
}

impl Read for Slice<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        let read = read_at(self.file, &mut into[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Offsets are relative to the start of the part.
impl Seek for Slice<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(offset) => self.start.checked_add(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
            SeekFrom::End(offset) => self.end.min(self.file.metadata()?.len()).checked_add_signed(offset),
        };
        self.at = at.filter(|at| *at >= self.start).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at - self.start)
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}
