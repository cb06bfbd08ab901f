//! Verification of RSA signatures. Results are cached, because verification is the slowest step of a request.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use rsa::pkcs1v15::{Signature, VerifyingKey};
use rsa::pkcs8::{EncodePublicKey as _, LineEnding};
use rsa::signature::Verifier as _;
use rsa::traits::PublicKeyParts as _;
use sha2::{Digest as _, Sha256};

use crate::policy::signature::Hash;

/// Earlier results, by the SHA-256 of hash, key, signature and signed bytes.
static FOUND: LazyLock<Mutex<HashMap<[u8; 32], bool>>> = LazyLock::new(Mutex::default);

/// The capacity. A full cache is cleared to bound its memory.
const LIMIT: usize = 100_000;

/// Returns true if this is a signature of these bytes with this hash by the private key. A signature can be
/// any bytes.
pub(crate) fn holds(hash: Hash, key: &VerifyingKey<Sha256>, signed: &[u8], signature: &[u8]) -> bool {
    let name = name(hash, key, signed, signature);
    if let Some(holds) = found().get(&name) {
        return *holds;
    }
    let holds = verified(hash, key, signed, signature);
    let mut found = found();
    if found.len() >= LIMIT {
        found.clear();
    }
    found.insert(name, holds);
    holds
}

/// `ring` verifies the usual key sizes, ten times as fast as `rsa`.
fn verified(hash: Hash, key: &VerifyingKey<Sha256>, signed: &[u8], signature: &[u8]) -> bool {
    let public: &rsa::RsaPublicKey = key.as_ref();
    if hash == Hash::Sha256 && !(2048..=8192).contains(&public.n().bits()) {
        return Signature::try_from(signature).is_ok_and(|signature| key.verify(signed, &signature).is_ok());
    }
    let parameters = match hash {
        Hash::Sha256 => &ring::signature::RSA_PKCS1_2048_8192_SHA256,
        Hash::Sha1 => &ring::signature::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
        Hash::Sha384 => &ring::signature::RSA_PKCS1_2048_8192_SHA384,
        Hash::Sha512 => &ring::signature::RSA_PKCS1_2048_8192_SHA512,
        Hash::Pss => &ring::signature::RSA_PSS_2048_8192_SHA256,
    };
    let (n, e) = (public.n().to_bytes_be(), public.e().to_bytes_be());
    ring::signature::RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature).is_ok()
}

/// Returns true if this is the HMAC-SHA-256 (RFC 2104) of these bytes under the public key in PEM, which is
/// not secret.
pub(crate) fn is_hmac(key: &VerifyingKey<Sha256>, signed: &[u8], signature: &[u8]) -> bool {
    let key: &rsa::RsaPublicKey = key.as_ref();
    key.to_public_key_pem(LineEnding::LF).is_ok_and(|pem| {
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, pem.as_bytes());
        ring::hmac::verify(&secret, signed, signature).is_ok()
    })
}

/// Returns true if this is a signature of any bytes by the private key (RFC 8017 section 9.2: a padding of
/// 0xff before the hash).
pub(crate) fn is_by(key: &VerifyingKey<Sha256>, signature: &[u8]) -> bool {
    let key: &rsa::RsaPublicKey = key.as_ref();
    let message = rsa::BigUint::from_bytes_be(signature).modpow(key.e(), key.n()).to_bytes_be();
    message.len() + 1 == key.size()
        && message.starts_with(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
}

fn found() -> std::sync::MutexGuard<'static, HashMap<[u8; 32], bool>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the cache key. Each part follows its length, so different inputs cannot have the same bytes.
fn name(hash: Hash, key: &VerifyingKey<Sha256>, signed: &[u8], signature: &[u8]) -> [u8; 32] {
    let key: &rsa::RsaPublicKey = key.as_ref();
    let (modulus, exponent) = (key.n().to_bytes_be(), key.e().to_bytes_be());
    let mut name = Sha256::new();
    for part in [&[hash as u8][..], &modulus, &exponent, signature, signed] {
        name.update((part.len() as u64).to_be_bytes());
        name.update(part);
    }
    name.finalize().into()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::certificate::Certificate;
    use crate::tests::certificate::{Signer, signer};

    #[test]
    fn what_was_right_once_is_right_again_and_nothing_else_is() {
        let key = |signer: &Signer| Certificate::read(&signer.certificate_base64()).unwrap().rsa.unwrap();
        let signature = |text| STANDARD.decode(signer().sign(text)).unwrap();
        let (own, other) = (key(signer()), key(&Signer::generate()));
        for _ in 0..2 {
            assert!(holds(Hash::Sha256, &own, b"one", &signature(b"one")));
            assert!(!holds(Hash::Sha256, &own, b"one", &signature(b"two")));
            assert!(!holds(Hash::Sha256, &own, b"two", &signature(b"one")));
        }
        for strange in [&b""[..], b"x", &[0; 4096]] {
            assert!(!holds(Hash::Sha256, &own, b"one", strange));
            assert!(!is_by(&own, strange));
        }
        assert!(is_by(&own, &signature(b"two")) && !is_by(&other, &signature(b"two")));
        assert!(!holds(Hash::Sha256, &other, b"one", &signature(b"one")));
    }
}
