//! What a signature that was received is over, and by whose key.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE},
};

use crate::{
    certificate::Certificate,
    diagnosis::{PublicKey, key_id},
    signing_string::{RequestTarget, signing_string},
};

pub use crate::diagnosis::Parameters;

/// What a signature was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// RSA-SHA256 by the key of the certificate, over the text with this SHA-256 (RFC 8017, section 8.2.2).
    Over([u8; 32]),
    /// No base64 (RFC 4648, section 4).
    NotBase64,
    /// Of another length than the key of the certificate makes.
    OtherLength,
    /// By the key of the certificate, with another hash than SHA-256 or the padding of RSASSA-PSS.
    OtherHash,
    /// Base64 in the URL-safe alphabet (RFC 4648, section 5).
    UrlSafe,
    /// Not made with the key of the certificate, or with another padding.
    NotByKey,
    /// The certificate is not of an RSA key.
    NotRsa,
}

/// How a keyId names a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyIdNames {
    /// It does.
    Certificate,
    /// It names another one.
    Another,
    /// Its number is right, and its name is a part of the issuer's.
    Part,
    /// It is no `SN=..,CA=..`.
    Nothing,
}

/// What a signature, in base64, is by the key of a certificate.
pub fn signed(signature: &str, certificate: &Certificate) -> Signed {
    let text = signature;
    let Ok(signature) = BASE64_STANDARD.decode(text) else {
        let is_url_safe = text.contains(['-', '_']) && BASE64_URL_SAFE.decode(text).is_ok();
        return if is_url_safe { Signed::UrlSafe } else { Signed::NotBase64 };
    };
    let Some(key) = PublicKey::of(certificate) else { return Signed::NotRsa };
    if signature.len() != key.length {
        return Signed::OtherLength;
    }
    let hash = key.recovered(&signature).and_then(|hash| hash.try_into().ok());
    match hash {
        Some(hash) => Signed::Over(hash),
        None if key.is_padded(&signature) => Signed::OtherHash,
        None => Signed::NotByKey,
    }
}

/// The SHA-256 of the signing string for these header fields. `None` where one that is listed is not there.
pub fn due(listed: &[&str], fields: &[(String, String)], target: Option<&RequestTarget>) -> Option<[u8; 32]> {
    let text = signing_string(listed, fields, target).ok()?;
    hash(text.as_bytes())
}

/// The SHA-256 of a text.
pub fn hash(text: &[u8]) -> Option<[u8; 32]> {
    aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text).as_ref().try_into().ok()
}

/// How a keyId names a certificate, in whatever writing.
pub fn key_id_names(key_id: &str, certificate: &Certificate) -> KeyIdNames {
    match key_id::compare(key_id, certificate) {
        Ok(_) => KeyIdNames::Certificate,
        Err(_) => match key_id.strip_prefix("SN=").and_then(|rest| rest.split_once(",CA=")) {
            None => KeyIdNames::Nothing,
            Some((serial, issuer)) if is_part(serial, issuer, certificate) => KeyIdNames::Part,
            Some(_) => KeyIdNames::Another,
        },
    }
}

/// Whether a number is that of a certificate, and a name a part of that of its issuer.
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
    fn a_signature_says_what_it_is_over_and_a_wrong_one_what_is_wrong() {
        let signer = Signer::from_pem(KEY, CERTIFICATE).unwrap();
        let fields = vec![("Date".to_owned(), "now".to_owned()), ("X-Id".to_owned(), "1".to_owned())];
        let listed = vec!["date".to_owned(), "x-id".to_owned()];
        let made = signature_header::sign(&signer, &fields, &Options { listed, ..Options::default() });
        let parameters = Parameters::read(&made.unwrap().value);
        let signature = parameters.signature.unwrap();
        let own = signer.certificate();
        let other = Certificate::from_pem(OTHER).unwrap();
        assert_eq!(signed(&signature, own), Signed::Over(due(&["date", "x-id"], &fields, None).unwrap()));
        assert_ne!(signed(&signature, own), Signed::Over(due(&["x-id"], &fields, None).unwrap()));
        assert_eq!(signed(&signature, &other), Signed::NotByKey);
        for hash in [OtherHash::Sha384, OtherHash::Sha256Pss] {
            let made = signer.sign_with(hash, b"date: now").unwrap();
            assert_eq!((signed(&made, own), signed(&made, &other)), (Signed::OtherHash, Signed::NotByKey));
        }
        let url_safe = signature.replace('+', "-").replace('/', "_");
        assert!(url_safe == signature || signed(&url_safe, own) == Signed::UrlSafe);
        assert_eq!(signed("AAAA", own), Signed::OtherLength);
        assert_eq!(signed("!", own), Signed::NotBase64);
        assert_eq!(due(&["absent"], &fields, None), None);
        let key_id = parameters.key_id.unwrap();
        assert_eq!(key_id_names(&key_id, own), KeyIdNames::Certificate);
        assert_eq!(key_id_names(&key_id, &other), KeyIdNames::Another);
        assert_eq!(key_id_names("a key", own), KeyIdNames::Nothing);
        let serial = own.serial_hex();
        let part = own.issuer().write(&crate::certificate::NameForm::Rfc4514);
        let part = part.split(',').next().unwrap();
        assert_eq!(key_id_names(&format!("SN={serial},CA={part}"), own), KeyIdNames::Part);
    }
}
