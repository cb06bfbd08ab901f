//! Transactions of an account (section Endpoints > Transaction details).

use serde::{Deserialize, Serialize};

use super::payments::ShownTo;

/// What the bank decides about transactions.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Transactions {
    /// To whom transactions show, which the document does not say (`transaction.shown-to`).
    pub(crate) shown_to: ShownTo,
    /// Whether a transaction may be one of another account than that of its path
    /// (`transaction.path.unknown`).
    pub(crate) of_any_account: bool,
    /// The members "corporate context only" (`transaction.corporate-only`).
    pub(crate) corporate_only: Vec<String>,
    /// Whether PSU-Corporate-ID makes the context a corporate one, whatever PSU-Context says
    /// (`transaction.corporate-only.contradicted`).
    pub(crate) agreement_decides: bool,
}

impl Default for Transactions {
    fn default() -> Self {
        let corporate_only = ["batchIndicator", "batchNumberOfTransactions", "entryDetails", "_links"];
        Self {
            shown_to: ShownTo::Owner,
            of_any_account: false,
            corporate_only: corporate_only.map(str::to_owned).into(),
            agreement_decides: false,
        }
    }
}
