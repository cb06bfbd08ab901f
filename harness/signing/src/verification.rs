//! Determines the text and the key of a received signature.

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    certificate::Certificate,
    diagnosis::{Block, Held, PublicKey, SHA_256, key_id},
    signing_string::{RequestTarget, signing_string},
};

pub use crate::diagnosis::{Parameters, digests, has_stray_quotation_mark};

/// The relation of a keyId to a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyIdNames {
    /// It names the certificate.
    Certificate,
    /// It names the certificate, in a spelling that not every bank accepts.
    Open,
    /// It names another certificate.
    Another,
    /// The number is right, and the name is a part of the issuer's.
    Part,
    /// It is not of the form `SN=..,CA=..`.
    Nothing,
}

/// Returns the SHA-256 of the text that a signature in base64 covers. Returns None if it was not made with
/// the key of the certificate (RFC 8017, section 8.2.2).
pub fn signed(signature: &str, certificate: &Certificate) -> Option<Vec<u8>> {
    let signature = BASE64_STANDARD.decode(signature).ok()?;
    let key = PublicKey::of(certificate).filter(|key| key.length == signature.len())?;
    match key.block(&signature) {
        Block::Hash(SHA_256, hash) => Some(hash),
        _ => None,
    }
}

/// Returns the SHA-256 of the signing string for these headers, or None if a listed one is missing.
pub fn due(listed: &[&str], fields: &[(String, String)], target: Option<&RequestTarget>) -> Option<Vec<u8>> {
    let text = signing_string(listed, fields, target).ok()?;
    crate::diagnosis::hash(SHA_256, text.as_bytes())
}

/// Returns the relation of a keyId, in any spelling, to a certificate, and a description.
pub fn key_id_names(key_id: &str, certificate: &Certificate) -> (KeyIdNames, String) {
    let (held, says) = key_id::compare(key_id, certificate);
    let names = match (held, key_id::parts(key_id)) {
        (Held::Yes, _) => KeyIdNames::Certificate,
        (Held::Open, _) => KeyIdNames::Open,
        (Held::No, None) => KeyIdNames::Nothing,
        (Held::No, Some((serial, issuer, _))) if is_part(serial, issuer, certificate) => KeyIdNames::Part,
        (Held::No, Some(_)) => KeyIdNames::Another,
    };
    (names, says.join("; "))
}

/// Returns true if a number is that of a certificate, and a name a part of that of its issuer.
fn is_part(serial: &str, issuer: &str, certificate: &Certificate) -> bool {
    let whole = certificate.issuer().write(&crate::certificate::NameForm::Rfc4514);
    let has = |part: &str| {
        let part = part.trim();
        whole
            .split(',')
            .any(|whole| whole == part || whole.split_once('=').is_some_and(|(_, value)| value == part))
    };
    serial.trim_start_matches('0').eq_ignore_ascii_case(&certificate.serial_hex())
        && !issuer.trim().is_empty()
        && issuer.split(',').all(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, OtherHash, Signer, signature_header};

    const KEY: &str = include_str!("../../../fixtures/keys/tpp.key.pem");
    const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const OTHER: &str = include_str!("../../../fixtures/keys/other.cert.pem");

    #[test]
    fn a_signature_says_what_it_is_over_and_a_key_id_whom_it_names() {
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        let fields = vec![("Date".to_owned(), "now".to_owned()), ("X-Id".to_owned(), "1".to_owned())];
        let listed = vec!["date".to_owned(), "x-id".to_owned()];
        let made = signature_header::sign(&signer, &fields, &Options { listed, ..Options::default() });
        let parameters = Parameters::read(&made.unwrap().value);
        let signature = parameters.signature.unwrap();
        let own = signer.certificate();
        let other = Certificate::from_pem(OTHER).unwrap();
        assert_eq!(signed(&signature, own), due(&["date", "x-id"], &fields, None));
        assert_ne!(signed(&signature, own), due(&["x-id"], &fields, None));
        assert_eq!(signed(&signature, &other), None);
        let sha_512 = signer.sign_with(OtherHash::Sha512, b"date: now").unwrap();
        for none in [&sha_512, "AAAA", "!"] {
            assert_eq!(signed(none, own), None);
        }
        assert_eq!(due(&["absent"], &fields, None), None);
        let key_id = parameters.key_id.unwrap();
        let part = own.issuer().write(&crate::certificate::NameForm::Rfc4514);
        let part = format!("SN={},CA={}", own.serial_hex(), part.split(',').next().unwrap());
        for (key_id, certificate, expected) in [
            (&key_id, own, KeyIdNames::Certificate),
            (&key_id.replace(",CA=", ", CA="), own, KeyIdNames::Open),
            (&key_id, &other, KeyIdNames::Another),
            (&"a key".to_owned(), own, KeyIdNames::Nothing),
            (&part, own, KeyIdNames::Part),
        ] {
            assert_eq!(key_id_names(key_id, certificate).0, expected, "{key_id}");
        }
    }
}
