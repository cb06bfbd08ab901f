//! Tests of the clauses that the response rules can name. Each is declared, and each is shown by a row that
//! violates it.

use std::collections::BTreeSet;

use serde_json::Value;
use xs2aspec_spec::{AnswerRules, Tree};

const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/response");

/// Clauses of types that only requests use. The schemas contain them so that the shared types are complete,
/// and a test next to the schemas shows each.
const REQUESTS_ONLY: [&str; 5] =
    ["address.country", "address.shape", "address.street.length", "country.listed", "purpose-code.listed"];

/// The clause for a request that does not announce a change. A response alone does not show it, but a test of
/// `judge` does.
const OF_REQUESTS: [&str; 1] = ["amount.digits.fewer.response.other"];

#[test]
fn every_clause_is_declared() {
    let tree = Tree::embedded();
    let lines = tree.clause_files().flat_map(|(_, text)| text.lines());
    let declared: BTreeSet<&str> =
        lines.filter_map(|line| Some(line.split_once("- id: ")?.1.trim())).collect();
    assert!(declared.len() > 100);
    let rules = AnswerRules::load(&tree).unwrap();
    let missing: Vec<_> = rules.clauses().into_iter().filter(|clause| !declared.contains(*clause)).collect();
    assert!(missing.is_empty(), "no rule file declares: {missing:?}");
}

#[test]
fn every_clause_is_named_by_a_row() {
    let mut named: BTreeSet<String> =
        REQUESTS_ONLY.into_iter().chain(OF_REQUESTS).map(str::to_owned).collect();
    for file in std::fs::read_dir(ROWS).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let rows: Value = serde_json::from_str(&text).unwrap();
        for row in rows.as_array().into_iter().flatten() {
            for list in ["findings", "observations"] {
                named.extend(
                    row[list].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
                );
            }
        }
    }
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let unnamed: Vec<_> = rules.clauses().into_iter().filter(|clause| !named.contains(*clause)).collect();
    assert!(unnamed.is_empty(), "no row shows: {unnamed:?}");
}
