//! Digests and signs requests for one target, as a case wants it.

use xs2aspec_signing::{
    Options, Parameter, Signer, Wrap,
    digest::Algorithm,
    encoded_word::{Charset, Encoding},
    signature_header,
    signer::SignerError,
};
use xs2aspec_suite::{Signing, Wrap as WrapForm};

/// The signing key and certificate of a TPP.
#[derive(Debug)]
pub struct Seal {
    signer: Signer,
    certificate_header: String,
}

/// Why there is no seal: key and certificate cannot be read, or do not belong together.
#[derive(Debug, thiserror::Error)]
#[error("`[signing]` of the target profile: {0}")]
pub struct SealError(#[from] SignerError);

impl Seal {
    /// A seal from PEM texts.
    pub fn new(key: &str, certificate: &str) -> Result<Self, SealError> {
        let signer = Signer::from_pem(key, certificate)?;
        let certificate_header = signer.certificate().header_value();
        Ok(Self { signer, certificate_header })
    }

    /// The value of the TPP-Signature-Certificate header.
    pub fn certificate_header(&self) -> &str {
        &self.certificate_header
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

    /// The value of the Signature header over the other headers of a request. The error says what cannot be signed.
    pub fn signature(&self, headers: &[(String, String)], signing: &Signing) -> Result<String, String> {
        let options = Options {
            listed: signing.headers.clone(),
            text: signing.signing_string.clone(),
            algorithm: signing.algorithm.clone().map_or(Parameter::Legal, Parameter::Text),
            wrap: match signing.wrap {
                None => Wrap::WhenNeeded,
                Some(WrapForm::Utf8B) => Wrap::Always(Charset::Utf8, Encoding::B),
                Some(WrapForm::Utf8Q) => Wrap::Always(Charset::Utf8, Encoding::Q),
                Some(WrapForm::Latin1B) => Wrap::Always(Charset::Iso8859_1, Encoding::B),
                Some(WrapForm::Latin1Q) => Wrap::Always(Charset::Iso8859_1, Encoding::Q),
            },
            ..Options::default()
        };
        signature_header::sign(&self.signer, headers, &options)
            .map(|signed| signed.value)
            .map_err(|error| error.to_string())
    }
}
