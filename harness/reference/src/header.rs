//! The request headers: which are required where, and what they may say (the document, section Endpoints >
//! Common request headers).

pub(crate) mod fields;
pub(crate) mod format;
pub(crate) mod table;

use crate::operation::Operation;
use crate::policy::Headers;
pub(crate) use fields::Fields;
pub(crate) use table::Header;
pub(crate) use table::Presence;
use table::TABLE;

/// The value of a header, in the notation that the document gives it.
pub(crate) fn value(fields: Fields<'_>, header: Header, policy: &Headers) -> Option<String> {
    let value = fields.text(header)?;
    if !policy.takes_any_notation(header) {
        return Some(value);
    }
    Some(match header {
        Header::PsuContext | Header::PsuHttpMethod => value.to_ascii_uppercase(),
        Header::XPsuIdentity => value.chars().filter(char::is_ascii_digit).collect(),
        _ => usual_notation(&value),
    })
}

/// A UUID that is in braces, a URN or without hyphens as others are (RFC 9562 section 4).
fn usual_notation(uuid: &str) -> String {
    let uuid = uuid.strip_prefix("urn:uuid:").unwrap_or(uuid).trim_matches(['{', '}']);
    let digits = uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit());
    let part = |from: usize, to: usize| &uuid[from..to];
    if !digits {
        return uuid.to_owned();
    }
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// The headers that are part of an operation and have a rule, each with whether it is required.
pub(crate) fn parts(operation: Operation) -> impl Iterator<Item = (Header, bool)> {
    let parts = column(operation).filter(|(_, presence)| *presence != Presence::NotPartOf);
    parts.map(|(header, presence)| (header, presence == Presence::Required))
}

/// The values that a header may have, where it has a list of them.
pub(crate) fn listed(header: Header) -> &'static [&'static str] {
    format::listed(header)
}

/// Whether the header of this name, in lower case, has a rule somewhere.
pub(crate) fn is_known(name: &str) -> bool {
    TABLE.iter().any(|row| row.header.name() == name)
}

/// Whether it has one, and is not part of this operation.
pub(crate) fn is_of_others(name: &str, operation: Operation) -> bool {
    let mut column = column(operation);
    column.any(|(header, presence)| header.name() == name && presence == Presence::NotPartOf)
}

/// The rows of the table for an operation, each header with its presence.
pub(crate) fn column(operation: Operation) -> impl Iterator<Item = (Header, Presence)> {
    TABLE.iter().map(move |row| (row.header, row.presence(operation)))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::*;

    #[test]
    fn notations_of_uuids() {
        let usual = "8f14e45f-ceea-467f-a9c3-0c6b1a2d3e4f";
        let without_hyphens = usual.replace('-', "");
        for other in [&format!("{{{usual}}}"), &format!("urn:uuid:{usual}"), &without_hyphens, usual] {
            assert_eq!(usual_notation(other), usual);
        }
        assert_eq!(usual_notation("words"), "words");
    }

    #[test]
    fn lines_of_one_name_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append("x-accept-fix", " a ".parse().unwrap());
        headers.append("x-accept-fix", "b".parse().unwrap());
        assert_eq!(Fields(&headers).bytes("X-Accept-Fix").unwrap(), b"a, b");
        assert_eq!(Fields(&headers).bytes("x-other"), None);
    }
}
