//! The files of the bank read like the document, without a word about faults.

use std::fs;
use std::path::{Path, PathBuf};

/// Words for faults, variations and styles, and for the code that applies them.
const WORDS: [&str; 8] =
    ["fault", "variation", "breach", "variance", "style", "wrapper", "broken_by", "varied_by"];

/// Returns the Rust files below a folder of `harness`.
fn files(folder: &str) -> Vec<PathBuf> {
    fn add(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { add(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut found);
    found.retain(|path| path.extension().is_some_and(|kind| kind == "rs"));
    found
}

#[test]
fn no_file_of_the_bank_names_a_fault_a_variation_or_a_style() {
    let named = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap().to_lowercase().replace("default", "");
        let words = code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let named = words.filter(|word| WORDS.iter().any(|known| word.trim_end_matches('s') == *known));
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    let bank = files("bank/src");
    assert!(bank.len() > 50, "{}", bank.len());
    for path in bank {
        assert_eq!(named(&path), Vec::<String>::new(), "{}", path.display());
    }
    assert!(files("reference/src").iter().any(|path| !named(path).is_empty()), "the check finds such names");
}
