//! The matrix that was kept, and where the one of now differs from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::Flaw;

/// Where a matrix is not the one that was kept: its lines that are gone, then those that are new. `name` says
/// where it is kept. Where variations were asked together, nothing is said of what each is by itself.
pub fn differences(name: &str, kept: &str, now: &str, is_together: bool) -> Vec<Flaw> {
    let is_held = |line: &&str| {
        let is_alone = ["#", "variation\t", "style\ttogether-"].iter().any(|begin| line.starts_with(begin));
        !(is_together && is_alone)
    };
    let lines = |text| -> BTreeSet<&str> { str::lines(text).filter(is_held).collect() };
    let (kept, now) = (lines(kept), lines(now));
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
            differences("kept.tsv", "a\nb\n", now, false).into_iter().map(|Flaw(flaw)| flaw).collect()
        };
        assert!(flaws("b\na\n").is_empty());
        assert_eq!(flaws("a\nc\n"), ["kept.tsv: no longer so: b", "kept.tsv: not there yet: c"]);
        let together =
            |now| differences("kept.tsv", "# 1\nfault\ta\tdenied\nvariation\tb\t\n", now, true).len();
        assert_eq!(together("# 2\nfault\ta\tdenied\nstyle\ttogether-1\twarn c 1\n"), 0);
        assert_eq!(together("# 2\nfault\ta\tsurvives\n"), 2);
    }
}
