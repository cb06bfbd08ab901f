//! Digests and signs requests for one target, as a case wants it.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use xs2aspec_signing::{
    Certificate, KeyIdForm, Options, Parameter, Signer, Wrap,
    certificate::{NameForm, SerialForm},
    digest::Algorithm,
    encoded_word::{self, Charset, Encoding},
    name::{Template, TemplateError},
    signature_header::{self, SignatureHeaderError},
    signer::SignerError,
};
use xs2aspec_suite::{Party, SignatureParameter, Signing, Wrap as WrapForm};

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
pub struct Seal {
    own: Arc<Signer>,
    other: Arc<Signer>,
    wrong: Arc<[Signer; 3]>,
    forms: Forms,
}

/// How certificates are named and sent where the document leaves that to the bank, and its profile declares
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forms {
    /// How keyId names a certificate.
    pub key_id: KeyIdForm,
    /// Whether the header has the base64 of PEM and not of DER.
    pub pem: bool,
}

impl Forms {
    /// The forms that the choices of a profile declare: `key-id.serial`, `key-id.issuer` and
    /// `certificate.form`.
    pub fn of(choices: &BTreeMap<String, String>) -> Result<Self, SealError> {
        let mut forms = Self::default();
        let declared = |key: &str| choices.get(key).map(String::as_str);
        let unknown = |key: &'static str, found: &str| {
            Err(SealError::Form { key, found: found.to_owned(), known: Self::known(key).unwrap_or_default() })
        };
        forms.key_id.serial = match declared("key-id.serial") {
            None | Some("upper" | "any" | "fail" | "upper, no leading zeros, no separators") => {
                SerialForm::UpperHex
            }
            Some("lower") => SerialForm::LowerHex,
            Some(other) => return unknown("key-id.serial", other),
        };
        forms.key_id.issuer = match declared("key-id.issuer") {
            None | Some("RFC 4514" | "fail") => NameForm::Rfc4514,
            Some("RFC 4514, spaced") => NameForm::Rfc4514Spaced,
            Some("forward") => NameForm::Forward,
            Some("forward, spaced") => NameForm::ForwardSpaced,
            Some(text) if Template::is_meant(text) => {
                NameForm::Template(Template::read(text).map_err(SealError::Issuer)?)
            }
            Some(other) => return unknown("key-id.issuer", other),
        };
        forms.pem = match declared("certificate.form") {
            None | Some("base64 of DER" | "fail" | "base64 of DER, one line") => false,
            Some("base64 of PEM") => true,
            Some(other) => return unknown("certificate.form", other),
        };
        Ok(forms)
    }

    /// What a choice of these knows, for messages and for the schema of profiles.
    pub(crate) fn known(key: &str) -> Option<&'static str> {
        match key {
            "key-id.serial" => Some("`upper`, `lower` and `any`"),
            "key-id.issuer" => Some(
                "`RFC 4514`, `RFC 4514, spaced`, `forward`, `forward, spaced`, a template such as `CN={CN}, O={O}` and the name \
                 itself, such as `CN=Our CA, O=Our Trust AS`",
            ),
            "certificate.form" => Some("`base64 of DER` and `base64 of PEM`"),
            _ => None,
        }
    }

    /// Whether the issuer of this certificate has all that a template wants of it.
    pub fn fit(&self, certificate: &Certificate) -> Result<(), SealError> {
        match &self.key_id.issuer {
            NameForm::Template(template) => {
                template.write(&certificate.issuer()).map(drop).map_err(SealError::Issuer)
            }
            _ => Ok(()),
        }
    }
}

/// Why there is no seal.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Key and certificate cannot be read, or do not belong together.
    #[error("`[signing]` of the target profile: {0}")]
    Signer(#[from] SignerError),
    /// A template that cannot be read, or does not fit the certificate.
    #[error("`[choices]` of the target profile: \"key-id.issuer\": {0}")]
    Issuer(TemplateError),
    /// A form that is not known.
    #[error("`[choices]` of the target profile: \"{key}\" knows {known}, found `{found}`")]
    Form {
        /// The key.
        key: &'static str,
        /// What it says.
        found: String,
        /// What it may say.
        known: &'static str,
    },
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

impl Seal {
    /// A seal of this signer.
    pub fn new(signer: Signer, forms: Forms) -> Result<Self, SealError> {
        forms.fit(signer.certificate())?;
        Ok(Self {
            own: Arc::new(signer),
            other: Arc::new(Signer::from_pem(OTHER_KEY, OTHER_CERTIFICATE)?),
            wrong: Arc::new([wrong(0)?, wrong(1)?, wrong(2)?]),
            forms,
        })
    }

    /// The same keys and certificates in other forms; what was signed is known to both.
    pub fn in_forms(&self, forms: Forms) -> Result<Self, SealError> {
        forms.fit(self.own.certificate())?;
        Ok(Self {
            own: Arc::clone(&self.own),
            other: Arc::clone(&self.other),
            wrong: Arc::clone(&self.wrong),
            forms,
        })
    }

    /// How it names and sends certificates.
    pub fn forms(&self) -> &Forms {
        &self.forms
    }

    /// A part of a certificate as text: the header value for no name, `pem` for the base64 of its PEM,
    /// `serial` and `issuer` as in keyId, `serial-decimal`. `None` for another name.
    pub fn certificate(&self, party: Option<Party>, part: &str) -> Option<String> {
        let certificate = self.signer(party).certificate();
        match part {
            "" if !self.forms.pem => Some(certificate.header_value()),
            "" | "pem" => Some(BASE64_STANDARD.encode(pem(certificate))),
            "serial" => Some(certificate.serial(self.forms.key_id.serial)),
            "serial-decimal" => Some(certificate.serial_decimal()),
            "issuer" => Some(certificate.issuer().write(&self.key_id_form(party).issuer)),
            _ => None,
        }
    }

    /// The value of a Digest header for this body: `sha-256` or `sha-512`.
    pub fn digest(algorithm: &str, body: &[u8]) -> Option<String> {
        let algorithm = match algorithm {
            "sha-256" => Algorithm::Sha256,
            "sha-512" => Algorithm::Sha512,
            _ => return None,
        };
        Some(algorithm.header_value(body))
    }

    /// The value of the Signature header over the other headers of a request.
    pub fn signature(&self, headers: &[(String, String)], signing: &Signing) -> Result<String, SignError> {
        let signer = self.signer(signing.key);
        let fields = as_signed(headers, signing);
        let mut options = self.options(signing);
        let sign = |options: &Options| signature_header::sign(signer, &fields, options);
        let alone = signing.wrap == Some(WrapForm::SignatureAlone);
        if alone || signing.url_safe {
            let plain = Options { wrap: Wrap::Never, ..options.clone() };
            let plain = sign(&plain)?;
            let (_, rest) = plain.value.split_once("signature=\"").ok_or(SignError::NothingToRewrite)?;
            let mut signature = rest.trim_end_matches('"').to_owned();
            if signing.url_safe {
                signature = signature.replace('+', "-").replace('/', "_");
            }
            if alone {
                signature = encoded_word::wrap(&signature, Charset::Utf8, Encoding::B)
                    .map_err(SignatureHeaderError::from)?;
            }
            options.signature = Parameter::Text(signature);
        }
        Ok(sign(&options)?.value)
    }

    fn signer(&self, party: Option<Party>) -> &Signer {
        match party {
            None => &self.own,
            Some(Party::Other) => &self.other,
            Some(Party::OtherExpired) => &self.wrong[0],
            Some(Party::OtherEarly) => &self.wrong[1],
            Some(Party::OtherRole) => &self.wrong[2],
        }
    }

    /// How keyId names a party's certificate. A text of one's own is for the issuer of the own certificate:
    /// that of another one is written by RFC 4514.
    fn key_id_form(&self, party: Option<Party>) -> KeyIdForm {
        let form = self.forms.key_id.clone();
        let is_own = || self.signer(party).certificate().issuer() == self.own.certificate().issuer();
        match form.issuer {
            NameForm::Template(_) if !is_own() => KeyIdForm { issuer: NameForm::Rfc4514, ..form },
            _ => form,
        }
    }

    fn options(&self, signing: &Signing) -> Options {
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
            listed: signing.headers.clone(),
            text: signing.signing_string.clone(),
            key_id: stated(SignatureParameter::KeyId, Some(key_id)),
            algorithm: stated(SignatureParameter::Algorithm, signing.algorithm.clone()),
            headers: stated(
                SignatureParameter::Headers,
                signing.stated_headers.as_ref().map(|names| names.join(" ")),
            ),
            signature: stated(SignatureParameter::Signature, signing.signature.clone()),
            corrupted: signing.corrupted,
            wrap: match signing.wrap {
                // One that has to be wrapped cannot be rewritten.
                None if signing.url_safe => Wrap::Never,
                None => Wrap::WhenNeeded,
                Some(WrapForm::Never | WrapForm::SignatureAlone) => Wrap::Never,
                Some(WrapForm::Utf8B) => Wrap::Always(Charset::Utf8, Encoding::B),
                Some(WrapForm::Utf8Q) => Wrap::Always(Charset::Utf8, Encoding::Q),
                Some(WrapForm::Latin1B) => Wrap::Always(Charset::Iso8859_1, Encoding::B),
                Some(WrapForm::Latin1Q) => Wrap::Always(Charset::Iso8859_1, Encoding::Q),
            },
            ..Options::default()
        }
    }
}

/// The unrelated TPP with one of its wrong certificates.
fn wrong(number: usize) -> Result<Signer, SignerError> {
    Signer::from_pem(OTHER_KEY, WRONG_CERTIFICATES[number])
}

/// The headers with the values that are signed, which are those that are sent but where a case says
/// otherwise.
fn as_signed(headers: &[(String, String)], signing: &Signing) -> Vec<(String, String)> {
    let mut fields = headers.to_vec();
    for (name, value) in &signing.signed_as {
        match fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(field) => value.clone_into(&mut field.1),
            None => fields.push((name.clone(), value.clone())),
        }
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

    fn seal() -> Seal {
        Seal::new(Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).unwrap(), Forms::default()).unwrap()
    }

    fn signed(signing: Value) -> String {
        let headers = [("Date", "now"), ("X-Request-ID", "r"), ("PSU-ID", "p")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        seal().signature(&headers, &serde_json::from_value(signing).unwrap()).unwrap()
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
        let table: [(Value, &[&str]); 17] = [
            (json!({"wrap": "never"}), &[]),
            (json!({"headers": ["date", "x-request-id", "psu-id"]}), &[]),
            (json!({"signed-as": {"x-request-id": "r"}}), &[]),
            (json!({"algorithm": "none"}), &["algorithm"]),
            (json!({"key-id": "SN=1"}), &["keyId"]),
            (json!({"stated-headers": ["date", "digest"]}), &["headers"]),
            (json!({"signature": "AA=="}), &["signature"]),
            (json!({"corrupted": true}), &["signature"]),
            (json!({"url-safe": true}), &["signature"]),
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
        let seal = seal();
        for part in ["", "serial", "pem"] {
            assert_ne!(seal.certificate(None, part), seal.certificate(Some(Party::Other), part), "{part}");
        }
        let key_id = format!(
            "SN={},CA={}",
            seal.certificate(None, "serial").unwrap(),
            seal.certificate(None, "issuer").unwrap()
        );
        assert_eq!(parameter(&signed(json!({})), "keyId"), Some(key_id.as_str()));
        let pem = BASE64_STANDARD.decode(seal.certificate(None, "pem").unwrap()).unwrap();
        let read = Certificate::from_pem(&pem).unwrap();
        assert_eq!(Some(read.header_value()), seal.certificate(None, ""));
        assert_eq!(seal.certificate(None, "subject"), None);
    }

    #[test]
    fn a_profile_declares_the_forms_and_an_unknown_one_names_those_that_are_known() {
        let forms = |choices: &[(&str, &str)]| {
            Forms::of(&choices.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
        };
        assert_eq!(forms(&[("payment.success-status", "201")]).unwrap(), Forms::default());
        let declared = forms(&[
            ("key-id.serial", "lower"),
            ("key-id.issuer", "forward, spaced"),
            ("certificate.form", "base64 of PEM"),
        ]);
        let own =
            Seal::new(Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).unwrap(), declared.unwrap()).unwrap();
        let usual = seal();
        let part = |seal: &Seal, part| seal.certificate(None, part).unwrap();
        assert_eq!(part(&own, "serial"), part(&usual, "serial").to_lowercase());
        assert!(part(&own, "issuer").contains(", ") && part(&usual, "issuer") != part(&own, "issuer"));
        assert_eq!(part(&own, ""), part(&usual, "pem"));
        let issuer = |text: &str| {
            let forms = forms(&[("key-id.issuer", text)])?;
            Seal::new(Signer::from_pem(TEST_KEY, TEST_CERTIFICATE).unwrap(), forms)
                .map(|seal| part(&seal, "issuer"))
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
