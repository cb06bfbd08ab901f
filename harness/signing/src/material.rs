//! Reads keys and certificates in common formats: PEM with a passphrase (PKCS#8, RFC 5958), and PKCS#12 (RFC
//! 7292). The result is plain PEM for [`crate::Signer`].

use p12_keystore::Pkcs12Archive;
use pem::Pem;
use pkcs8::EncryptedPrivateKeyInfoOwned;

/// The reason that a key cannot be read. No message quotes key or passphrase.
#[derive(Debug, thiserror::Error)]
pub enum MaterialError {
    /// Not PEM, or damaged PEM.
    #[error("expected a private key in PEM, found damaged PEM")]
    Pem,
    /// The key has a passphrase, and none was given.
    #[error(
        "the private key has a passphrase: set `passphrase = {{ env = \"..\" }}` or `{{ file = \"..\" }}`"
    )]
    PassphraseMissing,
    /// The passphrase is wrong, or the cipher is not supported.
    #[error("cannot decrypt the private key: wrong passphrase, or unsupported cipher ({0})")]
    Locked(String),
    /// A passphrase around PKCS#1 (RFC 1421), which no longer protects anything.
    #[error(
        "the private key is encrypted in an obsolete format (`Proc-Type: 4,ENCRYPTED`): convert it to PKCS#8 with \
         `openssl pkcs8 -topk8 -in OLD -out NEW`"
    )]
    Old,
    /// Not PKCS#12, or a wrong passphrase.
    #[error("cannot open the PKCS#12 file: wrong format or passphrase: {0}")]
    Archive(String),
    /// PKCS#12 without a key or certificate, or with several keys.
    #[error(
        "expected one private key and its certificate in PKCS#12, found {keys} keys and {certificates} certificates"
    )]
    Content {
        /// Number of private keys.
        keys: usize,
        /// Number of certificates.
        certificates: usize,
    },
}

/// Decrypts a private key in PEM. A key without a passphrase is returned unchanged.
pub fn unlocked(key: &str, passphrase: Option<&str>) -> Result<String, MaterialError> {
    let blocks = pem::parse_many(key).map_err(|_| MaterialError::Pem)?;
    if blocks.iter().any(|block| block.headers().get("Proc-Type").is_some()) {
        return Err(MaterialError::Old);
    }
    let Some(block) = blocks.iter().find(|block| block.tag() == "ENCRYPTED PRIVATE KEY") else {
        return Ok(key.to_owned());
    };
    let passphrase = passphrase.ok_or(MaterialError::PassphraseMissing)?;
    let locked = |error: &dyn std::fmt::Display| MaterialError::Locked(error.to_string());
    let info = EncryptedPrivateKeyInfoOwned::try_from(block.contents()).map_err(|error| locked(&error))?;
    let plain = info.decrypt(passphrase).map_err(|error| locked(&error))?;
    Ok(pem::encode(&Pem::new("PRIVATE KEY", plain.as_bytes())))
}

/// Returns key and certificates of a PKCS#12 file. If the file marks the key's own certificate, it comes
/// first.
pub fn opened(archive: &[u8], passphrase: &str) -> Result<(String, String), MaterialError> {
    let found = Pkcs12Archive::from_pkcs12(archive, passphrase)
        .map_err(|error| MaterialError::Archive(error.to_string()))?;
    let ([key], [_, ..]) = (found.keys.as_slice(), found.certs.as_slice()) else {
        return Err(MaterialError::Content { keys: found.keys.len(), certificates: found.certs.len() });
    };
    let id = key.local_key_id.as_ref().map(AsRef::as_ref);
    let (own, others): (Vec<_>, Vec<_>) =
        found.certs.iter().partition(|bag| id.is_some() && bag.local_key_id.as_deref() == id);
    let certificates: Vec<Pem> =
        own.into_iter().chain(others).map(|bag| Pem::new("CERTIFICATE", bag.cert.as_der())).collect();
    Ok((pem::encode(&Pem::new("PRIVATE KEY", key.key.as_der())), pem::encode_many(&certificates)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signer;

    const PASSPHRASE: &str = "test-passphrase";
    const PLAIN: &str = include_str!("../../../fixtures/keys/tpp.key.pem");
    const CERTIFICATE: &str = include_str!("../../../fixtures/keys/tpp.cert.pem");
    const AES: &str = include_str!("../../../fixtures/keys/formats/pkcs8-aes.key.pem");
    const TRIPLE_DES: &str = include_str!("../../../fixtures/keys/formats/pkcs8-3des.key.pem");
    const PKCS1: &str = include_str!("../../../fixtures/keys/formats/pkcs1.key.pem");
    const PKCS1_ENCRYPTED: &str = include_str!("../../../fixtures/keys/formats/pkcs1-encrypted.key.pem");
    const ARCHIVE: &[u8] = include_bytes!("../../../fixtures/keys/formats/tpp.p12");
    const OLD_ARCHIVE: &[u8] = include_bytes!("../../../fixtures/keys/formats/tpp-legacy.p12");

    fn signed(key: &str, certificate: &str) -> String {
        Signer::from_pem(key, certificate).unwrap().sign(b"date: now").unwrap()
    }

    #[test]
    fn every_form_is_the_same_key() {
        let expected = signed(PLAIN, CERTIFICATE);
        for (key, passphrase) in [
            (PLAIN, None),
            (PLAIN, Some("not needed")),
            (PKCS1, None),
            (AES, Some(PASSPHRASE)),
            (TRIPLE_DES, Some(PASSPHRASE)),
        ] {
            assert_eq!(signed(&unlocked(key, passphrase).unwrap(), CERTIFICATE), expected);
        }
        for archive in [ARCHIVE, OLD_ARCHIVE] {
            let (key, certificates) = opened(archive, PASSPHRASE).unwrap();
            assert_eq!(signed(&key, &certificates), expected, "its own certificate is the first");
        }
        assert_eq!(opened(ARCHIVE, PASSPHRASE).unwrap().1.matches("BEGIN CERTIFICATE").count(), 2);
    }

    #[test]
    fn what_does_not_open_says_why_and_quotes_nothing() {
        let key = |text: &str, passphrase| unlocked(text, passphrase).unwrap_err().to_string();
        assert!(key(AES, None).contains("passphrase = "));
        assert!(key(AES, Some("wrong-one")).contains("wrong passphrase"));
        assert!(key(PKCS1_ENCRYPTED, Some(PASSPHRASE)).contains("openssl pkcs8 -topk8"));
        assert!(key(&PLAIN.replacen("MII", "M!I", 1), None).contains("damaged PEM"));
        let archive = |bytes: &[u8], passphrase| opened(bytes, passphrase).unwrap_err().to_string();
        assert!(archive(ARCHIVE, "wrong-one").contains("cannot open the PKCS#12 file"));
        assert!(archive(b"not an archive", PASSPHRASE).contains("cannot open the PKCS#12 file"));
        for said in [key(AES, Some("wrong-one")), archive(ARCHIVE, "wrong-one")] {
            assert!(!said.contains("wrong-one"), "{said}");
        }
    }
}
