//! Bodies, piece by piece (RFC 9112 sections 6.3 and 7.1).

use super::broken::Broken;

/// Longest line of a chunk with its extensions, and longest trailer section, in bytes.
const MOST_LINE: usize = 16 * 1024;
const MOST_TRAILERS: usize = 64 * 1024;

/// Where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After the last chunk.
    Chunked,
    /// With the connection.
    Close,
}

/// A body that is being read.
#[derive(Debug)]
pub(super) enum Body {
    Length(u64),
    Close,
    /// The line of a chunk: its size so far, how many digits and bytes there were, and where in it we are.
    Size {
        size: u64,
        digits: u32,
        bytes: usize,
        at: AtSize,
    },
    Data(u64),
    /// What ends the data of a chunk, and whether its CR was seen.
    DataEnd(bool),
    /// A line of the trailers: bytes of it that are no line end, and of all of them.
    Trailer {
        line: usize,
        all: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtSize {
    Digits,
    Extension,
    End,
}

/// What comes next of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Data(&'a [u8]),
    End,
}

const NEXT_CHUNK: Body = Body::Size { size: 0, digits: 0, bytes: 0, at: AtSize::Digits };

impl Body {
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Length(length),
            Framing::Close => Self::Close,
            Framing::Chunked => NEXT_CHUNK,
        }
    }

    /// Takes what it can of these bytes; nothing where more have to come first.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Broken> {
        loop {
            match self {
                Self::Length(0) => return Ok(Some(Piece::End)),
                Self::Data(0) => *self = Self::DataEnd(false),
                Self::Length(left) | Self::Data(left) => return Ok(data(bytes, left)),
                Self::Close => {
                    let mut endless = u64::MAX;
                    return Ok(data(bytes, &mut endless));
                }
                Self::Size { .. } | Self::DataEnd(_) | Self::Trailer { .. } => {
                    let Some((byte, rest)) = bytes.split_first() else { return Ok(None) };
                    *bytes = rest;
                    if self.line(*byte)? {
                        return Ok(Some(Piece::End));
                    }
                }
            }
        }
    }

    /// One byte between the data of chunks; whether it is the last one of the body.
    fn line(&mut self, byte: u8) -> Result<bool, Broken> {
        match self {
            Self::Size { size, digits, bytes, at } => {
                *bytes += 1;
                if *bytes > MOST_LINE {
                    return Err(Broken::new("has a chunk whose first line does not end"));
                }
                match (byte, *at) {
                    (b'\n', _) if *digits > 0 => {
                        *self =
                            if *size == 0 { Self::Trailer { line: 0, all: 0 } } else { Self::Data(*size) };
                    }
                    (_, AtSize::Extension) => {}
                    (b'\r', AtSize::Digits) => *at = AtSize::End,
                    (b';' | b' ' | b'\t', AtSize::Digits) if *digits > 0 => *at = AtSize::Extension,
                    (_, AtSize::Digits) if byte.is_ascii_hexdigit() && *digits < 16 => {
                        let digit = char::from(byte).to_digit(16).unwrap_or_default();
                        *size = (*size << 4) | u64::from(digit);
                        *digits += 1;
                    }
                    _ => return Err(Broken::new("has a chunk whose size is none")),
                }
            }
            Self::DataEnd(seen) => match byte {
                b'\r' if !*seen => *seen = true,
                b'\n' => *self = NEXT_CHUNK,
                _ => return Err(Broken::new("has a chunk that is longer than it says")),
            },
            Self::Trailer { line, all } => {
                *all += 1;
                match byte {
                    b'\n' if *line == 0 => return Ok(true),
                    b'\n' => *line = 0,
                    b'\r' => {}
                    _ => *line += 1,
                }
                if *all > MOST_TRAILERS {
                    return Err(Broken::new("has trailers that do not end"));
                }
            }
            Self::Length(_) | Self::Close | Self::Data(_) => {}
        }
        Ok(false)
    }
}

/// As many of these bytes as are left of the body.
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

    /// What is read of these bytes when they come in pieces of this size: the body, whether it ended, and
    /// what is left over.
    fn read(framing: Framing, bytes: &[u8], size: usize) -> Result<(String, bool, usize), String> {
        let (mut body, mut text) = (Body::new(framing), Vec::new());
        let mut taken = 0;
        for piece in bytes.chunks(size) {
            let mut rest = piece;
            while let Some(piece) = body.next(&mut rest).map_err(|broken| broken.0)? {
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
        // A size that is a number is no mistake, however large.
        assert_eq!(read(Framing::Chunked, b"ffffffffffffffff\r\nabc", 2), Ok(("abc".to_owned(), false, 0)));
    }
}
