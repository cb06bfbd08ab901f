//! A clause is begun with one command: its entry, its case, and where its fault goes.

use std::{fs, path::Path};

use tempfile::TempDir;
use xs2aspec_suite::Tree;

use crate::support::{command, printed};

#[test]
fn a_clause_is_begun_in_a_folder_of_case_files() {
    let folder = TempDir::new().unwrap();
    for (path, text) in Tree::embedded().below("cases/", ".yaml") {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let cases = folder.path().join("cases");
    let run = |arguments: &[&str], cases: &Path| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let output = command().current_dir(root).args(arguments).arg("--cases").arg(cases).output().unwrap();
        (output.status.code(), printed(&output))
    };
    let scaffold = ["scaffold", "periodic.months.even", "--quote", "duplicates are rejected"];
    let (exit, said) = run(&scaffold, &cases);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(said.matches("periodic/months-of-execution.yaml:").count(), 3, "{said}");
    let (exit, said) = run(&["list", "periodic.months.even"], &cases);
    assert!(exit == Some(0) && said.contains("periodic.months.even/to-be-named  refused"), "{said}");
    let (exit, said) = run(&scaffold, &cases);
    assert!(exit == Some(2) && said.contains("there is a clause `periodic.months.even`"), "{said}");
    let (exit, said) =
        run(&["scaffold", "periodic.months.odd", scaffold[2], scaffold[3]], &cases.join("matrix"));
    assert!(exit == Some(2) && said.contains("rule files that declare clauses"), "{said}");
}
