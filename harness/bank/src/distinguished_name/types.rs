//! Names of attribute types.

/// Names of attribute types. The first nine are the table of RFC 4514 section 3, which the bank writes.
const TYPES: [(&str, &str); 46] = [
    ("CN", "2.5.4.3"),
    ("L", "2.5.4.7"),
    ("ST", "2.5.4.8"),
    ("O", "2.5.4.10"),
    ("OU", "2.5.4.11"),
    ("C", "2.5.4.6"),
    ("STREET", "2.5.4.9"),
    ("DC", "0.9.2342.19200300.100.1.25"),
    ("UID", "0.9.2342.19200300.100.1.1"),
    // RFC 4519 section 2, and X.520.
    ("COMMONNAME", "2.5.4.3"),
    ("LOCALITYNAME", "2.5.4.7"),
    ("STATEORPROVINCENAME", "2.5.4.8"),
    ("ORGANIZATIONNAME", "2.5.4.10"),
    ("ORGANIZATIONALUNITNAME", "2.5.4.11"),
    ("COUNTRYNAME", "2.5.4.6"),
    ("STREETADDRESS", "2.5.4.9"),
    ("DOMAINCOMPONENT", "0.9.2342.19200300.100.1.25"),
    ("USERID", "0.9.2342.19200300.100.1.1"),
    ("SN", "2.5.4.4"),
    ("SURNAME", "2.5.4.4"),
    ("SERIALNUMBER", "2.5.4.5"),
    ("TITLE", "2.5.4.12"),
    ("DESCRIPTION", "2.5.4.13"),
    ("BUSINESSCATEGORY", "2.5.4.15"),
    ("POSTALADDRESS", "2.5.4.16"),
    ("POSTALCODE", "2.5.4.17"),
    ("TELEPHONENUMBER", "2.5.4.20"),
    ("NAME", "2.5.4.41"),
    ("GIVENNAME", "2.5.4.42"),
    ("INITIALS", "2.5.4.43"),
    ("GENERATIONQUALIFIER", "2.5.4.44"),
    ("DNQUALIFIER", "2.5.4.46"),
    ("PSEUDONYM", "2.5.4.65"),
    ("ORGANIZATIONIDENTIFIER", "2.5.4.97"),
    // Names that tools print without a standard, and the names of PKCS #9.
    ("S", "2.5.4.8"),
    ("SP", "2.5.4.8"),
    ("T", "2.5.4.12"),
    ("G", "2.5.4.42"),
    ("GN", "2.5.4.42"),
    ("I", "2.5.4.43"),
    ("GENERATION", "2.5.4.44"),
    ("DNQ", "2.5.4.46"),
    ("E", "1.2.840.113549.1.9.1"),
    ("EMAIL", "1.2.840.113549.1.9.1"),
    ("EMAILADDRESS", "1.2.840.113549.1.9.1"),
    ("UNSTRUCTUREDNAME", "1.2.840.113549.1.9.2"),
];

/// Returns the object identifier of a name: a short name in any case, or a number with or without `OID.`.
pub(super) fn identifier(name: &str) -> Option<String> {
    let name = name.to_ascii_uppercase();
    if let Some((_, identifier)) = TYPES.iter().find(|(short, _)| *short == name) {
        return Some((*identifier).to_owned());
    }
    let dotted = name.strip_prefix("OID.").unwrap_or(&name);
    let arcs: Option<Vec<u128>> = dotted
        .split('.')
        .map(|arc| arc.bytes().all(|byte| byte.is_ascii_digit()).then(|| arc.parse().ok())?)
        .collect();
    let arcs = arcs.filter(|arcs| arcs.len() > 1)?;
    Some(arcs.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
}

/// Returns the RFC 4514 section 3 name of an object identifier, or the identifier itself.
pub(super) fn name(identifier: &str) -> &str {
    let table = TYPES[..9].iter().find(|(_, known)| *known == identifier);
    table.map_or(identifier, |(short, _)| short)
}
