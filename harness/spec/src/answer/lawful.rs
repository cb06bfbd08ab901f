//! What is said of an answer that differs from the sample of its shape: it breaks a clause, uses a freedom,
//! or is lawful for a reason that the file of answers gives.

use super::{
    checked::{Checked, Observation},
    definition::{FILE, Lawful},
    mutation::Mutation,
    pointer,
};
use crate::problem::Problem;

/// What is said of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<'a> {
    /// It breaks this clause.
    Broken(String),
    /// It uses freedoms.
    Seen(Vec<Observation>),
    /// Nothing, for this reason.
    Lawful(&'a str),
    /// Nothing, and no reason is given.
    Undecided,
}

/// What the rules and the reasons say of a mutation. `usual` is what is observed of the sample itself.
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

/// Mutations of which nothing is decided, and reasons that none of them needs.
pub(super) fn problems(all: &[(&str, Mutation, Said<'_>)], reasons: &[Lawful]) -> Vec<Problem> {
    let undecided = all.iter().filter(|(_, _, said)| *said == Said::Undecided);
    let undecided = undecided.map(|(operation, Mutation { place, form, .. }, _)| {
        let message = format!("nothing is said of `{form}` at {place} of {operation}");
        let help = "write a rule that says it, or under `lawful` why it may be so";
        Problem::of_file(FILE, message).help(help)
    });
    let lawful = || all.iter().filter(|(_, _, said)| matches!(said, Said::Lawful(_)));
    let first = |mutation| reasons.iter().position(|reason| reason.is_for(mutation));
    let used: Vec<usize> = lawful().filter_map(|(_, mutation, _)| first(mutation)).collect();
    let unused = reasons.iter().enumerate().filter(|(number, _)| !used.contains(number));
    let unused = unused.map(|(_, reason)| {
        Problem::of_file(FILE, format!("a reason of `lawful` is for nothing: {}", reason.because))
    });
    undecided.chain(unused).collect()
}

impl Lawful {
    /// Whether a mutation is one of its forms at one of its places.
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
