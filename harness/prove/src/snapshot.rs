//! The matrix that was kept, and where the one of now differs from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Caught, Flaw};

/// Where a matrix is not the one that was kept: its lines that are gone, then those that are new. `name` says
/// where it is kept. Where variations were asked together, nothing is said of what each is by itself. Which
/// case caught a fault is not compared: there are several.
pub fn differences(name: &str, kept: &str, now: &str, is_together: bool) -> Vec<Flaw> {
    let is_held = |line: &&str| {
        let is_alone = ["#", "variation\t", "style\ttogether-"].iter().any(|begin| line.starts_with(begin));
        !(is_together && is_alone)
    };
    let lines = |text| -> BTreeSet<&str> { str::lines(text).filter(is_held).map(without_case).collect() };
    let (kept, now) = (lines(kept), lines(now));
    let gone = kept.difference(&now).map(|line| format!("{name}: no longer so: {line}"));
    let new = now.difference(&kept).map(|line| format!("{name}: not there yet: {line}"));
    gone.chain(new).map(Flaw).collect()
}

/// A line of a matrix without the case that caught the fault.
fn without_case(line: &str) -> &str {
    let end = line.match_indices('\t').nth(2).map_or(line.len(), |(at, _)| at);
    &line[..end]
}

/// What caught a fault when the matrix was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catcher {
    /// What it said of the fault's clause.
    pub caught: Caught,
    /// Its id.
    pub case: &'static str,
}

/// The kill matrix that was kept last.
static MATRIX: &str = include_str!("../../../fixtures/kill-matrix/matrix.tsv");

/// What the kept matrix says of all faults together: its first line.
pub fn sum() -> &'static str {
    MATRIX.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
}

/// The case that caught each fault when the matrix was kept, by the fault: it will do so again.
pub fn catchers() -> BTreeMap<&'static str, Catcher> {
    let caught = MATRIX.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let ["fault", name, said, case] = cells[..] else { return None };
        let caught = [Caught::Denied, Caught::Warned].into_iter().find(|caught| caught.word() == said)?;
        Some((name, Catcher { caught, case }))
    });
    caught.collect()
}

/// Returns the names of the faults that the kept matrix has as denied.
pub fn denied() -> BTreeSet<&'static str> {
    let denied = catchers().into_iter().filter(|(_, catcher)| catcher.caught == Caught::Denied);
    denied.map(|(name, _)| name).collect()
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
        assert_eq!(lost, Vec::<&str>::new(), "`prove --matrix FILE --update` asks them anew");
        assert!(survivors.keys().all(|fault| !catchers.contains_key(fault.as_str())));
    }

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
        let by = |now| differences("kept.tsv", "fault\ta\tdenied\ta/one\n", now, false).len();
        assert_eq!((by("fault\ta\tdenied\ta/two\n"), by("fault\ta\twarned of\ta/one\n")), (0, 2));
    }
}
