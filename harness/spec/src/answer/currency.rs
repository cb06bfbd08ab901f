//! The minor units of the document's currencies, from `fixtures/tables/currencies.csv`.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree};

/// Where the table stands.
const FILE: &str = "fixtures/tables/currencies.csv";

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
#[derive(Debug, Default)]
pub(super) struct Currencies(HashMap<String, MinorUnits>);

#[derive(Deserialize)]
struct Row {
    code: String,
    minor_units: Option<u8>,
    iso_4217: String,
}

impl Currencies {
    /// The table of a tree; an empty one where there is none.
    pub(super) fn load(tree: &Tree) -> Result<Self, Problem> {
        let text = tree.text(FILE).unwrap_or_default();
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>();
        let entries: Result<_, _> = rows.map(|row| row.map(Row::entry)).collect();
        entries.map(Self).map_err(|_| {
            Problem::of_file(
                FILE,
                "expected lines with `code`, `minor_units` (a number or nothing) and `iso_4217`",
            )
        })
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
