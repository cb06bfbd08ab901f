//! Distinguished names, compared by meaning instead of spelling.
//!
//! In keyId the document requires the "full distinguished name of the issuing authority", without a notation.
//! Two names are equal if they have the same relative names in any order. Attribute types are compared as
//! object identifiers, and values without regard to case and repeated spaces (RFC 5280 section 7.1).

mod types;

use std::collections::BTreeSet;

use x509_cert::der::{Any, Decode as _, Encode as _, Tag, Tagged as _};
use x509_cert::name::Name;

/// A distinguished name: its relative names in the order written. Those of a certificate are in the order of
/// RFC 4514.
#[derive(Clone, Debug)]
pub(crate) struct DistinguishedName(Vec<RelativeName>);

/// One relative name. Its values have no order (RFC 4514 section 2.2).
#[derive(Clone, Debug)]
struct RelativeName {
    values: BTreeSet<Attribute>,
    /// The spelling to show in rejections: as written, or as the bank would write it.
    shown: String,
}

/// One attribute: its type as a dotted object identifier, and its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Attribute {
    kind: String,
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    /// A string in lowercase, with repeated spaces folded.
    Text(String),
    /// The encoding of a value that is not a string.
    Encoded(Vec<u8>),
}

/// The reason why a string is not a distinguished name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    /// A part without an equals sign.
    #[error("a part without type=value")]
    Form,
    /// An unknown attribute type.
    #[error("the unknown type {0:?}")]
    Type(String),
    /// `#` without a value encoded in hexadecimal behind it.
    #[error("a # without an encoded value (RFC 4514 section 2.4)")]
    Hexadecimal,
    /// A backslash at the end, or before a character that needs no escape.
    #[error("a backslash that escapes nothing (RFC 4514 section 2.4)")]
    Escape,
    /// A quotation mark inside a value, or one without its closing mark.
    #[error("an unescaped quotation mark")]
    Quotation,
    /// Escaped bytes that are not UTF-8.
    #[error("escaped bytes that are not UTF-8")]
    Encoding,
}

impl DistinguishedName {
    /// Returns the name in a certificate, or None if a value of it cannot be encoded again.
    pub(crate) fn of_certificate(name: &Name) -> Option<Self> {
        let relative = |names: &x509_cert::name::RelativeDistinguishedName| {
            let mut values = BTreeSet::new();
            let mut shown = Vec::new();
            for attribute in names.0.iter() {
                let kind = attribute.oid.to_string();
                let written =
                    any_text(&attribute.value).map_or_else(|| "#..".to_owned(), |text| escaped(&text));
                shown.push(format!("{}={written}", types::name(&kind)));
                values.insert(Attribute { value: Value::of(&attribute.value)?, kind });
            }
            Some(RelativeName { values, shown: shown.join("+") })
        };
        name.0.iter().rev().map(relative).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Parses a name in the string form of RFC 4514. The forms of RFC 1779 and RFC 2253 are also accepted:
    /// semicolons, quoted values, `OID.` before a number, and spaces around separators and equals signs.
    pub(crate) fn parse(text: &str) -> Result<Self, NameError> {
        let mut reader = Reader { rest: text };
        let mut names = Vec::new();
        loop {
            let start = reader.rest;
            let mut values = BTreeSet::new();
            let mut separator = Some('+');
            let mut end = 0;
            while separator == Some('+') {
                values.insert(reader.attribute()?);
                end = start.len() - reader.rest.len();
                separator = reader.separator();
            }
            names.push(RelativeName { values, shown: start[..end].trim().to_owned() });
            if separator.is_none() {
                return Ok(Self(names));
            }
        }
    }

    /// Describes how the other name differs: which parts it lacks, and which it has in addition.
    pub(crate) fn difference(&self, other: &Self) -> String {
        let without = |one: &Self, other: &Self| {
            let mut left = other.0.clone();
            let missing =
                one.0.iter().filter(|name| match left.iter().position(|known| known.values == name.values) {
                    Some(at) => {
                        left.swap_remove(at);
                        false
                    }
                    None => true,
                });
            missing.map(|name| name.shown.clone()).collect::<Vec<_>>()
        };
        let parts = [("lacks", without(self, other)), ("also has", without(other, self))];
        let said = parts.iter().filter(|(_, names)| !names.is_empty());
        said.map(|(word, names)| format!("{word} {}", names.join(","))).collect::<Vec<_>>().join(" and ")
    }

    /// Returns true if a string is a name and this name has all of its relative names.
    pub(crate) fn has_part(&self, text: &str) -> bool {
        let has = |part: &RelativeName| self.0.iter().any(|own| own.values == part.values);
        Self::parse(text).is_ok_and(|part| !part.0.is_empty() && part.0.iter().all(has))
    }

    /// Returns the relative names in sorted order.
    fn sorted(&self) -> Vec<&BTreeSet<Attribute>> {
        let mut names: Vec<_> = self.0.iter().map(|name| &name.values).collect();
        names.sort();
        names
    }
}

impl PartialEq for DistinguishedName {
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl std::fmt::Display for DistinguishedName {
    /// Writes the name for rejections.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> = self.0.iter().map(|name| name.shown.as_str()).collect();
        f.write_str(&parts.join(","))
    }
}

impl Value {
    fn of(value: &Any) -> Option<Self> {
        match any_text(value) {
            Some(text) => Some(Self::text(&text)),
            None => value.to_der().ok().map(Self::Encoded),
        }
    }

    fn text(text: &str) -> Self {
        Self::Text(text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
    }
}

/// A parser, with the unread rest of the string.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Reads one `type=value`.
    fn attribute(&mut self) -> Result<Attribute, NameError> {
        let (kind, rest) = self.rest.split_once('=').ok_or(NameError::Form)?;
        let kind = kind.trim();
        let kind = types::identifier(kind).ok_or_else(|| NameError::Type(kind.chars().take(40).collect()))?;
        self.rest = rest.trim_start_matches(' ');
        let value = match self.rest.bytes().next() {
            Some(b'#') => self.encoded()?,
            Some(b'"') => Value::text(&self.quoted()?),
            _ => Value::text(&self.bare()?),
        };
        Ok(Attribute { kind, value })
    }

    /// Reads the separator after an attribute, or returns None at the end.
    fn separator(&mut self) -> Option<char> {
        let separator = self.rest.chars().next()?;
        self.rest = &self.rest[separator.len_utf8()..];
        Some(separator)
    }

    /// Reads `#` and a value encoded in hexadecimal (section 2.4).
    fn encoded(&mut self) -> Result<Value, NameError> {
        let end = self.rest.find(is_separator).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let digits = digits[1..].trim_end_matches(' ').as_bytes();
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        });
        let bytes = pairs.collect::<Option<Vec<u8>>>().ok_or(NameError::Hexadecimal)?;
        let value = Any::from_der(&bytes).map_err(|_| NameError::Hexadecimal)?;
        Value::of(&value).ok_or(NameError::Hexadecimal)
    }

    /// Reads a value in quotation marks (RFC 1779 section 2.3).
    fn quoted(&mut self) -> Result<String, NameError> {
        let mut bytes = Vec::new();
        self.rest = &self.rest[1..];
        loop {
            let letter = self.separator().ok_or(NameError::Quotation)?;
            match letter {
                '"' => break,
                '\\' => bytes.push(self.pair()?),
                _ => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        self.rest = self.rest.trim_start_matches(' ');
        if !self.rest.is_empty() && !self.rest.starts_with(is_separator) {
            return Err(NameError::Quotation);
        }
        String::from_utf8(bytes).map_err(|_| NameError::Encoding)
    }

    /// Reads a value up to the next separator, without trailing spaces that are not escaped (section 2.4).
    fn bare(&mut self) -> Result<String, NameError> {
        let (mut bytes, mut end) = (Vec::new(), 0);
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                _ if is_separator(letter) => break,
                '"' => return Err(NameError::Quotation),
                '\\' => {
                    self.rest = &self.rest[1..];
                    bytes.push(self.pair()?);
                    end = bytes.len();
                }
                _ => {
                    self.rest = &self.rest[letter.len_utf8()..];
                    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    if letter != ' ' {
                        end = bytes.len();
                    }
                }
            }
        }
        bytes.truncate(end);
        String::from_utf8(bytes).map_err(|_| NameError::Encoding)
    }

    /// Reads what follows a backslash: a special character, or one byte as two hexadecimal digits (section 3,
    /// `pair`).
    fn pair(&mut self) -> Result<u8, NameError> {
        let mut letters = self.rest.bytes();
        let first = letters.next().ok_or(NameError::Escape)?;
        if b" \"#+,;<=>\\".contains(&first) {
            self.rest = &self.rest[1..];
            return Ok(first);
        }
        let high = digit(first).ok_or(NameError::Escape)?;
        let low = letters.next().and_then(digit).ok_or(NameError::Escape)?;
        self.rest = &self.rest[2..];
        Ok(high << 4 | low)
    }
}

fn is_separator(letter: char) -> bool {
    matches!(letter, ',' | ';' | '+')
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Escapes the separators in a string.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_separator(letter) || letter == '\\' {
            written.push('\\');
        }
        written.push(letter);
    }
    written
}

/// Returns the string in a value, or None for a type of value that has none. Teletex is read as ISO-8859-1,
/// which certificates use in it.
fn any_text(value: &Any) -> Option<String> {
    let bytes = value.value();
    match value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String | Tag::NumericString | Tag::VisibleString => {
            String::from_utf8(bytes.to_vec()).ok()
        }
        Tag::TeletexString => Some(bytes.iter().copied().map(char::from).collect()),
        Tag::BmpString if bytes.len().is_multiple_of(2) => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16(&units).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use x509_cert::der::DecodePem as _;

    use super::*;

    fn certificate_name(rfc_4514: &str) -> DistinguishedName {
        DistinguishedName::of_certificate(&Name::from_str(rfc_4514).unwrap()).unwrap()
    }

    #[test]
    fn renderings_of_one_name() {
        let name = certificate_name("CN=Test CA+OU=Unit,O=Made\\, Up AS,ST=Oslo,C=NO");
        for rendering in [
            "CN=Test CA+OU=Unit,O=Made\\, Up AS,ST=Oslo,C=NO",
            "OU=Unit+CN=Test CA,O=Made\\2C Up AS,ST=Oslo,C=NO",
            "C=NO, ST=Oslo, O=\"Made, Up AS\", CN=Test CA + OU=Unit",
            "cn=test  ca+ou=unit;o=made\\, up as;s=oslo;c=no",
            "2.5.4.3=Test CA+OID.2.5.4.11=Unit,O=Made\\, Up AS,ST=Oslo,C=NO",
            " CN = Test CA\\20+ OU = #1304556E6974 ,O=\\4dade\\, Up AS,ST=\\ Oslo,C=\"NO\" ",
        ] {
            assert_eq!(DistinguishedName::parse(rendering).as_ref(), Ok(&name), "{rendering}");
        }
    }

    #[test]
    fn other_names() {
        let name = certificate_name("CN=Test CA,O=Made Up AS,C=NO");
        for (other, difference) in [
            ("CN=Test CA,O=Made Up AS", "lacks C=NO"),
            ("CN=Test CA,O=Made Up AS,C=SE", "lacks C=NO and also has C=SE"),
            ("CN=Test CA,CN=Test CA,O=Made Up AS,C=NO", "also has CN=Test CA"),
            (
                "CN=Made Up AS,O=Test CA,C=NO",
                "lacks CN=Test CA,O=Made Up AS and also has CN=Made Up AS,O=Test CA",
            ),
            (
                "CN=Test CA+O=Made Up AS,C=NO",
                "lacks CN=Test CA,O=Made Up AS and also has CN=Test CA+O=Made Up AS",
            ),
            ("CN=#0408,O=Made Up AS,C=NO", "a # without an encoded value (RFC 4514 section 2.4)"),
            ("CN=#04020809,O=Made Up AS,C=NO", "lacks CN=Test CA and also has CN=#04020809"),
        ] {
            let found = match DistinguishedName::parse(other) {
                Ok(other) => {
                    assert_ne!(other, name);
                    name.difference(&other)
                }
                Err(error) => error.to_string(),
            };
            assert_eq!(found, difference, "{other}");
        }
    }

    #[test]
    fn texts_that_are_no_name() {
        for (text, error) in [
            ("", NameError::Form),
            ("CN", NameError::Form),
            ("Test CA", NameError::Form),
            ("XYZ=a", NameError::Type("XYZ".to_owned())),
            ("2.5.x=a", NameError::Type("2.5.x".to_owned())),
            ("OID.CN=a", NameError::Type("OID.CN".to_owned())),
            ("=a", NameError::Type(String::new())),
            ("CN=a,", NameError::Form),
            ("CN=a+", NameError::Form),
            ("CN=a\\", NameError::Escape),
            ("CN=a\\4", NameError::Escape),
            ("CN=a\\x", NameError::Escape),
            ("CN=a\\ø", NameError::Escape),
            ("CN=\\ff", NameError::Encoding),
            ("CN=#", NameError::Hexadecimal),
            ("CN=#13", NameError::Hexadecimal),
            ("CN=#130", NameError::Hexadecimal),
            ("CN=#1301", NameError::Hexadecimal),
            ("CN=#hash", NameError::Hexadecimal),
            ("CN=\"a", NameError::Quotation),
            ("CN=\"a\"b", NameError::Quotation),
            ("CN=a \"b\"", NameError::Quotation),
        ] {
            assert_eq!(DistinguishedName::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn values_of_every_kind_of_text() {
        let name = DistinguishedName::parse("O=Smør").unwrap();
        for encoded in ["#0C05536DC3B872", "#1404536DF872", "#1E080053006D00F80072"] {
            assert_eq!(DistinguishedName::parse(&format!("O={encoded}")), Ok(name.clone()), "{encoded}");
        }
    }

    /// A certificate of a made-up authority, and its issuer as other programs write it.
    #[test]
    fn what_others_write_is_read() {
        const CERTIFICATES: [(&str, &str); 9] = [
            ("components", include_str!("../../../fixtures/vectors/issuers/components.pem")),
            ("encodings", include_str!("../../../fixtures/vectors/issuers/encodings.pem")),
            ("identifier", include_str!("../../../fixtures/vectors/issuers/identifier.pem")),
            ("letters", include_str!("../../../fixtures/vectors/issuers/letters.pem")),
            ("mail", include_str!("../../../fixtures/vectors/issuers/mail.pem")),
            ("several", include_str!("../../../fixtures/vectors/issuers/several.pem")),
            ("special", include_str!("../../../fixtures/vectors/issuers/special.pem")),
            ("types", include_str!("../../../fixtures/vectors/issuers/types.pem")),
            ("whole", include_str!("../../../fixtures/vectors/issuers/whole.pem")),
        ];
        let names = CERTIFICATES.map(|(name, pem)| {
            let certificate = x509_cert::Certificate::from_pem(pem).unwrap();
            (name, DistinguishedName::of_certificate(&certificate.tbs_certificate.issuer).unwrap())
        });
        let mut read = 0;
        for line in include_str!("../../../fixtures/vectors/issuers/renderings.tsv").lines() {
            let [name, tool, form, text] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            // Java writes a BMPString byte by byte, and its canonical form decomposes characters (NFKD).
            let decomposed = form == "CANONICAL" && !text.is_ascii();
            if decomposed || (name, tool, form) == ("encodings", "Java", "RFC2253") {
                continue;
            }
            read += 1;
            let found = DistinguishedName::parse(text).unwrap_or_else(|error| panic!("{line}: {error}"));
            for (known, issuer) in &names {
                assert_eq!(found == *issuer, *known == name, "{line}: {known}");
            }
        }
        assert!(read > 100, "{read}");
    }
}
