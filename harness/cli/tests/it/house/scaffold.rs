//! One command starts a clause: its entry, its case, and the place of its fault.

use std::{fs, path::Path};

use tempfile::TempDir;
use xs2aspec_suite::Tree;

use crate::support::{command, printed};

/// Returns a folder with the rule files of the program in `cases`.
fn rule_files() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in Tree::embedded().below("cases/", ".yaml") {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Runs a command on a folder of rule files. Returns its exit code and what it printed.
fn run(arguments: &[&str], cases: &Path) -> (Option<i32>, String) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = command().current_dir(root).args(arguments).arg("--cases").arg(cases).output().unwrap();
    (output.status.code(), printed(&output))
}

#[test]
fn a_mistake_in_a_row_of_a_fault_is_named_with_its_place() {
    let folder = rule_files();
    let cases = folder.path().join("cases");
    let file = cases.join("baskets/status.yaml");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(run(&["lint"], &cases).0, Some(0));
    for (right, wrong, says) in [
        ("status: of-last", "status: of-lasst", "unknown variant `of-lasst`"),
        (
            "name: basket.status.worst/of-the-last",
            "name: basket.status.wurst/of-the-last",
            "there is no clause `basket.status.wurst`",
        ),
    ] {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        fs::write(&file, text.replace(right, wrong)).unwrap();
        let line =
            1 + text.lines().position(|line| line.contains("basket.status.worst/of-the-last")).unwrap();
        let (exit, said) = run(&["lint"], &cases);
        let place = format!("{}:{line}:5: ", file.display());
        assert!(exit == Some(2) && said.contains(&place) && said.contains(says), "{place}{says}: {said}");
    }
}

#[test]
fn a_clause_is_begun_in_a_folder_of_case_files() {
    let folder = rule_files();
    let cases = folder.path().join("cases");
    let scaffold = ["scaffold", "periodic.months.even", "--quote", "duplicates are rejected"];
    let (exit, said) = run(&scaffold, &cases);
    assert_eq!(exit, Some(0), "{said}");
    assert_eq!(said.matches("periodic/months-of-execution.yaml:").count(), 3, "{said}");
    let (exit, said) = run(&["list", "periodic.months.even"], &cases);
    assert!(exit == Some(0) && said.contains("periodic.months.even/to-be-named  refused"), "{said}");
    let (exit, said) = run(&scaffold, &cases);
    assert!(exit == Some(2) && said.contains("clause `periodic.months.even` already exists"), "{said}");
    // The user's own cases for clauses of the program.
    let mine = folder.path().join("mine");
    fs::create_dir_all(mine.join("periodic")).unwrap();
    let plain = "{ clause: periodic.path, name: plain, baseline: periodic, control: none, expect: accepted }";
    fs::write(mine.join("periodic/plain.yaml"), format!("title: t\ncases:\n  - {plain}\n")).unwrap();
    let (exit, said) = run(&["scaffold", "periodic.odd", "--quote", "duplicates are rejected"], &mine);
    assert!(exit == Some(2) && said.contains("rule files that declare clauses"), "{said}");
}
