//! Signing baskets (section Endpoints > Create payments signing basket).

use serde::{Deserialize, Serialize};

/// What the bank decides about baskets.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Baskets {
    /// How many payments a basket may have: "At most 10 entries" (`basket.payment-ids.limit`).
    pub limit: usize,
    /// Whether a payment that comes again counts for the limit (`basket.payment-ids.limit`).
    pub(crate) counts_repeated: bool,
    /// Which payments may be neither bulk nor periodic (`basket.mix`).
    pub mix: Looked,
    /// Whether a basket may have nothing but payments that may not be mixed (`basket.mix`).
    pub(crate) takes_unmixed: bool,
    /// Whether a bulk payment is one that may not be mixed (`basket.mix`).
    pub(crate) takes_bulk: bool,
    /// Whether a pending series is one that may be mixed (`basket.mix`).
    pub(crate) takes_pending_series: bool,
    /// Whether no cross-border payment may be in a basket, which the document leaves to a bank.
    pub(crate) refuses_cross_border: bool,
    /// Which payments have to be known (`basket.payment-ids.known`).
    pub(crate) known: Looked,
    /// Which payments have to be the PSU's own (`basket.payment-ids.known`).
    pub(crate) own: Looked,
    /// Whether the payments of other TPPs of the PSU are its own.
    pub(crate) takes_of_any_tpp: bool,
    /// Which payments must not have been deleted (`basket.payment-ids.deleted`).
    pub(crate) kept: Looked,
    /// Whether a basket with a deleted payment is created and rejected, and not refused.
    pub(crate) rejects_deleted: bool,
    /// Whether a payment may be in one basket only.
    pub(crate) one_basket: bool,
    /// Which payments make a basket rejected if they are (`basket.transaction-status`).
    pub(crate) rejected: Looked,
    /// What the status of a basket follows from (`basket.transaction-status`).
    pub(crate) status: BasketStatus,
}

impl Default for Baskets {
    fn default() -> Self {
        Self {
            limit: 10,
            counts_repeated: true,
            mix: Looked::All,
            takes_unmixed: false,
            takes_bulk: false,
            takes_pending_series: false,
            refuses_cross_border: false,
            known: Looked::All,
            own: Looked::All,
            takes_of_any_tpp: false,
            kept: Looked::All,
            rejects_deleted: false,
            one_basket: false,
            rejected: Looked::All,
            status: BasketStatus::OfAll,
        }
    }
}

/// Which payments of a basket a bank looks at for a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Looked {
    /// All of them.
    #[default]
    All,
    /// None.
    Nobody,
    /// The first one.
    First,
    /// The last one.
    Last,
    /// The first and the last one.
    Ends,
    /// The first five.
    FirstFive,
}

impl Looked {
    /// The first of these that is looked at and that breaks a rule.
    pub(crate) fn first<T>(self, all: &[T], breaks: impl Fn(&T) -> bool) -> Option<usize> {
        (0..all.len()).find(|index| self.includes(*index, all.len()) && breaks(&all[*index]))
    }

    /// Whether the payment at this index of so many is looked at.
    pub(crate) fn includes(self, index: usize, count: usize) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::First => index == 0,
            Self::Last => index + 1 == count,
            Self::Ends => index == 0 || index + 1 == count,
            Self::FirstFive => index < 5,
        }
    }
}

/// What the status of a new basket follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasketStatus {
    /// All its payments.
    #[default]
    OfAll,
    /// Nothing: it is received.
    Received,
    /// Its first payment.
    OfFirst,
    /// Its last payment.
    OfLast,
}
