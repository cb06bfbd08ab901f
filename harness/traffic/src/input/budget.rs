//! An input with a limit for each part, because a string in an archive may be as long as the file.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// Longest part, in bytes. A list of numbers takes about fifty times as much memory as its JSON.
pub(super) const LONGEST: u64 = 16 << 20;

/// The longest part, for messages.
pub(super) const LONGEST_WORDS: &str = "16 MB";

/// An input, and the number of bytes that may be read before the next part starts.
pub(super) struct Within<R>(pub(super) R, pub(super) Rc<Cell<u64>>);

impl<R: Read> Read for Within<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Self(inner, left) = self;
        if left.get() == 0 {
            return Err(io::Error::other(format!("it is longer than {LONGEST_WORDS}")));
        }
        let read = inner.read(into)?;
        left.set(left.get().saturating_sub(read as u64));
        Ok(read)
    }
}
