//! Faults grouped by a property: the number tested, and their results.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    Caught::{self, ByAnother, ByControl, Denied, Missed, Warned},
    KillMatrix, Kind, Row,
};

/// Number of faults with each result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts(BTreeMap<Caught, usize>);

impl Counts {
    /// Adds one fault.
    pub fn add(&mut self, caught: Caught) {
        *self.0.entry(caught).or_default() += 1;
    }

    /// Returns the number of faults with this result.
    pub fn of(&self, caught: Caught) -> usize {
        self.0.get(&caught).copied().unwrap_or_default()
    }

    /// Returns the number of all faults.
    pub fn all(&self) -> usize {
        self.0.values().sum()
    }
}

/// Returns the area of a clause: the first part of its id.
pub fn area(clause: &str) -> &str {
    clause.split('.').next().unwrap_or_default()
}

/// Renders tables in Markdown: by area, by operator and by style. Empty tables are omitted.
pub(crate) fn tables(matrix: &KillMatrix) -> String {
    let by_area = table(matrix, "area", |row| Some(area(&row.clause)));
    let by_operator = table(matrix, "operator", |row| row.operator.as_deref());
    let by_style = table(matrix, "style", |row| row.style.as_deref());
    [by_area, by_operator, by_style].concat()
}

fn table<'a>(matrix: &'a KillMatrix, word: &str, key: impl Fn(&'a Row) -> Option<&'a str>) -> String {
    let mut groups = BTreeMap::<&str, Counts>::new();
    for row in matrix.of(Kind::Fault) {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().add(row.caught());
        }
    }
    if groups.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n### By {word}\n\n| {word} | tested | denied | warned | by a control | by another clause | missed |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for (key, counts) in groups {
        let numbers =
            [Denied, Warned, ByControl, ByAnother, Missed].map(|caught| counts.of(caught).to_string());
        _ = writeln!(text, "| `{key}` | {} | {} |", counts.all(), numbers.join(" | "));
    }
    text
}
