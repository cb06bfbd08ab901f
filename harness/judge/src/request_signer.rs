//! Digests and signs requests for one target, as a case wants it.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use md5::Md5;
use sha2::{Digest as _, Sha256, Sha512};
use xs2aspec_signing::{
    Certificate, KeyIdForm, Options, OtherHash, Parameter, RequestTarget, Signer, Wrap,
    certificate::{NameForm, SerialForm},
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
            "serial" => Some(certificate.serial(&self.key_id_form(party).serial)),
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

    /// Returns how keyId names a party's certificate. Texts of one's own are for the own certificate. Number
    /// and issuer of another one are written as usual.
    fn key_id_form(&self, party: Option<Party>) -> KeyIdForm {
        let mut form = self.encoding.key_id.clone();
        let has_own_number =
            self.signer(party).certificate().serial_hex() == self.own.certificate().serial_hex();
        if matches!(form.serial, SerialForm::Text(_)) && !has_own_number {
            form.serial = SerialForm::default();
        }
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
mod tests;
