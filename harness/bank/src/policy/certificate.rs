//! The TPP-Signature-Certificate header (section Authentication, rule 1).

use serde::{Deserialize, Serialize};

/// Settings for certificates.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Certificate {
    /// Encodings of the certificate that are rejected (`certificate.form`).
    pub(crate) refuses: Vec<Form>,
    /// True if characters after the base64 are ignored (`certificate.trailing`).
    pub(crate) trims: bool,
    /// True if a value that is not a certificate is accepted without verification
    /// (`header.tpp-signature-certificate.format`).
    pub(crate) takes_others: bool,
    /// The certificate whose key verifies, if several were sent under one keyId (`certificate.foreign`).
    pub(crate) counts: Counted,
}

/// The encoding of the certificate within the base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    Der,
    Pem,
}

/// The certificate that counts among those sent under one keyId.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// The certificate of the request.
    #[default]
    OfRequest,
    /// The certificate that was sent first.
    First,
    /// The certificate of the previous request from the same PSU device.
    Last,
}
