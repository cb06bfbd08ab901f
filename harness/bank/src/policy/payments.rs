//! Creation, visibility and funds of payments (section Resources > Payment creation response, section
//! Errors).

use serde::{Deserialize, Serialize};

/// Settings for payments.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Payments {
    /// The form of payment ids (`payment.id.distinct`).
    pub(crate) ids: Ids,
    /// The callers who can see a payment, which the document does not define
    /// (`basket.payment-status.shown-to`).
    pub(crate) shown_to: ShownTo,
    /// True if a payment belongs to the X-PSU-IDENTITY in its request instead of to that person's PSU-ID
    /// (`payment.identity`).
    pub(crate) owned_as_named: bool,
    /// The number of recent payments that can be read and deleted, or None for all (`payment.stays`).
    pub(crate) remembered: Option<usize>,
    /// True if a deleted payment can no longer be read (`payment.deletion.effect`).
    pub(crate) forgets_deleted: bool,
    /// The treatment of a payment that its account cannot cover (`error.funds.rejected`).
    pub(crate) without_funds: WithoutFunds,
}

/// The form of payment ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ids {
    /// Opaque ids.
    #[default]
    Opaque,
    /// Ascending numbers.
    Numbers,
    /// The second of creation.
    Seconds,
    /// A hash of the fields of the payment.
    OfMembers,
}

/// The callers who can see a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShownTo {
    /// Its PSU, through the TPP that created it.
    #[default]
    Owner,
    /// Any PSU of that TPP.
    AnyPsu,
    /// Any TPP of that PSU.
    AnyTpp,
    /// Any caller.
    Anyone,
}

impl ShownTo {
    /// Returns true if the PSU is not compared.
    pub(crate) fn any_psu(self) -> bool {
        matches!(self, Self::AnyPsu | Self::Anyone)
    }

    /// Returns true if the TPP is not compared.
    pub(crate) fn any_tpp(self) -> bool {
        matches!(self, Self::AnyTpp | Self::Anyone)
    }
}

/// The treatment of a payment that its account cannot cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WithoutFunds {
    /// Created with status RJCT.
    #[default]
    Rejected,
    /// Created with status RCVD, like any other.
    Received,
    /// Not created: the request is rejected.
    Refused,
}
