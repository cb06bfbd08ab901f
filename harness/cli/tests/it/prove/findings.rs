//! `xs2aspec prove findings` measures whether the first finding of a whole run names the violated clause.

use std::fs;

use tempfile::TempDir;

use crate::support::{command, printed};

fn measured(arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = TempDir::new().unwrap();
    let fixed = ["prove", "findings", "1", "--seed", "3", "--now", "2030-01-31T12:00:00Z", "--out"];
    let output = command().args(fixed).arg(out.path()).args(arguments).output().unwrap();
    let table = fs::read_to_string(out.path().join("findings.tsv")).unwrap_or_default();
    (output.status.code(), printed(&output), table)
}

#[test]
fn a_refused_optional_header_is_one_finding_under_its_own_clause() {
    let only = "header.accept-charset.ncbct/refused";
    let (exit, said, table) = measured(&["--only", only, "--depth", "quick"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("    1  first\n") && said.contains("1 faults, 1.00 findings each"), "{said}");
    assert!(table.contains(&format!("\n{only}\tfirst\t1\theader.accept-charset.ncbct")), "{table}");
}

#[test]
fn a_fault_of_which_nothing_is_seen_is_red() {
    let arguments = ["--only", "basket.mix/first-payment-only", "--skip", "basket*", "--depth", "quick"];
    let (exit, said, table) = measured(&arguments);
    assert_eq!(exit, Some(1), "{said}");
    assert!(table.contains("\tnothing found\t0\t"), "{table}");
    assert_eq!(measured(&["--only", "no.such/fault"]).0, Some(2));
}
