//! The five operations of the document, as far as their answers differ.

use std::{fmt, str::FromStr};

use super::clause;

/// An operation whose answers have rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

impl Operation {
    /// All operations, in the order of the document's header table.
    pub const ALL: [Self; 5] =
        [Self::Basket, Self::Ncbct, Self::Periodic, Self::Customers, Self::Transaction];

    /// The id that clauses, cases and records use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Basket => "basket",
            Self::Ncbct => "ncbct",
            Self::Periodic => "periodic",
            Self::Customers => "customers",
            Self::Transaction => "transaction",
        }
    }

    /// Whether the answer is a payment creation response.
    pub const fn creates_payment(self) -> bool {
        matches!(self, Self::Ncbct | Self::Periodic)
    }

    /// The clause that says which kind of JSON value the whole body is.
    pub(super) const fn shape_clause(self) -> &'static str {
        match self {
            Self::Basket => clause::BASKET_SHAPE,
            Self::Ncbct | Self::Periodic => clause::PAYMENT_SHAPE,
            Self::Customers => clause::CUSTOMERS_SHAPE,
            Self::Transaction => clause::TRANSACTION_SHAPE,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownOperation(
    /// The word found.
    pub String,
);

impl fmt::Display for UnknownOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected an operation (basket, ncbct, periodic, customers, transaction), found `{}`",
            self.0
        )
    }
}

impl std::error::Error for UnknownOperation {}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.as_str() == word)
            .ok_or_else(|| UnknownOperation(word.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_read_from_its_id_and_nothing_else_is() {
        for operation in Operation::ALL {
            assert_eq!(operation.to_string().parse(), Ok(operation));
        }
        let error = "Basket".parse::<Operation>().unwrap_err();
        assert!(error.to_string().ends_with("found `Basket`"));
    }
}
