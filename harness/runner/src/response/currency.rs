//! The minor units of the document's currencies, from `fixtures/tables/currencies.csv`.

use std::collections::HashMap;

use serde::Deserialize;

const TABLE: &str = include_str!("../../../../fixtures/tables/currencies.csv");

/// How many fraction digits an amount in a currency has, and how firmly that can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MinorUnits {
    /// ISO 4217 list one says so.
    Fixed(u8),
    /// The last value before the code was withdrawn; ISO 4217 list three carries none (readings, row 27).
    LastActive(u8),
    /// ISO 4217 says that minor units do not apply, as of XDR (readings, row 28).
    NotApplicable,
    /// Never an ISO 4217 code (readings, row 26).
    Undefined,
}

/// The table, by code.
#[derive(Debug)]
pub(super) struct Currencies(HashMap<String, MinorUnits>);

#[derive(Deserialize)]
struct Row {
    code: String,
    minor_units: Option<u8>,
    iso_4217: String,
}

impl Currencies {
    /// The embedded table.
    pub(super) fn embedded() -> Self {
        let rows = csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize::<Row>();
        Self(rows.map(|row| row.expect("the embedded currency table is well-formed").entry()).collect())
    }

    /// The minor units of a code; `None` for a code that the document does not list.
    pub(super) fn minor_units(&self, code: &str) -> Option<MinorUnits> {
        self.0.get(code).copied()
    }
}

impl Row {
    fn entry(self) -> (String, MinorUnits) {
        let units = match self.minor_units {
            None if self.iso_4217 == "never" => MinorUnits::Undefined,
            None => MinorUnits::NotApplicable,
            Some(digits) if self.iso_4217 == "active" => MinorUnits::Fixed(digits),
            Some(digits) => MinorUnits::LastActive(digits),
        };
        (self.code, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_code_is_told_apart() {
        let table = Currencies::embedded();
        let expected = [
            ("NOK", Some(MinorUnits::Fixed(2))),
            ("JPY", Some(MinorUnits::Fixed(0))),
            ("KWD", Some(MinorUnits::Fixed(3))),
            ("HRK", Some(MinorUnits::LastActive(2))),
            ("BYR", Some(MinorUnits::LastActive(0))),
            ("XDR", Some(MinorUnits::NotApplicable)),
            ("GGP", Some(MinorUnits::Undefined)),
            ("BYN", None),
            ("nok", None),
        ];
        for (code, units) in expected {
            assert_eq!(table.minor_units(code), units, "{code}");
        }
    }

    #[test]
    fn the_table_holds_every_code_of_the_document_and_no_other() {
        let document = include_str!("../../../../fixtures/spec/interface.md");
        let listed: Vec<_> = document.split("```").nth(1).unwrap().split_whitespace().collect();
        let table = Currencies::embedded();
        assert_eq!((listed.len(), table.0.len()), (162, 162));
        assert!(listed.iter().all(|code| table.minor_units(code).is_some()));
    }

    #[test]
    fn counts_of_each_kind_are_those_of_the_readings() {
        let table = Currencies::embedded();
        let count = |wanted: fn(&MinorUnits) -> bool| table.0.values().filter(|units| wanted(units)).count();
        assert_eq!(count(|units| matches!(units, MinorUnits::LastActive(_))), 10);
        assert_eq!(count(|units| matches!(units, MinorUnits::Undefined)), 5);
    }
}
