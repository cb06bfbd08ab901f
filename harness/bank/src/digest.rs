//! The Digest header: a hash of the body as received (RFC 3230, with the algorithms of RFC 5843).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256, Sha512};

use crate::encoding;
use crate::header::{self, Fields, Header};
use crate::operation::Operation;
use crate::policy::digest::{Compared, Digest as Policy, Hashed, List};
use crate::refusal::{Refusal, excerpt};

/// The number of bytes compared, if only part of a hash is compared.
const NEAR: usize = 16;

/// Checks the Digest of a request with a body.
///
/// "Requests with a body (NCBCT, periodic) carry a Digest header" (the document, section Authentication, rule
/// 4). A basket also has a body, so the bank checks a Digest that is sent with one.
pub(crate) fn check(
    fields: Fields<'_>,
    body: &[u8],
    operation: Operation,
    policy: &Policy,
) -> Result<(), Refusal> {
    let is_part =
        operation == Operation::Basket || header::parts(operation).any(|(part, _)| part == Header::Digest);
    let is_looked_at = is_part
        && !policy.exempt.contains(&operation)
        && !(policy.exempts_chunks && fields.bytes("transfer-encoding").is_some());
    let Some(value) = fields.text(Header::Digest).filter(|_| is_looked_at) else { return Ok(()) };
    verify(&value, &hashed(body, policy.hashed), policy)
        .map_err(|error| Refusal::format(error.rule(), error.to_string()).at("digest"))
}

/// Returns the bytes to hash.
fn hashed(body: &[u8], hashed: Hashed) -> Cow<'_, [u8]> {
    match hashed {
        Hashed::Body => body.into(),
        Hashed::Rewritten => match serde_json::from_slice::<serde_json::Value>(body) {
            Ok(json) => json.to_string().into_bytes().into(),
            Err(_) => body.into(),
        },
        Hashed::Trimmed => body.trim_ascii().into(),
        Hashed::Beginning => body[..body.len().min(4096)].into(),
    }
}

/// The reason why a Digest header does not match the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum DigestError {
    /// No `=` between algorithm and value.
    #[error("expected algorithm=value, found {0}")]
    Form(String),
    /// Neither SHA-256 nor SHA-512.
    #[error("expected SHA-256 or SHA-512, found {0}")]
    Algorithm(String),
    /// Not base64 (RFC 4648 section 4).
    #[error("expected a base64 value, found other characters or padding")]
    Encoding,
    /// Base64 of too many or too few bytes.
    #[error("expected a hash of {expected} bytes, found {found}")]
    Length { expected: usize, found: usize },
    /// A hash of other bytes.
    #[error("expected the hash of the body as received, found another")]
    Mismatch,
}

impl DigestError {
    fn rule(&self) -> &'static str {
        match self {
            Self::Form(_) => "digest.form",
            Self::Algorithm(_) => "digest.algorithm",
            Self::Encoding => "digest.encoding",
            Self::Length { .. } => "digest.length",
            Self::Mismatch => "digest.value",
        }
    }
}

/// Verifies a list of digests. Each SHA-256 and SHA-512 digest must match. Digests by other algorithms are
/// ignored if there is at least one of these.
fn verify(value: &str, body: &[u8], policy: &Policy) -> Result<(), DigestError> {
    let value = if policy.trims { value.trim_matches('"') } else { value };
    let digests: Vec<&str> = value.split(',').map(str::trim).collect();
    let looked_at = match policy.list {
        List::First => &digests[..1],
        List::Last => &digests[digests.len() - 1..],
        List::Single if digests.len() > 1 => return Err(DigestError::Form(excerpt(value))),
        List::All | List::Any | List::Single => &digests[..],
    };
    let (mut is_verified, mut forgiven) = (false, None);
    for digest in looked_at {
        match verify_one(digest, body, policy) {
            Ok(()) => is_verified = true,
            Err(error) if policy.passes_over.contains(&error.rule()) => {}
            Err(error @ DigestError::Algorithm(_)) => forgiven = Some(error),
            Err(error @ DigestError::Mismatch) if policy.list == List::Any => forgiven = Some(error),
            Err(error) => return Err(error),
        }
    }
    match forgiven {
        Some(error) if !is_verified => Err(error),
        _ => Ok(()),
    }
}

fn verify_one(digest: &str, body: &[u8], policy: &Policy) -> Result<(), DigestError> {
    let (algorithm, encoded) = digest.split_once('=').ok_or_else(|| DigestError::Form(excerpt(digest)))?;
    // Algorithm names are case-insensitive (RFC 3230 section 4.1.1).
    let name = algorithm.to_ascii_lowercase();
    let name = name.as_str();
    if policy.trusts.contains(&name) {
        return Ok(());
    }
    let is_lowercase = algorithm.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_known = !(policy.lacks.contains(&name) || policy.uppercase && is_lowercase);
    let expected = match name {
        "sha-256" if is_known => Sha256::digest(body).to_vec(),
        "sha-512" if is_known => Sha512::digest(body).to_vec(),
        _ => return Err(DigestError::Algorithm(excerpt(algorithm))),
    };
    // The base64 of a hash ends with padding.
    let end = encoded.rfind('=').filter(|_| policy.trims);
    let encoded = end.map_or(encoded, |end| &encoded[..=end]);
    let found = encoding::decode(encoded, &policy.also_reads).ok_or(DigestError::Encoding)?;
    if policy.compares == Compared::Prefix && (expected.starts_with(&found) || found.starts_with(&expected)) {
        return Ok(());
    }
    if found.len() != expected.len() {
        return Err(DigestError::Length { expected: expected.len(), found: found.len() });
    }
    let is_right = match policy.compares {
        Compared::All | Compared::Prefix => found == expected,
        Compared::Length => true,
        Compared::Beginning => found[..NEAR] == expected[..NEAR],
        Compared::End => found[found.len() - NEAR..] == expected[expected.len() - NEAR..],
        Compared::Letters => encoded.eq_ignore_ascii_case(&STANDARD.encode(&expected)),
    };
    if is_right { Ok(()) } else { Err(DigestError::Mismatch) }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::*;
    use crate::policy;

    /// The body and digest of draft-cavage-http-signatures-10, appendix C.
    const BODY: &[u8] = b"{\"hello\": \"world\"}";
    const SHA_256: &str = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=";

    #[test]
    fn right_digests() {
        let sha_512 = STANDARD.encode(Sha512::digest(BODY));
        for value in [
            format!("SHA-256={SHA_256}"),
            format!("sha-256={SHA_256}"),
            format!("SHA-512={sha_512}"),
            format!("Sha-512={sha_512}"),
            format!("SHA-256={SHA_256}, SHA-512={sha_512}"),
            format!("MD5=x,SHA-256={SHA_256}"),
        ] {
            assert_eq!(verify(&value, BODY, &Policy::default()), Ok(()), "{value}");
        }
    }

    /// Returns the rule that rejects a Digest under these settings.
    fn refused(value: &str, operation: Operation, settings: &Value) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert("digest", value.parse().unwrap());
        let policy = policy::Policy::set(&json!({ "digest": settings }));
        check(Fields(&headers), BODY, operation, &policy.digest).err().map(|refusal| refusal.rule)
    }

    #[test]
    fn settings_of_digests() {
        let right = format!("SHA-256={SHA_256}");
        let unpadded = right.trim_end_matches('=');
        let hexadecimal = format!("SHA-256={:x}", Sha256::digest(BODY));
        let other_case = format!("SHA-256={}", SHA_256.replace("X48", "x48"));
        let two = format!("{right},SHA-512={}", STANDARD.encode([0; 64]));
        for (settings, value) in [
            (json!({ "also-reads": ["unpadded"] }), unpadded),
            (json!({ "also-reads": ["hexadecimal"] }), &hexadecimal),
            (json!({ "list": "any" }), &two),
            (json!({ "list": "first" }), &two),
            (json!({ "lacks": ["sha-512"] }), &two),
            (json!({ "trims": true }), &format!("\"{right}\"")),
            (json!({ "trusts": ["md5"] }), "MD5=x"),
            (json!({ "passes-over": ["digest.form"] }), "SHA-256"),
            (json!({ "passes-over": ["digest.algorithm"] }), "MD5=x"),
            (json!({ "passes-over": ["digest.encoding"] }), "SHA-256=!"),
            (json!({ "compares": "prefix" }), "SHA-256=X48E"),
            (json!({ "compares": "letters" }), &other_case),
            (json!({ "compares": "end" }), &other_case),
            (json!({ "compares": "length" }), &format!("SHA-256={}", STANDARD.encode([0; 32]))),
            (json!({ "exempt": ["ncbct"] }), "x"),
        ] {
            assert!(refused(value, Operation::Ncbct, &json!({})).is_some(), "{value}");
            assert_eq!(refused(value, Operation::Ncbct, &settings), None, "{settings}");
        }
        for (settings, value) in [
            (json!({ "list": "single" }), format!("{right},{right}")),
            (json!({ "list": "last" }), format!("{right},MD5=x")),
            (json!({ "uppercase": true }), right.to_lowercase().replace(&SHA_256.to_lowercase(), SHA_256)),
            (json!({ "lacks": ["sha-256"] }), right.clone()),
            (json!({ "hashed": "rewritten" }), right.clone()),
        ] {
            assert_eq!(refused(&value, Operation::Ncbct, &json!({})), None, "{value}");
            assert!(refused(&value, Operation::Ncbct, &settings).is_some(), "{settings}");
        }
        let basket = json!({ "exempt": ["basket"] });
        assert!(refused("SHA-256=x", Operation::Ncbct, &basket).is_some());
        assert_eq!(refused("SHA-256=x", Operation::Basket, &basket), None);
    }

    #[test]
    fn wrong_digests() {
        let unpadded = SHA_256.trim_end_matches('=');
        for (value, rule) in [
            (String::new(), "digest.form"),
            ("SHA-256".to_owned(), "digest.form"),
            (format!("MD5={SHA_256}"), "digest.algorithm"),
            (format!("SHA256={SHA_256}"), "digest.algorithm"),
            (format!("SHA-512={SHA_256}"), "digest.length"),
            ("SHA-256=".to_owned(), "digest.length"),
            ("SHA-256=X48E".to_owned(), "digest.length"),
            (format!("SHA-256={unpadded}"), "digest.encoding"),
            (format!("SHA-256=!{SHA_256}"), "digest.encoding"),
            (format!("SHA-256={}", SHA_256.replace('X', "Y")), "digest.value"),
            (format!("SHA-256={SHA_256}, SHA-512=AAAA"), "digest.length"),
        ] {
            let found = refused(&value, Operation::Ncbct, &json!({}));
            assert_eq!(found.as_deref(), Some(rule), "{value}");
        }
        assert_eq!(
            verify(&format!("SHA-256={SHA_256}"), b"{\"hello\":\"world\"}", &Policy::default()),
            Err(DigestError::Mismatch)
        );
    }
}
