//! The input of a signature, and the mistake that explains it.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    Held, Received,
    base64_text::{self, Oddity},
    digests::odd,
    public_key::{Block, PublicKey, SHA_256, hash},
    texts::{difference, habits},
};
use crate::{certificate::Certificate, signing_string::signing_string};

/// The kind of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// RSA-SHA256 of the signing string, with the key of the certificate.
    Right,
    /// Not base64 (RFC 4648, section 4).
    NotBase64,
    /// Base64 in the alphabet for URLs (RFC 4648, section 5).
    UrlSafe,
    /// Base64 with other characters in it.
    ForeignCharacters,
    /// Not of the length that the key requires.
    OtherLength,
    /// With the right key, with SHA-512 over the right text.
    Sha512,
    /// With the right key, with another hash or padding than RSA-SHA256.
    OtherHash,
    /// With the right key, over another text.
    OtherText,
    /// Not with the key of the certificate.
    OtherKey,
    /// The certificate does not have an RSA key.
    NotRsa,
    /// A listed header is missing.
    NoText,
}

/// An examined signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The kind of signature.
    pub kind: Kind,
    /// The severity.
    pub held: Held,
    /// The explanation.
    pub says: String,
    /// The text that should have been signed, if another was.
    pub text: Option<String>,
}

/// The label of an RSA signature with SHA-512, which no draft defines: a bank may accept or reject it.
pub const RSA_SHA_512: &str = "rsa-sha512";

impl Made {
    fn wrong(kind: Kind, says: impl Into<String>) -> Self {
        Self { kind, held: Held::No, says: says.into(), text: None }
    }

    /// Examines a signature in base64 over these listed headers.
    pub fn new(text: &str, listed: &[&str], received: &Received<'_>, certificate: &Certificate) -> Self {
        let Some(key) = PublicKey::of(certificate) else {
            return Self::wrong(Kind::NotRsa, "the certificate is not of an RSA key");
        };
        let read = base64_text::read(text, &|bytes| bytes.len() == key.length);
        let Some((signature, oddities)) = read else {
            return match BASE64_STANDARD.decode(text) {
                Ok(found) => {
                    let says = format!(
                        "expected {} bytes for the key of the certificate, found {}",
                        key.length,
                        found.len()
                    );
                    Self::wrong(Kind::OtherLength, says)
                }
                Err(_) if text.contains(['-', '_']) => Self::wrong(
                    Kind::NotBase64,
                    format!("is not base64 (RFC 4648, section 4): {}", Oddity::UrlSafe.says()),
                ),
                Err(_) => Self::wrong(Kind::NotBase64, "is not base64 (RFC 4648, section 4)"),
            };
        };
        let ours = match signing_string(listed, received.fields, received.target) {
            Ok(ours) => ours,
            Err(error) => return Self::wrong(Kind::NoText, error.to_string()),
        };
        let made = by(&key, &signature, (&ours, listed), received);
        match oddities.as_slice() {
            [] => made,
            [Oddity::Unpadded] => {
                let held = made.held.max(Held::Open);
                Self {
                    held,
                    says: format!("{}; its base64 lacks its padding (RFC 4648, section 3.2)", made.says),
                    ..made
                }
            }
            _ => {
                let kind = match oddities.first() {
                    Some(Oddity::UrlSafe) => Kind::UrlSafe,
                    Some(Oddity::Lines | Oddity::Foreign) => Kind::ForeignCharacters,
                    _ => Kind::NotBase64,
                };
                Self::wrong(kind, format!("is not base64 (RFC 4648, section 4): it {}", odd(&oddities).1))
            }
        }
    }
}

/// Examines the decrypted signature: it may be over the signing string, or over another text.
fn by(key: &PublicKey, signature: &[u8], (ours, listed): (&str, &[&str]), received: &Received<'_>) -> Made {
    let due = received.as_sent(ours);
    let block = key.block(signature);
    let with_text = |made: Made| Made { text: Some(ours.to_owned()), ..made };
    let signed = match block {
        Block::Hash(SHA_256, signed) => signed,
        Block::Hash(name, signed) => {
            let due = hash(name, &due);
            let is_right = due.as_ref() == Some(&signed);
            let over = match due {
                _ if is_right => "the right text",
                Some(_) => "another text as well",
                None => "a text that cannot be compared",
            };
            let kind = if is_right && name == "SHA-512" { Kind::Sha512 } else { Kind::OtherHash };
            let says = format!("is by the right key, with {name} instead of SHA-256, over {over}");
            return with_text(Made::wrong(kind, says));
        }
        Block::Pss(name) => {
            let says = format!(
                "is by the right key, with the padding of RSASSA-PSS and {name}; expected RSASSA-PKCS1-v1_5 (RFC 8017, \
                 section 8.2)"
            );
            return Made::wrong(Kind::OtherHash, says);
        }
        Block::Bare(found) => return with_text(Made::wrong(Kind::OtherText, bare(&found, &due))),
        Block::Foreign => {
            let reversed: Vec<u8> = signature.iter().rev().copied().collect();
            let says = if key.block(&reversed) == Block::Foreign {
                "was made with another key than the certificate's, or is not a signature: its block has neither the padding of \
                 RSASSA-PKCS1-v1_5 nor that of RSASSA-PSS"
            } else {
                "is by the right key, with its bytes in reverse order"
            };
            return Made::wrong(Kind::OtherKey, says);
        }
    };
    let is_signed = |text: &[u8]| hash(SHA_256, text).is_some_and(|hash| hash == signed);
    if is_signed(&due) {
        let says = "is valid: it covers the signing string, with the key of the certificate".to_owned();
        return Made { kind: Kind::Right, held: Held::Yes, says, text: None };
    }
    if let Some(theirs) = received.signed {
        let which = if is_signed(&received.as_sent(theirs)) {
            "covers the given text"
        } else {
            "covers neither text"
        };
        return with_text(Made::wrong(Kind::OtherText, format!("{which}; {}", difference(ours, theirs))));
    }
    let once = hash(SHA_256, &due).unwrap_or_default();
    let again = [
        (once.clone(), "the hash of the signing string was signed as a text, so it was hashed twice"),
        (hex::encode(&once).into_bytes(), "the hash in hexadecimal was signed, so it was hashed twice"),
        (hex::encode_upper(&once).into_bytes(), "the hash in hexadecimal was signed, so it was hashed twice"),
        (BASE64_STANDARD.encode(&once).into_bytes(), "the hash in base64 was signed, so it was hashed twice"),
        (BASE64_STANDARD.encode(&due).into_bytes(), "the signing string was signed in base64"),
    ];
    let again = again.into_iter().find(|(text, _)| is_signed(text)).map(|(_, habit)| habit.to_owned());
    let habit = again.or_else(|| {
        habits(listed, received, ours)
            .find(|(text, _)| is_signed(&received.as_sent(text)))
            .map(|(_, habit)| habit)
    });
    let habit = habit.unwrap_or_else(|| {
        "no common mistake explains it; pass the signed text with --signed to see the difference".to_owned()
    });
    with_text(Made::wrong(Kind::OtherText, format!("covers another text, with the right key: {habit}")))
}

/// Returns a description of a block without the name of an algorithm.
fn bare(found: &[u8], due: &[u8]) -> String {
    let hash = hash(SHA_256, due).unwrap_or_default();
    let digits = hex::encode_upper(&hash);
    let what = match () {
        () if found == hash => "contains the SHA-256 of the right text",
        () if found.eq_ignore_ascii_case(digits.as_bytes()) => {
            "contains the SHA-256 of the right text in hexadecimal"
        }
        () if found == BASE64_STANDARD.encode(&hash).as_bytes() => {
            "contains the SHA-256 of the right text in base64"
        }
        () if found == due => "contains the signing string itself, without a hash",
        () if found.len() == hash.len() => "contains a hash of another text",
        () => "contains something else",
    };
    format!("is by the right key, but its block {what}, without DigestInfo (RFC 8017, section 9.2)")
}
