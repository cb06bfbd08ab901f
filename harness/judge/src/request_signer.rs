//! Digests and signs requests for one target, as a case requires.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use md5::Md5;
use pem::{EncodeConfig, LineEnding, Pem, encode_config};
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

use crate::certificate_encoding::{CertificateEncoding, CertificateEncodingError, CertificateForm};

/// Key and certificate of an unrelated TPP, for cases that need a mismatch. Marked test material, publicly
/// known.
const OTHER_KEY: &str = include_str!("../../../fixtures/keys/other.key.pem");
const OTHER_CERTIFICATE: &str = include_str!("../../../fixtures/keys/other.cert.pem");
/// Unusable certificates of [`OTHER_KEY`].
const EXPIRED: &str = include_str!("../../../fixtures/keys/other-expired.cert.pem");
const EARLY: &str = include_str!("../../../fixtures/keys/other-early.cert.pem");
const OTHER_ROLE: &str = include_str!("../../../fixtures/keys/other-role.cert.pem");

/// The signing key and certificate of a TPP, and those of another one.
#[derive(Debug, Clone)]
pub struct RequestSigner {
    /// In the order of [`RequestSigner::signer`].
    signers: Arc<[Signer; 6]>,
    encoding: CertificateEncoding,
    /// Headers that are signed if a request has them.
    signed_headers: Arc<[String]>,
}

/// The reason why a signer cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum RequestSignerError {
    /// Key and certificate cannot be read or do not belong together.
    #[error("`[signing]` of the target profile: {0}")]
    Signer(#[from] SignerError),
    /// The declared forms are unknown or do not fit the certificate.
    #[error(transparent)]
    CertificateEncoding(#[from] CertificateEncodingError),
}

/// The reason why a request cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The signature cannot be made this way.
    #[error(transparent)]
    Header(#[from] SignatureHeaderError),
    /// A case rewrites the signature but also omits it.
    #[error("the case rewrites a signature that it leaves out")]
    NothingToRewrite,
}

impl RequestSigner {
    /// Returns a signer with this key, which signs these headers if a request has them.
    pub fn new(
        signer: Signer,
        encoding: CertificateEncoding,
        signed_headers: &[String],
    ) -> Result<Self, RequestSignerError> {
        encoding.fit(signer.certificate())?;
        let other = |certificate: &str| Signer::from_pem(OTHER_KEY, certificate);
        let [unrelated, expired, early, role] =
            [other(OTHER_CERTIFICATE)?, other(EXPIRED)?, other(EARLY)?, other(OTHER_ROLE)?];
        // A certificate that looks like the TPP's own but has the other TPP's key.
        let forged = signer.certificate().with_key_of(unrelated.certificate()).map_err(SignerError::from)?;
        let forged = other(&pem(&forged))?;
        let signers = Arc::new([signer, unrelated, expired, early, role, forged]);
        Ok(Self { signers, encoding, signed_headers: signed_headers.into() })
    }

    /// Returns a signer with the same keys and certificates in another encoding.
    pub fn with_encoding(&self, encoding: CertificateEncoding) -> Result<Self, RequestSignerError> {
        encoding.fit(self.signer(None).certificate())?;
        Ok(Self { encoding, ..self.clone() })
    }

    /// Returns the encoding of certificates.
    pub fn encoding(&self) -> &CertificateEncoding {
        &self.encoding
    }

    /// Returns a part of a certificate, or None for an unknown name:
    ///
    /// - an empty name: the value of its header
    /// - `pem`: the base64 of its PEM
    /// - `serial` and `issuer`: as in keyId
    /// - `serial-decimal`: the serial number in decimal
    /// - `subject`: in the default form of an issuer
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

    /// Returns the value of a Digest header for this body, or None for an unknown name:
    ///
    /// - `sha-256`, `sha-512`: a correct digest
    /// - `sha-256.hexadecimal`: the wrong encoding
    /// - `sha-256.other-case`: one letter in the other case
    /// - `.other-begin`, `.other-end` of both: a different first or last byte
    /// - `sha-256.alone`, `md5`, `sha-1`, `sha-384`: the base64 hash without a name
    pub fn digest(algorithm: &str, body: &[u8]) -> Option<String> {
        let sha_256 = || Sha256::digest(body);
        let is_end = algorithm.ends_with("end");
        Some(match algorithm {
            "sha-256" => Algorithm::Sha256.header_value(body),
            "sha-512" => Algorithm::Sha512.header_value(body),
            "sha-256.hexadecimal" => format!("{}={}", Algorithm::Sha256.token(), hex::encode(sha_256())),
            "sha-256.other-case" => {
                format!(
                    "{}={}",
                    Algorithm::Sha256.token(),
                    in_another_case(&BASE64_STANDARD.encode(sha_256()))
                )
            }
            "sha-256.other-begin" | "sha-256.other-end" => nearly(Algorithm::Sha256, &sha_256(), is_end)?,
            "sha-512.other-begin" | "sha-512.other-end" => {
                nearly(Algorithm::Sha512, &Sha512::digest(body), is_end)?
            }
            "sha-256.alone" => BASE64_STANDARD.encode(sha_256()),
            "md5" => BASE64_STANDARD.encode(Md5::digest(body)),
            "sha-1" => BASE64_STANDARD.encode(OtherHash::Sha1.digest(body)),
            "sha-384" => BASE64_STANDARD.encode(OtherHash::Sha384.digest(body)),
            _ => return None,
        })
    }

    /// Returns the value of the Signature header over the other headers of a request. `target` is needed only
    /// if the list of signed headers includes it.
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
                    hex::encode(BASE64_STANDARD.decode(&signature).map_err(|_| SignError::NothingToRewrite)?)
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
        &self.signers[match party {
            None => 0,
            Some(Party::Other) => 1,
            Some(Party::OtherExpired) => 2,
            Some(Party::OtherEarly) => 3,
            Some(Party::OtherRole) => 4,
            Some(Party::Forged) => 5,
        }]
    }

    /// Returns the keyId form for a party's certificate. Custom serials and issuers apply only to the own
    /// certificate. Others use the default form.
    fn key_id_form(&self, party: Option<Party>) -> KeyIdForm {
        let mut form = self.encoding.key_id.clone();
        let (own, its) = (self.signer(None).certificate(), self.signer(party).certificate());
        if matches!(form.serial, SerialForm::Text(_)) && its.serial_hex() != own.serial_hex() {
            form.serial = SerialForm::default();
        }
        if matches!(form.issuer, NameForm::Template(_)) && its.issuer() != own.issuer() {
            form.issuer = NameForm::Rfc4514;
        }
        form
    }

    fn options(&self, fields: &[(String, String)], signing: &Signing) -> Options {
        let stated = |name: SignatureParameter, text: Option<String>| {
            if signing.without.contains(&name) {
                return Parameter::Absent;
            }
            text.map_or(Parameter::Legal, Parameter::Text)
        };
        let key_id = signing.key_id.as_ref().map_or_else(
            // The certificate may belong to another key.
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
                // A wrapped signature cannot be rewritten.
                None if signing.written.is_some() || signing.spaced => Wrap::Never,
                None => Wrap::WhenNeeded,
                Some(form) => word(form).map_or(Wrap::Never, |(charset, by)| Wrap::Always(charset, by)),
            },
            ..Options::default()
        }
    }
}

/// Returns the charset and encoding of a header that is wrapped as a whole.
pub(crate) fn word(form: WrapForm) -> Option<(Charset, Encoding)> {
    match form {
        WrapForm::Never | WrapForm::SignatureAlone => None,
        WrapForm::Utf8B => Some((Charset::Utf8, Encoding::B)),
        WrapForm::Utf8Q => Some((Charset::Utf8, Encoding::Q)),
        WrapForm::Latin1B => Some((Charset::Iso8859_1, Encoding::B)),
        WrapForm::Latin1Q => Some((Charset::Iso8859_1, Encoding::Q)),
    }
}

/// Returns the parameters with spaces around their equals signs and commas.
fn spaced(value: &str) -> String {
    let apart = ["keyId", "algorithm", "headers", "signature"]
        .iter()
        .fold(value.to_owned(), |text, name| text.replace(&format!("{name}=\""), &format!("{name} = \"")));
    apart.replace("\",", "\" , ")
}

/// Returns a Digest value whose hash has a different first or last byte.
fn nearly(algorithm: Algorithm, hash: &[u8], at_end: bool) -> Option<String> {
    let mut hash = hash.to_vec();
    let changed = if at_end { hash.last_mut() } else { hash.first_mut() };
    *changed? ^= 1;
    Some(format!("{}={}", algorithm.token(), BASE64_STANDARD.encode(hash)))
}

/// Returns base64 with its first letter in the other case, or unchanged if it has no letter.
fn in_another_case(base64: &str) -> String {
    let mut bytes = base64.as_bytes().to_vec();
    if let Some(letter) = bytes.iter_mut().find(|byte| byte.is_ascii_alphabetic()) {
        // This bit distinguishes uppercase and lowercase in ASCII.
        *letter ^= 0x20;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the headers with the values to sign. A case may replace the value of a name, which replaces all
/// its lines.
fn as_signed(headers: &[(String, String)], signing: &Signing) -> Vec<(String, String)> {
    let mut fields = headers.to_vec();
    for (name, value) in &signing.signed_as {
        fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        fields.push((name.clone(), value.clone()));
    }
    fields
}

/// Returns the PEM form of a certificate (RFC 7468 sections 2 and 5).
fn pem(certificate: &Certificate) -> String {
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF);
    encode_config(&Pem::new("CERTIFICATE", certificate.der()), config)
}

#[cfg(test)]
mod tests;
