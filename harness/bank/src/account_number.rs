//! Account numbers: the check digits of an iban (ISO 13616-1, section 5), and the pattern of a BIC (ISO
//! 9362).

use serde_json::Value;

/// Returns the iban and the bban of an `AccountReference`, as far as it has them.
pub(crate) fn all(account: Option<&Value>) -> impl Iterator<Item = &str> {
    ["iban", "bban"].into_iter().filter_map(move |name| account?.get(name)?.as_str())
}

/// Returns true if an iban has valid check digits (ISO 13616-1). An iban has two letters, two digits, and up
/// to 30 letters and digits. With its first four characters moved to the end and letters counted from 10, it
/// leaves 1 modulo 97.
pub fn has_check_digits(iban: &str) -> bool {
    let is_number = iban.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let Some((front, rest)) = iban.split_at_checked(4).filter(|(_, rest)| is_number && !rest.is_empty())
    else {
        return false;
    };
    let (country, digits) = front.split_at(2);
    // Valid check digits are 02 to 98. 00, 01 and 99 leave the same remainders as some of these.
    let is_possible = digits.parse::<u8>().is_ok_and(|digits| (2..=98).contains(&digits));
    let remainder = rest.chars().chain(front.chars()).fold(0, |remainder: u32, letter| {
        let value = letter.to_digit(36).unwrap_or_default();
        (if value < 10 { remainder * 10 } else { remainder * 100 } + value) % 97
    });
    is_possible && remainder == 1 && country.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns true if the whole string is a BIC of eight or eleven characters. The pattern is that of the
/// document (section Resources > Shared types, `BicFiIdentifier`).
pub(crate) fn is_bic(text: &str) -> bool {
    matches!(text.len(), 8 | 11)
        && text.bytes().enumerate().all(|(index, byte)| match index {
            0..6 => byte.is_ascii_uppercase(),
            6 => byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'9'),
            7 => byte != b'O' && (byte.is_ascii_uppercase() || byte.is_ascii_digit()),
            _ => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_the_number() {
        for iban in [
            "NO1400004200179",
            "DE93999999990000000001",
            "GB82WEST12345698765432",
            "MT84MALT011000012345MTLCAST001S",
            "NO9386011117947",
        ] {
            assert!(has_check_digits(iban), "{iban}");
        }
        for wrong in [
            "",
            "NO",
            "NO14",
            "NO1500004200179",
            "no1400004200179",
            "NO14 00004200179",
            "1400004200179",
            "NOÅ4",
            "GB82WEST12345698765423",
        ] {
            assert!(!has_check_digits(wrong), "{wrong}");
        }
    }

    #[test]
    fn bics_have_eight_or_eleven_characters() {
        for bic in ["TESTNO22", "TESTNO22XXX", "AAAADEF0XXX", "TESTDEFF"] {
            assert!(is_bic(bic), "{bic}");
        }
        for other in
            ["", "TESTNO2", "testno22", "TESTNO22X", "TESTNO22XXXX", "TESTNO1A", "TESTNO2O", "TEST NO2"]
        {
            assert!(!is_bic(other), "{other}");
        }
    }
}
