//! The minor units of the document's currencies, from `fixtures/tables/currencies.csv`.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree};

/// Path of the table in a tree.
const FILE: &str = "fixtures/tables/currencies.csv";

/// The number of fraction digits of a currency, by how firmly it is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MinorUnits {
    /// Defined by ISO 4217 list one.
    Fixed(u8),
    /// The last value before the code was withdrawn. ISO 4217 list three has none (readings, row 27).
    LastActive(u8),
    /// Not applicable according to ISO 4217, as for XDR (readings, row 28).
    NotApplicable,
    /// Undefined, since the code was never in ISO 4217 (readings, row 26).
    Undefined,
}

/// The minor units by currency code.
#[derive(Debug, Default)]
pub(super) struct Currencies(HashMap<String, MinorUnits>);

#[derive(Deserialize)]
struct Row {
    code: String,
    minor_units: Option<u8>,
    iso_4217: String,
}

impl Currencies {
    /// Reads the table of a tree. Returns an empty table if the tree has none.
    pub(super) fn load(tree: &Tree) -> Result<Self, Problem> {
        let text = tree.text(FILE).unwrap_or_default();
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
        let entries: Result<_, _> = rows.map(|row| row.map(Row::entry)).collect();
        entries.map(Self).map_err(|_| {
            Problem::of_file(
                FILE,
                "expected lines with `code`, `minor_units` (a number or empty) and `iso_4217`",
            )
        })
    }

    /// Returns the minor units of a code, or `None` if the document does not list the code.
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
        let table = Currencies::load(&Tree::embedded()).unwrap();
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
        let document = crate::Document::load(&Tree::embedded());
        let listed: Vec<_> = document.text().split("```").nth(1).unwrap().split_whitespace().collect();
        let table = Currencies::load(&Tree::embedded()).unwrap();
        assert_eq!((listed.len(), table.0.len()), (162, 162));
        assert!(listed.iter().all(|code| table.minor_units(code).is_some()));
    }

    #[test]
    fn counts_of_each_kind_are_those_of_the_readings() {
        let table = Currencies::load(&Tree::embedded()).unwrap();
        let count = |wanted: fn(&MinorUnits) -> bool| table.0.values().filter(|units| wanted(units)).count();
        assert_eq!(count(|units| matches!(units, MinorUnits::LastActive(_))), 10);
        assert_eq!(count(|units| matches!(units, MinorUnits::Undefined)), 5);
    }
}
