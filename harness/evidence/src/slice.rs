//! Parts of an open file. Several are read side by side, and all of them from the one file that was opened: its
//! name may lead elsewhere by now.

use std::{
    fs::File,
    io::{self, BufReader, Read},
};

/// Bytes of a file from here to there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> Slice<'a> {
    /// Returns `length` bytes of a file, or as many as it has.
    pub(crate) fn new(file: &'a File, start: u64, length: u64) -> Self {
        Self { file, at: start, end: start.saturating_add(length) }
    }

    /// Returns all bytes of a file, as many as it has when they are read.
    pub(crate) fn whole(file: &'a File) -> Self {
        Self::new(file, 0, u64::MAX)
    }

    /// Reads through a buffer.
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

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}
