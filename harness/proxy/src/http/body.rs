//! Reads bodies piece by piece (RFC 9112 sections 6.3 and 7.1).

use super::Broken;

/// Longest chunk line with its extensions, and longest trailer section, in bytes.
const MOST_LINE: usize = 16 * 1024;
const MOST_TRAILERS: usize = 64 * 1024;

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// After a number of bytes.
    Length(u64),
    /// After the last chunk.
    Chunked,
    /// At the end of the connection.
    Close,
}

/// A body that is being read.
#[derive(Debug)]
pub(super) enum Body {
    Length(u64),
    Close,
    /// Remaining bytes of a chunk.
    Data(u64),
    /// A line between chunks, as far as it was received.
    Line(Line, Vec<u8>),
}

/// The lines of a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Size,
    DataEnd,
    /// A trailer line, after a number of bytes of other trailers.
    Trailer(usize),
}

/// The next piece of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Data(&'a [u8]),
    End,
}

impl Body {
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Length(length),
            Framing::Close => Self::Close,
            Framing::Chunked => Self::Line(Line::Size, Vec::new()),
        }
    }

    /// Consumes as many bytes as possible. Returns `None` if it needs more bytes.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Broken> {
        loop {
            match self {
                Self::Length(0) => return Ok(Some(Piece::End)),
                Self::Data(0) => *self = Self::Line(Line::DataEnd, Vec::new()),
                Self::Length(left) | Self::Data(left) => return Ok(data(bytes, left)),
                Self::Close => {
                    let mut endless = u64::MAX;
                    return Ok(data(bytes, &mut endless));
                }
                Self::Line(line, text) => {
                    let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                    let (own, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                    *bytes = rest;
                    text.extend_from_slice(own);
                    line.check(text)?;
                    if end.is_none() {
                        return Ok(None);
                    }
                    *self = line.behind(text)?;
                }
            }
        }
    }
}

impl Line {
    /// Fails if the bytes cannot be the start of such a line.
    fn check(self, text: &[u8]) -> Result<(), Broken> {
        match self {
            Self::Size if text.len() > MOST_LINE => Err("has a chunk with an endless first line"),
            Self::DataEnd if !b"\r\n".starts_with(text) && text != b"\n" => {
                Err("has a chunk that is longer than declared")
            }
            Self::Trailer(others) if others + text.len() > MOST_TRAILERS => Err("has endless trailers"),
            _ => Ok(()),
        }
    }

    /// Returns the state after this line.
    fn behind(self, text: &[u8]) -> Result<Body, Broken> {
        let next = |line| Ok(Body::Line(line, Vec::new()));
        match self {
            Self::Size => match size(text).ok_or("has a chunk with an invalid size")? {
                0 => next(Self::Trailer(0)),
                size => Ok(Body::Data(size)),
            },
            Self::DataEnd => next(Self::Size),
            Self::Trailer(_) if text.iter().all(|byte| b"\r\n".contains(byte)) => Ok(Body::Length(0)),
            Self::Trailer(others) => next(Self::Trailer(others + text.len())),
        }
    }
}

/// Parses the size in the first line of a chunk, which may have extensions.
fn size(line: &[u8]) -> Option<u64> {
    let line = line.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let digits = line.split(|byte| b"; \t".contains(byte)).next()?;
    let is_number = digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_number)?, 16).ok()
}

/// Returns the bytes that belong to the body.
fn data<'a>(bytes: &mut &'a [u8], left: &mut u64) -> Option<Piece<'a>> {
    if bytes.is_empty() {
        return None;
    }
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    let (own, rest) = bytes.split_at(count);
    *bytes = rest;
    *left -= count as u64;
    Some(Piece::Data(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads these bytes in pieces of `size`. Returns the body, true if it ended, and the number of bytes
    /// left.
    fn read(framing: Framing, bytes: &[u8], size: usize) -> Result<(String, bool, usize), String> {
        let (mut body, mut text) = (Body::new(framing), Vec::new());
        let mut taken = 0;
        for piece in bytes.chunks(size) {
            let mut rest = piece;
            while let Some(piece) = body.next(&mut rest)? {
                match piece {
                    Piece::Data(data) => text.extend_from_slice(data),
                    Piece::End => {
                        taken += piece_length(bytes, taken, size) - rest.len();
                        return Ok((String::from_utf8(text).unwrap(), true, bytes.len() - taken));
                    }
                }
            }
            taken += piece.len();
        }
        Ok((String::from_utf8(text).unwrap(), false, 0))
    }

    fn piece_length(bytes: &[u8], taken: usize, size: usize) -> usize {
        (bytes.len() - taken).min(size)
    }

    #[test]
    fn pieces_make_the_same_body_whatever_their_size() {
        let chunked = "5;name=\"a value\";b\r\nhello\r\n1 \r\n,\r\nA\r\n over there\r\n00;last\r\nX-Trailer: a\r\nB: c\r\n\r\nrest";
        for size in 1..chunked.len() {
            let expected = ("hello, over ther".to_owned(), true, 4);
            let wrong = chunked.replace("A\r\n over there", "a\r\n over ther");
            assert_eq!(read(Framing::Chunked, wrong.as_bytes(), size), Ok(expected), "{size}");
            assert!(read(Framing::Chunked, chunked.as_bytes(), size).is_err(), "{size}");
            assert_eq!(read(Framing::Length(6), b"abcdefgh", size), Ok(("abcdef".to_owned(), true, 2)));
            assert_eq!(read(Framing::Close, b"abcdefgh", size), Ok(("abcdefgh".to_owned(), false, 0)));
        }
    }

    #[test]
    fn chunks_that_are_none_are_told() {
        for wrong in [
            "zz\r\n",
            "\r\n",
            ";a\r\n",
            "5\r\nabcdefgh\r\n",
            "fffffffffffffffff\r\n",
            "-1\r\n",
            "5\r5\n",
            "0x5\r\n",
        ] {
            assert!(read(Framing::Chunked, wrong.as_bytes(), 3).is_err(), "{wrong:?}");
        }
        assert!(read(Framing::Chunked, format!("5;{}", "a".repeat(MOST_LINE)).as_bytes(), 999).is_err());
        let trailers = format!("0\r\n{}", "A: b\r\n".repeat(MOST_TRAILERS / 6 + 1));
        assert!(read(Framing::Chunked, trailers.as_bytes(), 999).is_err());
        // A very large size is still valid.
        assert_eq!(read(Framing::Chunked, b"ffffffffffffffff\r\nabc", 2), Ok(("abc".to_owned(), false, 0)));
    }
}
