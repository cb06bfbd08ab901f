//! Types of attributes: their numbers and names.

/// The key words that RFC 4514, section 3, lists, and their types. No others are written.
const KEY_WORDS: [(&str, &str); 9] = [
    ("CN", "2.5.4.3"),
    ("L", "2.5.4.7"),
    ("ST", "2.5.4.8"),
    ("O", "2.5.4.10"),
    ("OU", "2.5.4.11"),
    ("C", "2.5.4.6"),
    ("STREET", "2.5.4.9"),
    ("DC", "0.9.2342.19200300.100.1.25"),
    ("UID", "0.9.2342.19200300.100.1.1"),
];

/// Names that are also read: those of X.520, RFC 4519 and PKCS #9, and what OpenSSL, Java and .NET print. The
/// first name of a type is its usual one.
const OTHERS: [(&str, &str); 37] = [
    ("surname", "2.5.4.4"),
    ("SN", "2.5.4.4"),
    ("serialNumber", "2.5.4.5"),
    ("title", "2.5.4.12"),
    ("T", "2.5.4.12"),
    ("description", "2.5.4.13"),
    ("businessCategory", "2.5.4.15"),
    ("postalAddress", "2.5.4.16"),
    ("postalCode", "2.5.4.17"),
    ("telephoneNumber", "2.5.4.20"),
    ("name", "2.5.4.41"),
    ("givenName", "2.5.4.42"),
    ("GN", "2.5.4.42"),
    ("G", "2.5.4.42"),
    ("initials", "2.5.4.43"),
    ("I", "2.5.4.43"),
    ("generationQualifier", "2.5.4.44"),
    ("generation", "2.5.4.44"),
    ("dnQualifier", "2.5.4.46"),
    ("DNQ", "2.5.4.46"),
    ("pseudonym", "2.5.4.65"),
    ("organizationIdentifier", "2.5.4.97"),
    ("emailAddress", "1.2.840.113549.1.9.1"),
    ("E", "1.2.840.113549.1.9.1"),
    ("EMAIL", "1.2.840.113549.1.9.1"),
    ("unstructuredName", "1.2.840.113549.1.9.2"),
    ("S", "2.5.4.8"),
    ("SP", "2.5.4.8"),
    ("commonName", "2.5.4.3"),
    ("localityName", "2.5.4.7"),
    ("stateOrProvinceName", "2.5.4.8"),
    ("organizationName", "2.5.4.10"),
    ("organizationalUnitName", "2.5.4.11"),
    ("countryName", "2.5.4.6"),
    ("streetAddress", "2.5.4.9"),
    ("domainComponent", "0.9.2342.19200300.100.1.25"),
    ("userId", "0.9.2342.19200300.100.1.1"),
];

/// Returns the key word of RFC 4514 for a type.
pub fn key_word(kind: &str) -> Option<&'static str> {
    KEY_WORDS.iter().find(|(_, known)| *known == kind).map(|(word, _)| *word)
}

/// Returns the usual name of a type, or its number if it has none.
pub fn usual(kind: &str) -> &str {
    let mut names = KEY_WORDS.iter().chain(&OTHERS);
    names.find(|(_, known)| *known == kind).map_or(kind, |(name, _)| name)
}

/// Returns the dotted number of a written type: a name in any case, or a number with an optional prefix
/// `OID.`.
pub fn number(written: &str) -> Option<String> {
    let known = KEY_WORDS.iter().chain(&OTHERS).find(|(name, _)| name.eq_ignore_ascii_case(written));
    if let Some((_, number)) = known {
        return Some((*number).to_owned());
    }
    let digits = match written.get(..4) {
        Some(prefix) if prefix.eq_ignore_ascii_case("OID.") => &written[4..],
        _ => written,
    };
    // Leading zeros have no meaning.
    let arc = |arc: &str| {
        let is_number = !arc.is_empty() && arc.bytes().all(|byte| byte.is_ascii_digit());
        let significant = arc.trim_start_matches('0');
        is_number.then(|| if significant.is_empty() { "0" } else { significant }.to_owned())
    };
    let arcs: Vec<String> = digits.split('.').map(arc).collect::<Option<_>>()?;
    (arcs.len() > 1).then(|| arcs.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_a_number_a_key_word_and_a_usual_name() {
        for (written, expected) in [
            ("cn", Some("2.5.4.3")),
            ("S", Some("2.5.4.8")),
            ("oid.2.5.4.97", Some("2.5.4.97")),
            ("2.05.4.97", Some("2.5.4.97")),
            ("2.5.4.", None),
            ("2", None),
            ("OID.", None),
            ("øøø", None),
            ("", None),
        ] {
            assert_eq!(number(written).as_deref(), expected, "{written}");
        }
        assert_eq!((key_word("2.5.4.8"), key_word("2.5.4.97")), (Some("ST"), None));
        assert_eq!(
            (usual("2.5.4.97"), usual("2.5.4.4"), usual("1.2.3")),
            ("organizationIdentifier", "surname", "1.2.3")
        );
    }
}
