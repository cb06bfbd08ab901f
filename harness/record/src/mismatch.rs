//! The kind of a finding, as data. Reports group findings by it, not by their text.

use serde::{Deserialize, Serialize};

/// The kind of a mismatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mismatch {
    /// Unknown, in a record of an older format.
    #[default]
    Unknown,
    /// A request was rejected that must be accepted.
    NotAccepted,
    /// A request was accepted that must be rejected.
    NotRejected,
    /// The server failed.
    ServerError,
    /// There was no complete response.
    NoResponse,
    /// A request was correctly accepted or rejected, but with the wrong status.
    Status,
    /// A request was correctly rejected, but without the required code or message.
    Code,
    /// A response lacks a required value.
    Missing,
    /// A response has a wrong value.
    Value,
    /// The client violated a rule for its request.
    Request,
}

impl Mismatch {
    /// Returns true if the kind is unknown.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// A place at which the request of a case differs from that of its control. Values keep their placeholders,
/// which show how a secret was used without showing the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Difference {
    /// The place (`body/instructedAmount/currency`, `header/Signature`, `signing`, `before`).
    pub place: String,
    /// The value that the case sends there, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The value that its control sends there, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

/// A difference as serialized. A record of an older format has only the place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Place(String),
    Whole {
        place: String,
        #[serde(default)]
        sent: Option<String>,
        #[serde(default)]
        control: Option<String>,
    },
}

impl From<Written> for Difference {
    fn from(written: Written) -> Self {
        match written {
            Written::Place(place) => Self { place, sent: None, control: None },
            Written::Whole { place, sent, control } => Self { place, sent, control },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_an_older_record_is_its_place() {
        let read = |text: &str| serde_json::from_str::<Difference>(text).unwrap();
        let one = Difference { place: "body/a".into(), sent: Some("1".into()), control: None };
        assert_eq!(read(&serde_json::to_string(&one).unwrap()), one);
        assert_eq!(read("\"body/a\""), Difference { sent: None, ..one });
    }
}
