//! The operations of the bank, with method and path.

use std::fmt;

use http::Method;
use serde::{Deserialize, Serialize};

/// The two payment products. Only NCBCT payments can be put in a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// A Norwegian cross-border credit transfer.
    Ncbct,
    /// A series of Norwegian domestic credit transfers.
    Periodic,
}

impl Product {
    /// Returns the word for the product in clause ids.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Ncbct => "ncbct",
            Self::Periodic => "periodic",
        }
    }

    /// Returns the path under which payments of the product are created and read.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ncbct => "/v1/payments/norwegian-cross-border-credit-transfers",
            Self::Periodic => "/v1/periodic-payments/norwegian-domestic-credit-transfers",
        }
    }
}

/// One operation. The document specifies the first five, which are the columns of its header table (section
/// Endpoints > Common request headers). It only mentions the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Create payments signing basket.
    Basket,
    /// Create NCBCT payment.
    Ncbct,
    /// Create periodic NDCT payment.
    Periodic,
    /// Get sandbox customers.
    Customers,
    /// Get transaction details.
    Transaction,
    /// Get a payment.
    Payment(Product),
    /// Get the status of a payment.
    Status(Product),
    /// Delete a payment.
    Deletion(Product),
    /// Get the status of a basket.
    BasketStatus,
    /// Get the booked transactions of an account.
    Transactions,
    /// Create a sandbox customer.
    CreateCustomer,
    /// Create an account of a customer.
    CreateAccount,
    /// Book a transaction on an account.
    Book,
    /// Set the balance of an account.
    SetBalance,
}

impl Operation {
    /// The operations that the document specifies.
    pub const SPECIFIED: [Self; 5] =
        [Self::Basket, Self::Ncbct, Self::Periodic, Self::Customers, Self::Transaction];

    /// The operations that the document only mentions.
    pub const MENTIONED: [Self; 12] = [
        Self::Payment(Product::Ncbct),
        Self::Payment(Product::Periodic),
        Self::Status(Product::Ncbct),
        Self::Status(Product::Periodic),
        Self::Deletion(Product::Ncbct),
        Self::Deletion(Product::Periodic),
        Self::BasketStatus,
        Self::Transactions,
        Self::CreateCustomer,
        Self::CreateAccount,
        Self::Book,
        Self::SetBalance,
    ];

    /// Returns the word in clause ids, the method and the route.
    ///
    /// POST creates and PUT replaces, both with a JSON body; GET reads. The document does not show the paths
    /// of the basket ("Method and path: not shown"), of its status and of a payment. Those here are this
    /// bank's choice. The route of a payment is relative to the path of its product.
    fn row(self) -> (&'static str, Method, &'static str) {
        match self {
            Self::Basket => ("basket", Method::POST, "/v1/signing-baskets"),
            Self::Ncbct => (Product::Ncbct.id(), Method::POST, Product::Ncbct.path()),
            Self::Periodic => (Product::Periodic.id(), Method::POST, Product::Periodic.path()),
            Self::Customers => ("customers", Method::GET, "/v1/sandbox/customers"),
            Self::Transaction => {
                ("transaction", Method::GET, "/v1/accounts/{id}/transactions/{transactionId}")
            }
            Self::Payment(_) => ("payment", Method::GET, "/{paymentId}"),
            Self::Status(_) => ("status", Method::GET, "/{paymentId}/status"),
            Self::Deletion(_) => ("deletion", Method::DELETE, "/{paymentId}"),
            Self::BasketStatus => ("basket-status", Method::GET, "/v1/signing-baskets/{basketId}/status"),
            Self::Transactions => ("transactions", Method::GET, "/v1/accounts/{id}/transactions"),
            Self::CreateCustomer => ("create-customer", Method::POST, "/v1/sandbox/customers"),
            Self::CreateAccount => {
                ("create-account", Method::POST, "/v1/sandbox/customers/{customerId}/accounts")
            }
            Self::Book => ("book", Method::POST, "/v1/sandbox/accounts/{id}/transactions"),
            Self::SetBalance => ("set-balance", Method::PUT, "/v1/sandbox/accounts/{id}/balance"),
        }
    }

    /// Returns the word for this operation in clause ids.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// Returns the method.
    pub fn method(self) -> Method {
        self.row().1
    }

    /// Returns the route in the notation of axum.
    pub fn route(self) -> String {
        let (_, _, route) = self.row();
        match self {
            Self::Payment(product) | Self::Status(product) | Self::Deletion(product) => {
                format!("{}{route}", product.path())
            }
            _ => route.to_owned(),
        }
    }

    /// Returns true if the operation creates something from a JSON body.
    pub(crate) fn creates(self) -> bool {
        self.method() == Method::POST
    }

    /// Returns true if the operation has a JSON body.
    pub fn has_body(self) -> bool {
        self.creates() || self.method() == Method::PUT
    }

    /// Returns true if the operation creates a payment.
    pub fn creates_payment(self) -> bool {
        matches!(self, Self::Ncbct | Self::Periodic)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
