//! Who sent the request: the Signature header, checked with the key of the certificate that came with it (the
//! document, section Authentication, rules 1 to 3).

mod form;

use std::sync::Arc;

use rsa::pkcs1v15::VerifyingKey;
use sha2::Sha256;

use crate::certificate::{Certificate, Certificates};
use crate::distinguished_name::DistinguishedName;
use crate::encoded_word;
use crate::header::{Fields, Header};
use crate::refusal::{Refusal, excerpt, long_excerpt};
use crate::rules::{Breach, Hash, Rules, SignatureBreach as S, StateBreach, Variance};
use crate::signature::{Parameters, SignatureError, first_of_each, signing_string};
use crate::verification;

/// Headers that must be signed whenever the request has them (rule 2).
const SIGNED_WHEN_PRESENT: [&str; 6] =
    ["date", "digest", "x-request-id", "psu-id", "psu-corporate-id", "tpp-redirect-uri"];

/// An algorithm of the draft that no key of a certificate is for.
const HMAC: &str = "hmac-sha256";

/// Checks the signature of a request. `target` is path and query as they came in.
pub(crate) fn verify(
    fields: Fields<'_>,
    method: &str,
    target: &str,
    certificates: &Certificates,
    rules: Rules,
) -> Result<(), Refusal> {
    let broken = |breach| rules.broken_by(Breach::Signature(breach));
    let mut certificate = fields.text(Header::TppSignatureCertificate).unwrap_or_default();
    if rules.varied_by(Variance::TrailingText) {
        let alphabet = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/');
        let end = certificate.find(|letter| !alphabet(letter)).unwrap_or(certificate.len());
        let padding = certificate[end..].chars().take_while(|letter| *letter == '=').count();
        certificate.truncate(end + padding);
    }
    // `-----BEGIN` in base64.
    let is_pem = certificate.starts_with("LS0tLS1CRUdJTi");
    if rules.varied_by(Variance::OnlyDer) && is_pem || rules.varied_by(Variance::OnlyPem) && !is_pem {
        let says = "expected a certificate in the one form that this bank takes, found another";
        return Err(refuse("certificate.form", says).at(Header::TppSignatureCertificate.name()));
    }
    let certificate = match certificates.read(&certificate) {
        Ok(certificate) => certificate,
        Err(_) if rules.broken_by(Breach::HeaderForm(Header::TppSignatureCertificate)) => return Ok(()),
        Err(error) => {
            let refusal = refuse("certificate.form", error.to_string());
            return Err(refusal.at(Header::TppSignatureCertificate.name()));
        }
    };
    if broken(S::NotRead) {
        return Ok(());
    }

    let header = fields.bytes(Header::Signature.name()).unwrap_or_default();
    let header = form::of_charset(header, rules);
    let text =
        encoded_word::unwrap(&header).map_err(|error| refuse("signature.encoded-word", error.to_string()))?;
    form::check_form(&header, &text, rules)?;
    form::check_variant(&text, fields, rules)?;
    let text = if rules.varied_by(Variance::WrappedSignature) { form::without_word(&text) } else { text };
    let text = if broken(S::UrlSafe) { form::usual_alphabet(&text) } else { text };
    let text = if broken(S::Hexadecimal) { form::base64_of_digits(&text) } else { text };
    let text = if broken(S::ForeignCharacters) { form::of_base64(&text) } else { text };
    form::check_names(&text, rules)?;
    let text = if broken(S::FirstParameter) { first_of_each(&text) } else { text };
    let parameters = match Parameters::parse(&text) {
        Ok(parameters) => parameters,
        Err(error) if passes(&error, rules) => return Ok(()),
        Err(error) => return Err(unreadable(&error)),
    };

    if broken(S::NoneVerifiesNothing) && parameters.algorithm.as_deref() == Some("none") {
        return Ok(());
    }
    check_key_id(&parameters.key_id, &certificate, rules)?;
    let certificate = stand_in(&parameters.key_id, certificate, fields, certificates, rules);
    if !broken(S::AnyAlgorithm) {
        check_algorithm(parameters.algorithm.as_deref(), &certificate, rules)?;
    }
    for name in SIGNED_WHEN_PRESENT {
        let demanded = fields.bytes(name).is_some()
            && !broken(S::NotListed(name))
            && (!broken(S::NoHeaders) || text.contains("headers="));
        if demanded && !parameters.headers.iter().any(|listed| listed == name) {
            let says = format!(
                "expected {name} among the signed headers, since the request has it; found it missing"
            );
            return Err(refuse(&format!("signature.headers.{name}"), says));
        }
    }

    let mut listed = parameters.headers.clone();
    if broken(S::AbsentPasses) {
        listed.retain(|name| fields.bytes(name).is_some());
    }
    let string = |listed: &[String]| signing_string(listed, method, target, fields, form::values(rules));
    let signed = string(&listed).map_err(|error| unreadable(&error))?;
    let verified = certificate.rsa.as_ref().is_some_and(|key| {
        let holds = |signed: &[u8]| holds(key, signed, &parameters, rules);
        holds(&signed)
            || broken(S::LineFeedAfter) && holds(&[&signed[..], b"\n"].concat())
            || broken(S::OneUnsigned)
                && (0..listed.len()).any(|left_out| {
                    let mut fewer = listed.clone();
                    fewer.remove(left_out);
                    string(&fewer).is_ok_and(|signed| holds(&signed))
                })
            || broken(S::AnyValues) && verification::is_by(key, &parameters.signature)
            || Hash::ALL.into_iter().any(|hash| {
                broken(S::OtherHash(hash))
                    && verification::holds_with(hash, key, &signed, &parameters.signature)
            })
    });
    if verified && broken(S::SeenPasses) {
        certificates.note(&parameters.signature, &certificate);
    }
    let passes = broken(S::Unchecked)
        || broken(S::SeenPasses) && certificates.has_noted(&parameters.signature)
        || form::kinds(&text, &parameters.headers).any(|list| broken(S::UncheckedFor(list)))
        || broken(S::AbsentPasses) && listed.len() < parameters.headers.len()
        || broken(S::Empty) && parameters.signature.is_empty()
        || broken(S::OnlyForm) && parameters.signature.len() == 256
        || broken(S::AnyKnownKey) && certificates.any_key_signed(&signed, &parameters.signature);
    if !verified && !passes {
        return Err(refuse(
            "signature.value",
            "expected an RSA-SHA256 signature of the signing string by the key of the certificate, found another value",
        ));
    }
    Ok(())
}

/// Whether the signature is one of these bytes: by RSA-SHA256, or by what a fault lets the caller name.
fn holds(key: &VerifyingKey<Sha256>, signed: &[u8], parameters: &Parameters, rules: Rules) -> bool {
    let named = |name| parameters.algorithm.as_deref() == Some(name);
    let broken = |breach| rules.broken_by(Breach::Signature(breach));
    let signature = &parameters.signature;
    if broken(S::Sha1AsNamed) && named("rsa-sha1") {
        return verification::holds_with(Hash::Sha1, key, signed, signature);
    }
    if broken(S::HmacByPublicKey) && named(HMAC) {
        return verification::is_hmac(key, signed, signature);
    }
    verification::holds(key, signed, signature)
}

/// The certificate whose key counts: that of the request, or one that a fault takes for it.
fn stand_in(
    key_id: &str,
    own: Arc<Certificate>,
    fields: Fields<'_>,
    certificates: &Certificates,
    rules: Rules,
) -> Arc<Certificate> {
    let device = fields.text(Header::PsuDeviceId);
    match (rules.state_breach(), device) {
        (Some(StateBreach::FirstCertificate), _) => certificates.first_of(key_id, &own),
        (Some(StateBreach::LastCertificate), Some(device)) => {
            certificates.last_of(&format!("{device} {key_id}"), &own)
        }
        _ => own,
    }
}

/// Whether a fault passes over what cannot be read.
fn passes(error: &SignatureError, rules: Rules) -> bool {
    match error {
        SignatureError::Missing("keyId") => rules.broken_by(Breach::Signature(S::NoKeyId)),
        SignatureError::Missing(_) => rules.broken_by(Breach::Signature(S::NoSignature)),
        SignatureError::Encoding => rules.broken_by(Breach::Signature(S::NoBase64)),
        SignatureError::Absent(_) => false,
    }
}

/// `SN=<hex serial number>,CA=<distinguished name of the issuer>`.
fn check_key_id(key_id: &str, certificate: &Certificate, rules: Rules) -> Result<(), Refusal> {
    let broken = |breach| rules.broken_by(Breach::Signature(breach));
    if broken(S::AnyKeyId) {
        return Ok(());
    }
    let parts = key_id.strip_prefix("SN=").and_then(|rest| rest.split_once(",CA="));
    let Some((serial, issuer)) = parts else {
        let says =
            format!("expected SN=<hex serial number>,CA=<distinguished name>, found {}", excerpt(key_id));
        return Err(refuse("signature.key-id.form", says));
    };
    let in_decimal = broken(S::DecimalSerial) && certificate.has_decimal_serial(serial);
    if !certificate.has_serial(serial) && !in_decimal && !broken(S::AnySerial) {
        let expected = certificate.serial_in_hex();
        let says =
            format!("expected the serial number of the certificate, {expected}, found {}", excerpt(serial));
        return Err(refuse("signature.key-id.serial", says));
    }
    if rules.varied_by(Variance::IssuerAsShown) && (issuer.contains(", ") || issuer.contains(';')) {
        let says = format!("expected the issuer as the certificate shows it, found {}", excerpt(issuer));
        return Err(refuse("signature.key-id.issuer", says));
    }
    let is_holder = || {
        let name = DistinguishedName::parse(issuer).ok();
        name.is_some() && name == certificate.holder
    };
    let is_part = broken(S::PartOfIssuer) && certificate.issuer.has_part(issuer)
        || broken(S::SubjectAsIssuer) && is_holder()
        || broken(S::CommonNameAlone)
            && issuer.starts_with("CN=")
            && !issuer.contains(',')
            && certificate.issuer.has_part(issuer);
    match issuer_refused(issuer, certificate).filter(|_| !is_part) {
        Some(says) if !broken(S::AnyIssuer) => Err(refuse("signature.key-id.issuer", says)),
        _ => Ok(()),
    }
}

/// Why a text does not name the issuer of the certificate.
fn issuer_refused(text: &str, certificate: &Certificate) -> Option<String> {
    let expected = &certificate.issuer;
    let found = long_excerpt(text);
    match DistinguishedName::parse(text) {
        Ok(name) if name == *expected => None,
        Ok(name) => Some(format!(
            "expected the issuer of the certificate, found one that {}: expected {expected} in any order, found {found}",
            expected.difference(&name)
        )),
        Err(error) => Some(format!(
            "expected the issuer of the certificate, found {error}: expected {expected} in any order, found {found}"
        )),
    }
}

/// The parameter is optional, but one that differs from what the key says is an error (draft section 2.1).
/// Draft 10 knows no `hs2019`, which came with a later one, and the document defines the signature as
/// RSA-SHA256, so nothing but `rsa-sha256` fits an RSA key.
fn check_algorithm(algorithm: Option<&str>, certificate: &Certificate, rules: Rules) -> Result<(), Refusal> {
    if certificate.rsa.is_none() {
        return Err(refuse(
            "signature.algorithm",
            "expected a certificate with an RSA key, found another key",
        ));
    }
    match algorithm {
        None | Some("rsa-sha256") => Ok(()),
        Some("rsa-sha1") if rules.broken_by(Breach::Signature(S::AlsoNamed("rsa-sha1"))) => Ok(()),
        Some("rsa-sha1") if rules.broken_by(Breach::Signature(S::Sha1AsNamed)) => Ok(()),
        Some(HMAC) if rules.broken_by(Breach::Signature(S::HmacByPublicKey)) => Ok(()),
        Some("hs2019") if rules.broken_by(Breach::Signature(S::AlsoNamed("hs2019"))) => Ok(()),
        Some(other) => {
            let says =
                format!("expected rsa-sha256 for the RSA key of the certificate, found {}", excerpt(other));
            Err(refuse("signature.algorithm", says))
        }
    }
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
    use axum::http::HeaderMap;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::test_certificate::{ISSUER, SERIAL, Signer, signer};

    const DATE: &str = "Sat, 01 Mar 2025 12:00:00 GMT";
    const PSU_ID: &str = "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f";

    /// A request with date, x-request-id and psu-id, and the Signature header that `write` makes for it.
    fn refused(write: impl FnOnce(&str, &dyn Fn(&str) -> String) -> String) -> Option<String> {
        refused_by(Rules::kept(), write)
    }

    fn refused_by(
        rules: Rules,
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
            signer().sign(&signing_string(&names, "GET", "/v1/x?y=z", Fields(&headers), None).unwrap())
        };
        let header = write(&key_id, &sign);
        headers.insert("signature", header.parse().unwrap());
        verify(Fields(&headers), "GET", "/v1/x?y=z", &Certificates::default(), rules).err().map(|refusal| {
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
        let signed = |rules, key_id: &str, list: &str| {
            refused_by(rules, |_, sign| header(key_id, "rsa-sha256", list, &sign(list)))
        };
        let extra = "date x-request-id psu-id (request-target)";
        for (variance, key_id, list) in [
            (Variance::SerialAsShown, small.as_str(), LIST),
            (Variance::IssuerAsShown, spaced.as_str(), LIST),
            (Variance::OrderFixed, plain.as_str(), "psu-id date x-request-id"),
            (Variance::SmallLetters, plain.as_str(), "Date X-Request-ID PSU-ID"),
            (Variance::ListFixed, plain.as_str(), extra),
        ] {
            assert_eq!(signed(Rules::kept(), key_id, list), None, "{variance:?}");
            assert_eq!(signed(Rules::varied(variance), &plain, LIST), None, "{variance:?}");
            assert!(signed(Rules::varied(variance), key_id, list).is_some(), "{variance:?}");
        }
        let unnamed = |rules| {
            refused_by(rules, |key_id, sign| {
                header(key_id, "x", LIST, &sign(LIST)).replace(r#"algorithm="x","#, "")
            })
        };
        assert_eq!(unnamed(Rules::kept()), None);
        assert!(unnamed(Rules::varied(Variance::AlgorithmDemanded)).is_some());
        let wrapped = |rules| {
            refused_by(rules, |key_id, sign| {
                format!("=?UTF-8?B?{}?=", STANDARD.encode(header(key_id, "rsa-sha256", LIST, &sign(LIST))))
            })
        };
        assert_eq!(wrapped(Rules::kept()), None);
        assert!(wrapped(Rules::broken(Breach::Signature(S::CharsetAsShown))).is_some());
        assert_eq!(wrapped(Rules::broken(Breach::Signature(S::EncodingAsShown))), None);
        assert_eq!(signed(Rules::varied(Variance::DateDemanded), &plain, LIST), None);
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
        assert_eq!(found.as_deref(), Some("signature.headers.x-request-id"), "the default is the date alone");
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
