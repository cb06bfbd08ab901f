//! Decoded forms of a string that map each byte to its place in the original. Secrets are found in all forms
//! and replaced in the original.

use std::{borrow::Cow, ops::Range};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// The no-break space in UTF-8.
const NO_BREAK_SPACE: &[u8] = "\u{a0}".as_bytes();

/// Minimum length of a run that is decoded as base64.
const SHORTEST_BASE64: usize = 12;

/// Clients may omit the padding, and the last bits are not always zero (RFC 4648 section 3.5).
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Returns true for characters that are often inserted into numbers or removed from identifiers. Form
/// encoding writes a space as `+`.
pub(super) fn separates(letter: char) -> bool {
    matches!(letter, ' ' | '-' | '+' | '\u{a0}')
}

/// A decoded form of a string.
#[derive(Debug, Clone)]
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Start and end of each byte in the original, or None if the string is unchanged. Strings are shorter
    /// than 4 GiB.
    places: Option<Vec<(u32, u32)>>,
}

impl<'a> View<'a> {
    /// Returns the unchanged string.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), places: None }
    }

    /// Returns the string with percent-encoding (RFC 3986 section 2.1) removed, up to two layers.
    pub(super) fn decoded(text: &'a [u8]) -> Self {
        Self::new(text).undone().undone()
    }

    fn undone(self) -> Self {
        if !self.bytes.contains(&b'%') {
            return self;
        }
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < self.bytes.len() {
            let digits = self.bytes.get(at + 1..at + 3).filter(|_| self.bytes[at] == b'%');
            let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let length = if code.is_some() { 3 } else { 1 };
            bytes.push(code.unwrap_or(self.bytes[at]));
            places.push((self.of_byte(at).0, self.of_byte(at + length - 1).1));
            at += length;
        }
        Self { bytes: Cow::Owned(bytes), places: Some(places) }
    }

    /// Returns the string without separators.
    pub(super) fn compact(&self) -> View<'_> {
        let is_separator = |at: usize| {
            let rest = &self.bytes[at..];
            let of_space = rest.starts_with(NO_BREAK_SPACE)
                || at > 0 && self.bytes[at - 1..].starts_with(NO_BREAK_SPACE);
            of_space || rest[0].is_ascii() && separates(char::from(rest[0]))
        };
        if !(0..self.bytes.len()).any(is_separator) {
            return View { bytes: Cow::Borrowed(&self.bytes), places: self.places.clone() };
        }
        let kept = (0..self.bytes.len()).filter(|at| !is_separator(*at));
        let (bytes, places) = kept.map(|at| (self.bytes[at], self.of_byte(at))).unzip();
        View { bytes: Cow::Owned(bytes), places: Some(places) }
    }

    /// Returns the original place of a range of the view.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        let (start, end) = (self.of_byte(range.start).0, self.of_byte(range.end - 1).1);
        start as usize..end as usize
    }

    fn of_byte(&self, at: usize) -> (u32, u32) {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.places.as_ref().map_or_else(|| (number(at), number(at + 1)), |places| places[at])
    }

    /// Returns the decoded bytes and the range of each base64 run in the view, in either alphabet (RFC 4648).
    pub(super) fn base64(&self) -> impl Iterator<Item = (Range<usize>, Vec<u8>)> + '_ {
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let start = at + self.bytes[at..].iter().position(|byte| is_of_it(*byte))?;
                let length = self.bytes[start..].iter().take_while(|byte| is_of_it(**byte)).count();
                let padding =
                    self.bytes[start + length..].iter().take(2).take_while(|byte| **byte == b'=').count();
                at = start + length + padding;
                if length < SHORTEST_BASE64 {
                    continue;
                }
                let alphabet = |byte: &u8| match byte {
                    b'-' => b'+',
                    b'_' => b'/',
                    other => *other,
                };
                let run: Vec<u8> = self.bytes[start..start + length].iter().map(alphabet).collect();
                if let Ok(bytes) = LENIENT.decode(run) {
                    return Some((start..at, bytes));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(view: &View<'_>) -> String {
        String::from_utf8(view.bytes.to_vec()).unwrap()
    }

    #[test]
    fn each_byte_of_a_view_has_its_place() {
        for (original, decoded, compact) in [
            ("a%2Fb c", "a/b c", "a/bc"),
            ("a%252fb-c", "a/b-c", "a/bc"),
            ("%", "%", "%"),
            ("%zz+é", "%zz+é", "%zzé"),
            ("%+1", "%+1", "%1"),
            ("1\u{a0}2", "1\u{a0}2", "12"),
        ] {
            let view = View::decoded(original.as_bytes());
            assert_eq!((text(&view).as_str(), text(&view.compact()).as_str()), (decoded, compact));
            assert_eq!(view.place(0..view.bytes.len()), 0..original.len());
        }
        let view = View::decoded(b"x%2F y");
        assert_eq!((view.compact().place(1..2), view.compact().place(2..3)), (1..4, 5..6));
    }

    #[test]
    fn base64_is_decoded_in_both_alphabets() {
        let code = "fn5-Y2FuYXJ5Pz8_";
        for written in [code.to_owned(), code.replace('-', "+").replace('_', "/"), format!("key {code}==, x")]
        {
            let view = View::new(written.as_bytes());
            let found: Vec<_> = view.base64().map(|(_, bytes)| bytes).collect();
            assert_eq!(found, [b"~~~canary???"], "{written}");
        }
        assert_eq!(View::new(b"short, not!base64").base64().count(), 0);
    }
}
