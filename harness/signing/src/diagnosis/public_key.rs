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

    /// Whether a signature was made with this key, whatever its hash (RFC 8017, section 9.2), or with the
    /// padding of RSASSA-PSS (section 9.1).
    pub(crate) fn is_padded(&self, signature: &[u8]) -> bool {
        let message = self.message(signature);
        unpadded(&message).is_some_and(|(padding, _)| padding >= 8) || other_hash::is_pss(&message)
    }

    /// The SHA-256 that a signature of the right form was made of (RFC 8017, section 9.2).
    pub(crate) fn recovered(&self, signature: &[u8]) -> Option<Vec<u8>> {
        /// `DigestInfo` of SHA-256 (section 9.2, note 1).
        const PREFIX: [u8; 19] = [
            0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
            0x00, 0x04, 0x20,
        ];
        let message = self.message(signature);
        let (_, info) = unpadded(&message)?;
        let hash = info.strip_prefix(&PREFIX)?;
        (hash.len() == 32).then(|| hash.to_vec())
    }

    /// What a signature gives back, in as many bytes as the modulus has (RFC 8017, sections 5.2.2 and 4.1).
    fn message(&self, signature: &[u8]) -> Vec<u8> {
        let number = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus).to_bytes_be();
        [vec![0; self.length.saturating_sub(number.len())], number].concat()
    }
}

/// How many bytes of padding a message has, and what stands behind them (RFC 8017, section 9.2).
fn unpadded(message: &[u8]) -> Option<(usize, &[u8])> {
    let padded = message.strip_prefix(&[0, 1])?;
    let padding = padded.iter().take_while(|byte| **byte == 0xFF).count();
    Some((padding, padded[padding..].strip_prefix(&[0])?))
}
