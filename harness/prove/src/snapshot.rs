//! The matrix that was kept, and where the one of now differs from it.

use std::collections::BTreeSet;

use crate::{Flaw, Kind};

/// Where a matrix is not the one that was kept: its lines that are gone, then those that are new. `name` says
/// where it is kept.
pub fn differences(name: &str, kept: &str, now: &str) -> Vec<Flaw> {
    let (kept, now): (BTreeSet<&str>, BTreeSet<&str>) = (kept.lines().collect(), now.lines().collect());
    let gone = kept.difference(&now).map(|line| format!("{name}: no longer so: {line}"));
    let new = now.difference(&kept).map(|line| format!("{name}: not there yet: {line}"));
    gone.chain(new).map(Flaw).collect()
}

/// What of a matrix also holds where each fault is asked only until it is caught: which faults are, and every
/// line of the other banks.
pub fn until_caught(matrix: &str) -> String {
    let line = |line: &str| match line.split('\t').collect::<Vec<_>>().as_slice() {
        [kind, name, own, ..] if *kind == Kind::Fault.word() => {
            format!("{kind}\t{name}\t{}\n", if *own == "0" { "not caught" } else { "caught" })
        }
        _ => format!("{line}\n"),
    };
    matrix.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_differs_is_shown_line_by_line() {
        let flaws = |now: &str| -> Vec<String> {
            differences("kept.tsv", "a\nb\n", now).into_iter().map(|Flaw(flaw)| flaw).collect()
        };
        let until =
            until_caught("# 1 of 2\nclean\tclean\t0\t0\t\nfault\ta\t3\t9\tx 9\nfault\tb\t0\t1\tx 1\n");
        assert_eq!(until, "clean\tclean\t0\t0\t\nfault\ta\tcaught\nfault\tb\tnot caught\n");
        assert!(flaws("b\na\n").is_empty());
        assert_eq!(flaws("a\nc\n"), ["kept.tsv: no longer so: b", "kept.tsv: not there yet: c"]);
    }
}
