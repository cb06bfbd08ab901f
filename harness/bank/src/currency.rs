//! Currency codes of the document, and the fraction digits of their amounts.
//!
//! The minor units come from two published tables: the crate `iso_currency` 0.7, and the crate `iso4217` 0.3
//! of 2018 for codes that ISO 4217 has withdrawn. The README lists the source of each exception.

/// A currency code that the document lists (section Resources > Shared types, Currency values).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency(&'static str);

impl Currency {
    pub(crate) const NOK: Self = Self("NOK");

    /// Returns the listed currency with this code. Codes are uppercase, as in ISO 4217.
    pub fn listed(code: &str) -> Option<Self> {
        LISTED.binary_search(&code).ok().map(|index| Self(LISTED[index]))
    }

    pub(crate) fn code(self) -> &'static str {
        self.0
    }

    /// Returns the number of fraction digits in ISO 4217. Returns None for special drawing rights ("N.A.")
    /// and for the five listed codes that ISO 4217 never had.
    pub fn minor_units(self) -> Option<usize> {
        let units = match self.0 {
            code if UNDEFINED.contains(&code) => return None,
            code if NONE.contains(&code) => 0,
            code if THREE.contains(&code) => 3,
            _ => 2,
        };
        Some(units)
    }
}

impl Currency {
    /// Returns true if tables differ in the fraction digits of the currency or have none, because ISO 4217
    /// withdrew the code or never had it.
    pub fn is_disputed(self) -> bool {
        UNDEFINED.contains(&self.0) || matches!(self.0, "ANG" | "BYR" | "MRO" | "STD" | "VEF" | "ZWD")
    }
}

/// Currencies without a minor unit. `iso_currency` has all of them except BYR, which is from `iso4217`.
const NONE: [&str; 17] = [
    "BIF", "BYR", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF",
    "XOF", "XPF",
];

/// Currencies with 1000 minor units.
const THREE: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// Listed codes without a number of fraction digits in ISO 4217.
const UNDEFINED: [&str; 6] = ["GGP", "IMP", "JEP", "SPL", "TVD", "XDR"];

/// The document's list, in its order, which is sorted.
#[rustfmt::skip]
pub const LISTED: [&str; 162] = [
    "AED", "AFN", "ALL", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD", "BIF", "BMD", "BND",
    "BOB", "BRL", "BSD", "BTN", "BWP", "BYR", "BZD", "CAD", "CDF", "CHF", "CLP", "CNY", "COP", "CRC", "CUC", "CUP", "CVE", "CZK",
    "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GGP", "GHS", "GIP", "GMD", "GNF", "GTQ",
    "GYD", "HKD", "HNL", "HRK", "HTG", "HUF", "IDR", "ILS", "IMP", "INR", "IQD", "IRR", "ISK", "JEP", "JMD", "JOD", "JPY", "KES",
    "KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "LYD", "MAD", "MDL", "MGA", "MKD",
    "MMK", "MNT", "MOP", "MRO", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB",
    "PEN", "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP",
    "SLL", "SOS", "SPL", "SRD", "STD", "SVC", "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD", "TVD", "TWD", "TZS",
    "UAH", "UGX", "USD", "UYU", "UZS", "VEF", "VND", "VUV", "WST", "XAF", "XCD", "XDR", "XOF", "XPF", "YER", "ZAR", "ZMW", "ZWD",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Listed codes that `iso_currency` does not know.
    const WITHDRAWN: [&str; 6] = ["ANG", "BYR", "MRO", "STD", "VEF", "ZWD"];

    fn digits(code: &str) -> Option<usize> {
        Currency::listed(code).unwrap().minor_units()
    }

    #[test]
    fn the_list_is_sorted_and_free_of_duplicates() {
        assert!(LISTED.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_minor_units_are_those_of_an_outside_table() {
        let mut compared = 0;
        for code in LISTED {
            if let Some(outside) = iso_currency::Currency::from_code(code) {
                assert_eq!(digits(code), outside.exponent().map(usize::from), "{code}");
                compared += 1;
            } else {
                assert!(WITHDRAWN.contains(&code) || UNDEFINED.contains(&code), "{code} is in no source");
            }
        }
        assert_eq!(compared, LISTED.len() - WITHDRAWN.len() - (UNDEFINED.len() - 1));
    }

    #[test]
    fn some_minor_units_that_are_easily_wrong() {
        let expected =
            [("ISK", 0), ("HUF", 2), ("MGA", 2), ("CLP", 0), ("KWD", 3), ("IQD", 3), ("BYR", 0), ("MRO", 2)];
        for (code, units) in expected {
            assert_eq!(digits(code), Some(units), "{code}");
        }
        assert_eq!(digits("XDR"), None);
        assert_eq!(digits("GGP"), None);
    }

    #[test]
    fn codes_outside_the_list() {
        for code in ["", "NO", "nok", "NOKK", "BYN", "XXX", "CLF"] {
            assert_eq!(Currency::listed(code), None, "{code}");
        }
    }
}
