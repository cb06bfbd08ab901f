//! Request headers: presence and format (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

use crate::header::{Fields, Header};
use crate::operation::Operation;

/// Settings for headers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Headers {
    /// Required headers that may be missing (`header.<name>.<operation>`).
    not_required: Vec<OfOperation>,
    /// Headers whose format is not checked (`header.<name>.format`).
    forms_unread: Vec<Header>,
    /// Headers that accept other notations: words in any case, UUIDs in braces, identity numbers with spaces
    /// (`header.<name>.notation`, `listed.case`).
    any_notation: Vec<Header>,
    /// Required headers that may be empty. The document leaves this to the bank for headers of type string.
    may_be_empty: Vec<Header>,
    /// The header names that the bank knows. They are case-insensitive (RFC 9110 section 5.1).
    pub names: FieldNames,
}

impl Headers {
    /// Returns true if requests of an operation may lack a header that the document requires.
    pub fn may_lack(&self, header: Header, operation: Operation) -> bool {
        self.not_required.iter().any(|one| one.is(header, operation))
    }

    /// Returns true if the format of a header is not checked.
    pub(crate) fn takes_any(&self, header: Header) -> bool {
        self.forms_unread.contains(&header)
    }

    /// Returns the value of a non-empty header, in the notation of the document.
    pub(crate) fn value(&self, fields: Fields<'_>, header: Header) -> Option<String> {
        let value = fields.text(header).filter(|value| !value.is_empty())?;
        if !self.any_notation.contains(&header) {
            return Some(value);
        }
        Some(match header {
            Header::PsuContext | Header::PsuHttpMethod => value.to_ascii_uppercase(),
            Header::XPsuIdentity => value.chars().filter(char::is_ascii_digit).collect(),
            _ => usual_notation(&value),
        })
    }

    /// Returns true if a required header may be empty.
    pub(crate) fn may_be_empty(&self, header: Header) -> bool {
        self.may_be_empty.contains(&header)
    }
}

/// A header of one operation, or of all operations.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfOperation {
    header: Header,
    operation: Option<Operation>,
}

impl OfOperation {
    /// Returns true for this header of this operation.
    pub(super) fn is(&self, header: Header, operation: Operation) -> bool {
        self.header == header && self.operation.is_none_or(|own| own == operation)
    }
}

/// The spellings of header names that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldNames {
    /// Any case.
    #[default]
    AnyCase,
    /// Any except all uppercase, unless the document writes the name so.
    NoCapitals,
    /// Any except those that start in lowercase and contain an uppercase letter.
    NoMixture,
    /// Any case, and also with underscores instead of hyphens.
    Underscores,
}

impl FieldNames {
    /// Returns true if the case of a name makes it unknown.
    pub fn are_unknown(self, name: &[u8]) -> bool {
        let has_capitals = name.iter().any(u8::is_ascii_uppercase);
        match self {
            Self::NoCapitals => {
                has_capitals
                    && !name.iter().any(u8::is_ascii_lowercase)
                    && !matches!(name, b"PSU-ID" | b"X-PSU-IDENTITY")
            }
            Self::NoMixture => has_capitals && name.first().is_some_and(u8::is_ascii_lowercase),
            Self::AnyCase | Self::Underscores => false,
        }
    }
}

/// Converts a UUID in braces, as a URN or without hyphens to the usual notation (RFC 9562 section 4).
fn usual_notation(uuid: &str) -> String {
    let uuid = uuid.strip_prefix("urn:uuid:").unwrap_or(uuid).trim_matches(['{', '}']);
    let digits = uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit());
    let part = |from: usize, to: usize| &uuid[from..to];
    if !digits {
        return uuid.to_owned();
    }
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
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
}
