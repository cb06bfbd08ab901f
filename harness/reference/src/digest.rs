//! The Digest header: a hash of the body as it was received (RFC 3230, with the algorithms of RFC 5843).

use base64::Engine as _;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, PAD, STANDARD};
use sha2::{Digest as _, Sha256, Sha512};

use crate::operation::Operation;
use crate::refusal::{Refusal, excerpt};
use crate::rules::{Breach, DigestBreach as D, Rules, Variance};

/// So many bytes of a hash are compared where a fault leaves out its first or last ones.
const NEAR: usize = 16;

/// Base64 that need not be padded.
const UNPADDED: GeneralPurpose =
    GeneralPurpose::new(&STANDARD_ALPHABET, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// Checks a Digest header against the body. Of several digests every SHA-256 and SHA-512 one must be right;
/// others are passed over as long as one of these is there.
pub(crate) fn check(value: &str, body: &[u8], operation: Operation, rules: Rules) -> Result<(), Refusal> {
    let broken = |breach| rules.broken_by(Breach::Digest(breach));
    let is_looked_at = match operation {
        Operation::Ncbct => !broken(D::OnlyPeriodic),
        Operation::Periodic => !broken(D::OnlyNcbct),
        _ => !rules.varied_by(Variance::NoBasketDigest),
    };
    if !is_looked_at {
        return Ok(());
    }
    let outcome = if broken(D::Rewritten) {
        let rewritten = serde_json::from_slice::<serde_json::Value>(body);
        verify(value, rewritten.map_or(body.to_vec(), |json| json.to_string().into_bytes()).as_slice(), rules)
    } else if broken(D::FirstBytes) {
        verify(value, &body[..body.len().min(4096)], rules)
    } else if broken(D::Trimmed) {
        verify(value, body.trim_ascii(), rules)
    } else {
        verify(value, body, rules)
    };
    outcome.map_err(|error| {
        let rule = match error {
            DigestError::Form(_) => "digest.form",
            DigestError::Algorithm(_) => "digest.algorithm",
            DigestError::Encoding => "digest.encoding",
            DigestError::Length { .. } => "digest.length",
            DigestError::Mismatch => "digest.value",
        };
        Refusal::format(rule, error.to_string()).at("digest")
    })
}

/// Why a Digest header does not vouch for the body.
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
    /// The hash of something else.
    #[error("expected the hash of the body as received, found another")]
    Mismatch,
}

fn verify(value: &str, body: &[u8], rules: Rules) -> Result<(), DigestError> {
    let broken = |breach| rules.broken_by(Breach::Digest(breach));
    let mut passed_over = None;
    let mut verified = false;
    if rules.varied_by(Variance::OneDigest) && value.contains(',') {
        return Err(DigestError::Form(excerpt(value)));
    }
    let value = if broken(D::ForeignCharacters) { value.trim_matches('"') } else { value };
    let instances: Vec<&str> = value.split(',').map(str::trim).collect();
    let looked_at = match rules.breach() {
        Some(Breach::Digest(D::OnlyFirst)) => &instances[..1],
        Some(Breach::Digest(D::OnlyLast)) => &instances[instances.len() - 1..],
        _ => &instances,
    };
    for instance in looked_at {
        let Some((algorithm, encoded)) = instance.split_once('=') else {
            if broken(D::NoForm) {
                continue;
            }
            return Err(DigestError::Form(excerpt(instance)));
        };
        // The base64 of a hash ends with padding.
        let end = if broken(D::ForeignCharacters) { encoded.rfind('=') } else { None };
        let encoded = end.map_or(encoded, |end| &encoded[..=end]);
        if broken(D::Capitals) && algorithm != algorithm.to_ascii_uppercase() {
            return Err(DigestError::Algorithm(excerpt(algorithm)));
        }
        // The case of an algorithm does not count (RFC 3230 section 4.1.1).
        let expected = match algorithm.to_ascii_lowercase().as_str() {
            "sha-256" if !broken(D::Only512) => Sha256::digest(body).to_vec(),
            "sha-512" if !broken(D::Only256) => Sha512::digest(body).to_vec(),
            "md5" if broken(D::Passes("md5")) => return Ok(()),
            "sha" if broken(D::Passes("sha")) => return Ok(()),
            "sha256" if broken(D::Passes("sha256")) => return Ok(()),
            _ => {
                passed_over = Some(excerpt(algorithm));
                continue;
            }
        };
        let padding = rules.varied_by(Variance::UnpaddedDigest);
        if broken(D::Hexadecimal) && encoded.eq_ignore_ascii_case(&in_hexadecimal(&expected)) {
            verified = true;
            continue;
        }
        let found = match if padding { UNPADDED.decode(encoded) } else { STANDARD.decode(encoded) } {
            Ok(found) => found,
            Err(_) if broken(D::NoBase64) => continue,
            Err(_) => return Err(DigestError::Encoding),
        };
        if broken(D::AnyLength) && (expected.starts_with(&found) || found.starts_with(&expected)) {
            verified = true;
            continue;
        }
        if found.len() != expected.len() {
            return Err(DigestError::Length { expected: expected.len(), found: found.len() });
        }
        if found != expected && rules.varied_by(Variance::OneOfDigests) && value.contains(',') {
            continue;
        }
        let is_alike = broken(D::AnyCase) && encoded.eq_ignore_ascii_case(&STANDARD.encode(&expected))
            || broken(D::AnyEnd) && found[..NEAR] == expected[..NEAR]
            || broken(D::AnyBegin) && found[found.len() - NEAR..] == expected[expected.len() - NEAR..];
        if found != expected && !is_alike && !broken(D::Unchecked) {
            return Err(DigestError::Mismatch);
        }
        verified = true;
    }
    match passed_over {
        Some(algorithm) if !verified && !broken(D::UnknownPasses) => Err(DigestError::Algorithm(algorithm)),
        _ => Ok(()),
    }
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(verify(&value, BODY, Rules::kept()), Ok(()), "{value}");
        }
    }

    #[test]
    fn freedoms_with_digests() {
        let unpadded = format!("SHA-256={}", SHA_256.trim_end_matches('='));
        let two = format!("SHA-256={SHA_256},SHA-512={}", STANDARD.encode([0; 64]));
        let right = format!("SHA-256={SHA_256}");
        let outcomes = |rules| {
            [&unpadded, &two, &right].map(|value| check(value, BODY, Operation::Ncbct, rules).is_ok())
        };
        assert_eq!(outcomes(Rules::kept()), [false, false, true]);
        assert_eq!(outcomes(Rules::varied(Variance::UnpaddedDigest)), [true, false, true]);
        assert_eq!(outcomes(Rules::varied(Variance::OneOfDigests)), [false, true, true]);
        let list = format!("{right},{right}");
        let listed = |rules| check(&list, BODY, Operation::Ncbct, rules).is_ok();
        assert!(listed(Rules::kept()) && !listed(Rules::varied(Variance::OneDigest)));
        let basket = |rules| check("SHA-256=x", BODY, Operation::Basket, rules).is_ok();
        assert!(!basket(Rules::kept()) && basket(Rules::varied(Variance::NoBasketDigest)));
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
            assert_eq!(
                check(&value, BODY, Operation::Ncbct, Rules::kept()).unwrap_err().rule,
                rule,
                "{value}"
            );
        }
        assert_eq!(
            verify(&format!("SHA-256={SHA_256}"), b"{\"hello\":\"world\"}", Rules::kept()),
            Err(DigestError::Mismatch)
        );
    }
}
