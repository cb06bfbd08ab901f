//! What a finding is, as data. Reports group findings by it and never by their words.

use serde::{Deserialize, Serialize};

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mismatch {
    /// A record of an older format does not say it.
    #[default]
    Unknown,
    /// A request that must be accepted was not.
    NotAccepted,
    /// A request that must be rejected was not.
    NotRejected,
    /// The server failed.
    ServerError,
    /// No whole response came.
    NoResponse,
    /// A request was accepted or rejected as it must be, with another status than it must.
    Status,
    /// A request was rejected as it must be, without the code or the message that it must have.
    Code,
    /// A value that a response must have is missing.
    Missing,
    /// A value of a response is not what it must be.
    Value,
    /// The client broke a rule of its request.
    Request,
}

impl Mismatch {
    /// Returns true if it is unknown.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// A place at which the request of a case differs from that of its control. Values keep their placeholders: they
/// show how a secret was used and not what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Difference {
    /// The place (`body/instructedAmount/currency`, `header/Signature`, `signing`, `before`).
    pub place: String,
    /// What the case sends there, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// What its control sends there, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

/// A difference as it is written: a record of an older format has the place alone.
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
