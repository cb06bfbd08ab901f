//! Replaces unpaired surrogates in the strings of an archive. A Python tool writes one for each byte of a
//! body that is not UTF-8 (PEP 383): `\udce5`. JSON allows that (RFC 8259, section 8.2), but a Rust string
//! cannot hold it. It is read as U+FFFD, which other tools write instead, so the body counts as partly
//! unknown.

use std::io::{self, Read};

/// Size of a read, in bytes.
const PIECE: usize = 1 << 16;

/// The escape for an unknown byte, as long as the other escapes.
const UNKNOWN: &[u8; 6] = b"\\ufffd";

/// JSON without unpaired surrogates.
#[derive(Debug)]
pub(super) struct WithoutHalves<R> {
    inner: R,
    /// Bytes that are checked, and the number of those already returned.
    ready: Vec<u8>,
    given: usize,
    /// Bytes that may be the start of an escape.
    rest: Vec<u8>,
    is_at_end: bool,
}

impl<R: Read> WithoutHalves<R> {
    pub(super) const fn new(inner: R) -> Self {
        Self { inner, ready: Vec::new(), given: 0, rest: Vec::new(), is_at_end: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let begin = self.rest.len();
        self.rest.resize(begin + PIECE, 0);
        let read = self.inner.read(&mut self.rest[begin..]);
        self.rest.truncate(begin + read.as_ref().map_or(0, |read| *read));
        self.is_at_end = read? == 0;
        (self.given, self.ready) = (0, std::mem::take(&mut self.rest));
        let whole = mend(&mut self.ready, self.is_at_end);
        self.rest = self.ready.split_off(whole);
        Ok(())
    }
}

impl<R: Read> Read for WithoutHalves<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !self.is_at_end {
            self.fill()?;
        }
        let left = &self.ready[self.given..];
        let length = left.len().min(into.len());
        into[..length].copy_from_slice(&left[..length]);
        self.given += length;
        Ok(length)
    }
}

/// Fixes the escapes in a piece. Returns the length without an incomplete escape at the end.
fn mend(piece: &mut [u8], is_at_end: bool) -> usize {
    let mut at = 0;
    while let Some(next) = piece[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        let unit = match unit(&piece[at..]) {
            Escape::Unit(unit) => unit,
            Escape::Other => {
                at += 2;
                continue;
            }
            Escape::Cut if is_at_end => break,
            Escape::Cut => return at,
        };
        let is_pair = match (unit, self::unit(&piece[at + 6..])) {
            (0xD800..=0xDBFF, Escape::Cut) if !is_at_end => return at,
            (0xD800..=0xDBFF, Escape::Unit(0xDC00..=0xDFFF)) => true,
            (0xD800..=0xDFFF, _) => {
                piece[at..at + 6].copy_from_slice(UNKNOWN);
                false
            }
            _ => false,
        };
        at += if is_pair { 12 } else { 6 };
    }
    piece.len()
}

/// The start of a string.
enum Escape {
    /// `\uXXXX`, with its value.
    Unit(u16),
    /// Another escape, or no escape.
    Other,
    /// Possibly an incomplete escape.
    Cut,
}

fn unit(text: &[u8]) -> Escape {
    match text {
        [] | [b'\\'] => Escape::Cut,
        [b'\\', b'u', rest @ ..] if rest.len() < 4 => Escape::Cut,
        [b'\\', b'u', digits @ ..] => std::str::from_utf8(&digits[..4])
            .ok()
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .map_or(Escape::Other, Escape::Unit),
        _ => Escape::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the string in pieces of this length.
    fn read(text: &str, piece: usize) -> String {
        struct Pieces<'a>(&'a [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let length = self.0.len().min(self.1).min(into.len());
                into[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let mut read = String::new();
        WithoutHalves::new(Pieces(text.as_bytes(), piece)).read_to_string(&mut read).unwrap();
        read
    }

    #[test]
    fn halves_are_mended_and_everything_else_stays_however_it_is_cut() {
        for (text, expected) in [
            (r#"{"a":"x\udce5y"}"#, r#"{"a":"x\ufffdy"}"#),
            (r"\uDCE5\udcff", r"\ufffd\ufffd"),
            (r"\ud83d\ude80", r"\ud83d\ude80"),
            (r"\ud83d\n", r"\ufffd\n"),
            (r"\ud83d\ud83d\ude80", r"\ufffd\ud83d\ude80"),
            (r"\ud83d\u0041", r"\ufffd\u0041"),
            (r"\\udce5", r"\\udce5"),
            (r"\\\udce5", r"\\\ufffd"),
            (r"\u00e5 å \uzzzz", r"\u00e5 å \uzzzz"),
            (r"\ud83d", r"\ufffd"),
            (r"\ud83", r"\ud83"),
            ("\\", "\\"),
            ("", ""),
        ] {
            for piece in 1..=text.len().max(1) {
                assert_eq!(read(text, piece), expected, "{text} in pieces of {piece}");
            }
        }
    }
}
