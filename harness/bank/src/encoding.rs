//! Encodings of bytes: base64 (RFC 4648 section 4), and others that the policy can allow.

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, PAD, STANDARD};

use crate::encoded_word;
use crate::policy::signature::{Charsets, Encoding};

/// Base64 with optional padding.
const UNPADDED: GeneralPurpose =
    GeneralPurpose::new(&STANDARD_ALPHABET, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// Decodes base64, or one of these other encodings.
pub(crate) fn decode(text: &str, also: &[Encoding]) -> Option<Vec<u8>> {
    let may_be = |encoding| also.contains(&encoding);
    let mut text = text.to_owned();
    if may_be(Encoding::Wrapped) {
        text = encoded_word::unwrap(text.as_bytes(), Charsets::Known).ok()?;
    }
    if may_be(Encoding::UrlSafe) {
        text = text.replace('-', "+").replace('_', "/");
    }
    if may_be(Encoding::Mime) {
        text.retain(|letter| letter.is_ascii_alphanumeric() || "+/=".contains(letter));
    }
    let bytes = if may_be(Encoding::Hexadecimal) { of_digits(&text) } else { None };
    let base64 = if may_be(Encoding::Unpadded) { UNPADDED } else { STANDARD };
    bytes.or_else(|| base64.decode(&text).ok())
}

/// Decodes pairs of hexadecimal digits.
fn of_digits(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoding_is_read_besides_base64() {
        let texts = ["++8=", "++8", "--8=", "+ +8=", "=?utf-8?B?Kys4PQ==?=", "fbEF"];
        let read = |also: &[Encoding]| texts.map(|text| decode(text, also).as_deref() == Some(b"\xfb\xef"));
        for (also, expected) in [
            (&[][..], [true, false, false, false, false, false]),
            (&[Encoding::Unpadded], [true, true, false, false, false, false]),
            (&[Encoding::UrlSafe], [true, false, true, false, false, false]),
            (&[Encoding::Mime], [true, false, false, true, false, false]),
            (&[Encoding::Wrapped], [true, false, false, false, true, false]),
            (&[Encoding::Hexadecimal], [true, false, false, false, false, true]),
            (&[Encoding::Mime, Encoding::UrlSafe], [true, false, true, true, false, false]),
        ] {
            assert_eq!(read(also), expected, "{also:?}");
        }
        assert_eq!(decode("fbe", &[Encoding::Hexadecimal]), None);
    }
}
