//! Distinguished names, compared by what they say and not by how they are written.
//!
//! The document asks for the "full distinguished name of the issuing authority" in keyId and fixes no rendering. Two
//! names are equal here if they hold the same relative names, in whatever order; attribute types are compared as
//! object identifiers, values without regard to case and repeated spaces (RFC 5280 section 7.1).

use std::collections::BTreeSet;

use x509_cert::der::asn1::{Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::{Any, Tag, Tagged as _};
use x509_cert::name::Name;

/// A distinguished name: the sorted list of its relative names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DistinguishedName(Vec<RelativeName>);

/// One relative name: pairs of attribute type (as dotted object identifier) and normalised value.
type RelativeName = BTreeSet<(String, String)>;

impl DistinguishedName {
    /// The name in a certificate, or `None` if it holds a value that is no text.
    pub(crate) fn of_certificate(name: &Name) -> Option<Self> {
        let relative = |names: &x509_cert::name::RelativeDistinguishedName| {
            names
                .0
                .iter()
                .map(|attribute| Some((attribute.oid.to_string(), normalise(&any_text(&attribute.value)?))))
                .collect::<Option<RelativeName>>()
        };
        name.0.iter().map(relative).collect::<Option<Vec<_>>>().map(Self::sorted)
    }

    /// Reads a name in the string form of RFC 4514, or of its forerunner RFC 2253 with semicolons and quoted values.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let relative =
            |part: &str| split(part, &['+']).into_iter().map(attribute).collect::<Option<RelativeName>>();
        split(text, &[',', ';']).into_iter().map(relative).collect::<Option<Vec<_>>>().map(Self::sorted)
    }

    fn sorted(mut names: Vec<RelativeName>) -> Self {
        names.sort();
        Self(names)
    }
}

/// Short names of attribute types: the table of RFC 4514 section 3, and names that X.509 tools print beside it.
const TYPES: [(&str, &str); 22] = [
    ("CN", "2.5.4.3"),
    ("L", "2.5.4.7"),
    ("ST", "2.5.4.8"),
    ("S", "2.5.4.8"),
    ("O", "2.5.4.10"),
    ("OU", "2.5.4.11"),
    ("C", "2.5.4.6"),
    ("STREET", "2.5.4.9"),
    ("DC", "0.9.2342.19200300.100.1.25"),
    ("UID", "0.9.2342.19200300.100.1.1"),
    ("SN", "2.5.4.4"),
    ("SURNAME", "2.5.4.4"),
    ("SERIALNUMBER", "2.5.4.5"),
    ("TITLE", "2.5.4.12"),
    ("T", "2.5.4.12"),
    ("POSTALCODE", "2.5.4.17"),
    ("GN", "2.5.4.42"),
    ("GIVENNAME", "2.5.4.42"),
    ("ORGANIZATIONIDENTIFIER", "2.5.4.97"),
    ("E", "1.2.840.113549.1.9.1"),
    ("EMAIL", "1.2.840.113549.1.9.1"),
    ("EMAILADDRESS", "1.2.840.113549.1.9.1"),
];

/// `type=value` of a string form.
fn attribute(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim().to_ascii_uppercase();
    let name = name.strip_prefix("OID.").unwrap_or(&name);
    let known = TYPES.iter().find(|(short, _)| *short == name).map(|(_, oid)| *oid);
    let dotted = name.contains('.') && name.split('.').all(|arc| arc.parse::<u128>().is_ok());
    let oid = known.or(dotted.then_some(name))?;
    Some((oid.to_owned(), normalise(&unescape(value.trim())?)))
}

/// Undoes quotation marks around a value, and backslash escapes in it (RFC 4514 section 2.4).
fn unescape(value: &str) -> Option<String> {
    let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = rest.next()?;
        let Some(high) = char::from(escaped).to_digit(16) else {
            bytes.push(escaped);
            continue;
        };
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high << 4 | low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The parts between separators that are neither quoted nor escaped.
fn split<'a>(text: &'a str, separators: &[char]) -> Vec<&'a str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(|letter| {
        let separates = !quoted && !escaped && separators.contains(&letter);
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        separates
    })
    .collect()
}

fn normalise(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn any_text(value: &Any) -> Option<String> {
    match value.tag() {
        Tag::Utf8String => Utf8StringRef::try_from(value).ok().map(|text| text.as_str().to_owned()),
        Tag::PrintableString => PrintableStringRef::try_from(value).ok().map(|text| text.as_str().to_owned()),
        Tag::Ia5String => Ia5StringRef::try_from(value).ok().map(|text| text.as_str().to_owned()),
        Tag::TeletexString => TeletexStringRef::try_from(value).ok().map(|text| text.as_str().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

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
        ] {
            assert_eq!(DistinguishedName::parse(rendering).as_ref(), Some(&name), "{rendering}");
        }
    }

    #[test]
    fn other_names() {
        let name = certificate_name("CN=Test CA,O=Made Up AS,C=NO");
        for other in [
            "CN=Test CA,O=Made Up AS",
            "CN=Test CA,O=Made Up AS,C=SE",
            "CN=Test CA,CN=Test CA,O=Made Up AS,C=NO",
            "CN=Made Up AS,O=Test CA,C=NO",
            "CN=Test CA+O=Made Up AS,C=NO",
        ] {
            let other = DistinguishedName::parse(other).unwrap();
            assert_ne!(other, name);
        }
    }

    #[test]
    fn texts_that_are_no_name() {
        for text in ["", "CN", "Test CA", "XYZ=a", "CN=a,", "CN=a\\", "CN=a\\4", "CN=\\ff"] {
            assert_eq!(DistinguishedName::parse(text), None, "{text}");
        }
    }
}
