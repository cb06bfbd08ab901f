//! The matrix of responses. It has a cell for each way in which each place of a response can differ from its
//! sample, with the decision about it.

use std::sync::Arc;

use xs2aspec_spec::{
    AnswerRules, Strength,
    answer::{FILE, Mutation, Said},
};

use crate::{
    matrix::{Cell, Decision},
    parts::Parts,
};

/// Returns every cell, in the order of operations and places. Undecided cells are missing, since `lint`
/// reports them.
pub(crate) fn cells(parts: &Parts, rules: &AnswerRules) -> Vec<Cell> {
    let of_operation = |operation| {
        let mutations = rules.mutations(operation).into_iter();
        mutations.filter_map(move |mutation| {
            let said = rules.said_of(operation, &mutation);
            cell(operation, mutation, said, parts)
        })
    };
    rules.operations().flat_map(of_operation).collect()
}

fn cell(operation: &str, mutation: Mutation, said: Said<'_>, parts: &Parts) -> Option<Cell> {
    let (decision, clause, reason) = match said {
        Said::Undecided => return None,
        Said::Lawful(why) => (Decision::Lawful, None, Some(why.to_owned())),
        Said::Broken(clause) if parts.is_expected(&clause) => (Decision::Warned, Some(clause), None),
        Said::Broken(clause) => (Decision::Denied, Some(clause), None),
        Said::Seen(seen) => {
            let warned = seen.iter().find(|seen| is_warned(&seen.clause, parts));
            match (warned, seen.first()) {
                (Some(warned), _) => (Decision::Warned, Some(warned.clause.clone()), None),
                (None, Some(first)) => {
                    let why = match &parts.spec.clauses.get(&first.clause)?.strength {
                        Strength::Observed(why) => why.clone(),
                        _ => first.text.clone(),
                    };
                    (Decision::Noted, Some(first.clause.clone()), Some(why))
                }
                (None, None) => return None,
            }
        }
    };
    let strength = clause.as_ref().and_then(|clause| Some(parts.spec.clauses.get(clause)?.strength.word()));
    Some(Cell {
        operation: operation.to_owned(),
        place: mutation.place,
        written: Arc::from(format!("{FILE} {}", mutation.form)),
        form: mutation.form,
        decision,
        clause,
        strength,
        expect: None,
        reason,
    })
}

/// Returns true if the use of a freedom is a warning unless the profile says otherwise.
fn is_warned(clause: &str, parts: &Parts) -> bool {
    match parts.spec.clauses.get(clause).map(|clause| &clause.strength) {
        Some(Strength::Expected) => true,
        Some(Strength::Choice(choice)) => choice.expected,
        _ => false,
    }
}
