//! Tests that the stored cases are those that are expanded.

use std::{collections::BTreeSet, io::Read};

use flate2::read::GzDecoder;
use xs2aspec_suite::{Case, Depth, Expectation, Suite, Tree};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/expanded");

/// Returns the digest of the files, and the cases.
fn unpacked(bytes: &[u8]) -> (String, String) {
    let mut decoder = GzDecoder::new(bytes);
    let comment = decoder.header().and_then(|header| header.comment()).unwrap_or_default();
    let digest = String::from_utf8(comment.to_vec()).unwrap();
    let mut text = String::new();
    // An empty file is one that has yet to be written.
    decoder.read_to_string(&mut text).unwrap_or_default();
    (digest, text)
}

#[test]
fn the_stored_cases_are_current() {
    for (name, made) in Suite::expanded(Tree::embedded()).unwrap().stored() {
        let file = format!("{FOLDER}/{name}");
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&file, &made).unwrap();
        }
        // Packed bytes may differ between versions of the compressor.
        let kept = std::fs::read(&file).unwrap();
        assert!(unpacked(&kept) == unpacked(&made), "{file} is not current: bash .ci/bless");
    }
}

#[test]
fn a_suite_with_stored_cases_is_the_one_that_is_expanded() {
    let (stored, expanded) =
        (Suite::load(Tree::embedded()).unwrap(), Suite::expanded(Tree::embedded()).unwrap());
    assert_eq!(stored.cases().len(), expanded.cases().len());
    for (stored, expanded) in stored.cases().iter().zip(expanded.cases()) {
        assert_eq!(stored, expanded);
        assert_eq!(stored.changes(), expanded.changes(), "{}", stored.id);
        assert_eq!(stored.operation(), expanded.request.operation, "{}", stored.id);
    }
    assert_eq!(stored.clauses(), expanded.clauses());
    assert_eq!(stored.columns(), expanded.columns());
    assert_eq!(stored.stored(), expanded.stored());
}

#[test]
fn a_run_of_less_depth_reads_the_cases_that_it_may_ask_and_no_others() {
    let load = |depth| Suite::load_for(Tree::embedded(), depth).unwrap();
    let (all, some) = (load(Depth::Exhaustive), load(Depth::Standard));
    let standard: Vec<&Case> = all.cases().iter().filter(|case| case.depth < Depth::Exhaustive).collect();
    assert!(standard.len() < all.cases().len());
    assert!(standard.into_iter().eq(some.cases()));
    // The clauses and choices that a profile is checked against are in both.
    let held_to = |suite: &Suite| -> BTreeSet<String> {
        let choices = suite.cases().iter().filter_map(|case| match &case.expect {
            Expectation::Choice(values) => Some(format!("{} {:?}", case.clause, values.keys())),
            _ => None,
        });
        let of_operations = suite.cases().iter().flat_map(|case| {
            let steps = case.before.iter().map(|step| step.request.operation().to_owned());
            let needs = case.needs.iter().map(|need| format!("{} {need}", case.operation()));
            steps.chain([case.operation().to_owned()]).chain(needs)
        });
        choices.chain(of_operations).collect()
    };
    assert_eq!(held_to(&all), held_to(&some));
    for depth in [Depth::Quick, Depth::Standard] {
        let [of_all, of_some] = [&all, &some].map(|suite| suite.plan(&[], &[], depth).unwrap());
        assert_eq!(of_all.selected, of_some.selected);
        assert_eq!(of_all.controls, of_some.controls);
    }
}

#[test]
fn files_that_are_others_are_expanded() {
    let file = "cases/periodic/months-of-execution.yaml";
    let text = Tree::embedded()
        .text(file)
        .unwrap()
        .replace("2-apart: { months: [1, 2, 1]", "2-apart: { months: [1, 3, 1]");
    let changed = Suite::load(Tree::embedded().and(&[(file, &text)])).unwrap();
    let stored = Suite::load(Tree::embedded()).unwrap();
    let different = |suite: &Suite| suite.case("periodic.months.duplicate/2-apart").unwrap().changes();
    assert_ne!(different(&changed), different(&stored));
}

#[test]
fn the_processors_share_the_work_and_the_order_is_the_same() {
    let [one, other] = [(); 2].map(|()| Suite::expanded(Tree::embedded()).unwrap());
    assert!(one.cases() == other.cases());
}
