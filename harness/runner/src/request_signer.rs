//! Digests and signs requests for one target, as a case wants it.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use md5::Md5;
use sha2::{Digest as _, Sha256, Sha512};
use xs2aspec_signing::{
    Certificate, KeyIdForm, Options, OtherHash, Parameter, RequestTarget, Signer, Wrap,
    certificate::NameForm,
    digest::Algorithm,
    encoded_word::{self, Charset, Encoding},
    listed_headers,
    signature_header::{self, SignatureHeaderError},
    signer::SignerError,
    signing_string,
};
use xs2aspec_suite::{Party, SignatureParameter, Signing, SigningHash, Wrap as WrapForm, Written};

use crate::{
    certificate_encoding::{CertificateEncoding, CertificateEncodingError, CertificateForm},
    profile::hex,
};

/// Key and certificate of an unrelated TPP, for cases in which they must not match. Marked test material,
/// known to everybody.
const OTHER_KEY: &str = include_str!("../../../fixtures/keys/other.key.pem");
const OTHER_CERTIFICATE: &str = include_str!("../../../fixtures/keys/other.cert.pem");
/// Further certificates of [`OTHER_KEY`], in the order of [`wrong`].
const WRONG_CERTIFICATES: [&str; 3] = [
    include_str!("../../../fixtures/keys/other-expired.cert.pem"),
    include_str!("../../../fixtures/keys/other-early.cert.pem"),
    include_str!("../../../fixtures/keys/other-role.cert.pem"),
];

/// The signing key and certificate of a TPP, and those of another.
#[derive(Debug)]
pub struct RequestSigner {
    own: Arc<Signer>,
    other: Arc<Signer>,
    wrong: Arc<[Signer; 3]>,
    /// The other TPP's key in what says that it is the own certificate.
    forged: Arc<Signer>,
    encoding: CertificateEncoding,
    /// Headers that are signed where a request has them.
    signed_headers: Arc<[String]>,
}

/// Why there is no request signer.
#[derive(Debug, thiserror::Error)]
pub enum RequestSignerError {
    /// Key and certificate cannot be read, or do not belong together.
    #[error("`[signing]` of the target profile: {0}")]
    Signer(#[from] SignerError),
    /// The forms that a profile declares are none, or do not fit the certificate.
    #[error(transparent)]
    CertificateEncoding(#[from] CertificateEncodingError),
}

/// Why there is no signature.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// It cannot be made so.
    #[error(transparent)]
    Header(#[from] SignatureHeaderError),
    /// A case wants it rewritten, and leaves it out.
    #[error("expected a signature to rewrite, found that the case leaves it out")]
    NothingToRewrite,
}

impl SignError {
    /// Why another certificate could be sent so, and this one cannot.
    pub fn of_the_issuer(&self) -> Option<String> {
        match self {
            Self::Header(SignatureHeaderError::EncodedWord(error)) => {
                Some(format!("the issuer of the certificate does not fit this character set: {error}"))
            }
            _ => None,
        }
    }
}

impl RequestSigner {
    /// One with this key, which signs these headers where a request has them.
    pub fn new(
        signer: Signer,
        encoding: CertificateEncoding,
        signed_headers: &[String],
    ) -> Result<Self, RequestSignerError> {
        encoding.fit(signer.certificate())?;
        let other = Signer::from_pem(OTHER_KEY, OTHER_CERTIFICATE)?;
        let forged = signer.certificate().with_key_of(other.certificate()).map_err(SignerError::from)?;
        Ok(Self {
            own: Arc::new(signer),
            forged: Arc::new(Signer::from_pem(OTHER_KEY, pem(&forged))?),
            other: Arc::new(other),
            wrong: Arc::new([wrong(0)?, wrong(1)?, wrong(2)?]),
            encoding,
            signed_headers: signed_headers.into(),
        })
    }

    /// The same keys and certificates in another encoding; what was signed is known to both.
    pub fn with_encoding(&self, encoding: CertificateEncoding) -> Result<Self, RequestSignerError> {
        encoding.fit(self.own.certificate())?;
        Ok(Self {
            own: Arc::clone(&self.own),
            other: Arc::clone(&self.other),
            wrong: Arc::clone(&self.wrong),
            forged: Arc::clone(&self.forged),
            encoding,
            signed_headers: Arc::clone(&self.signed_headers),
        })
    }

    /// How it names and sends certificates.
    pub fn encoding(&self) -> &CertificateEncoding {
        &self.encoding
    }

    /// A part of a certificate as text: the header value for no name, `pem` for the base64 of its PEM,
    /// `serial` and `issuer` as in keyId, `serial-decimal`, the name of the `subject` written as the issuer
    /// is by default. `None` for another name.
    pub fn certificate(&self, party: Option<Party>, part: &str) -> Option<String> {
        let certificate = self.signer(party).certificate();
        match part {
            "" if self.encoding.certificate == CertificateForm::Der => Some(certificate.header_value()),
            "" | "pem" => Some(BASE64_STANDARD.encode(pem(certificate))),
            "serial" => Some(certificate.serial(self.encoding.key_id.serial)),
            "serial-decimal" => Some(certificate.serial_decimal()),
            "issuer" => Some(certificate.issuer().write(&self.key_id_form(party).issuer)),
            "subject" => Some(certificate.subject().write(&NameForm::default())),
            _ => None,
        }
    }

    /// The value of a Digest header for this body: `sha-256`, `sha-512`, or the first with its hash in the
    /// wrong encoding (`sha-256.hexadecimal`), one letter in the other case (`sha-256.other-case`), or
    /// another first or last byte (`sha-256.other-begin`, `sha-256.other-end`, and of `sha-512` as well). The
    /// hash alone, in base64: `sha-256.alone`, `md5`, `sha-1`, `sha-384`.
    pub fn digest(algorithm: &str, body: &[u8]) -> Option<String> {
        let algorithm = match algorithm {
            "sha-256" => Algorithm::Sha256,
            "sha-512" => Algorithm::Sha512,
            "sha-256.hexadecimal" => {
                return Some(format!("{}={}", Algorithm::Sha256.token(), hex(&Sha256::digest(body))));
            }
            "sha-256.other-case" => {
                let hash = in_another_case(&BASE64_STANDARD.encode(Sha256::digest(body)));
                return Some(format!("{}={hash}", Algorithm::Sha256.token()));
            }
            "sha-256.other-begin" | "sha-256.other-end" => {
                return nearly(Algorithm::Sha256, &Sha256::digest(body), algorithm.ends_with("end"));
            }
            "sha-512.other-begin" | "sha-512.other-end" => {
                return nearly(Algorithm::Sha512, &Sha512::digest(body), algorithm.ends_with("end"));
            }
            "sha-256.alone" => return Some(BASE64_STANDARD.encode(Sha256::digest(body))),
            "md5" => return Some(BASE64_STANDARD.encode(Md5::digest(body))),
            "sha-1" => return Some(BASE64_STANDARD.encode(OtherHash::Sha1.digest(body))),
            "sha-384" => return Some(BASE64_STANDARD.encode(OtherHash::Sha384.digest(body))),
            _ => return None,
        };
        Some(algorithm.header_value(body))
    }

    /// The value of the Signature header over the other headers of a request. The target is needed only by a
    /// list that has it.
    pub fn signature(
        &self,
        headers: &[(String, String)],
        target: Option<RequestTarget>,
        signing: &Signing,
    ) -> Result<String, SignError> {
        let signer = self.signer(signing.key);
        let fields = as_signed(headers, signing);
        let mut options = Options { target, ..self.options(&fields, signing) };
        if signing.line_feed {
            let text = signing_string(&options.listed, &fields, options.target.as_ref());
            options.text = Some(text.map_err(SignatureHeaderError::from)? + "\n");
        }
        let sign = |options: &Options| signature_header::sign(signer, &fields, options);
        let alone = signing.wrap == Some(WrapForm::SignatureAlone);
        if alone || signing.written.is_some() {
            let plain = Options { wrap: Wrap::Never, ..options.clone() };
            let plain = sign(&plain)?;
            let (_, rest) = plain.value.split_once("signature=\"").ok_or(SignError::NothingToRewrite)?;
            let mut signature = rest.trim_end_matches('"').to_owned();
            signature = match signing.written {
                None => signature,
                Some(Written::UrlSafe) => signature.replace('+', "-").replace('/', "_"),
                Some(Written::Hexadecimal) => {
                    hex(&BASE64_STANDARD.decode(&signature).map_err(|_| SignError::NothingToRewrite)?)
                }
            };
            if alone {
                signature = encoded_word::wrap(&signature, Charset::Utf8, Encoding::B)
                    .map_err(SignatureHeaderError::from)?;
            }
            options.signature = Parameter::Text(signature);
        }
        let value = sign(&options)?.value;
        Ok(if signing.spaced { spaced(&value) } else { value })
    }

    fn signer(&self, party: Option<Party>) -> &Signer {
        match party {
            None => &self.own,
            Some(Party::Other) => &self.other,
            Some(Party::OtherExpired) => &self.wrong[0],
            Some(Party::OtherEarly) => &self.wrong[1],
            Some(Party::OtherRole) => &self.wrong[2],
            Some(Party::Forged) => &self.forged,
        }
    }

    /// How keyId names a party's certificate. A text of one's own is for the issuer of the own certificate:
    /// that of another one is written by RFC 4514.
    fn key_id_form(&self, party: Option<Party>) -> KeyIdForm {
        let form = self.encoding.key_id.clone();
        let is_own = || self.signer(party).certificate().issuer() == self.own.certificate().issuer();
        match form.issuer {
            NameForm::Template(_) if !is_own() => KeyIdForm { issuer: NameForm::Rfc4514, ..form },
            _ => form,
        }
    }

    fn options(&self, fields: &[(String, String)], signing: &Signing) -> Options {
        let stated = |name: SignatureParameter, text: Option<String>| {
            if signing.without.contains(&name) {
                return Parameter::Absent;
            }
            text.map_or(Parameter::Legal, Parameter::Text)
        };
        let key_id = signing.key_id.as_ref().map_or_else(
            // The key need not be the certificate's.
            || {
                let form = self.key_id_form(signing.certificate);
                self.signer(signing.certificate).certificate().key_id(&form)
            },
            |key_id| key_id.as_str().map_or_else(|| key_id.to_string(), str::to_owned),
        );
        Options {
            listed: signing.headers.clone().unwrap_or_else(|| listed_headers(&self.signed_headers, fields)),
            text: signing.signing_string.clone(),
            key_id: stated(SignatureParameter::KeyId, Some(key_id)),
            algorithm: stated(SignatureParameter::Algorithm, signing.algorithm.clone()),
            headers: stated(
                SignatureParameter::Headers,
                signing.stated_headers.as_ref().map(|names| names.join(" ")),
            ),
            signature: stated(SignatureParameter::Signature, signing.signature.clone()),
            corrupted: signing.corrupted,
            hash: signing.hash.map(|hash| match hash {
                SigningHash::Sha1 => OtherHash::Sha1,
                SigningHash::Sha384 => OtherHash::Sha384,
                SigningHash::Sha512 => OtherHash::Sha512,
                SigningHash::Sha256Pss => OtherHash::Sha256Pss,
                SigningHash::HmacSha256 => OtherHash::HmacSha256,
            }),
            wrap: match signing.wrap {
                // One that has to be wrapped cannot be rewritten.
                None if signing.written.is_some() || signing.spaced => Wrap::Never,
                None => Wrap::WhenNeeded,
                Some(form) => word(form).map_or(Wrap::Never, |(charset, by)| Wrap::Always(charset, by)),
            },
            ..Options::default()
        }
    }
}

/// Charset and encoding of a header that is wrapped as a whole.
pub(crate) fn word(form: WrapForm) -> Option<(Charset, Encoding)> {
    match form {
        WrapForm::Never | WrapForm::SignatureAlone => None,
        WrapForm::Utf8B => Some((Charset::Utf8, Encoding::B)),
        WrapForm::Utf8Q => Some((Charset::Utf8, Encoding::Q)),
        WrapForm::Latin1B => Some((Charset::Iso8859_1, Encoding::B)),
        WrapForm::Latin1Q => Some((Charset::Iso8859_1, Encoding::Q)),
    }
}

/// The same parameters with blanks around their equals signs and commas.
fn spaced(value: &str) -> String {
    let apart = ["keyId", "algorithm", "headers", "signature"]
        .iter()
        .fold(value.to_owned(), |text, name| text.replace(&format!("{name}=\""), &format!("{name} = \"")));
    apart.replace("\",", "\" , ")
}

/// The value of a Digest header with another first or last byte of this hash.
fn nearly(algorithm: Algorithm, hash: &[u8], at_end: bool) -> Option<String> {
    let mut hash = hash.to_vec();
    let changed = if at_end { hash.last_mut() } else { hash.first_mut() };
    *changed? ^= 1;
    Some(format!("{}={}", algorithm.token(), BASE64_STANDARD.encode(hash)))
}

/// Base64 with its first letter in the other case; as it is where there is none.
fn in_another_case(base64: &str) -> String {
    let mut bytes = base64.as_bytes().to_vec();
    if let Some(letter) = bytes.iter_mut().find(|byte| byte.is_ascii_alphabetic()) {
        // What tells the cases apart in ASCII.
        *letter ^= 0x20;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The unrelated TPP with one of its wrong certificates.
fn wrong(number: usize) -> Result<Signer, SignerError> {
    Signer::from_pem(OTHER_KEY, WRONG_CERTIFICATES[number])
}

/// The headers with the values that are signed, which are those that are sent but where a case says
/// otherwise: of all lines of a name.
fn as_signed(headers: &[(String, String)], signing: &Signing) -> Vec<(String, String)> {
    let mut fields = headers.to_vec();
    for (name, value) in &signing.signed_as {
        fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        fields.push((name.clone(), value.clone()));
    }
    fields
}

/// The PEM form of a certificate (RFC 7468, sections 2 and 5).
fn pem(certificate: &Certificate) -> String {
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for (at, letter) in certificate.header_value().chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            pem.push('\n');
        }
        pem.push(letter);
    }
    pem.push_str("\n-----END CERTIFICATE-----\n");
    pem
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::profile::{TEST_CERTIFICATE, TEST_KEY};
    use xs2aspec_suite::{SigningSpec, Tree};

    #[test]
    fn blanks_stand_between_parameters_and_nowhere_else() {
        assert_eq!(
            spaced("keyId=\"SN=1,CA=CN=x\",signature=\"AA==\""),
            "keyId = \"SN=1,CA=CN=x\" , signature = \"AA==\""
        );
    }

    fn spec() -> SigningSpec {
        SigningSpec::load(&Tree::embedded()).unwrap()
    }

    fn signer_with(encoding: CertificateEncoding) -> Result<RequestSigner, RequestSignerError> {
        let signer = Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).unwrap();
        RequestSigner::new(signer, encoding, &spec().signed_headers)
    }

    fn request_signer() -> RequestSigner {
        signer_with(CertificateEncoding::default()).unwrap()
    }

    fn signed(signing: Value) -> String {
        let headers = [("Date", "now"), ("X-Request-ID", "r"), ("PSU-ID", "p")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let signing = serde_json::from_value(signing).unwrap();
        let target = RequestTarget { method: "POST".into(), path: "/v1/x?y=z".into() };
        request_signer().signature(&headers, Some(target), &signing).unwrap()
    }

    /// The hashes of no bytes, which `sha256sum`, `sha1sum` and `md5sum` say of an empty file; in base64 but
    /// for the first.
    #[test]
    fn a_digest_can_have_the_wrong_encoding_or_another_algorithm() {
        let hash = "SHA-256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(RequestSigner::digest("sha-256.hexadecimal", b"").unwrap(), hash);
        let near = |name: &str| RequestSigner::digest(&format!("sha-256.{name}"), b"").unwrap();
        assert_eq!(near("other-case"), "SHA-256=47dEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(near("other-begin"), "SHA-256=4rDEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(near("other-end"), "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFQ=");
        let whole = RequestSigner::digest("sha-512", b"").unwrap();
        let near = RequestSigner::digest("sha-512.other-begin", b"").unwrap();
        assert!(near != whole && near[10..] == whole[10..], "{near}");
        let near = RequestSigner::digest("sha-512.other-end", b"").unwrap();
        assert!(near != whole && near[..near.len() - 4] == whole[..whole.len() - 4], "{near}");
        let alone = RequestSigner::digest("sha-256.alone", b"").unwrap();
        assert_eq!(alone, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(RequestSigner::digest("sha-1", b"").unwrap(), "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
        let longest = RequestSigner::digest("sha-384", b"").unwrap();
        assert!(longest.starts_with("OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P2"), "{longest}");
        assert_eq!(RequestSigner::digest("md5", b"").unwrap(), "1B2M2Y8AsgTpgAmY7PhCfg==");
        assert_eq!(RequestSigner::digest("sha-224", b""), None);
    }

    fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
        let (_, rest) = value.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    }

    /// The parameters in which a value differs from the legal one.
    fn differing(value: &str) -> Vec<&'static str> {
        let legal = signed(json!({}));
        let names = ["keyId", "algorithm", "headers", "signature"];
        names.into_iter().filter(|name| parameter(&legal, name) != parameter(value, name)).collect()
    }

    #[test]
    fn each_way_of_signing_differs_in_what_it_says_and_in_nothing_else() {
        let table: [(Value, &[&str]); 19] = [
            (json!({"wrap": "never"}), &[]),
            (json!({"headers": ["date", "x-request-id", "psu-id"]}), &[]),
            (json!({"signed-as": {"x-request-id": "r"}}), &[]),
            (json!({"algorithm": "none"}), &["algorithm"]),
            (json!({"key-id": "SN=1"}), &["keyId"]),
            (json!({"stated-headers": ["date", "digest"]}), &["headers"]),
            (json!({"signature": "AA=="}), &["signature"]),
            (json!({"corrupted": true}), &["signature"]),
            (json!({"written": "url-safe"}), &["signature"]),
            (json!({"written": "hexadecimal"}), &["signature"]),
            (json!({"line-feed": true}), &["signature"]),
            (json!({"signed-as": {"X-Request-ID": "s"}}), &["signature"]),
            (json!({"signed-as": {"psu-corporate-id": ""}}), &["headers", "signature"]),
            (json!({"key": "other"}), &["signature"]),
            (json!({"certificate": "other"}), &["keyId"]),
            (json!({"without": ["key-id"]}), &["keyId"]),
            (json!({"without": ["algorithm"]}), &["algorithm"]),
            (json!({"without": ["headers", "signature"]}), &["headers", "signature"]),
            (json!({"wrap": "signature-alone"}), &["signature"]),
        ];
        for (signing, expected) in table {
            assert_eq!(differing(&signed(signing.clone())), expected, "{signing}");
        }
    }

    #[test]
    fn a_parameter_that_is_left_out_is_not_there() {
        let value = signed(json!({"without": ["headers"], "stated-headers": ["date"]}));
        assert_eq!(parameter(&value, "headers"), None);
        assert!(parameter(&value, "signature").is_some());
    }

    #[test]
    fn the_signature_alone_is_wrapped() {
        let legal = signed(json!({}));
        let alone = signed(json!({"wrap": "signature-alone"}));
        let word = parameter(&alone, "signature").unwrap();
        let text = word.strip_prefix("=?utf-8?B?").and_then(|rest| rest.strip_suffix("?=")).unwrap();
        assert_eq!(BASE64_STANDARD.decode(text).unwrap(), parameter(&legal, "signature").unwrap().as_bytes());
    }

    #[test]
    fn the_parts_of_both_certificates_are_known_and_differ() {
        let request_signer = request_signer();
        for part in ["", "serial", "subject", "pem"] {
            assert_ne!(
                request_signer.certificate(None, part),
                request_signer.certificate(Some(Party::Other), part),
                "{part}"
            );
        }
        let key_id = format!(
            "SN={},CA={}",
            request_signer.certificate(None, "serial").unwrap(),
            request_signer.certificate(None, "issuer").unwrap()
        );
        assert_eq!(parameter(&signed(json!({})), "keyId"), Some(key_id.as_str()));
        let pem = BASE64_STANDARD.decode(request_signer.certificate(None, "pem").unwrap()).unwrap();
        let read = Certificate::from_pem(&pem).unwrap();
        assert_eq!(Some(read.header_value()), request_signer.certificate(None, ""));
        assert_eq!(request_signer.certificate(None, "validity"), None);
    }

    #[test]
    fn a_profile_declares_the_forms_and_an_unknown_one_names_those_that_are_known() {
        let forms = |choices: &[(&str, &str)]| {
            let choices = choices.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            CertificateEncoding::of(&choices.collect(), &spec().choices).map_err(RequestSignerError::from)
        };
        let usual = forms(&[("payment.success-status", "201"), ("key-id.serial", "any")]).unwrap();
        assert_eq!(usual, forms(&[]).unwrap());
        let declared = forms(&[
            ("key-id.serial", "lower"),
            ("key-id.issuer", "forward, spaced"),
            ("certificate.form", "base64 of PEM"),
        ]);
        let own = signer_with(declared.unwrap()).unwrap();
        let usual = request_signer();
        let part = |request_signer: &RequestSigner, part| request_signer.certificate(None, part).unwrap();
        assert_eq!(part(&own, "serial"), part(&usual, "serial").to_lowercase());
        assert!(part(&own, "issuer").contains(", ") && part(&usual, "issuer") != part(&own, "issuer"));
        assert_eq!(part(&own, ""), part(&usual, "pem"));
        let issuer = |text: &str| {
            let forms = forms(&[("key-id.issuer", text)])?;
            signer_with(forms).map(|request_signer| part(&request_signer, "issuer"))
        };
        assert_eq!(issuer("CN={CN} of {O}").unwrap(), "CN=xs2aspec test CA of xs2aspec test material");
        assert_eq!(issuer("CN=Our CA, O=Ours").unwrap(), "CN=Our CA, O=Ours");
        for (text, says) in [
            (
                "CN={CN}, L={L}",
                "expected what `{L}` stands for in the issuer of the certificate, found only O, CN",
            ),
            ("CN={CN", "found one brace alone"),
            ("{ORG}", "expected in `{ORG}` a type such as CN"),
        ] {
            let error = issuer(text).unwrap_err().to_string();
            let start = "`[choices]` of the target profile: \"key-id.issuer\": ";
            assert!(error.starts_with(start) && error.contains(says), "{text}: {error}");
        }
        for (key, known) in [
            ("key-id.serial", "`lower`"),
            ("key-id.issuer", "`forward`"),
            ("certificate.form", "`base64 of PEM`"),
        ] {
            let error = forms(&[(key, "synthetic")]).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains(known) && error.contains("`synthetic`"), "{error}");
        }
    }
}
