//! Request headers: presence and form (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

use crate::header::{Fields, Header};
use crate::operation::Operation;

/// What the bank decides about headers.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Headers {
    /// Required headers that may be missing (`header.<name>.<operation>`).
    not_required: Vec<OfOperation>,
    /// Headers that may have any value (`header.<name>.format`).
    forms_unread: Vec<Header>,
    /// Headers whose values may be written in any notation: words in any letter case, UUIDs in braces,
    /// identity numbers with blanks (`header.<name>.notation`, `listed.case`).
    any_notation: Vec<Header>,
    /// Headers that may be empty, which the document leaves to a bank for those that it calls a string.
    may_be_empty: Vec<Header>,
    /// How the names of headers are read: without regard to case (RFC 9110, section 5.1).
    pub names: FieldNames,
}

impl Headers {
    /// Returns true if requests of an operation may lack a header that the document requires.
    pub fn may_lack(&self, header: Header, operation: Operation) -> bool {
        self.not_required.iter().any(|one| one.is(header, operation))
    }

    /// Returns true if a header may have any value.
    pub(crate) fn takes_any(&self, header: Header) -> bool {
        self.forms_unread.contains(&header)
    }

    /// The value of a header that says something, in the notation that the document gives it.
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

    /// Returns true if a header may be empty.
    pub(crate) fn may_be_empty(&self, header: Header) -> bool {
        self.may_be_empty.contains(&header)
    }
}

/// A header of one operation, or of all of them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfOperation {
    header: Header,
    operation: Option<Operation>,
}

impl OfOperation {
    /// Returns true if it is this header of this operation.
    pub(super) fn is(&self, header: Header, operation: Operation) -> bool {
        self.header == header && self.operation.is_none_or(|own| own == operation)
    }
}

/// Which names of headers are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldNames {
    /// Those of the document, in any letter case.
    #[default]
    AnyCase,
    /// All but those in uppercase letters alone, unless the document writes them so.
    NoCapitals,
    /// All but those that begin with a lowercase letter and have an uppercase one.
    NoMixture,
    /// Those with underscores instead of hyphens as well.
    Underscores,
}

impl FieldNames {
    /// Returns true if a name is not known for the case of its letters.
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
