//! The operations that the document specifies, and where they live.

use std::fmt;

/// One operation, which is one column of the table in the document, section Endpoints > Common request headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Basket,
    Ncbct,
    Periodic,
    Customers,
    Transaction,
}

impl Operation {
    pub(crate) const ALL: [Self; 5] =
        [Self::Basket, Self::Ncbct, Self::Periodic, Self::Customers, Self::Transaction];

    /// The word that clause ids use for this operation.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Basket => "basket",
            Self::Ncbct => "ncbct",
            Self::Periodic => "periodic",
            Self::Customers => "customers",
            Self::Transaction => "transaction",
        }
    }

    /// The route, in axum's notation. The document does not show the path of the basket ("Method and path: not
    /// shown"); the one here is this bank's choice.
    pub(crate) fn route(self) -> &'static str {
        match self {
            Self::Basket => "/v1/signing-baskets",
            Self::Ncbct => "/v1/payments/norwegian-cross-border-credit-transfers",
            Self::Periodic => "/v1/periodic-payments/norwegian-domestic-credit-transfers",
            Self::Customers => "/v1/sandbox/customers",
            Self::Transaction => "/v1/accounts/{id}/transactions/{transactionId}",
        }
    }

    /// Whether the operation is a creation with a JSON body, sent with POST; the others are read with GET.
    pub(crate) fn creates(self) -> bool {
        matches!(self, Self::Basket | Self::Ncbct | Self::Periodic)
    }

    /// Whether the operation creates a payment.
    pub(crate) fn creates_payment(self) -> bool {
        matches!(self, Self::Ncbct | Self::Periodic)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
