//! Transactions of an account (section Endpoints > Get transaction details).

use serde::{Deserialize, Serialize};

use super::payments::ShownTo;

/// Settings for transactions.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Transactions {
    /// The callers who can see a transaction, which the document does not define (`transaction.shown-to`).
    pub(crate) shown_to: ShownTo,
    /// True if a path may name a transaction of another account (`transaction.path.unknown`).
    pub(crate) of_any_account: bool,
    /// The fields that are "corporate context only" (`transaction.corporate-only`).
    pub(crate) corporate_only: Vec<String>,
    /// True if PSU-Corporate-ID makes the context corporate, whatever PSU-Context says
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
