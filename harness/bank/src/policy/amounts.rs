//! Amounts, and what of them is reported (section Resources > Shared types).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::currency::Currency;

/// What the bank decides about amounts.
#[derive(Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Amounts {
    /// How many fraction digits amounts may have, by the code of a currency, or `*` for all: where there is
    /// none, as many as ISO 4217 gives it (`amount.digits`).
    fraction_digits: BTreeMap<String, usize>,
    /// How many digits an amount may have in all: "Precision 18" (`amount.precision.total`).
    pub(crate) digits: usize,
    /// The amount in øre from which the regulatory fields are required: 100 000 NOK
    /// (`ncbct.regulatory-reporting-code.required`).
    pub(crate) reporting_from: i64,
    /// As which number an amount is compared with that (`ncbct.regulatory-reporting-code.required`).
    pub(crate) reporting_number: Number,
    /// Whether the code is looked at where none is required (`ncbct.regulatory-reporting-code.listed`).
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
    /// Returns the number of fraction digits of a currency that the bank decides in another way than ISO
    /// 4217.
    pub(crate) fn fraction_digits(&self, currency: Currency) -> Option<usize> {
        [currency.code(), "*"].into_iter().find_map(|code| self.fraction_digits.get(code)).copied()
    }
}

/// A kind of whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Number {
    /// One of any size.
    Any,
    /// A signed one of 32 bits.
    Signed,
    /// An unsigned one of 32 bits.
    Unsigned,
}

impl Number {
    /// Returns what a number of this kind keeps of another one.
    pub(crate) fn keep(self, number: i128) -> i128 {
        const ALL: i128 = 1 << 32;
        match (self, number.rem_euclid(ALL)) {
            (Self::Any, _) => number,
            (Self::Signed, kept) if kept >= ALL / 2 => kept - ALL,
            (Self::Signed | Self::Unsigned, kept) => kept,
        }
    }
}
