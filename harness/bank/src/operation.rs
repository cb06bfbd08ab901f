//! The operations of the bank, and where they live.

use std::fmt;

use http::Method;
use serde::{Deserialize, Serialize};

/// The two payment products, which differ in whether a basket may hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// A Norwegian cross-border credit transfer.
    Ncbct,
    /// A series of Norwegian domestic credit transfers.
    Periodic,
}

impl Product {
    /// The word that clause ids use for the creation of such a payment.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Ncbct => "ncbct",
            Self::Periodic => "periodic",
        }
    }

    /// The path under which the product's payments are made and found.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ncbct => "/v1/payments/norwegian-cross-border-credit-transfers",
            Self::Periodic => "/v1/periodic-payments/norwegian-domestic-credit-transfers",
        }
    }
}

/// One operation. The document specifies the first five, which are the columns of the table in its section
/// Endpoints > Common request headers; of the others it only says that they exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Create payments signing basket.
    Basket,
    /// Create NCBCT payment.
    Ncbct,
    /// Create periodic NDCT payment.
    Periodic,
    /// List customers.
    Customers,
    /// Transaction details.
    Transaction,
    /// What a payment was made with.
    Payment(Product),
    /// The status of a payment.
    Status(Product),
    /// The end of a payment that is not under way yet.
    Deletion(Product),
    /// The status of a basket.
    BasketStatus,
    /// The booked transactions of an account.
    Transactions,
    /// A new customer of the sandbox.
    CreateCustomer,
    /// A new account of a customer.
    CreateAccount,
    /// A booked transaction of an account.
    Book,
    /// Another balance of an account.
    SetBalance,
}

impl Operation {
    /// The operations that the document specifies.
    pub const SPECIFIED: [Self; 5] =
        [Self::Basket, Self::Ncbct, Self::Periodic, Self::Customers, Self::Transaction];

    /// The operations that it only mentions.
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

    /// Its word in clause ids, its method (POST creates and PUT replaces with a JSON body, GET reads), and its
    /// route. The document does not show the paths of the basket ("Method and path: not shown"), of its status
    /// and of a payment itself; those here are this bank's choice. A payment's begins with that of its product.
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

    /// The word that clause ids use for this operation.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// The method.
    pub fn method(self) -> Method {
        self.row().1
    }

    /// The route, in axum's notation.
    pub fn route(self) -> String {
        let (_, _, route) = self.row();
        match self {
            Self::Payment(product) | Self::Status(product) | Self::Deletion(product) => {
                format!("{}{route}", product.path())
            }
            _ => route.to_owned(),
        }
    }

    /// Whether the operation is a creation with a JSON body.
    pub(crate) fn creates(self) -> bool {
        self.method() == Method::POST
    }

    /// Whether the operation has a JSON body.
    pub fn has_body(self) -> bool {
        self.creates() || self.method() == Method::PUT
    }

    /// Whether the operation creates a payment.
    pub fn creates_payment(self) -> bool {
        matches!(self, Self::Ncbct | Self::Periodic)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
