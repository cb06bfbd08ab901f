//! Signatures with another hash or padding than the document's RSA-SHA256, which a verifying bank must
//! reject.

use aws_lc_rs::{
    digest::{self, SHA1_FOR_LEGACY_USE_ONLY},
    encoding::{AsDer as _, Pkcs8V1Der},
    hmac,
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaKeyPair},
};
use num_bigint::BigUint;
use pkcs8::PrivateKeyInfoRef;

/// A hash that the document does not name, or its own hash with a padding that it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherHash {
    /// SHA-1.
    Sha1,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-256 with the padding of RSASSA-PSS (RFC 8017, section 8.1).
    Sha256Pss,
    /// SHA-256 in an HMAC (RFC 2104), with the public key as the key.
    HmacSha256,
}

impl OtherHash {
    /// Returns the hash of these bytes.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha1 => &SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
            Self::Sha256Pss | Self::HmacSha256 => &digest::SHA256,
        };
        digest::digest(algorithm, bytes).as_ref().to_vec()
    }
}

/// The `DigestInfo` before a SHA-1 hash (RFC 8017, section 9.2, note 1).
const SHA_1_INFO: [u8; 15] =
    [0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14];

/// Returns the RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2) or RSASSA-PSS signature of these bytes with this
/// hash. Returns None if the library fails.
pub(crate) fn sign(key: &RsaKeyPair, hash: OtherHash, bytes: &[u8]) -> Option<Vec<u8>> {
    let padding = match hash {
        // The library verifies such signatures but does not create them.
        OtherHash::Sha1 => return sign_with_sha_1(key, bytes),
        // The library would create a different one each time.
        OtherHash::Sha256Pss => return sign_with_pss(key, bytes),
        // It does not use a private key.
        OtherHash::HmacSha256 => return None,
        OtherHash::Sha384 => &RSA_PKCS1_SHA384,
        OtherHash::Sha512 => &RSA_PKCS1_SHA512,
    };
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(padding, &SystemRandom::new(), bytes, &mut signature).ok()?;
    Some(signature)
}

/// Returns the HMAC of these bytes, with a public key (DER of its `SubjectPublicKeyInfo`) in PEM as its key.
/// A library that trusts the sender's algorithm would accept it.
pub(crate) fn hmac(public_key: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let line_ending = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    let key = pem::encode_config(&pem::Pem::new("PUBLIC KEY", public_key), line_ending);
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()), bytes).as_ref().to_vec()
}

/// Signs with SHA-1 as in section 9.2 (EMSA-PKCS1-v1_5) of RFC 8017.
fn sign_with_sha_1(key: &RsaKeyPair, bytes: &[u8]) -> Option<Vec<u8>> {
    let hash = digest::digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes);
    let length = key.public_modulus_len();
    let padding = length.checked_sub(SHA_1_INFO.len() + hash.as_ref().len() + 3)?;
    encrypted(key, &[&[0, 1][..], &vec![0xff; padding], &[0], &SHA_1_INFO, hash.as_ref()].concat())
}

/// Signs as in section 9.1.1 (EMSA-PSS) of RFC 8017, with the mask of section B.2.1. The salt is the hash, so
/// that a run with the same seed sends the same signature.
fn sign_with_pss(key: &RsaKeyPair, bytes: &[u8]) -> Option<Vec<u8>> {
    let (length, salt) = (key.public_modulus_len(), sha_256(&[bytes]));
    let hash = sha_256(&[&[0; 8], &salt, &salt]);
    let zeros = length.checked_sub(hash.len() + salt.len() + 2)?;
    let mut masked = [&vec![0; zeros][..], &[1], &salt].concat();
    mask(&mut masked, &hash, &digest::SHA256);
    encrypted(key, &[&masked[..], &hash, &[0xbc]].concat())
}

fn sha_256(parts: &[&[u8]]) -> Vec<u8> {
    digest::digest(&digest::SHA256, &parts.concat()).as_ref().to_vec()
}

/// Applies or removes the mask of EMSA-PSS (RFC 8017, sections 9.1.1 and B.2.1). The signed message has one
/// bit less than the modulus.
fn mask(bytes: &mut [u8], hash: &[u8], algorithm: &'static digest::Algorithm) {
    let block =
        |counter: u32| digest::digest(algorithm, &[hash, &counter.to_be_bytes()].concat()).as_ref().to_vec();
    bytes.iter_mut().zip((0..u32::MAX).flat_map(block)).for_each(|(byte, mask)| *byte ^= mask);
    if let Some(first) = bytes.first_mut() {
        *first &= 0x7f;
    }
}

/// Returns true if the message of a signature has the padding of EMSA-PSS with this hash (RFC 8017, section
/// 9.1.2).
pub(crate) fn is_pss(message: &[u8], algorithm: &'static digest::Algorithm) -> bool {
    let Some((&0xbc, rest)) = message.split_last() else { return false };
    let Some(masked) = rest.len().checked_sub(algorithm.output_len()) else { return false };
    let (masked, hash) = rest.split_at(masked);
    let mut unmasked = masked.to_vec();
    mask(&mut unmasked, hash, algorithm);
    let zeros = unmasked.iter().take_while(|byte| **byte == 0).count();
    // The longest possible salt leaves no zeros. Other lengths leave many.
    (zeros >= 8 || zeros == 0) && unmasked.get(zeros) == Some(&1)
}

/// Encrypts a message as in section 5.2.1 (RSASP1) of RFC 8017.
fn encrypted(key: &RsaKeyPair, message: &[u8]) -> Option<Vec<u8>> {
    let der: Pkcs8V1Der<'_> = key.as_der().ok()?;
    let info = PrivateKeyInfoRef::try_from(der.as_ref()).ok()?;
    let private = pkcs1::RsaPrivateKey::try_from(info.private_key.as_bytes()).ok()?;
    let length = key.public_modulus_len();
    let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
    let (exponent, modulus) =
        (number(private.private_exponent.as_bytes()), number(private.modulus.as_bytes()));
    let signature = number(message).modpow(&exponent, &modulus).to_bytes_be();
    Some([vec![0; length.checked_sub(signature.len())?], signature].concat())
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{
        KeyPair as _, RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256,
        RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
    };

    use super::*;

    #[test]
    fn a_hash_is_that_of_the_bytes() {
        // FIPS 180-4, the examples for "abc".
        let begins = |hash: OtherHash| hash.digest(b"abc")[..4].to_vec();
        assert_eq!(begins(OtherHash::Sha1), [0xa9, 0x99, 0x3e, 0x36]);
        assert_eq!(begins(OtherHash::Sha384), [0xcb, 0x00, 0x75, 0x3f]);
        assert_eq!(begins(OtherHash::Sha512), [0xdd, 0xaf, 0x35, 0xa1]);
    }

    #[test]
    fn each_is_verified_with_its_own_hash_and_with_no_other() {
        let pem = pem::parse(include_str!("../../../fixtures/keys/tpp.key.pem")).unwrap();
        let key = RsaKeyPair::from_pkcs8(pem.contents()).unwrap();
        let verifiers = [
            (Some(OtherHash::Sha1), &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY),
            (Some(OtherHash::Sha384), &RSA_PKCS1_2048_8192_SHA384),
            (Some(OtherHash::Sha512), &RSA_PKCS1_2048_8192_SHA512),
            (Some(OtherHash::Sha256Pss), &RSA_PSS_2048_8192_SHA256),
            (None, &RSA_PKCS1_2048_8192_SHA256),
        ];
        for made in [OtherHash::Sha1, OtherHash::Sha384, OtherHash::Sha512, OtherHash::Sha256Pss] {
            let signature = sign(&key, made, b"date: today").unwrap();
            for (hash, verifier) in verifiers {
                let public = UnparsedPublicKey::new(verifier, key.public_key());
                let holds = public.verify(b"date: today", &signature).is_ok();
                assert_eq!(holds, hash == Some(made), "{made:?} by {hash:?}");
            }
            assert_eq!(sign(&key, made, b"date: today").unwrap(), signature, "the same each time");
        }
    }
}
