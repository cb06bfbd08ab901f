//! Parses written names: the forms of RFC 4514 and of its predecessors (RFC 1779 and 2253).
//!
//! The text becomes a list of plain, escaped or quoted characters. Only plain ones act as separators.

use x509_cert::der::{Decode, asn1::Any};

use super::{Value, kind};

/// A name as written: its RDNs in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) rdns: Vec<Vec<WrittenAttribute>>,
    /// Features of the spelling that RFC 4514 does not use.
    pub(crate) has: Has,
}

/// One attribute of a written name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenAttribute {
    /// The type as written.
    pub(crate) said: String,
    /// The type as a dotted number.
    pub(crate) kind: String,
    pub(crate) value: Value,
    /// True if the value is written as `#` and its encoding.
    pub(crate) is_encoded: bool,
}

/// Variations of spelling that do not change the meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub(crate) struct Has {
    pub(crate) semicolons: bool,
    pub(crate) quotation_marks: bool,
    /// Spaces after commas.
    pub(crate) blanks: bool,
    /// Spaces around `=` or `+`, or before a comma.
    pub(crate) odd_blanks: bool,
    /// Escapes such as `\C3\A5`, except for `\22`, which is necessary, and control characters.
    pub(crate) escaped_bytes: bool,
}

/// The reason that a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WrittenError {
    #[error("expected TYPE=VALUE, found `{found}`")]
    NoEquals { found: String },
    #[error("expected a type of RFC 4514 or X.520, or a dotted number, found `{found}`")]
    Kind { found: String },
    #[error(
        "expected after `#` the encoding of a value in hexadecimal (RFC 4514, section 2.4), found `{found}`"
    )]
    Encoded { found: String },
    #[error(
        "expected a special character or two hexadecimal digits after a backslash (RFC 4514, section 2.4), found neither"
    )]
    Escape,
    #[error("expected quotation marks around a whole value, found a misplaced or unpaired one")]
    Quotation,
    #[error("the escaped bytes are not UTF-8")]
    Utf8,
}

/// A character of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    /// Unchanged.
    Plain(char),
    /// After a backslash: a special character, or any byte in hexadecimal.
    Escaped(u8),
    /// In quotation marks.
    Quoted(char),
}

impl Written {
    /// Parses a name. Characters outside the grammar are accepted if their meaning is clear.
    pub(crate) fn read(text: &str) -> Result<Self, WrittenError> {
        let mut has = Has::default();
        let letters = letters(text, &mut has)?;
        has.semicolons = letters.contains(&Letter::Plain(';'));
        let rdns: Vec<&[Letter]> =
            letters.split(|letter| matches!(letter, Letter::Plain(',' | ';'))).collect();
        let last = rdns.len() - 1;
        let mut read = Vec::new();
        for (at, rdn) in rdns.into_iter().enumerate() {
            // A single space after a comma is counted separately.
            let unspaced = rdn.strip_prefix(&[Letter::Plain(' ')]).filter(|_| at > 0);
            has.blanks |= unspaced.is_some();
            let rdn = unspaced.unwrap_or(rdn);
            let is_blank = |letter: Option<&Letter>| letter == Some(&Letter::Plain(' '));
            has.odd_blanks |= is_blank(rdn.first()) || is_blank(rdn.last()) && at < last;
            let attributes: Vec<&[Letter]> = rdn.split(|letter| *letter == Letter::Plain('+')).collect();
            let inner = attributes.len() > 1;
            let attributes = attributes.into_iter().map(|letters| {
                has.odd_blanks |= inner && (is_blank(letters.first()) || is_blank(letters.last()));
                attribute(letters, &mut has)
            });
            read.push(attributes.collect::<Result<_, _>>()?);
        }
        Ok(Self { rdns: read, has })
    }
}

/// Splits a text into characters. Quotation marks are removed, and their content is marked as quoted.
fn letters(text: &str, has: &mut Has) -> Result<Vec<Letter>, WrittenError> {
    /// The position of a character in an attribute.
    #[derive(PartialEq)]
    enum Place {
        Kind,
        BeforeValue,
        Value,
        Quoted,
        BehindQuoted,
    }
    let mut place = Place::Kind;
    let mut letters = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter == '\\' && place != Place::BehindQuoted {
            letters.push(Letter::Escaped(escaped(&mut rest, has)?));
            if place == Place::BeforeValue {
                place = Place::Value;
            }
            continue;
        }
        let is_separator = matches!(letter, ',' | ';' | '+');
        match (&place, letter) {
            (Place::Quoted, '"') => {
                place = Place::BehindQuoted;
                continue;
            }
            (Place::Quoted, _) => {
                letters.push(Letter::Quoted(letter));
                continue;
            }
            (Place::BeforeValue, '"') => {
                has.quotation_marks = true;
                place = Place::Quoted;
                continue;
            }
            (Place::Value, '"') => return Err(WrittenError::Quotation),
            _ if is_separator => place = Place::Kind,
            (Place::Kind, '=') => place = Place::BeforeValue,
            (Place::BeforeValue, letter) if letter != ' ' => place = Place::Value,
            (Place::BehindQuoted, letter) if letter != ' ' => return Err(WrittenError::Quotation),
            _ => {}
        }
        letters.push(Letter::Plain(letter));
    }
    if place == Place::Quoted { Err(WrittenError::Quotation) } else { Ok(letters) }
}

/// Returns the byte after a backslash.
fn escaped(rest: &mut std::str::Chars<'_>, has: &mut Has) -> Result<u8, WrittenError> {
    let first = rest.next().ok_or(WrittenError::Escape)?;
    if let ' ' | '"' | '#' | '+' | ',' | ';' | '<' | '=' | '>' | '\\' = first {
        return u8::try_from(first).map_err(|_| WrittenError::Escape);
    }
    let digits = first.to_digit(16).zip(rest.next().and_then(|second| second.to_digit(16)));
    let byte =
        digits.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()).ok_or(WrittenError::Escape)?;
    has.escaped_bytes |= byte != b'"' && !byte.is_ascii_control();
    Ok(byte)
}

fn attribute(letters: &[Letter], has: &mut Has) -> Result<WrittenAttribute, WrittenError> {
    let equals = letters.iter().position(|letter| *letter == Letter::Plain('='));
    let equals = equals.ok_or_else(|| WrittenError::NoEquals { found: shown(letters) })?;
    let (said, value) = (&letters[..equals], &letters[equals + 1..]);
    let is_blank = |letter: Option<&Letter>| letter == Some(&Letter::Plain(' '));
    has.odd_blanks |= is_blank(said.last()) || is_blank(value.first());
    let said = shown(said).trim().to_owned();
    let kind = kind::number(&said).ok_or_else(|| WrittenError::Kind { found: said.clone() })?;
    let mut value = value;
    while let [Letter::Plain(' '), inner @ ..] = value {
        value = inner;
    }
    while let [inner @ .., Letter::Plain(' ')] = value {
        value = inner;
    }
    let is_encoded = value.first() == Some(&Letter::Plain('#'));
    let value = if is_encoded { encoded(value)? } else { Value::Text(text(value)?) };
    Ok(WrittenAttribute { said, kind, value, is_encoded })
}

/// Decodes `#` and the encoding of a value in hexadecimal.
fn encoded(letters: &[Letter]) -> Result<Value, WrittenError> {
    let wrong = || WrittenError::Encoded { found: shown(letters).chars().take(40).collect() };
    let digits: Option<Vec<u32>> = letters[1..]
        .iter()
        .map(|letter| match letter {
            Letter::Plain(digit) => digit.to_digit(16),
            Letter::Escaped(_) | Letter::Quoted(_) => None,
        })
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(wrong)?;
    let bytes = digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]));
    let bytes: Vec<u8> = bytes.collect::<Result<_, _>>().map_err(|_| wrong())?;
    Any::from_der(&bytes).map(|value| Value::of(&value)).map_err(|_| wrong())
}

fn text(letters: &[Letter]) -> Result<String, WrittenError> {
    let mut bytes = Vec::with_capacity(letters.len());
    for letter in letters {
        match letter {
            Letter::Plain(letter) | Letter::Quoted(letter) => {
                bytes.extend_from_slice(letter.to_string().as_bytes());
            }
            Letter::Escaped(byte) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| WrittenError::Utf8)
}

/// Returns the characters in readable form.
fn shown(letters: &[Letter]) -> String {
    let shown = letters.iter().map(|letter| match letter {
        Letter::Plain(letter) | Letter::Quoted(letter) => letter.to_string(),
        Letter::Escaped(byte) => format!("\\{byte:02x}"),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_name_say_why() {
        for (text, why) in [
            ("", "expected TYPE=VALUE"),
            ("CN=a,", "expected TYPE=VALUE"),
            ("CN=a,b", "found `b`"),
            ("XY=a", "found `XY`"),
            ("C\\4e=a", "found `C\\4e`"),
            ("CN=a\\", "after a backslash"),
            ("CN=a\\x", "after a backslash"),
            ("CN=a\\4", "after a backslash"),
            ("CN=\\ff", "UTF-8"),
            ("CN=#", "after `#`"),
            ("CN=#1", "after `#`"),
            ("CN=#13\\30", "after `#`"),
            ("CN=#1302a", "after `#`"),
            ("CN=\"a", "quotation mark"),
            ("CN=\"a\"b", "quotation mark"),
            ("CN=a\"b", "quotation mark"),
        ] {
            let error = Written::read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let written = Written::read(r#" cn = "a, b" + OID.2.5.4.97=#13024E4f ;O= \20c\, \C3\A5\ "#).unwrap();
        let read: Vec<_> =
            written.rdns.iter().flatten().map(|one| (one.said.as_str(), one.value.clone())).collect();
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(read, [("cn", text("a, b")), ("OID.2.5.4.97", text("NO")), ("O", text(" c, å "))]);
        let expected = Has {
            semicolons: true,
            quotation_marks: true,
            blanks: false,
            odd_blanks: true,
            escaped_bytes: true,
        };
        assert_eq!(written.has, expected);
        let plain = Written::read(r"CN=a \22b\22, O=c+OU=d\, e").unwrap();
        assert_eq!(plain.has, Has { blanks: true, ..Has::default() });
        assert_eq!(plain.rdns.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    }
}
