//! The TPP-Signature-Certificate header (section Authentication, rule 1).

use serde::{Deserialize, Serialize};

/// What the bank decides about certificates.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Certificate {
    /// What the base64 may not hold (`certificate.form`).
    pub(crate) refuses: Vec<Form>,
    /// Whether what follows the base64 is passed over (`certificate.trailing`).
    pub(crate) trims: bool,
    /// Whether a request with a header that holds no certificate is accepted unverified
    /// (`header.tpp-signature-certificate.format`).
    pub(crate) takes_others: bool,
    /// Whose key verifies where several certificates came under one keyId (`certificate.foreign`).
    pub(crate) counts: Counted,
}

/// What the base64 of a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    Der,
    Pem,
}

/// Which of the certificates under one keyId counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counted {
    /// That of the request.
    #[default]
    OfRequest,
    /// The one that came first.
    First,
    /// The one that came last from the same device of the PSU, before this request.
    Last,
}
