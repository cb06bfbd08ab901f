//! Who the PSU is, and for whom he acts (section Endpoints > Common request headers).

use serde::{Deserialize, Serialize};

use super::headers::OfOperation;
use crate::header::Header;
use crate::operation::Operation;

/// What the bank decides about PSUs.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Identification {
    /// Headers that may name a PSU whom the bank does not know (`header.psu-id.unknown`).
    unknown_taken: Vec<OfOperation>,
    /// Corporate users who need not name an agreement (`error.corporate-id`).
    no_agreement: Vec<OfUser>,
    /// Whether PSU-ID and X-PSU-IDENTITY together are refused, which the document leaves to a bank.
    pub(crate) one_identity: bool,
    /// Whether a private PSU in corporate context is forbidden, and not asked for an agreement.
    pub(crate) forbids_foreign_context: bool,
}

impl Identification {
    /// Returns true if a header of an operation may name an unknown PSU.
    pub(crate) fn takes_unknown(&self, header: Header, operation: Operation) -> bool {
        self.unknown_taken.iter().any(|one| one.is(header, operation))
    }

    /// Returns true if who is a corporate user in this way has to name an agreement.
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

/// A way in which a request is that of a corporate user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Corporate {
    /// The PSU is one.
    Person,
    /// PSU-Context says so.
    Context,
    /// The debtor account is that of a company.
    Account,
}
