//! The input of a signature: the padded block, which the public key reveals.

use aws_lc_rs::digest::{self, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512};
use num_bigint::BigUint;
use x509_cert::der::{Decode, asn1::Any};

use crate::{certificate::Certificate, other_hash};

/// An RSA public key (RFC 8017, section 3.1).
pub(crate) struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    /// Bytes of the modulus.
    pub(crate) length: usize,
}

/// The content of a decrypted signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    /// A hash, with the name of its algorithm before it (RFC 8017, section 9.2).
    Hash(&'static str, Vec<u8>),
    /// Content after the padding of section 9.2 that names no algorithm.
    Bare(Vec<u8>),
    /// The padding of RSASSA-PSS (section 9.1), with this hash.
    Pss(&'static str),
    /// Neither: a signature with another key, or not a signature.
    Foreign,
}

/// Hashes, with their object identifiers in DER (RFC 8017, appendix B.1).
const HASHES: [(&str, &[u8], usize); 6] = [
    (SHA_256, &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01], 32),
    ("SHA-384", &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02], 48),
    ("SHA-512", &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03], 64),
    ("SHA-224", &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x04], 28),
    ("SHA-1", &[0x2b, 0x0e, 0x03, 0x02, 0x1a], 20),
    ("MD5", &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05], 16),
];

/// The hash that the document requires.
pub(crate) const SHA_256: &str = "SHA-256";

/// Returns the hash of bytes by the name of its algorithm, if the library supports it.
pub(crate) fn hash(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let algorithm = algorithm(name)?;
    Some(digest::digest(algorithm, bytes).as_ref().to_vec())
}

fn algorithm(name: &str) -> Option<&'static digest::Algorithm> {
    match name {
        SHA_256 => Some(&SHA256),
        "SHA-384" => Some(&SHA384),
        "SHA-512" => Some(&SHA512),
        "SHA-1" => Some(&SHA1_FOR_LEGACY_USE_ONLY),
        _ => None,
    }
}

impl PublicKey {
    pub(crate) fn of(certificate: &Certificate) -> Option<Self> {
        let parts = Vec::<Any>::from_der(certificate.rsa_public_key()?).ok()?;
        let [modulus, exponent] = parts.as_slice() else { return None };
        let (modulus, exponent) =
            (BigUint::from_bytes_be(modulus.value()), BigUint::from_bytes_be(exponent.value()));
        let length = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
        Some(Self { modulus, exponent, length })
    }

    /// Decrypts a signature.
    pub(crate) fn block(&self, signature: &[u8]) -> Block {
        /// The minimum of padding bytes (RFC 8017, section 9.2, step 4).
        const LEAST: usize = 8;
        let message = self.message(signature);
        let Some((_, info)) = unpadded(&message).filter(|(padding, _)| *padding >= LEAST) else {
            let pss = |name: &&str| algorithm(name).is_some_and(|hash| other_hash::is_pss(&message, hash));
            return HASHES
                .map(|(name, ..)| name)
                .into_iter()
                .find(|name| pss(name))
                .map_or(Block::Foreign, Block::Pss);
        };
        let found = HASHES.iter().find_map(|(name, id, length)| {
            let hash = info.strip_prefix(prefix(id, *length).as_slice())?;
            (hash.len() == *length).then(|| Block::Hash(name, hash.to_vec()))
        });
        found.unwrap_or_else(|| Block::Bare(info.to_vec()))
    }

    /// Returns the message of a signature, as long as the modulus (RFC 8017, sections 5.2.2 and 4.1).
    fn message(&self, signature: &[u8]) -> Vec<u8> {
        let number = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus).to_bytes_be();
        [vec![0; self.length.saturating_sub(number.len())], number].concat()
    }
}

/// Returns the part of a `DigestInfo` before a hash of this length (RFC 8017, section 9.2, note 1).
fn prefix(id: &[u8], length: usize) -> Vec<u8> {
    let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    let algorithm = [&[0x06, byte(id.len())][..], id, &[0x05, 0x00]].concat();
    let hash = [0x04, byte(length)];
    let whole = algorithm.len() + 2 + hash.len() + length;
    [&[0x30, byte(whole), 0x30, byte(algorithm.len())][..], &algorithm, &hash].concat()
}

/// Returns the number of padding bytes of a message, and the content after them (RFC 8017, section 9.2).
fn unpadded(message: &[u8]) -> Option<(usize, &[u8])> {
    let padded = message.strip_prefix(&[0, 1])?;
    let padding = padded.iter().take_while(|byte| **byte == 0xFF).count();
    Some((padding, padded[padding..].strip_prefix(&[0])?))
}
