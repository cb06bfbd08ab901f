//! One command regenerates all generated files: `.ci/bless`.

use std::{fs, path::Path};

use super::names::below;

/// The variable that makes a test rewrite its file.
const WRITER: &str = "\"UPDATE_GENERATED\"";

#[test]
fn every_test_that_writes_a_file_anew_is_run_by_the_one_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = fs::read_to_string(root.join(".ci/bless")).unwrap();
    assert!(
        command.contains("-- current\n")
            && command.contains("prove --matrix fixtures/kill-matrix/matrix.tsv --update")
    );
    // Without `-p`, the command tests everything except the benchmarks.
    assert!(!command.contains(" -p "));
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let tested = workspace.split("default-members = [").nth(1).unwrap().split(']').next().unwrap();
    let mut files = Vec::new();
    below(&root.join("harness"), &mut files);
    let mut found = 0;
    for file in files.iter().filter(|file| !file.ends_with("house/bless.rs")) {
        let text = fs::read_to_string(file).unwrap();
        for (at, _) in text.match_indices(WRITER) {
            let function = text[..at].rsplit("fn ").next().unwrap().split('(').next().unwrap();
            let place = file.strip_prefix(root.join("harness")).unwrap();
            assert!(
                function.contains("current"),
                "{}: `current` is not in the name of `{function}`",
                place.display()
            );
            let package = place.iter().next().unwrap().to_str().unwrap();
            assert!(tested.contains(&format!("\"harness/{package}\",")), ".ci/bless does not test {package}");
            found += 1;
        }
    }
    assert!(found >= 8, "{found} places");
}
