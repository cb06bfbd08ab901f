//! Combinations of allowed forms. Each row of them must be accepted.

use std::collections::{BTreeMap, HashMap};

use xs2aspec_spec::request::{self, Due, Form};

use crate::{
    case::Case,
    combination::{AppliedForm, Combination},
    covering::{Cell, covering, each_once},
    forms::{moved, of_operation},
    parts::Parts,
};

/// Maximum number of allowed forms of one place that are combined with those of other places, in addition to
/// the value of the baseline.
const LEVELS: usize = 5;

/// Maximum number of allowed forms of one place that occur once in each of the surroundings.
const AROUND_LEVELS: usize = 16;

pub(crate) fn lawful(operation: &str, around: &request::Surrounding, parts: &Parts) -> Vec<AppliedForm> {
    let forms = parts.requests().forms(operation).iter().filter(|form| around.has(form));
    forms.map(|form| moved(operation, form)).collect()
}

/// The allowed forms of one place that are combined with those of other places.
pub(crate) type Factor = Vec<AppliedForm>;

/// Returns the cases of a covering array of strength two of allowed forms. Further cases combine more of
/// them, once each, with the surroundings.
pub(crate) fn paired<'a>(
    operation: &str,
    forms: &(impl Iterator<Item = (&'a Form, &'a (Case, Due))> + Clone),
    parts: &Parts,
) -> Vec<Case> {
    let Some(plain) = parts.requests().plain_clause(operation) else { return vec![] };
    let pairs = factors(operation, forms.clone(), LEVELS, parts);
    let rows = covering(&levels(&pairs), |row| is_accepted(operation, &[], &pairs, row, parts));
    let mut made = vec![("pairs", vec![], pairs, rows)];
    for one in parts.requests().surroundings() {
        let around = lawful(operation, one, parts);
        if around.is_empty() {
            continue;
        }
        let factors = factors(operation, forms.clone(), AROUND_LEVELS, parts);
        let rows = each_once(&levels(&factors), |row| is_accepted(operation, &around, &factors, row, parts));
        made.push((&*one.name, around, factors, rows));
    }
    let mut cases = Vec::new();
    for (name, around, factors, rows) in &made {
        let combinations = rows.iter().filter_map(|row| combined(operation, around, factors, row));
        cases.extend(combinations.enumerate().filter_map(|(number, combination)| {
            let id = format!("{}/{name}-{}", of_operation(plain, operation), number + 1);
            lawful_case(id, &combination, parts)
        }));
    }
    cases
}

/// Returns the number of levels of each factor.
pub(crate) fn levels(factors: &[Factor]) -> Vec<usize> {
    factors.iter().map(Vec::len).collect()
}

pub(crate) fn is_accepted(
    operation: &str,
    around: &[AppliedForm],
    factors: &[Factor],
    row: &[Cell],
    parts: &Parts,
) -> bool {
    let due = combined(operation, around, factors, row).and_then(|combination| combination.due(parts));
    matches!(due, Some(Due::Accepted { .. }))
}

/// Returns the case of combined allowed forms, under the clause of the baseline. A run finds out which of the
/// forms a target rejects. Returns None if the request need not be accepted.
pub(crate) fn lawful_case(id: String, combination: &Combination, parts: &Parts) -> Option<Case> {
    let (case, Due::Accepted { .. }) = combination.case(parts)? else { return None };
    let numbers = numbers(&combination.operation, parts);
    let together = combination.forms.iter().filter_map(|one| numbers.get(one.form.as_str()).copied());
    let clause = parts.requests().plain_clause(&combination.operation)?.to_owned();
    Some(Case { id, clause, together: together.collect(), ..case })
}

/// Returns the request with the forms of a row and of a surrounding, unless they conflict.
fn combined(
    operation: &str,
    around: &[AppliedForm],
    factors: &[Factor],
    row: &[Cell],
) -> Option<Combination> {
    let mut combination = Combination::plain(operation);
    let mut forms = around.iter().chain(row.iter().map(|(factor, level)| &factors[*factor][*level]));
    forms.all(|one| combination.add(one.clone())).then_some(combination)
}

/// Returns the number of each form of an operation, by its name.
fn numbers<'a>(operation: &str, parts: &'a Parts) -> HashMap<&'a str, usize> {
    let names = parts.requests().forms(operation).iter().enumerate();
    names.map(|(number, form)| (form.name.as_str(), number)).collect()
}

/// Returns the request that combines these allowed forms of an operation, by their numbers, if it must be
/// accepted.
pub(crate) fn of_forms(operation: &str, numbers: &[usize], parts: &Parts) -> Option<Case> {
    let forms = parts.requests().forms(operation);
    let mut combination = Combination::plain(operation);
    for number in numbers {
        combination.add(moved(operation, forms.get(*number)?));
    }
    let (case, due) = combination.case(parts)?;
    matches!(due, Due::Accepted { .. }).then_some(case)
}

pub(crate) fn factors<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    most: usize,
    parts: &Parts,
) -> Vec<Factor> {
    let mut places: BTreeMap<&str, Vec<&'a Form>> = BTreeMap::new();
    let is_alone = |form: &Form| form.place.is_empty() || form.alone.is_some() || !form.before.is_empty();
    for (form, (case, due)) in forms.filter(|(form, _)| !is_alone(form)) {
        // Under another reading, a bank may reject a value that is only expected to be accepted.
        if !parts.is_expected(&case.clause) && matches!(due, Due::Accepted { .. }) {
            places.entry(&form.place).or_default().push(form);
        }
    }
    let few = |forms: Vec<&'a Form>| {
        // Keep forms that are spread evenly from the first to the last.
        let levels = most.min(forms.len());
        let kept = (0..levels).map(|level| level * (forms.len() - 1) / (levels.max(2) - 1));
        kept.map(|at| moved(operation, forms[at])).collect()
    };
    places.into_values().map(few).collect()
}
