//! Signing baskets (section Endpoints > Create payments signing basket).

use serde::{Deserialize, Serialize};

/// Settings for baskets.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Baskets {
    /// The maximum number of payments in a basket: "at most 10 entries" (`basket.payment-ids.limit`).
    pub limit: usize,
    /// True if a repeated payment counts towards the limit (`basket.payment-ids.limit`).
    pub(crate) counts_repeated: bool,
    /// Payments that are checked for being bulk or periodic (`basket.mix`).
    pub mix: Looked,
    /// True if a basket of bulk and periodic payments alone is accepted (`basket.mix`).
    pub(crate) takes_unmixed: bool,
    /// True if bulk payments are accepted (`basket.mix`).
    pub(crate) takes_bulk: bool,
    /// True if periodic payments with status PDNG are accepted (`basket.mix`).
    pub(crate) takes_pending_series: bool,
    /// True if NCBCT payments are rejected, which the document leaves to the bank.
    pub(crate) refuses_cross_border: bool,
    /// Payments that must be known (`basket.payment-ids.known`).
    pub(crate) known: Looked,
    /// Payments that must belong to the PSU (`basket.payment-ids.known`).
    pub(crate) own: Looked,
    /// True if the PSU's payments through other TPPs are accepted.
    pub(crate) takes_of_any_tpp: bool,
    /// Payments that must not be deleted (`basket.payment-ids.deleted`).
    pub(crate) kept: Looked,
    /// True if a basket with a deleted payment is created with status RJCT instead of being rejected.
    pub(crate) rejects_deleted: bool,
    /// True if a payment can be in one basket only.
    pub(crate) one_basket: bool,
    /// Payments whose status RJCT makes the basket RJCT (`basket.transaction-status`).
    pub(crate) rejected: Looked,
    /// Payments that determine the status of a basket (`basket.transaction-status`).
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

/// The payments of a basket to which a rule applies.
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
    /// Returns the index of the first item that the rule applies to and that violates it.
    pub(crate) fn first<T>(self, all: &[T], breaks: impl Fn(&T) -> bool) -> Option<usize> {
        (0..all.len()).find(|index| self.includes(*index, all.len()) && breaks(&all[*index]))
    }

    /// Returns true if the rule applies to the item at this index of `count` items.
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

/// The payments that determine the status of a new basket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BasketStatus {
    /// All its payments.
    #[default]
    OfAll,
    /// None. The status is RCVD.
    Received,
    /// Its first payment.
    OfFirst,
    /// Its last payment.
    OfLast,
}
