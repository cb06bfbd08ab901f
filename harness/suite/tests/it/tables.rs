//! Tests that tables agree with those that they are derived from.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the lines of a table, each by column.
fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = format!("{}/../../fixtures/tables/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    reader.deserialize().map(|line| line.unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

#[test]
fn sample_amounts_stand_beside_the_currencies_of_the_frozen_table() {
    let (currencies, amounts) = (table("currencies"), table("amounts"));
    let shared = |lines: &[BTreeMap<String, String>]| -> Vec<[String; 3]> {
        lines
            .iter()
            .map(|line| ["code", "minor_units", "iso_4217"].map(|column| line[column].clone()))
            .collect()
    };
    assert_eq!(shared(&amounts), shared(&currencies));
    for line in &amounts {
        assert_eq!(digits(&line["whole"]).is_some(), line["iso_4217"] != "never", "{line:?}");
    }
}

/// Returns the number of digits of a sample amount: the first one, which is written out, and those of the
/// number after it.
fn digits(whole: &str) -> Option<usize> {
    if whole.is_empty() {
        return None;
    }
    let (first, rest) = whole.split_at(1);
    let rest = rest.strip_prefix("${number.").and_then(|rest| rest.strip_suffix('}'));
    let rest: usize = rest.and_then(|rest| rest.parse().ok()).unwrap_or_else(|| panic!("`{whole}`"));
    assert!("123456789".contains(first) && (3..=9).contains(&rest), "`{whole}` has not 4 to 10 digits");
    Some(1 + rest)
}

#[test]
fn headers_are_those_of_the_document_with_their_presence() {
    let document = include_str!("../../../../fixtures/spec/interface.md");
    let operations = ["basket", "ncbct", "periodic", "customers", "transaction"];
    let mut stated = Vec::new();
    for (index, line) in
        document.lines().enumerate().skip_while(|(_, line)| !line.starts_with("| Header |")).skip(2)
    {
        if !line.starts_with('|') {
            break;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        for header in cells[0].split(", ") {
            for (operation, presence) in
                operations.iter().zip(&cells[2..]).filter(|(_, presence)| **presence != "-")
            {
                stated.push([
                    (*operation).to_owned(),
                    header.to_owned(),
                    (*presence).to_owned(),
                    (index + 1).to_string(),
                ]);
            }
        }
    }
    let lines = table("headers");
    let mut typed: Vec<[String; 4]> = lines
        .iter()
        .map(|line| ["operation", "header", "presence", "line"].map(|column| line[column].clone()))
        .collect();
    stated.sort();
    typed.sort();
    assert!(stated.len() > 90, "the table of headers was not found in the document");
    assert_eq!(typed, stated);
    for line in &lines {
        assert_eq!(line["name"], line["header"].to_lowercase());
        assert_eq!(line["id"], format!("{}.{}", line["operation"], line["name"]));
        assert_eq!(line["group"] == "required", line["presence"] == "R", "{line:?}");
    }
}

#[test]
fn the_book_offers_what_a_profile_knows() {
    let page = include_str!("../../../../docs/src/guide/profile.md");
    let known: BTreeSet<&str> = xs2aspec_suite::ProfileSpec::embedded().value_names().collect();
    // Tables of values: `[accounts.debtor]` | `iban`, `bban` of ..
    let tables: BTreeSet<&str> = known.iter().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
    let mut offered = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("| `[")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let words = |cell: &'static str| cell.split('`').skip(1).step_by(2).collect::<Vec<_>>();
        for table in words(cells[0]) {
            let table = table.trim_matches(['[', ']']);
            if tables.contains(table) {
                let keys = words(cells[1])
                    .into_iter()
                    .filter(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
                offered.extend(keys.map(|key| format!("{table}.{key}")));
            }
        }
    }
    let known: BTreeSet<String> = known
        .into_iter()
        .filter(|name| name.contains('.') && !name.starts_with("x-accept-fix."))
        // Further entries of a list have the keys of the first one.
        .filter(|name| !name.split('.').any(|part| part.parse::<u8>().is_ok()))
        .map(str::to_owned)
        .collect();
    let differing: Vec<&String> = offered.symmetric_difference(&known).collect();
    assert!(differing.is_empty(), "{differing:?}");
}
