//! Generated faults: operators applied to every row of the bank's own tables, each of them one way to get a
//! rule wrong. A fault is named `<clause>/<operation>-<place>-<operator>`. Faults that a rule file already
//! has are not generated again.

mod answers;
mod clause;
mod forms;
mod headers;
mod parameters;
mod refusals;
mod requests;
mod scopes;
mod table;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use xs2aspec_bank::operation::Operation;

use crate::rules::rows::{kebab, title};
use crate::rules::{Effect, Entry, Place, Then, Treatment, When};

/// A way to get a row of a table wrong.
pub(super) struct Operator<Row> {
    name: &'static str,
    make: Box<Make<Row>>,
}

/// The function that generates faults from one row.
type Make<Row> = dyn Fn(&Row) -> Vec<Made>;

/// A fault before it has its name.
pub(super) struct Made {
    clause: String,
    /// A suffix that distinguishes the faults of one operator and row.
    what: String,
    effects: Vec<Effect>,
    says: String,
}

impl<Row> Operator<Row> {
    /// Returns an operator that generates at most one fault per row.
    fn new(name: &'static str, make: impl Fn(&Row) -> Option<Made> + 'static) -> Self {
        Self::several(name, move |row| make(row).into_iter().collect())
    }

    /// Returns an operator that generates any number of faults per row.
    fn several(name: &'static str, make: impl Fn(&Row) -> Vec<Made> + 'static) -> Self {
        Self { name, make: Box::new(make) }
    }
}

impl Made {
    fn new(clause: impl Into<String>, effect: Effect, says: impl Into<String>) -> Self {
        Self { clause: clause.into(), what: String::new(), effects: vec![effect], says: says.into() }
    }

    /// Returns a fault that treats a value of a request differently.
    fn treats(
        clause: impl Into<String>,
        (operation, place): (Operation, Place),
        (when, then): (When, Then),
        says: &str,
    ) -> Self {
        let says = format!("{} {says}.", title(operation));
        Self::new(clause, Effect::Treats(Treatment { operation, place, when, then }), says)
    }

    /// Sets the suffix.
    fn of(self, what: impl Into<String>) -> Self {
        Self { what: what.into(), ..self }
    }
}

/// Returns all faults of the operators, except those that do the same as a known one.
pub(super) fn faults(known: &[Entry]) -> Vec<Entry> {
    let mut faults = requests::faults();
    faults.extend(texts::faults());
    faults.extend(words::faults());
    faults.extend(forms::faults());
    faults.extend(headers::faults());
    faults.extend(parameters::faults());
    faults.extend(answers::faults());
    faults.extend(refusals::faults());
    let names: BTreeSet<&str> = known.iter().map(|entry| entry.name.as_str()).collect();
    let mut by_clause = BTreeMap::<&str, Vec<&Entry>>::new();
    for entry in known {
        by_clause.entry(entry.clause()).or_default().push(entry);
    }
    faults.retain(|entry| {
        let of_clause = by_clause.get(entry.clause()).map(Vec::as_slice).unwrap_or_default();
        !names.contains(entry.name.as_str())
            && !of_clause.iter().any(|one| one.beside == entry.beside && one.effects == entry.effects)
    });
    faults.extend(scopes::faults(known));
    faults
}

/// Applies operators to rows. `place` returns the place for the names of the faults.
fn apply<Row>(
    operators: &[Operator<Row>],
    rows: &[Row],
    place: impl Fn(&Row) -> (Operation, &'static str),
) -> Vec<Entry> {
    let mut faults = Vec::new();
    for Operator { name, make } in operators {
        for row in rows {
            let (operation, at) = place(row);
            let at = if at.is_empty() { "whole".to_owned() } else { slug(at) };
            for Made { clause, what, effects, says } in make(row) {
                let what = if what.is_empty() { what } else { format!("-{what}") };
                let operation = slug(&format!("{operation:?}"));
                faults.push(
                    Entry::new(format!("{clause}/{operation}-{at}-{name}{what}"), effects, says).by(name),
                );
            }
        }
    }
    faults
}

/// Converts a name or pointer for the names of faults.
fn slug(text: &str) -> String {
    let kebab = kebab(text);
    let parts = kebab.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
