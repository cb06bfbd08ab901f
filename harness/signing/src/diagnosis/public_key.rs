//! What a signature was made of: the hash in it, which the public key gives back.

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

impl PublicKey {
    pub(crate) fn of(certificate: &Certificate) -> Option<Self> {
        let parts = Vec::<Any>::from_der(certificate.rsa_public_key()?).ok()?;
        let [modulus, exponent] = parts.as_slice() else { return None };
        let (modulus, exponent) =
            (BigUint::from_bytes_be(modulus.value()), BigUint::from_bytes_be(exponent.value()));
        let length = usize::try_from(modulus.bits().div_ceil(8)).ok()?;
        Some(Self { modulus, exponent, length })
    }

    /// Whether a signature was made with this key, whatever its hash (RFC 8017, section 9.2), or with the padding of
    /// RSASSA-PSS (section 9.1).
    pub(crate) fn is_padded(&self, signature: &[u8]) -> bool {
        let message = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus).to_bytes_be();
        let padding =
            message.strip_prefix(&[1]).map(|padded| padded.iter().take_while(|byte| **byte == 0xFF).count());
        let missing = vec![0; self.length.saturating_sub(message.len())];
        message.len() + 1 == self.length
            && padding.is_some_and(|padding| padding >= 8 && message.get(padding + 1) == Some(&0))
            || other_hash::is_pss(&[missing, message].concat())
    }

    /// The SHA-256 that a signature of the right form was made of (RFC 8017, section 9.2).
    pub(crate) fn recovered(&self, signature: &[u8]) -> Option<Vec<u8>> {
        /// `DigestInfo` of SHA-256 (section 9.2, note 1).
        const PREFIX: [u8; 19] = [
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
            0x00, 0x04, 0x20,
        ];
        let message = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus).to_bytes_be();
        // The first byte is zero, and a number does not show it.
        let padded = message.strip_prefix(&[1])?;
        let padding = padded.iter().take_while(|byte| **byte == 0xFF).count();
        let info = padded[padding..].strip_prefix(&[0])?;
        let hash = info.strip_prefix(&PREFIX)?;
        (padding + hash.len() + PREFIX.len() + 3 == self.length && hash.len() == 32).then(|| hash.to_vec())
    }
}
