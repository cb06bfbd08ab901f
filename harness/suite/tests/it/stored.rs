//! The stored cases are those that are expanded.

use std::io::Read;

use flate2::read::GzDecoder;
use xs2aspec_suite::{Suite, Tree};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/expanded/cases.json.gz");

/// The digest of the files, and the cases.
fn unpacked(bytes: &[u8]) -> (String, String) {
    let mut decoder = GzDecoder::new(bytes);
    let comment = decoder.header().and_then(|header| header.comment()).unwrap_or_default();
    let digest = String::from_utf8(comment.to_vec()).unwrap();
    let mut text = String::new();
    // An empty file is one that has to be written.
    decoder.read_to_string(&mut text).unwrap_or_default();
    (digest, text)
}

#[test]
fn the_stored_cases_are_current() {
    let made = Suite::expanded(Tree::embedded()).unwrap().stored();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(FILE, &made).unwrap();
    }
    // Packed bytes may be others from version to version of the packer.
    let kept = std::fs::read(FILE).unwrap();
    assert!(unpacked(&kept) == unpacked(&made), "{FILE} is not current: bash .ci/bless");
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
    assert_eq!(stored.columns(), expanded.columns());
    assert_eq!(stored.stored(), expanded.stored());
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
