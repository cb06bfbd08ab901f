//! Base64 with common mistakes: another alphabet, no padding, line breaks, quotation marks.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
    prelude::BASE64_STANDARD,
};

use super::Held;

/// Base64 with optional padding.
const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A deviation of base64 from RFC 4648, section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// Percent-encoded, as in a URL.
    Percent,
    /// The plus signs became spaces, as a form decoder would do.
    Spaces,
    /// A PEM file, with its first and last line.
    Armor,
    /// Between colons, as in structured fields (RFC 8941, section 3.3.5).
    Colons,
    /// In quotation marks.
    Quoted,
    /// With `\\n` as two characters for the ends of lines.
    EscapedLines,
    /// Hexadecimal.
    Hexadecimal,
    /// Base64 of base64.
    Twice,
    /// With spaces between joined lines.
    Lines,
    /// In the alphabet for URLs (RFC 4648, section 5).
    UrlSafe,
    /// Without its padding (section 3.2).
    Unpadded,
    /// With other characters that base64 does not have.
    Foreign,
}

impl Oddity {
    /// Returns the severity. A receiver that decodes it to the right bytes may accept some of these.
    pub fn held(self) -> Held {
        match self {
            Self::Lines | Self::UrlSafe | Self::Unpadded => Held::Open,
            _ => Held::No,
        }
    }

    /// Returns a description.
    pub fn says(self) -> &'static str {
        match self {
            Self::Percent => "is percent-encoded",
            Self::Spaces => "has spaces instead of plus signs, as after form decoding",
            Self::Armor => "is a PEM file with BEGIN and END lines; expected the base64 alone, on one line",
            Self::Colons => "is between colons, as in structured fields (RFC 8941, section 3.3.5)",
            Self::Quoted => "is in quotation marks",
            Self::EscapedLines => "contains \\n as two characters",
            Self::Hexadecimal => "is hexadecimal, not base64",
            Self::Twice => "is base64 of base64",
            Self::Lines => "contains spaces, as if lines of PEM were joined",
            Self::UrlSafe => "is in the alphabet for URLs (RFC 4648, section 5)",
            Self::Unpadded => "lacks its padding (RFC 4648, section 3.2)",
            Self::Foreign => "contains characters that base64 does not have",
        }
    }
}

/// Reads base64 with any of these deviations, as long as `is_right` accepts the bytes. Returns the bytes, and
/// the deviations.
pub fn read(text: &str, is_right: &dyn Fn(&[u8]) -> bool) -> Option<(Vec<u8>, Vec<Oddity>)> {
    /// Real mistakes combine fewer deviations. The limit protects against hostile input.
    const MOST: usize = 5;
    let mut oddities = Vec::new();
    let mut text = text.trim().to_owned();
    for _ in 0..MOST {
        if let Ok(bytes) = BASE64_STANDARD.decode(&text) {
            if is_right(&bytes) {
                return Some((bytes, oddities));
            }
            text = String::from_utf8(bytes).ok()?;
            oddities.push(Oddity::Twice);
            continue;
        }
        let (next, oddity) = plainer(&text, is_right)?;
        oddities.push(oddity);
        text = next;
    }
    None
}

/// Removes the first deviation found.
fn plainer(text: &str, is_right: &dyn Fn(&[u8]) -> bool) -> Option<(String, Oddity)> {
    let without_blanks = || text.split_ascii_whitespace().collect::<String>();
    let is_of_base64 = |letter: &char| letter.is_ascii_alphanumeric() || "+/=".contains(*letter);
    let between = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark).map(str::to_owned);
    let hexadecimal = || {
        let digits: String = text.chars().filter(|letter| !matches!(letter, ':' | '-' | ' ')).collect();
        bytes_of_digits(&digits).filter(|bytes| is_right(bytes)).map(|bytes| BASE64_STANDARD.encode(bytes))
    };
    let right = |text: String| UNPADDED.decode(&text).is_ok_and(|bytes| is_right(&bytes)).then_some(text);
    let found = [
        percent_decoded(text).map(|text| (text, Oddity::Percent)),
        between('"').map(|text| (text, Oddity::Quoted)),
        armored(text).map(|text| (text, Oddity::Armor)),
        between(':').map(|text| (text, Oddity::Colons)),
        text.contains("\\n").then(|| (text.replace("\\r", "").replace("\\n", ""), Oddity::EscapedLines)),
        hexadecimal().map(|text| (text, Oddity::Hexadecimal)),
    ];
    if let Some(found) = found.into_iter().flatten().next() {
        return Some(found);
    }
    let padded = |text: &str| UNPADDED.decode(text).ok().map(|bytes| BASE64_STANDARD.encode(bytes));
    match () {
        () if text.contains(' ') => match right(text.replace(' ', "+")) {
            Some(text) => Some((text, Oddity::Spaces)),
            None => Some((without_blanks(), Oddity::Lines)),
        },
        () if text.contains(['-', '_']) => Some((text.replace('-', "+").replace('_', "/"), Oddity::UrlSafe)),
        () => padded(text).map(|text| (text, Oddity::Unpadded)).or_else(|| {
            let kept: String = text.chars().filter(is_of_base64).collect();
            (kept.len() < text.len()).then_some((kept, Oddity::Foreign))
        }),
    }
}

/// Returns the base64 between the first and the last line of PEM, whose lines may be joined.
fn armored(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("-----BEGIN CERTIFICATE-----")?;
    let body = rest.split("-----END").next().unwrap_or(rest).replace("\\r", "").replace("\\n", "");
    Some(body.split_ascii_whitespace().collect())
}

/// Returns the bytes of hexadecimal digits.
pub(crate) fn bytes_of_digits(digits: &str) -> Option<Vec<u8>> {
    let is_whole = !digits.is_empty()
        && digits.len().is_multiple_of(2)
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    is_whole.then(|| (0..digits.len()).step_by(2).map(byte).collect())?
}

/// Percent-decodes a string. Returns None if it is not percent-encoded.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let (first, rest) = text.split_once('%')?;
    let mut bytes = first.as_bytes().to_vec();
    for part in rest.split('%') {
        let (digits, after) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(after.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{
        Oddity::{
            Armor, Colons, EscapedLines, Foreign, Hexadecimal, Lines, Percent, Quoted, Spaces, Twice,
            Unpadded, UrlSafe,
        },
        *,
    };

    #[test]
    fn each_writing_is_read_and_named() {
        // The two alphabets encode it differently, and it has padding.
        let bytes = [0xFB, 0xEF, 0xFF, 0x3E, 0x01, 0xFF, 0xFE];
        let usual = BASE64_STANDARD.encode(bytes);
        assert_eq!(usual, "++//PgH//g==");
        for (text, expected) in [
            (usual.clone(), &[][..]),
            ("++//PgH//g".to_owned(), &[Unpadded]),
            ("--__PgH__g==".to_owned(), &[UrlSafe]),
            ("--__PgH__g".to_owned(), &[UrlSafe, Unpadded]),
            ("%2B%2B%2F%2FPgH%2F%2Fg%3D%3D".to_owned(), &[Percent]),
            ("  //PgH//g==".to_owned(), &[]),
            ("++// PgH//g==".to_owned(), &[Lines]),
            ("\"++//PgH//g==\"".to_owned(), &[Quoted]),
            (":++//PgH//g==:".to_owned(), &[Colons]),
            ("++//PgH/\\n/g==".to_owned(), &[EscapedLines]),
            ("fbefff3e01fffe".to_owned(), &[Hexadecimal]),
            ("FB:EF:FF:3E:01:FF:FE".to_owned(), &[Hexadecimal]),
            (BASE64_STANDARD.encode(&usual), &[Twice]),
            ("++//Pg!H//g==".to_owned(), &[Foreign]),
            ("-----BEGIN CERTIFICATE----- ++//PgH/ /g== -----END CERTIFICATE-----".to_owned(), &[Armor]),
            (
                "-----BEGIN%20CERTIFICATE-----%0A%2B%2B//PgH//g==%0A-----END%20CERTIFICATE-----".to_owned(),
                &[Percent, Armor],
            ),
        ] {
            let found = read(&text, &|found| found == bytes);
            let expected =
                if text.starts_with("  //") { None } else { Some((bytes.to_vec(), expected.to_vec())) };
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(read("a /b", &|found| BASE64_STANDARD.encode(found) == "a+/b").unwrap().1, [Spaces]);
        for none in ["", "AAAA", "%", "\"", "é", "-----BEGIN CERTIFICATE-----"] {
            assert_eq!(read(none, &|found| found == bytes), None, "{none}");
        }
    }
}
