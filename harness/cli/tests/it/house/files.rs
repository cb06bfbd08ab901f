//! The files of production code: none is too long, and no comment is too wide.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::names::below;

/// The maximum number of lines of a file.
const LONGEST: usize = 500;

/// The maximum number of columns of a comment line.
const WIDEST: usize = 110;

/// Returns the `src` folders of all crates.
pub(super) fn sources() -> Vec<PathBuf> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates = fs::read_dir(harness).unwrap().map(|entry| entry.unwrap().path().join("src"));
    crates.filter(|folder| folder.is_dir()).collect()
}

#[test]
fn no_file_is_long() {
    let mut files = Vec::new();
    for folder in sources() {
        below(&folder, &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    let lines = |file: &PathBuf| fs::read_to_string(file).unwrap().lines().count();
    let long: Vec<_> = files.iter().filter(|file| lines(file) > LONGEST).collect();
    assert!(long.is_empty(), "more than {LONGEST} lines: {long:?}");
}

#[test]
fn no_comment_is_wide() {
    let mut files = Vec::new();
    let tests = sources().into_iter().map(|folder| folder.with_file_name("tests"));
    for folder in sources().into_iter().chain(tests.filter(|folder| folder.is_dir())) {
        below(&folder, &mut files);
    }
    let (mut comments, mut wide) = (0, Vec::new());
    for file in files {
        for (at, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if line.trim_start().starts_with("//") {
                comments += 1;
                let columns = line.chars().count();
                if columns > WIDEST {
                    wide.push(format!("{}:{}: {columns} columns", file.display(), at + 1));
                }
            }
        }
    }
    assert!(comments > 5000, "{comments}");
    assert!(wide.is_empty(), "more than {WIDEST} columns: {wide:#?}");
}
