//! Lines of a bounded length: a file that was given to us may be one line without an end.

use std::io::{self, BufRead, Read as _};

/// Bytes of the longest line that is read, its end included. A body has at most 8 MB.
pub const LONGEST: u64 = 64 << 20;

/// The length of the longest line, in words.
pub const LONGEST_WORDS: &str = "64 MB";

/// The next line of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextLine {
    /// There is one.
    Line,
    /// It is longer than [`LONGEST`].
    TooLong,
    /// There is none.
    End,
}

/// Reads the next line, with its end, in place of what `line` holds.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<NextLine> {
    line.clear();
    let length = input.take(LONGEST + 1).read_until(b'\n', line)?;
    Ok(match length as u64 {
        0 => NextLine::End,
        1..=LONGEST => NextLine::Line,
        _ => NextLine::TooLong,
    })
}
