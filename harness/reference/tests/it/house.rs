//! The files of the bank itself read like the document: what is wrong with a bank is said elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

/// What makes other banks of it: faults, variations and styles as data, and where they take hold.
const LAB: [&str; 12] = [
    "bank.rs",
    "declaration.rs",
    "fault",
    "fault.rs",
    "lib.rs",
    "rules",
    "rules.rs",
    "service.rs",
    "style",
    "style.rs",
    "variation",
    "variation.rs",
];

/// Words for them.
const WORDS: [&str; 8] =
    ["fault", "variation", "breach", "variance", "style", "wrapper", "broken_by", "varied_by"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn no_file_of_the_bank_names_a_fault_a_variation_or_a_style() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let is_of_lab = |path: &Path| {
        let first = path.strip_prefix(&source).unwrap().iter().next().unwrap().to_string_lossy();
        LAB.contains(&&*first)
    };
    let (lab, bank): (Vec<_>, Vec<_>) = all
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .partition(|path| is_of_lab(path));
    assert!(bank.len() > 50, "{}", bank.len());
    let named = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap().to_lowercase().replace("default", "");
        let words = code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let named = words.filter(|word| WORDS.iter().any(|known| word.trim_end_matches('s') == *known));
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    for path in bank {
        assert_eq!(named(path), Vec::<String>::new(), "{}", path.display());
    }
    assert!(lab.iter().any(|path| !named(path).is_empty()), "what names them is found");
}
