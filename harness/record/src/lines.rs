//! Reads lines of bounded length, because an input file may be one endless line.

use std::io::{self, BufRead, Read as _};

/// Length of the longest line that is read, including its line ending, in bytes. A body has at most 8 MB.
pub const LONGEST: u64 = 64 << 20;

/// The length of the longest line, for messages.
pub const LONGEST_WORDS: &str = "64 MB";

/// The result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextLine {
    /// A line was read.
    Line,
    /// The line is longer than [`LONGEST`].
    TooLong,
    /// There are no more lines.
    End,
}

/// Reads the next line, including its line ending, and replaces the content of `line` with it.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<NextLine> {
    line.clear();
    let length = input.take(LONGEST + 1).read_until(b'\n', line)?;
    Ok(match length as u64 {
        0 => NextLine::End,
        1..=LONGEST => NextLine::Line,
        _ => NextLine::TooLong,
    })
}
