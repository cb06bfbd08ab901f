//! Check digits, by which a value shows that it is wrong without any request.

use serde::Deserialize;

use crate::iban::is_iban;

/// Weights of the first check digit of a Norwegian identity number, which is one of those that they weigh.
const FIRST: [u32; 10] = [3, 7, 6, 1, 8, 9, 4, 5, 2, 1];

/// Weights of the second one.
const SECOND: [u32; 11] = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];

/// Whose check digits a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckDigits {
    /// Those of an IBAN (ISO 13616-1).
    Iban,
    /// Those of the identity number of a person in Norway: two, by modulus 11.
    Person,
}

impl CheckDigits {
    /// Returns true if a text has them.
    pub fn fit(self, text: &str) -> bool {
        match self {
            Self::Iban => is_iban(text),
            Self::Person => {
                let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(10)).collect();
                digits.is_some_and(|digits| {
                    digits.len() == SECOND.len()
                        && is_multiple(&digits, &FIRST)
                        && is_multiple(&digits, &SECOND)
                })
            }
        }
    }
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
    }
}
