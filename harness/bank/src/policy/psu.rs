//! Identification of the PSU and its corporate agreement (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

use super::headers::OfOperation;
use crate::header::Header;
use crate::operation::Operation;

/// Settings for PSUs.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Identification {
    /// Headers that may name an unknown PSU (`header.psu-id.unknown`).
    unknown_taken: Vec<OfOperation>,
    /// Corporate users who need not name an agreement (`error.corporate-id`).
    no_agreement: Vec<OfUser>,
    /// True if PSU-ID and X-PSU-IDENTITY together are rejected, which the document leaves to the bank.
    pub(crate) one_identity: bool,
    /// True if a private PSU in corporate context gets 403, with or without an agreement.
    pub(crate) forbids_foreign_context: bool,
}

impl Identification {
    /// Returns true if a header of an operation may name an unknown PSU.
    pub(crate) fn takes_unknown(&self, header: Header, operation: Operation) -> bool {
        self.unknown_taken.iter().any(|one| one.is(header, operation))
    }

    /// Returns true if this kind of corporate user must name an agreement.
    pub(crate) fn wants_agreement(&self, user: Corporate, operation: Operation) -> bool {
        !self.no_agreement.iter().any(|one| (one.user, one.operation) == (user, operation))
    }
}

/// A corporate user of an operation.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct OfUser {
    user: Corporate,
    operation: Operation,
}

/// The reason why a request counts as that of a corporate user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Corporate {
    /// The PSU is corporate.
    Person,
    /// PSU-Context is CORPORATE.
    Context,
    /// The account belongs to a company.
    Account,
}
