//! IBANs: ISO 13616-1, with check digits by MOD 97-10 of ISO 7064.

/// Generates a BBAN for a structure of the registry (`4!n4!a12!c`). `letters` returns a number of characters
/// from an alphabet.
pub(crate) fn bban(structure: &str, letters: &mut dyn FnMut(&str, u64) -> String) -> Option<String> {
    let mut bban = String::new();
    let mut rest = structure;
    while !rest.is_empty() {
        let (count, after) = rest.split_once('!')?;
        let kind = after.chars().next()?;
        let of = match kind {
            'n' => "1279",
            'a' => "QXYZ",
            'c' => "1279QXYZ",
            _ => return None,
        };
        bban.push_str(&letters(of, count.parse().ok()?));
        rest = &after[kind.len_utf8()..];
    }
    Some(bban)
}

/// Returns the number of characters of a BBAN with a structure of the registry.
pub(crate) fn length(structure: &str) -> Option<usize> {
    let parts = structure.split_terminator(|letter: char| letter.is_ascii_alphabetic());
    parts.map(|part| part.strip_suffix('!')?.parse::<usize>().ok()).sum()
}

/// Returns the IBAN of a country and a BBAN. `off` shifts its check digits, which are correct for 0.
pub(crate) fn with_check_digits(country: &str, bban: &str, off: u64) -> Option<String> {
    let digits = 98 - remainder(&format!("{bban}{country}00"))?;
    // Check digits range from 02 to 98.
    let digits = (digits - 2 + off) % 97 + 2;
    Some(format!("{country}{digits:02}{bban}"))
}

/// Returns true if a string is an IBAN: two letters, two correct check digits, and letters and digits.
pub fn is_iban(text: &str) -> bool {
    let is_formed = text.len() > 4
        && text.is_ascii()
        && text[..2].bytes().all(|byte| byte.is_ascii_uppercase())
        && text[2..4].bytes().all(|byte| byte.is_ascii_digit());
    is_formed && remainder(&format!("{}{}", &text[4..], &text[..4])) == Some(1)
}

/// Returns the remainder modulo 97 of a string whose letters count from A = 10.
fn remainder(text: &str) -> Option<u64> {
    text.chars().try_fold(0, |remainder, letter| {
        let value = u64::from(letter.to_digit(36).filter(|_| !letter.is_ascii_lowercase())?);
        Some((remainder * if value < 10 { 10 } else { 100 } + value) % 97)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_mod_97_10() {
        // The fictitious account in the example of ISO 13616-1 for Norway.
        assert!(is_iban("NO9386011117947"));
        assert_eq!(with_check_digits("NO", "86011117947", 0).as_deref(), Some("NO9386011117947"));
        for off in 1..97 {
            let wrong = with_check_digits("NO", "86011117947", off).unwrap();
            assert!(!is_iban(&wrong), "{wrong}");
        }
        assert!(!is_iban("no9386011117947") && !is_iban("NO93") && !is_iban("NO93860111179é7"));
    }

    #[test]
    fn a_structure_says_how_long_a_bban_is() {
        assert_eq!(["4!n6!n1!n", "8!n10!c", "n", ""].map(length), [Some(11), Some(18), None, Some(0)]);
    }

    #[test]
    fn a_bban_has_its_structure() {
        let mut some =
            |of: &str, count: u64| of.chars().cycle().take(usize::try_from(count).unwrap()).collect();
        let bban = bban("4!n2!a3!c", &mut some).unwrap();
        assert_eq!(bban.len(), 9);
        assert!(bban[..4].bytes().all(|byte| byte.is_ascii_digit()));
        assert!(bban[4..6].bytes().all(|byte| byte.is_ascii_uppercase()));
        assert_eq!(super::bban("4!x", &mut some), None);
    }
}
