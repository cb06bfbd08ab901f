//! Classifies a response that differs from the sample of its shape. It violates a clause, uses a freedom, or
//! is allowed for a reason that the rules for responses give.

use super::{
    checked::{Checked, Observation},
    definition::{FILE, Lawful},
    mutation::Mutation,
    pointer,
};
use crate::problem::Problem;

/// The classification of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<'a> {
    /// It violates this clause.
    Broken(String),
    /// It uses freedoms.
    Seen(Vec<Observation>),
    /// It is allowed for this reason.
    Lawful(&'a str),
    /// No clause and no reason covers it.
    Undecided,
}

/// Classifies a mutation. `usual` lists the observations of the sample itself.
pub(super) fn said<'a>(
    checked: Checked,
    usual: &[Observation],
    mutation: &Mutation,
    reasons: &'a [Lawful],
) -> Said<'a> {
    let here = checked.findings.iter().find(|finding| finding.at == mutation.at);
    if let Some(finding) = here.or(checked.findings.first()) {
        return Said::Broken(finding.clause.clone());
    }
    let seen: Vec<_> = checked.observations.into_iter().filter(|seen| !usual.contains(seen)).collect();
    if !seen.is_empty() {
        return Said::Seen(seen);
    }
    let reason = reasons.iter().find(|reason| reason.is_for(mutation));
    reason.map_or(Said::Undecided, |reason| Said::Lawful(&reason.because))
}

/// Returns a problem for each undecided mutation and for each unused reason.
pub(super) fn problems(all: &[(&str, Mutation, Said<'_>)], reasons: &[Lawful]) -> Vec<Problem> {
    let undecided = all.iter().filter(|(_, _, said)| *said == Said::Undecided);
    let undecided = undecided.map(|(operation, Mutation { place, form, .. }, _)| {
        let message = format!("no rule covers `{form}` at {place} of {operation}");
        let help = "add a rule for it, or a reason under `lawful` why it is allowed";
        Problem::of_file(FILE, message).help(help)
    });
    let lawful = || all.iter().filter(|(_, _, said)| matches!(said, Said::Lawful(_)));
    let first = |mutation| reasons.iter().position(|reason| reason.is_for(mutation));
    let used: Vec<usize> = lawful().filter_map(|(_, mutation, _)| first(mutation)).collect();
    let unused = reasons.iter().enumerate().filter(|(number, _)| !used.contains(number));
    let unused = unused.map(|(_, reason)| {
        Problem::of_file(FILE, format!("unused reason under `lawful`: {}", reason.because))
    });
    undecided.chain(unused).collect()
}

impl Lawful {
    /// Returns true if a mutation is one of these differences at one of these places.
    fn is_for(&self, mutation: &Mutation) -> bool {
        let place: Vec<&str> = mutation.place.split('/').collect();
        let is_form = |form: &String| match form.strip_suffix('*') {
            Some(start) => mutation.form.starts_with(start),
            None => *form == mutation.form,
        };
        let is_at =
            |path: &String| pointer::is_at(&path.split('/').map(str::to_owned).collect::<Vec<_>>(), &place);
        self.forms.iter().any(is_form) && self.at.iter().any(is_at)
    }
}
