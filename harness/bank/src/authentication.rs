//! The Signature header, verified with the key of the certificate in the request (the document, section
//! Authentication, rules 1 to 3).

pub(crate) mod freshness;
mod spelling;
mod value;

use std::sync::Arc;

use crate::certificate::{self, Certificate, Certificates};
use crate::distinguished_name::DistinguishedName;
use crate::encoded_word;
use crate::header::{Fields, Header};
use crate::policy::Policy;
use crate::policy::certificate::{Certificate as CertificatePolicy, Form};
use crate::policy::signature::{Issuer, Part, Serial, Signature as SignaturePolicy};
use crate::refusal::{Refusal, excerpt, long_excerpt};
use crate::signature::{Parameters, SignatureError};
use spelling::Written;
pub(crate) use value::Message;

/// Headers that must be signed if the request has them (rule 2).
const SIGNED_WHEN_PRESENT: [&str; 6] =
    ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];

/// The only algorithm that the document names.
const RSA_SHA256: &str = "rsa-sha256";

/// Verifies the signature of a request.
pub(crate) fn verify(
    message: Message<'_>,
    certificates: &Certificates,
    policy: &Policy,
) -> Result<(), Refusal> {
    let fields = message.fields;
    let Some(certificate) = read_certificate(fields, certificates, &policy.certificate)? else {
        return Ok(());
    };
    let (counted, policy) = (policy.certificate.counts, &policy.signature);
    if policy.ignores.contains(&Part::Header) {
        return Ok(());
    }
    // Rule 3.
    let header = fields.bytes(Header::Signature.name()).unwrap_or_default();
    let text = encoded_word::unwrap(&header, policy.charsets)
        .map_err(|error| refuse("signature.encoded-word", error.to_string()))?;
    // Rule 2.
    let parameters = match Parameters::parse(&text, policy) {
        Err(error) if policy.passes_over.contains(&error.flaw()) => return Ok(()),
        parameters => parameters.map_err(|error| unreadable(&error))?,
    };
    let written = Written { header: &header, text: &text, parameters: &parameters };
    written.check(&policy.refuses)?;
    check_key_id(&parameters.key_id, &certificate, policy)?;
    check_algorithm(parameters.algorithm.as_deref(), &certificate, policy)?;
    check_list(&parameters, fields, policy)?;
    let device = fields.text(Header::PsuDeviceId);
    let name = (parameters.key_id.as_str(), device.as_deref());
    let certificate = certificates.that_counts(counted, name, certificate);
    value::check(message, &written, &certificate, certificates, policy)
}

/// Reads "a TPP-Signature-Certificate header holding the signing certificate in base64" (rule 1). Returns
/// None if the bank accepts another value without verifying the request.
fn read_certificate(
    fields: Fields<'_>,
    certificates: &Certificates,
    policy: &CertificatePolicy,
) -> Result<Option<Arc<Certificate>>, Refusal> {
    let header = Header::TppSignatureCertificate;
    let refuse = |says: String| refuse("certificate.form", says).at(header.name());
    let value = fields.text(header).unwrap_or_default();
    let value = if policy.trims { certificate::base64(&value) } else { &value };
    if policy.refuses.contains(&Form::of(value)) {
        let says = "expected a certificate in an encoding that this bank accepts, found another";
        return Err(refuse(says.to_owned()));
    }
    match certificates.read(value) {
        Ok(certificate) => Ok(Some(certificate)),
        Err(_) if policy.takes_others => Ok(None),
        Err(error) => Err(refuse(error.to_string())),
    }
}

/// Checks keyId: "keyId has the form `SN=<hex serial number of the certificate>,CA=<full distinguished name
/// of the issuing authority>`" (rule 2).
fn check_key_id(key_id: &str, certificate: &Certificate, policy: &SignaturePolicy) -> Result<(), Refusal> {
    if policy.ignores.contains(&Part::KeyId) {
        return Ok(());
    }
    let parts = key_id.strip_prefix("SN=").and_then(|rest| rest.split_once(",CA="));
    let Some((serial, issuer)) = parts else {
        let says =
            format!("expected SN=<hex serial number>,CA=<distinguished name>, found {}", excerpt(key_id));
        return Err(refuse("signature.key-id.form", says));
    };
    if !is_serial(serial, certificate, policy.serial) {
        let expected = certificate.serial_in_hex();
        let says =
            format!("expected the serial number of the certificate, {expected}, found {}", excerpt(serial));
        return Err(refuse("signature.key-id.serial", says));
    }
    if !is_issuer(issuer, certificate, policy.issuer) {
        return Err(refuse("signature.key-id.issuer", other_issuer(issuer, &certificate.issuer)));
    }
    Ok(())
}

fn is_serial(serial: &str, certificate: &Certificate, policy: Serial) -> bool {
    match policy {
        Serial::Number => certificate.has_serial(serial),
        Serial::Uppercase => serial == certificate.serial_in_hex(),
        Serial::Lowercase => certificate.has_serial(serial) && serial == serial.to_ascii_lowercase(),
        Serial::Decimal => certificate.has_serial(serial) || certificate.has_decimal_serial(serial),
        Serial::Any => true,
    }
}

fn is_issuer(issuer: &str, certificate: &Certificate, policy: Issuer) -> bool {
    let found = DistinguishedName::parse(issuer).ok();
    let is_own = found.as_ref() == Some(&certificate.issuer);
    let has_part = || certificate.issuer.has_part(issuer);
    match policy {
        Issuer::Name => is_own,
        Issuer::AsShown => is_own && !issuer.contains(", ") && !issuer.contains(';'),
        Issuer::Forward => is_own && !issuer.starts_with("CN="),
        Issuer::CommonName => is_own || issuer.starts_with("CN=") && !issuer.contains(',') && has_part(),
        Issuer::Part => is_own || has_part(),
        Issuer::Holder => is_own || found.is_some() && found == certificate.holder,
        Issuer::Any => true,
    }
}

/// Returns the reason why a string does not name the issuer of the certificate.
fn other_issuer(text: &str, expected: &DistinguishedName) -> String {
    let found = long_excerpt(text);
    let says = match DistinguishedName::parse(text) {
        Ok(name) if name == *expected => "it in another spelling".to_owned(),
        Ok(name) => format!("one that {}", expected.difference(&name)),
        Err(error) => error.to_string(),
    };
    format!(
        "expected the issuer of the certificate, found {says}: expected {expected} in any order, found {found}"
    )
}

/// Checks algorithm: "algorithm names the algorithm of the signing certificate and should be rsa-sha256"
/// (rule 2).
///
/// The parameter is optional, but it must not contradict the key (draft section 2.1). The document defines
/// the signature as RSA-SHA256, so only `rsa-sha256` fits an RSA key. Draft 10 does not have `hs2019`, which
/// a later draft introduced.
fn check_algorithm(
    algorithm: Option<&str>,
    certificate: &Certificate,
    policy: &SignaturePolicy,
) -> Result<(), Refusal> {
    if certificate.rsa.is_none() {
        let says = "expected a certificate with an RSA key, found another key";
        return Err(refuse("signature.algorithm", says));
    }
    let Some(name) = algorithm.filter(|_| !policy.ignores.contains(&Part::Algorithm)) else { return Ok(()) };
    if name == RSA_SHA256 || policy.also_named.contains(&name) || policy.also_knows.contains(&name) {
        return Ok(());
    }
    let says = format!("expected rsa-sha256 for the RSA key of the certificate, found {}", excerpt(name));
    Err(refuse("signature.algorithm", says))
}

/// Checks the list of signed headers: "the signed header list contains date, digest, x-request-id, psu-id,
/// psu-corporate-id and tpp-redirect-uri, each when available" (rule 2).
fn check_list(parameters: &Parameters, fields: Fields<'_>, policy: &SignaturePolicy) -> Result<(), Refusal> {
    if parameters.list.is_none() && policy.takes_default_list {
        return Ok(());
    }
    let is_missing = |name: &&str| {
        fields.bytes(name).is_some()
            && !policy.need_not_cover.contains(name)
            && !parameters.headers.iter().any(|listed| listed == name)
    };
    let Some(name) = SIGNED_WHEN_PRESENT.into_iter().find(is_missing) else { return Ok(()) };
    let says =
        format!("expected {name} among the signed headers, since the request has it; found it missing");
    Err(refuse(&format!("signature.headers.{name}"), says))
}

fn unreadable(error: &SignatureError) -> Refusal {
    let rule = match error {
        SignatureError::Missing(_) | SignatureError::Encoding => "signature.parameters",
        SignatureError::Absent(_) => "signature.headers.absent",
    };
    refuse(rule, error.to_string())
}

fn refuse(rule: &str, says: impl Into<String>) -> Refusal {
    Refusal::unauthenticated(rule, says).at(Header::Signature.name())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::*;
    use crate::policy::Policy;
    use crate::policy::signature::Values;
    use crate::signature::signing_string;
    use crate::tests::certificate::{ISSUER, SERIAL, Signer, signer};

    const DATE: &str = "Sat, 01 Mar 2025 12:00:00 GMT";
    const PSU_ID: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";

    /// Returns the rule that rejects a request with date, x-request-id and psu-id, and the Signature header
    /// that `write` returns.
    fn refused(write: impl FnOnce(&str, &dyn Fn(&str) -> String) -> String) -> Option<String> {
        refused_by(&json!({}), write)
    }

    fn refused_by(
        settings: &Value,
        write: impl FnOnce(&str, &dyn Fn(&str) -> String) -> String,
    ) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in [("date", DATE), ("x-request-id", "r-1"), ("psu-id", PSU_ID)] {
            headers.insert(name, value.parse().unwrap());
        }
        headers.insert("tpp-signature-certificate", signer().certificate_base64().parse().unwrap());
        let key_id = format!("SN={SERIAL},CA={ISSUER}");
        let sign = |list: &str| {
            let names: Vec<String> = list.split(' ').map(str::to_ascii_lowercase).collect();
            signer()
                .sign(&signing_string(&names, "GET", "/v1/x?y=z", Fields(&headers), Values::Joined).unwrap())
        };
        let header = write(&key_id, &sign);
        headers.insert("signature", header.parse().unwrap());
        let message = Message { fields: Fields(&headers), method: "GET", target: "/v1/x?y=z" };
        let policy = Policy::set(&json!({ "signature": settings }));
        verify(message, &Certificates::default(), policy).err().map(|refusal| {
            assert_eq!(refusal.status.as_u16(), 401);
            refusal.rule
        })
    }

    fn header(key_id: &str, algorithm: &str, list: &str, signature: &str) -> String {
        format!(r#"keyId="{key_id}",algorithm="{algorithm}",headers="{list}",signature="{signature}""#)
    }

    const LIST: &str = "date x-request-id psu-id";

    #[test]
    fn good_signatures() {
        for list in [
            LIST,
            "psu-id date x-request-id",
            "Date X-Request-ID PSU-ID",
            "(request-target) date x-request-id psu-id",
        ] {
            assert_eq!(
                refused(|key_id, sign| header(key_id, "rsa-sha256", list, &sign(list))),
                None,
                "{list}"
            );
        }
        let without_algorithm =
            refused(|key_id, sign| header(key_id, "x", LIST, &sign(LIST)).replace(r#"algorithm="x","#, ""));
        assert_eq!(without_algorithm, None);
        let other_spelling =
            format!("SN=00{},CA=C=NO, O=Synthetic Trust AS, CN=Synthetic Test CA", SERIAL.to_lowercase());
        assert_eq!(refused(|_, sign| header(&other_spelling, "rsa-sha256", LIST, &sign(LIST))), None);
    }

    #[test]
    fn freedoms_with_signatures() {
        let serial = SERIAL.trim_start_matches('0');
        let plain = format!("SN={serial},CA={ISSUER}");
        let spaced = format!("SN={serial},CA={}", ISSUER.replace(',', ", "));
        let small = format!("SN={},CA={ISSUER}", serial.to_lowercase());
        let named = |settings: &Value, (key_id, algorithm, list): (&str, &str, &str)| {
            refused_by(settings, |_, sign| {
                header(key_id, algorithm, list, &sign(list)).replace(r#"algorithm="","#, "")
            })
        };
        let extra = "date x-request-id psu-id (request-target)";
        let usual = (plain.as_str(), "rsa-sha256", LIST);
        for (settings, other) in [
            (json!({ "serial": "uppercase" }), (small.as_str(), "rsa-sha256", LIST)),
            (json!({ "issuer": "as-shown" }), (spaced.as_str(), "rsa-sha256", LIST)),
            (json!({ "refuses": ["other-order"] }), (&plain, "rsa-sha256", "psu-id date x-request-id")),
            (json!({ "refuses": ["uppercase"] }), (&plain, "rsa-sha256", "Date X-Request-ID PSU-ID")),
            (json!({ "refuses": ["extra", "request-target"] }), (&plain, "rsa-sha256", extra)),
            (json!({ "refuses": ["no-algorithm"] }), (&plain, "", LIST)),
        ] {
            assert_eq!(named(&json!({}), other), None, "{settings}");
            assert_eq!(named(&settings, usual), None, "{settings}");
            assert!(named(&settings, other).is_some(), "{settings}");
        }
        let wrapped = |settings: &Value| {
            refused_by(settings, |key_id, sign| {
                format!("=?UTF-8?B?{}?=", STANDARD.encode(header(key_id, "rsa-sha256", LIST, &sign(LIST))))
            })
        };
        assert_eq!(wrapped(&json!({})), None);
        assert!(wrapped(&json!({ "refuses": ["uppercase-charset"] })).is_some());
        assert_eq!(wrapped(&json!({ "refuses": ["lowercase-encoding", "no-date"] })), None);
    }

    #[test]
    fn settings_by_which_wrong_signatures_pass() {
        let wrong = |settings: &Value, what: &str| {
            refused_by(settings, |key_id, sign| {
                let text = header(key_id, "rsa-sha256", LIST, &sign("date psu-id"));
                match what {
                    "value" => text.replace(&sign("date psu-id"), "AAAA"),
                    "list" => header(key_id, "rsa-sha256", "date psu-id", &sign("date psu-id")),
                    "key-id" => header("x", "rsa-sha256", LIST, &sign(LIST)),
                    "algorithm" => header(key_id, "hs2019", LIST, &sign(LIST)),
                    "none" => header(key_id, "none", LIST, "AAAA"),
                    "no key id" => text.replace("keyId", "key"),
                    "no base64" => text.replace(&sign("date psu-id"), "!"),
                    _ => text,
                }
            })
        };
        for (settings, what) in [
            (json!({ "verifies": "nothing" }), "value"),
            (json!({ "verifies": "length" }), "x-request-id"),
            (json!({ "verifies": "key" }), "x-request-id"),
            (json!({ "verifies": "all-but-one" }), "x-request-id"),
            (json!({ "need-not-cover": ["x-request-id"] }), "list"),
            (json!({ "ignores": ["key-id"] }), "key-id"),
            (json!({ "ignores": ["algorithm"] }), "algorithm"),
            (json!({ "ignores": ["header"] }), "no key id"),
            (json!({ "also-named": ["hs2019"] }), "algorithm"),
            (json!({ "also-knows": ["none"] }), "none"),
            (json!({ "passes-over": ["keyId"] }), "no key id"),
            (json!({ "passes-over": ["base64"] }), "no base64"),
        ] {
            assert!(wrong(&json!({}), what).is_some(), "{what}");
            assert_eq!(wrong(&settings, what), None, "{settings}");
        }
    }

    #[test]
    fn wrapped_signatures() {
        let q_encoded =
            |text: &str| {
                text.bytes()
                    .map(|b| {
                        if b.is_ascii_alphanumeric() {
                            char::from(b).to_string()
                        } else {
                            format!("={b:02X}")
                        }
                    })
                    .collect::<String>()
            };
        for charset in ["utf-8", "iso-8859-1"] {
            let wrapped = refused(|key_id, sign| {
                let plain = header(key_id, "rsa-sha256", LIST, &sign(LIST));
                format!("=?{charset}?B?{}?=", STANDARD.encode(plain))
            });
            assert_eq!(wrapped, None);
            let wrapped = refused(|key_id, sign| {
                format!("=?{charset}?Q?{}?=", q_encoded(&header(key_id, "rsa-sha256", LIST, &sign(LIST))))
            });
            assert_eq!(wrapped, None);
        }
        let rule = refused(|_, _| "=?utf-8?X?YQ==?=".to_owned());
        assert_eq!(rule.as_deref(), Some("signature.encoded-word"));
    }

    #[test]
    fn bad_key_ids_and_algorithms() {
        for (key_id, rule) in [
            (format!("SN={SERIAL}"), "signature.key-id.form"),
            (format!("CA={ISSUER},SN={SERIAL}"), "signature.key-id.form"),
            (format!("SN=0F1E2D3D,CA={ISSUER}"), "signature.key-id.serial"),
            (format!("SN={SERIAL},CA=CN=Another CA,O=Synthetic Trust AS,C=NO"), "signature.key-id.issuer"),
            (format!("SN={SERIAL},CA=CN=Synthetic Test CA"), "signature.key-id.issuer"),
        ] {
            let found = refused(|_, sign| header(&key_id, "rsa-sha256", LIST, &sign(LIST)));
            assert_eq!(found.as_deref(), Some(rule), "{key_id}");
        }
        for algorithm in ["hs2019", "rsa-sha512", "rsa-sha1", "ecdsa-sha256", "hmac-sha256", "RSA-SHA256", ""]
        {
            let found = refused(|key_id, sign| header(key_id, algorithm, LIST, &sign(LIST)));
            assert_eq!(found.as_deref(), Some("signature.algorithm"), "{algorithm}");
        }
    }

    #[test]
    fn headers_that_are_not_covered_or_not_there() {
        for (list, rule) in [
            ("x-request-id psu-id", "signature.headers.date"),
            ("date psu-id", "signature.headers.x-request-id"),
            ("date x-request-id", "signature.headers.psu-id"),
        ] {
            let found = refused(|key_id, sign| header(key_id, "rsa-sha256", list, &sign(list)));
            assert_eq!(found.as_deref(), Some(rule));
        }
        let listed = format!("{LIST} digest");
        let found = refused(|key_id, sign| header(key_id, "rsa-sha256", &listed, &sign(LIST)));
        assert_eq!(found.as_deref(), Some("signature.headers.absent"));
        let found = refused(|key_id, sign| format!(r#"keyId="{key_id}",signature="{}""#, sign("date")));
        assert_eq!(found.as_deref(), Some("signature.headers.x-request-id"), "the default is date");
    }

    #[test]
    fn wrong_signature_values() {
        let value = Some("signature.value");
        let other_text =
            refused(|key_id, sign| header(key_id, "rsa-sha256", LIST, &sign("psu-id x-request-id date")));
        assert_eq!(other_text.as_deref(), value);
        let foreign = Signer::generate();
        let other_key = refused(|key_id, _| {
            let string = format!("date: {DATE}\nx-request-id: r-1\npsu-id: {PSU_ID}");
            header(key_id, "rsa-sha256", LIST, &foreign.sign(string.as_bytes()))
        });
        assert_eq!(other_key.as_deref(), value);
        for signature in ["", "AAAA"] {
            let short = refused(|key_id, _| header(key_id, "rsa-sha256", LIST, signature));
            assert_eq!(short.as_deref(), value);
        }
        let parameters = refused(|key_id, _| header(key_id, "rsa-sha256", LIST, "not base64"));
        assert_eq!(parameters.as_deref(), Some("signature.parameters"));
    }
}
