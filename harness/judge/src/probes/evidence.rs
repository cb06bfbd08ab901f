//! Evaluates a profile value by comparing responses to the same request with different values.

use xs2aspec_record::Got;
use xs2aspec_spec::check_digits::CheckDigits;

use crate::{
    answer::Answer,
    codes::Codes,
    judge::{Examined, Outcome},
};

/// The parts of a response that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    outcome: Outcome,
    /// Status and codes.
    pub(super) got: Got,
}

/// The conclusion about a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The target knows the value: it responds differently to an invented one.
    Known,
    /// The target does not know the value, but responds differently to another one.
    Unknown,
    /// The target responds alike to each value.
    Open,
}

impl Seen {
    /// Returns the parts of a response that are compared. If a rejection has no codes in the documented
    /// place, strings that look like codes are used.
    pub(super) fn of(answer: &Answer, examined: &Examined) -> Self {
        let mut codes = examined.got.codes.clone();
        if codes.is_empty() && answer.status >= 400 {
            codes = Codes::anywhere(examined.document.as_ref(), &answer.body).alike();
        }
        Self { outcome: examined.outcome, got: Got { codes, ..Got::status(answer.status) } }
    }

    pub(super) fn is_accepted(&self) -> bool {
        self.outcome == Outcome::Accepted
    }
}

impl Evidence {
    /// Compares the responses to a value, to an invented one, and to another value of the profile.
    pub(super) fn of(own: &Seen, invented: &Seen, other: Option<&Seen>) -> Self {
        let is_told_apart =
            other.is_some_and(|other| other != own && (other.is_accepted() || other.outcome.is_refusal()));
        match own.outcome {
            _ if own != invented => Self::Known,
            Outcome::Refused if is_told_apart => Self::Unknown,
            _ => Self::Open,
        }
    }
}

/// Returns an invented value of the same format, with valid check digits if the value has any. Otherwise the
/// target could reject it just for its check digits.
pub(super) fn invented(value: &str) -> String {
    let other = turned(value);
    CheckDigits::other(value, &other).unwrap_or(other)
}

/// Ranges in which a character is replaced: first character, length, and step. Hexadecimal stays hexadecimal.
const RANGES: [(u8, u8, u8); 5] = [(b'0', 10, 5), (b'a', 6, 3), (b'A', 6, 3), (b'g', 20, 3), (b'G', 20, 3)];

/// Returns the value with its last three letters or digits changed.
fn turned(value: &str) -> String {
    let mut letters: Vec<char> = value.chars().collect();
    for letter in letters.iter_mut().rev().filter(|letter| letter.is_ascii_alphanumeric()).take(3) {
        let byte = *letter as u8;
        let range = RANGES.into_iter().find(|(first, length, _)| (*first..first + length).contains(&byte));
        if let Some((first, length, step)) = range {
            *letter = char::from((byte - first + step) % length + first);
        }
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(outcome: Outcome, status: u16, code: &str) -> Seen {
        Seen { outcome, got: Got { codes: vec![code.to_owned()], ..Got::status(status) } }
    }

    #[test]
    fn a_value_is_unknown_if_it_is_one_of_those_that_are_invented_and_another_is_told_apart() {
        let accepted = seen(Outcome::Accepted, 200, "");
        let unknown = seen(Outcome::Refused, 404, "UNKNOWN");
        let expired = seen(Outcome::Refused, 401, "EXPIRED");
        let failed = seen(Outcome::ServerError, 500, "");
        let busy = seen(Outcome::Busy, 429, "");
        for (own, invented, other, expected) in [
            (&accepted, &unknown, None, Evidence::Known),
            (&expired, &unknown, Some(&accepted), Evidence::Known),
            (&unknown, &unknown, Some(&accepted), Evidence::Unknown),
            (&unknown, &unknown, Some(&expired), Evidence::Unknown),
            (&unknown, &unknown, Some(&unknown), Evidence::Open),
            (&unknown, &unknown, Some(&failed), Evidence::Open),
            (&unknown, &unknown, Some(&busy), Evidence::Open),
            (&unknown, &unknown, None, Evidence::Open),
            (&accepted, &accepted, Some(&unknown), Evidence::Open),
            (&failed, &failed, Some(&accepted), Evidence::Open),
        ] {
            assert_eq!(Evidence::of(own, invented, other), expected, "{own:?} {invented:?} {other:?}");
        }
    }

    #[test]
    fn an_invented_value_has_the_form_of_the_value() {
        for (value, expected) in [
            ("0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6b2c"),
            ("20250212!0000002=", "20250212!0000557="),
            ("AB", "DE"),
            ("zG9", "iJ4"),
            ("=", "="),
        ] {
            assert_eq!(invented(value), expected);
        }
        let iban = invented("NO1400004200179");
        assert!(CheckDigits::Iban.fit(&iban) && CheckDigits::Account.fit(&iban), "{iban}");
    }
}
