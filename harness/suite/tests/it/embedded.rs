//! Tests of the embedded suite. It has no mistakes, and as many cases as its inventory says.

use xs2aspec_suite::{Suite, Tree, rule_file::case_file_schema};

fn embedded() -> Suite {
    Suite::load(Tree::embedded()).unwrap_or_else(|problems| panic!("\n{problems}"))
}

#[test]
fn the_embedded_suite_is_free_of_mistakes() {
    // The inventory counts the cases of each clause: `4 accepted, 12 refused`.
    let inventory =
        include_str!("../../../../cases/inventory.tsv").lines().filter(|line| !line.starts_with('#'));
    let counts = inventory.filter_map(|line| line.rsplit('\t').next()).flat_map(|cover| cover.split(", "));
    let counted: usize = counts.filter_map(|count| count.split(' ').next()?.parse::<usize>().ok()).sum();
    assert_eq!(embedded().cases().len(), counted);
}

#[test]
fn only_the_plain_request_of_each_operation_has_no_control() {
    let suite = embedded();
    let without = suite.cases().iter().filter(|case| case.control.is_none());
    let without: Vec<(&str, bool)> = without.map(|case| (case.id.as_str(), case.is_plain)).collect();
    let plain = [
        "basket.payment-status/own",
        "ncbct.path/plain",
        "periodic.path/plain",
        "basket.body/plain",
        "customers.path/plain",
        "transaction.path/plain",
    ];
    assert_eq!(without, plain.map(|id| (id, true)));
    let again = suite.cases().iter().filter(|case| case.same_as.is_some()).count();
    assert!(again > 40, "{again} cases repeat the baseline request");
}

#[test]
fn every_case_file_fits_the_schema_that_editors_use() {
    let validator = jsonschema::draft202012::new(&case_file_schema()).unwrap();
    let tree = Tree::embedded();
    for (path, text) in tree.below("cases/", ".yaml") {
        let file: serde_json::Value = serde_saphyr::from_str(text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{path}: {errors:?}");
    }
    let unknown = serde_json::json!({"title": "t", "cases": [], "exepct": 1});
    assert!(!validator.is_valid(&unknown));
}

#[test]
fn the_schema_of_case_files_is_current() {
    let made = format!("{}\n", serde_json::to_string_pretty(&case_file_schema()).unwrap());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/case-file.schema.json");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "cases/case-file.schema.json is not current: bash .ci/bless");
}
