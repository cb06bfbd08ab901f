//! Codes of the document's lists that a bank may have its own reasons to reject.

/// Countries to which law forbids many banks to pay.
pub(crate) const SANCTIONED_COUNTRIES: [&str; 6] = ["BY", "CU", "IR", "KP", "RU", "SY"];

/// Currencies in which law forbids many banks to pay.
pub(crate) const SANCTIONED_CURRENCIES: [&str; 5] = ["CUP", "IRR", "KPW", "RUB", "SYP"];

/// Listed currencies that ISO 4217 has withdrawn or never had.
pub(crate) const WITHDRAWN_CURRENCIES: [&str; 15] =
    ["ANG", "BGN", "BYR", "CUC", "HRK", "MRO", "SLL", "STD", "VEF", "ZWD", "GGP", "IMP", "JEP", "SPL", "TVD"];
