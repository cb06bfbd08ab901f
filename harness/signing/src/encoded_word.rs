//! The RFC 2047 form of a header value: `=?<charset>?<encoding>?<encoded text>?=`.
//!
//! The whole value becomes one word. RFC 2047, section 2, limits a word to 75 characters, which a signature
//! alone exceeds. HTTP has no folded lines for several words, so the limit is ignored.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD};

/// The character set of an encoded word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Charset {
    /// `utf-8`.
    #[default]
    Utf8,
    /// `iso-8859-1`: U+0000 to U+00FF, one byte each.
    Iso8859_1,
}

impl Charset {
    /// Returns the name in the word. Names are case-insensitive (RFC 2047, section 2). The document writes
    /// `utf-8` in lowercase.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Iso8859_1 => "iso-8859-1",
        }
    }

    /// Encodes `text` in this character set.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, EncodedWordError> {
        match self {
            Self::Utf8 => Ok(text.as_bytes().to_vec()),
            Self::Iso8859_1 => text
                .chars()
                .map(|c| u8::try_from(c).map_err(|_| EncodedWordError::OutsideLatin1 { found: c }))
                .collect(),
        }
    }
}

/// The encoding of the bytes of an encoded word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// `B`: base64 (RFC 2047, section 4.1).
    #[default]
    B,
    /// `Q`: letters and digits unchanged, most others as `=` and two hexadecimal digits (RFC 2047, section
    /// 4.2).
    Q,
}

impl Encoding {
    /// Returns the letter in the word.
    pub const fn letter(self) -> char {
        match self {
            Self::B => 'B',
            Self::Q => 'Q',
        }
    }
}

/// The reason that a text cannot be wrapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodedWordError {
    /// A character that `iso-8859-1` does not have.
    #[error("expected characters of iso-8859-1 (up to U+00FF), found U+{:04X}", u32::from(*found))]
    OutsideLatin1 {
        /// The first such character.
        found: char,
    },
}

/// Wraps `text` in one encoded word of any length.
pub fn wrap(text: &str, charset: Charset, encoding: Encoding) -> Result<String, EncodedWordError> {
    let bytes = charset.encode(text)?;
    let encoded = match encoding {
        Encoding::B => BASE64_STANDARD.encode(bytes),
        Encoding::Q => q(&bytes),
    };
    Ok(format!("=?{}?{}?{encoded}?=", charset.name(), encoding.letter()))
}

/// Encodes bytes in Q with the smallest set of literal characters, that of a `phrase` (RFC 2047, section 5,
/// rule 3), which is valid everywhere. A space becomes `_` in any character set (section 4.2, rule 2).
fn q(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len()), |mut out, byte| {
        match byte {
            b' ' => out.push('_'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'!' | b'*' | b'+' | b'-' | b'/' => {
                out.push(char::from(*byte));
            }
            // Writing to a String cannot fail.
            _ => _ = write!(out, "={byte:02X}"),
        }
        out
    })
}

/// Decodes encoded words, such as [`wrap`] writes. Charset and encoding are case-insensitive (RFC 2047,
/// section 2), and spaces between words are ignored (section 6.2).
pub fn unwrap(words: &str) -> Option<String> {
    let mut read = words.split_ascii_whitespace().map(unwrap_word).peekable();
    read.peek()?;
    read.collect()
}

fn unwrap_word(word: &str) -> Option<String> {
    let parts: Vec<&str> = word.strip_prefix("=?")?.strip_suffix("?=")?.split('?').collect();
    let [charset, encoding, text] = parts[..] else { return None };
    let bytes = match encoding {
        "B" | "b" => BASE64_STANDARD.decode(text).ok()?,
        "Q" | "q" => {
            let mut rest = text.bytes();
            let mut bytes = Vec::new();
            while let Some(byte) = rest.next() {
                bytes.push(match byte {
                    b'_' => b' ',
                    b'=' => {
                        let pair = [rest.next()?, rest.next()?];
                        u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?
                    }
                    other => other,
                });
            }
            bytes
        }
        _ => return None,
    };
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" => String::from_utf8(bytes).ok(),
        "iso-8859-1" => Some(bytes.into_iter().map(char::from).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_the_standard() {
        // RFC 2047, section 8. The standard writes the charset in uppercase.
        let cases = [
            (
                "If you can read this yo",
                Charset::Iso8859_1,
                Encoding::B,
                "=?iso-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=",
            ),
            ("a b", Charset::Iso8859_1, Encoding::Q, "=?iso-8859-1?Q?a_b?="),
        ];
        for (text, charset, encoding, word) in cases {
            assert_eq!(wrap(text, charset, encoding).unwrap(), word);
        }
    }

    #[test]
    fn the_charset_decides_the_bytes() {
        assert_eq!(wrap("é=?_\"", Charset::Utf8, Encoding::Q).unwrap(), "=?utf-8?Q?=C3=A9=3D=3F=5F=22?=");
        assert_eq!(wrap("é", Charset::Iso8859_1, Encoding::Q).unwrap(), "=?iso-8859-1?Q?=E9?=");
        assert_eq!(unwrap("=?utf-8?Q?=C3=A9=3D?= =?iso-8859-1?Q?=E9?=").as_deref(), Some("é=é"));
        assert_eq!((unwrap(""), unwrap("=?utf-8?Q?a?= a")), (None, None));
    }

    #[test]
    fn latin_1_ends_at_ff() {
        assert!(wrap("\u{ff}", Charset::Iso8859_1, Encoding::B).is_ok());
        let refused = wrap("a\u{100}", Charset::Iso8859_1, Encoding::B).unwrap_err();
        assert_eq!(refused.to_string(), "expected characters of iso-8859-1 (up to U+00FF), found U+0100");
    }

    #[test]
    fn a_long_value_stays_one_word_without_blanks() {
        let word = wrap(&"a long value, ".repeat(60), Charset::Utf8, Encoding::Q).unwrap();
        assert!(word.len() > 75);
        assert_eq!(word.matches("=?").count(), 1);
        assert!(word.bytes().all(|byte| byte.is_ascii_graphic()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn unwrapping_gives_the_text_back(text in ".{0,40}", latin in "[\u{0}-\u{ff}]{0,40}") {
            for encoding in [Encoding::B, Encoding::Q] {
                let word = wrap(&text, Charset::Utf8, encoding).unwrap();
                prop_assert!(word.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(unwrap(&word), Some(text.clone()));
                let word = wrap(&latin, Charset::Iso8859_1, encoding).unwrap();
                prop_assert_eq!(unwrap(&word), Some(latin.clone()));
            }
        }
    }
}
