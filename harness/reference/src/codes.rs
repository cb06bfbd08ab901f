//! Codes of the document's lists that a bank may have a reason of its own to reject.

/// Countries to which many banks may not pay by law.
pub(crate) const SANCTIONED_COUNTRIES: [&str; 6] = ["BY", "CU", "IR", "KP", "RU", "SY"];

/// Currencies in which many banks may not pay by law.
pub(crate) const SANCTIONED_CURRENCIES: [&str; 5] = ["CUP", "IRR", "KPW", "RUB", "SYP"];

/// Listed currencies that ISO 4217 no longer has, or never had.
pub(crate) const WITHDRAWN_CURRENCIES: [&str; 15] =
    ["ANG", "BGN", "BYR", "CUC", "HRK", "MRO", "SLL", "STD", "VEF", "ZWD", "GGP", "IMP", "JEP", "SPL", "TVD"];
