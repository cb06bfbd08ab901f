//! Amounts and regulatory reporting (section Resources > Shared types).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::currency::Currency;

/// Settings for amounts.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Amounts {
    /// The maximum number of fraction digits by currency code, or `*` for all. Other currencies have as many
    /// as in ISO 4217 (`amount.digits`).
    fraction_digits: BTreeMap<String, usize>,
    /// The maximum number of digits in all: "precision 18" (`amount.precision.total`).
    pub(crate) digits: usize,
    /// The amount in øre from which the regulatory fields are required: NOK 100 000
    /// (`ncbct.regulatory-reporting-code.required`).
    pub(crate) reporting_from: i64,
    /// The integer type in which an amount is compared with that threshold
    /// (`ncbct.regulatory-reporting-code.required`).
    pub(crate) reporting_number: Number,
    /// True if the code is checked even if it is not required (`ncbct.regulatory-reporting-code.listed`).
    pub(crate) reads_all_codes: bool,
}

impl Default for Amounts {
    fn default() -> Self {
        Self {
            fraction_digits: BTreeMap::new(),
            digits: 18,
            reporting_from: 10_000_000,
            reporting_number: Number::Any,
            reads_all_codes: true,
        }
    }
}

impl Amounts {
    /// Returns the number of fraction digits that overrides ISO 4217 for a currency.
    pub(crate) fn fraction_digits(&self, currency: Currency) -> Option<usize> {
        [currency.code(), "*"].into_iter().find_map(|code| self.fraction_digits.get(code)).copied()
    }
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Number {
    /// Any size.
    Any,
    /// 32 bits, signed.
    Signed,
    /// 32 bits, unsigned.
    Unsigned,
}

impl Number {
    /// Returns a number after truncation to this type.
    pub(crate) fn keep(self, number: i128) -> i128 {
        const ALL: i128 = 1 << 32;
        match (self, number.rem_euclid(ALL)) {
            (Self::Any, _) => number,
            (Self::Signed, kept) if kept >= ALL / 2 => kept - ALL,
            (Self::Signed | Self::Unsigned, kept) => kept,
        }
    }
}
