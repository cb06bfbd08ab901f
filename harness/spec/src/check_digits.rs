//! Check digits, which reveal a wrong value without any request.

use serde::Deserialize;

use crate::iban::is_iban;

/// Weights for the first check digit of a Norwegian identity number, including the check digit itself.
const FIRST: [u32; 10] = [3, 7, 6, 1, 8, 9, 4, 5, 2, 1];

/// Weights for the second check digit, and for that of a Norwegian account number, including the digit
/// itself.
const SECOND: [u32; 11] = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];

/// The kind of check digits in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckDigits {
    /// The check digits of an IBAN (ISO 13616-1).
    Iban,
    /// The two check digits of a Norwegian identity number, modulus 11.
    Person,
    /// The check digit of a Norwegian account number, modulus 11, also at the end of an IBAN.
    Account,
}

/// Number of digits at the end of a value that a replacement changes.
const OTHER_DIGITS: u32 = 5;

impl CheckDigits {
    const ALL: [Self; 3] = [Self::Iban, Self::Person, Self::Account];

    /// Returns another string with valid check digits of every kind that `text` has. Its last five digits
    /// count up from those of `start`, which has the same format. Returns `None` if `text` has no check
    /// digits.
    pub fn other(text: &str, start: &str) -> Option<String> {
        let own: Vec<Self> = Self::ALL.into_iter().filter(|kind| kind.fit(text)).collect();
        let (beginning, end) = start.split_at_checked(start.len().checked_sub(OTHER_DIGITS as usize)?)?;
        let (first, all) = (end.parse::<u32>().ok().filter(|_| !own.is_empty())?, 10_u32.pow(OTHER_DIGITS));
        let others = (first..all).chain(0..first).map(|number| format!("{beginning}{number:05}"));
        others.filter(|other| other != text).find(|other| own.iter().all(|kind| kind.fit(other)))
    }

    /// Returns true if a string has valid check digits of this kind.
    pub fn fit(self, text: &str) -> bool {
        match self {
            Self::Iban => is_iban(text),
            Self::Person => {
                let digits = digits(text);
                digits.len() == SECOND.len() && is_multiple(&digits, &FIRST) && is_multiple(&digits, &SECOND)
            }
            Self::Account => {
                let digits = digits(text.strip_prefix("NO").and_then(|iban| iban.get(2..)).unwrap_or(text));
                digits.len() == SECOND.len() && is_multiple(&digits, &SECOND)
            }
        }
    }
}

/// Returns the digits of a string, or none if it contains other characters.
fn digits(text: &str) -> Vec<u32> {
    text.chars().map(|digit| digit.to_digit(10)).collect::<Option<_>>().unwrap_or_default()
}

/// Returns true if the weighted sum is a multiple of 11.
fn is_multiple(digits: &[u32], weights: &[u32]) -> bool {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_digit_shows() {
        for (kind, text) in [
            (CheckDigits::Iban, "NO1400004200179"),
            (CheckDigits::Person, "01819000391"),
            (CheckDigits::Person, "41819000466"),
            (CheckDigits::Account, "00004200179"),
        ] {
            assert!(kind.fit(text), "{text}");
            for at in text.char_indices().filter(|(_, letter)| letter.is_ascii_digit()).map(|(at, _)| at) {
                let digit = (text.as_bytes()[at] - b'0' + 1) % 10;
                let wrong = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
                assert!(!kind.fit(&wrong), "{wrong}");
            }
        }
        assert!(!CheckDigits::Person.fit("0181900039"));
        assert!(!CheckDigits::Person.fit("0181900039x"));
        assert!(!CheckDigits::Account.fit(""));
    }

    #[test]
    fn another_value_has_the_same_check_digits() {
        for (text, kinds) in [
            ("NO1400004200179", &[CheckDigits::Iban, CheckDigits::Account][..]),
            ("DE89370400440532013000", &[CheckDigits::Iban]),
            ("01819000391", &[CheckDigits::Person]),
            ("00004200179", &[CheckDigits::Account]),
        ] {
            let start = format!("{}99998", &text[..text.len() - 5]);
            let other = CheckDigits::other(text, &start).unwrap();
            assert!(other != text && other.len() == text.len(), "{other}");
            assert!(kinds.iter().all(|kind| kind.fit(&other)), "{other}");
        }
        for text in ["", "acc-1", "12345678901", "acc-private-0001"] {
            assert_eq!(CheckDigits::other(text, text), None, "{text}");
        }
    }
}
