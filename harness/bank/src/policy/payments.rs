//! What becomes of payments (section Resources > Payment creation response, section Errors).

use serde::{Deserialize, Serialize};

/// What the bank decides about payments.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Payments {
    /// What the id of a payment is made of (`payment.id.distinct`).
    pub(crate) ids: Ids,
    /// To whom payments show, which the document does not say (`basket.payment-status.shown-to`).
    pub(crate) shown_to: ShownTo,
    /// Whether a payment is that of the X-PSU-IDENTITY that it was made with, and not of the person who has
    /// it (`payment.identity`).
    pub(crate) owned_as_named: bool,
    /// How many payments can be read and deleted, those that were asked for last; all if there is no number
    /// (`payment.stays`).
    pub(crate) remembered: Option<usize>,
    /// Whether a deleted payment can no longer be read (`payment.deletion.effect`).
    pub(crate) forgets_deleted: bool,
    /// What becomes of a payment that its account cannot pay (`error.funds.rejected`).
    pub(crate) without_funds: WithoutFunds,
}

/// What the ids of payments are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ids {
    /// They tell nothing.
    #[default]
    Opaque,
    /// Ascending numbers.
    Numbers,
    /// The second in which a payment is made.
    Seconds,
    /// They follow from what a payment is made with.
    OfMembers,
}

/// To whom something shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ShownTo {
    /// To its own PSU, and to the TPP that acted for it.
    #[default]
    Owner,
    /// To any PSU of that TPP.
    AnyPsu,
    /// To any TPP of that PSU.
    AnyTpp,
    /// To anyone.
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

/// What becomes of a payment that its account cannot pay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WithoutFunds {
    /// It is created and rejected.
    #[default]
    Rejected,
    /// It is received like any other.
    Received,
    /// It is refused, and not created.
    Refused,
}
