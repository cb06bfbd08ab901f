//! MIME encoded-words in the Signature header (RFC 2047; the document, section Authentication, rule 3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::policy::signature::Charsets;

/// Decodes a header value if it is wrapped in encoded-words, and returns any other value unchanged.
///
/// A value with non-ASCII bytes must be wrapped (rule 3). Adjacent words are joined without the white space
/// between them (RFC 2047 section 6.2). The limit of 75 characters for a word (section 2) does not apply,
/// because HTTP does not fold lines.
pub(crate) fn unwrap(value: &[u8], charsets: Charsets) -> Result<String, EncodedWordError> {
    if !value.is_ascii() {
        return Err(EncodedWordError::Bare);
    }
    let text = latin_1(value);
    if !(text.starts_with("=?") && text.ends_with("?=")) {
        return Ok(text);
    }
    text.split_ascii_whitespace().map(|word| decode_word(word, charsets)).collect()
}

/// The reason why an encoded-word cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EncodedWordError {
    /// Non-ASCII bytes outside an encoded-word.
    #[error("expected a non-ASCII value in an encoded-word =?utf-8?B?..?= (RFC 2047), found it unwrapped")]
    Bare,
    /// Not `=?charset?encoding?text?=`.
    #[error("expected an encoded-word =?charset?encoding?text?=, found another form")]
    Form,
    /// A charset that the document does not name.
    #[error("expected the charset utf-8 or iso-8859-1, found {0:?}")]
    Charset(String),
    /// Neither B nor Q.
    #[error("expected the encoding B or Q, found {0:?}")]
    Encoding(String),
    /// Text that does not match its encoding or charset.
    #[error("expected text in its encoding and charset, found other bytes")]
    Text,
}

fn decode_word(word: &str, charsets: Charsets) -> Result<String, EncodedWordError> {
    let inner =
        word.strip_prefix("=?").and_then(|rest| rest.strip_suffix("?=")).ok_or(EncodedWordError::Form)?;
    let mut parts = inner.split('?');
    let (Some(charset), Some(encoding), Some(text), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(EncodedWordError::Form);
    };
    // Encoding and charset are case-insensitive (section 2).
    let bytes = match encoding {
        "B" | "b" => STANDARD.decode(text).map_err(|_| EncodedWordError::Text)?,
        "Q" | "q" => decode_q(text).ok_or(EncodedWordError::Text)?,
        other => return Err(EncodedWordError::Encoding(other.to_owned())),
    };
    match (charset.to_ascii_lowercase().as_str(), charsets) {
        ("iso-8859-1", Charsets::Known | Charsets::OthersAsUtf8) => Ok(latin_1(&bytes)),
        ("utf-8", _) | (_, Charsets::OthersAsUtf8 | Charsets::AllAsUtf8) => {
            String::from_utf8(bytes).map_err(|_| EncodedWordError::Text)
        }
        _ => Err(EncodedWordError::Charset(charset.to_owned())),
    }
}

/// Decodes the Q encoding (section 4.2): `=` and two hexadecimal digits for any byte, `_` for a space.
fn decode_q(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'_' => b' ',
            b'=' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            other => other,
        });
    }
    Some(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Decodes ISO-8859-1, which has the first 256 code points.
fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrap(value: &[u8]) -> Result<String, EncodedWordError> {
        super::unwrap(value, Charsets::Known)
    }

    #[test]
    fn unwrapped_values_stand_as_they_are() {
        assert_eq!(unwrap(b"keyId=\"a\"").unwrap(), "keyId=\"a\"");
        for beyond_ascii in ["Ås".as_bytes(), b"\xc5s", "=?utf-8?Q?Ås?=".as_bytes()] {
            assert_eq!(unwrap(beyond_ascii), Err(EncodedWordError::Bare));
        }
        for half_wrapped in ["a =?utf-8?B?YQ==?=", "=?utf-8?B?YQ=="] {
            assert_eq!(unwrap(half_wrapped.as_bytes()).unwrap(), half_wrapped);
        }
    }

    #[test]
    fn wrapped_values_in_both_charsets_and_encodings() {
        for (wrapped, text) in [
            ("=?utf-8?B?w4VzLCAiYSI=?=", "Ås, \"a\""),
            ("=?UTF-8?b?w4VzLCAiYSI=?=", "Ås, \"a\""),
            ("=?utf-8?Q?=C3=85s,_\"a\"?=", "Ås, \"a\""),
            ("=?iso-8859-1?q?=c5s=2C=20=22a=22?=", "Ås, \"a\""),
            ("=?ISO-8859-1?B?xXMsICJhIg==?=", "Ås, \"a\""),
            ("=?utf-8?Q?a=3Db?= =?iso-8859-1?Q?=C5?=", "a=bÅ"),
        ] {
            assert_eq!(unwrap(wrapped.as_bytes()).as_deref(), Ok(text), "{wrapped}");
        }
        let long = format!("=?utf-8?B?{}?=", STANDARD.encode("x".repeat(700)));
        assert_eq!(unwrap(long.as_bytes()).unwrap().len(), 700);
    }

    #[test]
    fn words_that_cannot_be_read() {
        for (wrapped, error) in [
            ("=??=", EncodedWordError::Form),
            ("=?utf-8?B?YQ==?x?=", EncodedWordError::Form),
            ("=?utf-8?B?YQ==?= x =?utf-8?B?YQ==?=", EncodedWordError::Form),
            ("=?koi8-r?B?YQ==?=", EncodedWordError::Charset("koi8-r".to_owned())),
            ("=?utf-8?X?YQ==?=", EncodedWordError::Encoding("X".to_owned())),
            ("=?utf-8?B?YQ?=", EncodedWordError::Text),
            ("=?utf-8?B?/w==?=", EncodedWordError::Text),
            ("=?utf-8?Q?=G0?=", EncodedWordError::Text),
            ("=?utf-8?Q?=4?=", EncodedWordError::Text),
        ] {
            assert_eq!(unwrap(wrapped.as_bytes()), Err(error), "{wrapped}");
        }
    }

    #[test]
    fn charsets_that_are_taken_for_another() {
        let words = [&b"=?koi8-r?B?w4U=?="[..], b"=?iso-8859-1?B?w4U=?="];
        let read = |charsets| words.map(|word| super::unwrap(word, charsets).unwrap_or_default());
        assert_eq!(read(Charsets::Known), ["", "\u{c3}\u{85}"]);
        assert_eq!(read(Charsets::OthersAsUtf8), ["Å", "\u{c3}\u{85}"]);
        assert_eq!(read(Charsets::AllAsUtf8), ["Å", "Å"]);
    }
}
