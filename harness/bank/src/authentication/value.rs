//! The value of the signature: "the signature value is the base64 of the RSA-SHA256 signature of the signing
//! string" (section Authentication, rule 2).

use rsa::pkcs1v15::VerifyingKey;
use sha2::Sha256;

use super::spelling::Written;
use super::{refuse, unreadable};
use crate::certificate::{Certificate, Certificates};
use crate::header::Fields;
use crate::policy::signature::{Hash, Signature as Policy, Verified};
use crate::refusal::Refusal;
use crate::signature::{Parameters, SignatureError, signing_string};
use crate::verification;

/// The length in bytes of a signature by a key of 2048 bits.
const USUAL_LENGTH: usize = 256;

/// The parts of a request that its signature covers.
#[derive(Clone, Copy)]
pub(crate) struct Message<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) method: &'a str,
    /// Path and query as received.
    pub(crate) target: &'a str,
}

/// Verifies the value of a signature with the key of this certificate.
pub(super) fn check(
    message: Message<'_>,
    written: &Written<'_>,
    certificate: &Certificate,
    certificates: &Certificates,
    policy: &Policy,
) -> Result<(), Refusal> {
    let parameters = written.parameters;
    let Parameters { headers, signature, .. } = parameters;
    let string = |headers: &[String]| {
        let Message { fields, method, target } = message;
        signing_string(headers, method, target, fields, policy.values)
    };
    let own = certificate.rsa.as_ref();
    let is_signed = |string: &[u8]| own.is_some_and(|key| holds(key, string, parameters, policy));
    let signed = match string(headers) {
        Err(error) if policy.passes_over.contains(&error.flaw()) => return Ok(()),
        signed => signed.map_err(|error| unreadable(&error))?,
    };
    let is_verified = is_signed(&signed);
    let without = |at: usize| -> Result<Vec<u8>, SignatureError> {
        string(&[&headers[..at], &headers[at + 1..]].concat())
    };
    let passes = match policy.verifies {
        Verified::Request => false,
        Verified::LineFeedAfter => is_signed(&[&signed[..], b"\n"].concat()),
        Verified::AllButOne => (0..headers.len()).any(|at| without(at).is_ok_and(|fewer| is_signed(&fewer))),
        Verified::ByAnyKnownKey => {
            certificates.keys().iter().any(|key| holds(key, &signed, parameters, policy))
        }
        Verified::Once => certificates.held(signature, is_verified),
        Verified::Key => own.is_some_and(|key| verification::is_by(key, signature)),
        Verified::Length => signature.len() == USUAL_LENGTH,
        Verified::Nothing => true,
    };
    if is_verified || passes || policy.unverified.iter().any(|spelling| written.has(*spelling)) {
        return Ok(());
    }
    Err(refuse(
        "signature.value",
        "expected an RSA-SHA256 signature of the signing string by the key of the certificate, found another value",
    ))
}

/// Returns true if the signature matches these bytes, by RSA-SHA256 or by another algorithm that the policy
/// allows.
fn holds(key: &VerifyingKey<Sha256>, signed: &[u8], parameters: &Parameters, policy: &Policy) -> bool {
    let signature = &parameters.signature;
    let holds = |hash| verification::holds(hash, key, signed, signature);
    match parameters.algorithm.as_deref().filter(|name| policy.also_knows.contains(name)) {
        Some("none") => true,
        Some("rsa-sha1") => holds(Hash::Sha1),
        Some("hmac-sha256") => verification::is_hmac(key, signed, signature),
        _ => holds(Hash::Sha256) || policy.also_hashed.iter().copied().any(holds),
    }
}
