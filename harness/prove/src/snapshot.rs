//! The matrix that was kept, and where the one of now differs from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::Flaw;

/// Where a matrix is not the one that was kept: its lines that are gone, then those that are new. `name` says
/// where it is kept.
pub fn differences(name: &str, kept: &str, now: &str) -> Vec<Flaw> {
    let (kept, now): (BTreeSet<&str>, BTreeSet<&str>) = (kept.lines().collect(), now.lines().collect());
    let gone = kept.difference(&now).map(|line| format!("{name}: no longer so: {line}"));
    let new = now.difference(&kept).map(|line| format!("{name}: not there yet: {line}"));
    gone.chain(new).map(Flaw).collect()
}

/// Faults of which it is known that their own clause does not catch them, each with the reason.
pub fn survivors() -> BTreeMap<String, String> {
    let lines = include_str!("../../../fixtures/kill-matrix/survivors.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, why)| (name.to_owned(), why.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_differs_is_shown_line_by_line() {
        let flaws = |now: &str| -> Vec<String> {
            differences("kept.tsv", "a\nb\n", now).into_iter().map(|Flaw(flaw)| flaw).collect()
        };
        assert!(flaws("b\na\n").is_empty());
        assert_eq!(flaws("a\nc\n"), ["kept.tsv: no longer so: b", "kept.tsv: not there yet: c"]);
    }
}
