//! Measures if findings point to the right place: for banks with one fault, the clause that the findings of a
//! whole run name first, and the number of findings.

use std::fmt::Write as _;

use xs2aspec_reference::Fault;

use crate::{draw, masking::Names};

/// Clauses whose faults violate another sentence of the document as well, one per line: the clause of the
/// fault, the other one, and why no request distinguishes them. `*` represents the same text in both.
const SAME: &str = include_str!("../../../fixtures/kill-matrix/same.tsv");

/// The findings of a run on a bank with one fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributionRow {
    /// Name of the fault.
    pub fault: String,
    /// The clause that it violates.
    pub clause: String,
    /// The findings in order: the clause of each, and the other clauses that it explains.
    pub findings: Vec<(String, Vec<String>)>,
}

/// The position of the right clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The first finding is of this clause.
    First,
    /// The first finding is of an equivalent clause, according to a table.
    InOtherWords,
    /// The first finding explains it.
    Carried,
    /// Another finding is of this clause, or explains it.
    Later,
    /// There are findings, but none names it.
    Absent,
    /// There are no findings.
    Silent,
}

impl Place {
    /// All positions, the best first.
    pub const ALL: [Self; 6] =
        [Self::First, Self::InOtherWords, Self::Carried, Self::Later, Self::Absent, Self::Silent];

    /// Returns the words for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::InOtherWords => "first, in the words of another clause",
            Self::Carried => "explained by the first",
            Self::Later => "later",
            Self::Absent => "not named",
            Self::Silent => "nothing found",
        }
    }
}

impl AttributionRow {
    /// Returns the position of the right clause.
    pub fn place(&self) -> Place {
        let names = |(clause, others): &(String, Vec<String>)| {
            *clause == self.clause || others.contains(&self.clause)
        };
        match self.findings.split_first() {
            None => Place::Silent,
            Some(((clause, _), _)) if *clause == self.clause => Place::First,
            Some(((clause, _), _)) if Names::read(SAME).holds(&self.clause, clause) => Place::InOtherWords,
            Some((first, _)) if names(first) => Place::Carried,
            Some((_, rest)) if rest.iter().any(names) => Place::Later,
            Some(_) => Place::Absent,
        }
    }
}

/// Returns `count` faults, chosen by a seed.
pub fn drawn(mut faults: Vec<Fault>, count: usize, seed: u64) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.name());
    draw::positions(faults.len(), seed).take(count).map(|at| faults[at]).collect()
}

/// Returns the number of rows with each position, and the mean number of findings of rows with findings, in
/// hundredths.
pub fn totals(rows: &[AttributionRow]) -> (Vec<(Place, usize)>, usize) {
    let places = Place::ALL.map(|place| (place, rows.iter().filter(|row| row.place() == place).count()));
    let found: Vec<usize> = rows.iter().map(|row| row.findings.len()).filter(|count| *count > 0).collect();
    let sum: usize = found.iter().sum();
    (places.to_vec(), (sum * 100 + found.len() / 2).checked_div(found.len()).unwrap_or_default())
}

/// Renders a tab-separated table with a row per fault.
pub fn table(rows: &[AttributionRow]) -> String {
    let mut text =
        "# fault, where its clause is, how many findings, each with the clauses that it explains\n"
            .to_owned();
    for row in rows {
        let said = |(clause, others): &(String, Vec<String>)| match others.as_slice() {
            [] => clause.clone(),
            others => format!("{clause} ({})", others.join(", ")),
        };
        let findings: Vec<String> = row.findings.iter().map(said).collect();
        let (place, count) = (row.place().word(), row.findings.len());
        // Writing to a String cannot fail.
        _ = writeln!(text, "{}\t{place}\t{count}\t{}", row.fault, findings.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use xs2aspec_suite::{Suite, Tree};

    use super::*;

    fn row(findings: &[(&str, &[&str])]) -> AttributionRow {
        let owned = |(clause, others): &(&str, &[&str])| {
            ((*clause).to_owned(), others.iter().map(ToString::to_string).collect())
        };
        let findings = findings.iter().map(owned).collect();
        AttributionRow { fault: "a.b/x".to_owned(), clause: "a.b".to_owned(), findings }
    }

    #[test]
    fn each_row_says_where_the_right_clause_is() {
        let (other, said) = lines().next().unwrap();
        let rows = [
            row(&[("a.b", &[])]),
            AttributionRow { clause: other.to_owned(), ..row(&[(said, &[])]) },
            row(&[("c", &["a.b"]), ("d", &[])]),
            row(&[("c", &[]), ("d", &["a.b"])]),
            row(&[("c", &[])]),
            row(&[]),
        ];
        let places: Vec<Place> = rows.iter().map(AttributionRow::place).collect();
        assert_eq!(places, Place::ALL);
        let (counted, mean) = totals(&rows);
        assert!(counted.iter().all(|(_, count)| *count == 1), "{counted:?}");
        assert_eq!(mean, 140, "seven findings in five runs that found something");
        assert!(
            table(&rows).contains("\na.b/x\texplained by the first\t2\tc (a.b); d\n"),
            "{}",
            table(&rows)
        );
        assert_eq!(totals(&[]).1, 0);
    }

    /// Returns the clauses of each line of the table that has no `*`.
    fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
        let cells = SAME.lines().filter(|line| !line.starts_with('#') && !line.contains('*'));
        cells
            .filter_map(|line| line.split_once('\t'))
            .map(|(one, rest)| (one, rest.split_once('\t').unwrap().0))
    }

    #[test]
    fn each_line_of_the_table_is_of_clauses_that_there_are_and_of_a_fault_and_says_why() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let clauses: Vec<&str> = suite.clauses().keys().map(String::as_str).collect();
        let broken: BTreeSet<&str> = Fault::all().map(Fault::clause).collect();
        for line in SAME.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert!(cells.len() == 3 && cells[2].len() > 20 && cells[2].ends_with('.'), "{line}");
            let names = Names::read(line);
            let is_held = |one: &&str| clauses.iter().any(|other| one != other && names.holds(one, other));
            assert!(broken.iter().any(is_held), "{line}");
        }
    }

    #[test]
    fn a_seed_draws_the_same_faults_and_another_one_others() {
        let names = |seed| -> BTreeSet<&str> {
            drawn(Fault::all().collect(), 50, seed).iter().map(|fault| fault.name()).collect()
        };
        assert_eq!((names(1).len(), names(1)), (50, names(1)));
        assert_ne!(names(1), names(2));
    }
}
