//! The stored kill matrix, and its differences from the current one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Caught, Flaw};

/// Returns the differences from the stored matrix `name`: removed lines, then added ones. If variations were
/// tested together, lines about single variations are ignored. The case that caught a fault is not compared,
/// because there may be several.
pub fn differences(name: &str, kept: &str, now: &str, is_together: bool) -> Vec<Flaw> {
    let is_held = |line: &&str| {
        let is_alone = ["#", "variation\t", "style\ttogether-"].iter().any(|begin| line.starts_with(begin));
        !(is_together && is_alone)
    };
    let lines = |text| -> BTreeSet<&str> { str::lines(text).filter(is_held).map(without_case).collect() };
    let (kept, now) = (lines(kept), lines(now));
    let gone = kept.difference(&now).map(|line| format!("{name}: removed: {line}"));
    let new = now.difference(&kept).map(|line| format!("{name}: added: {line}"));
    gone.chain(new).map(Flaw).collect()
}

/// Returns a line of a matrix without the case that caught the fault.
fn without_case(line: &str) -> &str {
    let end = line.match_indices('\t').nth(2).map_or(line.len(), |(at, _)| at);
    &line[..end]
}

/// The case that caught a fault in the stored matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catcher {
    /// Its result for the fault's clause.
    pub caught: Caught,
    /// Its id.
    pub case: &'static str,
}

/// The stored kill matrix.
static MATRIX: &str = include_str!("../../../fixtures/kill-matrix/matrix.tsv");

/// Returns the totals of the stored matrix: its first line.
pub fn sum() -> &'static str {
    MATRIX.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
}

/// Returns the case that caught each fault in the stored matrix, by fault. It is likely to catch it again.
pub fn catchers() -> BTreeMap<&'static str, Catcher> {
    let caught = MATRIX.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let ["fault", name, said, case] = cells[..] else { return None };
        let caught = [Caught::Denied, Caught::Warned].into_iter().find(|caught| caught.word() == said)?;
        Some((name, Catcher { caught, case }))
    });
    caught.collect()
}

/// Returns the names of the faults that are denied in the stored matrix.
pub fn denied() -> BTreeSet<&'static str> {
    let denied = catchers().into_iter().filter(|(_, catcher)| catcher.caught == Caught::Denied);
    denied.map(|(name, _)| name).collect()
}

/// Returns the known faults that their own clause does not catch, each with the reason.
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
    use xs2aspec_reference::Fault;
    use xs2aspec_suite::{Suite, Tree};

    use super::*;

    #[test]
    fn each_fault_that_is_caught_is_kept_with_a_case_that_there_is() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let (catchers, survivors) = (catchers(), survivors());
        let is_lost = |fault: &&str| {
            let case = catchers.get(fault).map(|catcher| catcher.case);
            !survivors.contains_key(*fault) && case.is_none_or(|case| suite.case(case).is_none())
        };
        let lost: Vec<&str> = Fault::all().map(Fault::name).filter(is_lost).collect();
        assert_eq!(lost, Vec::<&str>::new(), "run `prove --matrix FILE --update`");
        assert!(survivors.keys().all(|fault| !catchers.contains_key(fault.as_str())));
    }

    #[test]
    fn a_matrix_that_differs_is_shown_line_by_line() {
        let flaws = |now: &str| -> Vec<String> {
            differences("kept.tsv", "a\nb\n", now, false).into_iter().map(|Flaw(flaw)| flaw).collect()
        };
        assert!(flaws("b\na\n").is_empty());
        assert_eq!(flaws("a\nc\n"), ["kept.tsv: removed: b", "kept.tsv: added: c"]);
        let together =
            |now| differences("kept.tsv", "# 1\nfault\ta\tdenied\nvariation\tb\t\n", now, true).len();
        assert_eq!(together("# 2\nfault\ta\tdenied\nstyle\ttogether-1\twarn c 1\n"), 0);
        assert_eq!(together("# 2\nfault\ta\tsurvives\n"), 2);
        let by = |now| differences("kept.tsv", "fault\ta\tdenied\ta/one\n", now, false).len();
        assert_eq!((by("fault\ta\tdenied\ta/two\n"), by("fault\ta\twarned of\ta/one\n")), (0, 2));
    }
}
