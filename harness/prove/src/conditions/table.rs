//! The results under each condition, and the table of the book.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{Condition, KnownFailure};

/// A bank under a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the condition, with the value of the profile that was wrong.
    pub condition: String,
    /// Name of the condition alone.
    pub group: String,
    /// Name of the bank or of its fault.
    pub bank: String,
    /// True if the bank conforms.
    pub conforms: bool,
    /// The error in the verdict, if there is one.
    pub failure: Option<String>,
}

/// All rows, with the known failures.
#[derive(Debug)]
pub struct Verdicts<'a> {
    rows: &'a [Row],
    known: &'a [KnownFailure],
}

impl<'a> Verdicts<'a> {
    /// Compares rows with the list of known failures.
    pub fn new(rows: &'a [Row], known: &'a [KnownFailure]) -> Self {
        Self { rows, known }
    }

    /// Returns the failures that are not known.
    pub fn unknown(&self) -> Vec<&'a Row> {
        let is_known = |row: &Row| self.known.iter().any(|known| known.covers(&row.condition, &row.bank));
        self.rows.iter().filter(|row| row.failure.is_some() && !is_known(row)).collect()
    }

    /// Returns the known failures that cover some rows, but no failed one.
    pub fn stale(&self) -> Vec<&'a KnownFailure> {
        let is_stale = |known: &&KnownFailure| {
            let mut covered =
                self.rows.iter().filter(|row| known.covers(&row.condition, &row.bank)).peekable();
            covered.peek().is_some() && covered.all(|row| row.failure.is_none())
        };
        self.known.iter().filter(is_stale).collect()
    }

    /// Renders a Markdown table: a row for each condition, a column for each conforming bank, and one for the
    /// faults.
    pub fn markdown(&self, conditions: &[Condition]) -> String {
        let mut banks: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.conforms) {
            if !banks.contains(&row.bank.as_str()) {
                banks.push(&row.bank);
            }
        }
        let mut text = format!("| condition | {} | faults |\n", banks.join(" | "));
        let _ = writeln!(text, "|---|{}--:|", "--:|".repeat(banks.len()));
        for condition in conditions {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.group == condition.name).collect();
            if rows.is_empty() {
                continue;
            }
            let cells =
                banks.iter().map(|bank| cell(rows.iter().filter(|row| row.conforms && row.bank == *bank)));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            let faults = cell(rows.iter().filter(|row| !row.conforms));
            let _ = writeln!(text, "| {} | {cells} | {faults} |", condition.says);
        }
        text
    }

    /// Renders all rows, one per line, separated by tabs.
    pub fn tsv(&self) -> String {
        let mut text = "condition\tbank\tfailure\n".to_owned();
        let sorted: BTreeMap<(&str, &str), &Row> =
            self.rows.iter().map(|row| ((row.condition.as_str(), row.bank.as_str()), row)).collect();
        for ((condition, bank), row) in sorted {
            let _ = writeln!(text, "{condition}\t{bank}\t{}", row.failure.as_deref().unwrap_or_default());
        }
        text
    }
}

/// Renders the number of correct rows: `ok` for one, or else `RIGHT of ALL`.
fn cell<'a>(rows: impl Iterator<Item = &'a &'a Row>) -> String {
    let rows: Vec<&&Row> = rows.collect();
    let right = rows.iter().filter(|row| row.failure.is_none()).count();
    match rows.len() {
        0 => "-".to_owned(),
        1 if right == 1 => "ok".to_owned(),
        1 => "wrong".to_owned(),
        all => format!("{right} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(condition: &str, bank: &str, failure: Option<&str>) -> Row {
        Row {
            condition: condition.to_owned(),
            group: condition.to_owned(),
            bank: bank.to_owned(),
            conforms: true,
            failure: failure.map(str::to_owned),
        }
    }

    fn known(condition: &str, bank: &str) -> KnownFailure {
        let reason = "a reason".to_owned();
        KnownFailure { condition: condition.to_owned(), bank: bank.to_owned(), reason }
    }

    #[test]
    fn a_failure_is_known_or_not_and_a_known_one_that_is_gone_is_stale() {
        let rows = [
            row("gateway.502", "plain", Some("accused")),
            row("gateway.503", "plain", None),
            row("twice", "plain", Some("accused")),
        ];
        let listed = [known("gateway.502*", "*"), known("gateway.503", "plain"), known("not-run", "*")];
        let verdicts = Verdicts::new(&rows, &listed);
        assert_eq!(verdicts.unknown(), [&rows[2]]);
        assert_eq!(verdicts.stale(), [&listed[1]]);
    }

    #[test]
    fn the_table_counts_what_is_right() {
        let twice = Condition { name: "twice".to_owned(), says: "Twice".to_owned(), ..Condition::none() };
        let mut fault = row("twice", "a-fault", Some("conforms"));
        fault.conforms = false;
        let rows =
            [row("twice", "plain", None), row("twice", "strict", Some("accused")), fault.clone(), fault];
        assert_eq!(
            Verdicts::new(&rows, &[]).markdown(&[twice]),
            "| condition | plain | strict | faults |\n|---|--:|--:|--:|\n| Twice | ok | wrong | 0 of 2 |\n"
        );
    }
}
