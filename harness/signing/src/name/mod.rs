//! Distinguished names: their content in a certificate, and their written forms (RFC 4514).

pub mod kind;
pub mod template;
pub(crate) mod written;

use std::fmt::{self, Write as _};

use x509_cert::der::{Encode, Tag, Tagged, asn1::Any};

pub use template::{Template, TemplateError};

/// The written form of a distinguished name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NameForm {
    /// RFC 4514: the last RDN first, separated by commas without spaces. Types that its section 3 does not
    /// list are dotted numbers (sections 2.1 to 2.4).
    #[default]
    Rfc4514,
    /// The same with a space after each comma.
    Rfc4514Spaced,
    /// The first RDN first, as in the certificate. Otherwise as in RFC 4514.
    Forward,
    /// The same with a space after each comma.
    ForwardSpaced,
    /// A custom string, with or without placeholders.
    Template(Template),
}

impl NameForm {
    /// Every form that depends only on the name.
    pub const ALL: [Self; 4] = [Self::Rfc4514, Self::Rfc4514Spaced, Self::Forward, Self::ForwardSpaced];
}

impl fmt::Display for NameForm {
    /// Writes the form as a bank profile does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rfc4514 => f.write_str("RFC 4514"),
            Self::Rfc4514Spaced => f.write_str("RFC 4514, spaced"),
            Self::Forward => f.write_str("forward"),
            Self::ForwardSpaced => f.write_str("forward, spaced"),
            Self::Template(template) => template.fmt(f),
        }
    }
}

/// A distinguished name: its RDNs in the order of the certificate, each with one or more attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(Vec<Vec<Attribute>>);

/// One attribute of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    kind: String,
    value: Value,
    der: Vec<u8>,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// A string of any ASN.1 type.
    Text(String),
    /// Another value, in DER.
    Other(Vec<u8>),
}

impl Name {
    /// Returns the name in a certificate.
    pub(crate) fn of(name: &x509_cert::name::Name) -> Self {
        let attributes = |rdn: &x509_cert::name::RelativeDistinguishedName| {
            let attribute = |one: &x509_cert::attr::AttributeTypeAndValue| Attribute {
                kind: one.oid.to_string(),
                value: Value::of(&one.value),
                der: encoded(&one.value),
            };
            rdn.0.iter().map(attribute).collect()
        };
        Self(name.0.iter().map(attributes).collect())
    }

    /// Returns its attributes, in the order of the certificate.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.0.iter().flatten()
    }

    pub(crate) fn rdns(&self) -> &[Vec<Attribute>] {
        &self.0
    }

    /// Writes the name in this form. If a template does not fit the name, RFC 4514 is used instead.
    /// [`Template::write`] returns the reason.
    ///
    /// A quotation mark is written as `\22`. It would end the keyId parameter, for which the draft has no
    /// escape.
    pub fn write(&self, form: &NameForm) -> String {
        let rdns = self.0.iter().map(|rdn| joined(rdn));
        let (rdns, separator): (Vec<String>, _) = match form {
            NameForm::Rfc4514 => (rdns.rev().collect(), ","),
            NameForm::Rfc4514Spaced => (rdns.rev().collect(), ", "),
            NameForm::Forward => (rdns.collect(), ","),
            NameForm::ForwardSpaced => (rdns.collect(), ", "),
            NameForm::Template(template) => {
                return template.write(self).unwrap_or_else(|_| self.write(&NameForm::Rfc4514));
            }
        };
        rdns.join(separator)
    }
}

impl Attribute {
    /// Returns its type as a dotted number.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the usual name of its type: that of RFC 4514 or X.520, or the dotted number.
    pub fn known_as(&self) -> &str {
        kind::usual(&self.kind)
    }

    /// Returns true if RFC 4514, section 3, has a key word for its type.
    pub fn has_key_word(&self) -> bool {
        kind::key_word(&self.kind).is_some()
    }

    /// Returns its value, if that is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Other(_) => None,
        }
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Returns `#` and its encoding in hexadecimal (RFC 4514, section 2.4).
    pub fn encoded(&self) -> String {
        format!("#{}", hex::encode(&self.der))
    }

    /// Returns a readable form: the usual name of the type, and its value as a string if possible.
    pub(crate) fn shown(&self) -> String {
        let value = self.text().map_or_else(|| self.encoded(), str::to_owned);
        if self.has_key_word() || self.known_as() == self.kind {
            format!("{}={value}", self.known_as())
        } else {
            format!("{} ({}={value})", self.kind, self.known_as())
        }
    }
}

impl fmt::Display for Attribute {
    /// Writes it as in RFC 4514: a type without a key word is followed by the encoding of the value (sections
    /// 2.3 and 2.4).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (kind::key_word(&self.kind), &self.value) {
            (Some(key_word), Value::Text(text)) => write!(f, "{key_word}={}", escaped(text)),
            (key_word, _) => write!(f, "{}={}", key_word.unwrap_or(&self.kind), self.encoded()),
        }
    }
}

impl Value {
    /// Reads a value of a certificate. `TeletexString` is read as ISO-8859-1, which certificates contain in
    /// practice.
    pub(crate) fn of(value: &Any) -> Self {
        let bytes = value.value();
        let text = match value.tag() {
            Tag::Utf8String
            | Tag::PrintableString
            | Tag::Ia5String
            | Tag::VisibleString
            | Tag::NumericString => std::str::from_utf8(bytes).ok().map(str::to_owned),
            Tag::TeletexString => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Tag::BmpString if bytes.len().is_multiple_of(2) => {
                let units = bytes.chunks_exact(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(pair[1]));
                char::decode_utf16(units).collect::<Result<String, _>>().ok()
            }
            // `Certificate::from_der` gives this tag to a UniversalString, whose characters have four bytes.
            Tag::OctetString if bytes.len().is_multiple_of(4) => {
                let letters = bytes
                    .chunks_exact(4)
                    .map(|four| four.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)));
                letters.map(char::from_u32).collect()
            }
            _ => None,
        };
        text.map_or_else(|| Self::Other(encoded(value)), Self::Text)
    }

    /// Returns the value for comparison: case, and the number of spaces between words, are ignored (RFC 5280,
    /// section 7.1).
    pub(crate) fn folded(&self) -> Self {
        match self {
            Self::Text(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                Self::Text(words.join(" ").to_lowercase())
            }
            Self::Other(der) => Self::Other(der.clone()),
        }
    }
}

/// The tag of a `UniversalString` (X.680, section 8.4).
pub(crate) const UNIVERSAL_STRING: u8 = 0x1C;

/// Returns the DER of a value. A `UniversalString` gets its own tag. A decoded value can always be encoded.
fn encoded(value: &Any) -> Vec<u8> {
    let mut der = value.to_der().unwrap_or_default();
    // Its characters have four bytes.
    let is_universal = value.tag() == Tag::OctetString && value.value().len().is_multiple_of(4);
    if let Some(tag) = der.first_mut().filter(|_| is_universal) {
        *tag = UNIVERSAL_STRING;
    }
    der
}

fn joined(rdn: &[Attribute]) -> String {
    rdn.iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}

/// Escapes a string as a value of RFC 4514, section 2.4.
pub(crate) fn escaped(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.chars().enumerate() {
        // Writing to a String cannot fail.
        match letter {
            '"' | '\0'..='\x1f' | '\x7f' => _ = write!(out, "\\{:02x}", u32::from(letter)),
            ',' | '+' | ';' | '<' | '>' | '\\' => _ = write!(out, "\\{letter}"),
            '#' if at == 0 => out.push_str("\\#"),
            ' ' if at == 0 || at == last => out.push_str("\\ "),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn name(text: &str) -> Name {
        Name::of(&x509_cert::name::Name::from_str(text).unwrap())
    }

    #[test]
    fn names_of_the_standard_are_written_as_there() {
        // RFC 4514, section 4, except for the quotation marks.
        for (text, written) in [
            ("UID=jsmith,DC=example,DC=net", "UID=jsmith,DC=example,DC=net"),
            ("OU=Sales+CN=J.  Smith,DC=example,DC=net", "OU=Sales+CN=J.  Smith,DC=example,DC=net"),
            (
                r#"CN=James \"Jim\" Smith\, III,DC=example,DC=net"#,
                r"CN=James \22Jim\22 Smith\, III,DC=example,DC=net",
            ),
            (r"CN=Before\0dAfter,DC=example,DC=net", r"CN=Before\0dAfter,DC=example,DC=net"),
            ("1.3.6.1.4.1.1466.0=#04024869", "1.3.6.1.4.1.1466.0=#04024869"),
            (r"CN=Lu\C4\8Di\C4\87", "CN=Lučić"),
        ] {
            assert_eq!(name(text).write(&NameForm::Rfc4514), written);
        }
    }

    #[test]
    fn only_the_key_words_of_the_standard_are_written() {
        for (text, written) in [
            ("emailAddress=a@b", "1.2.840.113549.1.9.1=#0c03614062"),
            ("serialNumber=1", "2.5.4.5=#130131"),
            ("SN=a", "2.5.4.4=#0c0161"),
            ("STREET=a,UID=b", "STREET=a,UID=b"),
            ("CN=#04024869", "CN=#04024869"),
        ] {
            assert_eq!(name(text).write(&NameForm::Rfc4514), written);
        }
    }

    #[test]
    fn values_of_one_blank_or_one_hash_are_escaped_once() {
        for (text, written) in
            [(" ", "\\ "), ("  ", "\\ \\ "), ("#", "\\#"), ("a#", "a#"), ("", ""), ("\0", "\\00")]
        {
            assert_eq!(escaped(text), written);
        }
    }
}
