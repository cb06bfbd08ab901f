//! Forms that are met together: mistakes beside lawful forms, and lawful forms beside each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use xs2aspec_spec::request::{Due, Form, Surrounding};

use crate::{
    case::Case,
    definition::Depth,
    difference::differences,
    draft::{Draft, Move},
    forms::{FormCases, id, moved, of_operation},
    parts::Parts,
};

/// Lawful forms of one place that meet those of other places, at most. The plain value is one more.
const LEVELS: usize = 5;

/// Sorts of mistakes of one clause that are made in surroundings at the standard depth.
const SORTS: usize = 2;

/// Mistakes of each clause beside each of the surroundings, and each of these alone, which is the control.
pub(crate) fn surrounded<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    all: &FormCases,
    parts: &Parts,
) -> Vec<Case> {
    let mistakes = mistakes(forms);
    let Some(plain) = parts.requests.plain_clause(operation) else { return vec![] };
    let mut cases = Vec::new();
    for surrounding in parts.requests.surroundings() {
        let lawful = lawful(operation, surrounding, parts);
        let mut control = Draft::plain(operation);
        let lawful = lawful.into_iter().filter(|one| added(&mut control, one, parts)).collect::<Vec<_>>();
        let Some((case, Due::Accepted { .. })) = control.case(parts) else { continue };
        if lawful.is_empty() {
            continue;
        }
        let own = format!("{}/{}", of_operation(plain, operation), surrounding.name);
        let control = Case { id: own.clone(), ..case };
        cases.push(control.clone());
        let mut twins = BTreeSet::new();
        let mut beside_twins: BTreeMap<usize, Vec<Move>> = BTreeMap::new();
        for (clause, form, depth) in &mistakes {
            let number = form.twin.as_deref().and_then(|label| all.beside(form, label));
            let twin = number.map(|number| &parts.requests.forms(operation)[number]);
            let beside_twin = |twin: &Form| {
                let mut draft = Draft::plain(operation);
                draft.add(moved(operation, twin));
                lawful.iter().filter(|one| added(&mut draft, one, parts)).cloned().collect()
            };
            let whole = met(clause, (form, twin), &lawful, &control, operation, parts);
            // What does not go together with the twin is left out.
            let Some((case, by)) = whole.or_else(|| {
                let around =
                    beside_twins.entry(number?).or_insert_with(|| twin.map(beside_twin).unwrap_or_default());
                met(clause, (form, twin), around, &control, operation, parts).filter(|_| !around.is_empty())
            }) else {
                continue;
            };
            let mut control = own.clone();
            if let (Some(twin), Some(twin_case)) = (twin, by) {
                control = format!("{}/{}", id(&twin_case.clause, operation, twin), surrounding.name);
                if twins.insert(control.clone()) {
                    let id = control.clone();
                    cases.push(Case { id, line: twin.line, control: Some(own.clone()), ..twin_case });
                }
            }
            let id = format!("{}/{}", id(clause, operation, form), surrounding.name);
            cases.push(Case { id, line: form.line, depth: *depth, control: Some(control), ..case });
        }
    }
    cases
}

/// The case of a mistake of this clause beside lawful forms, and that of its twin beside them where the mistake
/// is more than one thing away from the control.
fn met(
    clause: &str,
    (form, twin): (&Form, Option<&Form>),
    around: &[Move],
    control: &Case,
    operation: &str,
    parts: &Parts,
) -> Option<(Case, Option<Case>)> {
    let beside = |form: &Form| {
        let mut draft = Draft::plain(operation);
        draft.add(moved(operation, form));
        // Of the lawful forms the one at the place of the mistake gives way.
        for one in around {
            draft.add(one.clone());
        }
        draft.case(parts)
    };
    let (case, due) = beside(form)?;
    if !matches!(due, Due::Refused { clauses, .. } if clauses == [clause]) {
        return None;
    }
    if differences(&case, control).len() == 1 {
        return Some((case, None));
    }
    let (twin_case, due) = beside(twin?)?;
    let is_control = matches!(due, Due::Accepted { .. }) && !parts.is_expected(&twin_case.clause);
    (is_control && differences(&case, &twin_case).len() == 1).then_some((case, Some(twin_case)))
}

/// Adds a move, if the request is to be accepted with it.
fn added(draft: &mut Draft, one: &Move, parts: &Parts) -> bool {
    let fits = draft.add(one.clone());
    if fits && !matches!(draft.case(parts), Some((_, Due::Accepted { .. }))) {
        draft.moves.pop();
        return false;
    }
    fits
}

/// The first mistake of each sort of each clause: what their labels begin with (`type-`, `near-`) tells sorts apart.
fn mistakes<'a>(forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>) -> Vec<(String, &'a Form, Depth)> {
    let mut mistakes = Vec::new();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (form, (_, due)) in forms.filter(|(form, _)| form.before.is_empty()) {
        if let Due::Refused { clauses, .. } = due
            && let [clause] = clauses.as_slice()
        {
            let sort = form.label.split('-').next().unwrap_or_default();
            let sorts = known.entry(clause.clone()).or_default();
            if sorts.insert(sort.to_owned()) {
                let depth = if sorts.len() > SORTS { Depth::Exhaustive } else { Depth::Standard };
                mistakes.push((clause.clone(), form, depth));
            }
        }
    }
    mistakes
}

fn lawful(operation: &str, around: &Surrounding, parts: &Parts) -> Vec<Move> {
    let forms = parts.requests.forms(operation).iter().filter(|form| around.has(form));
    forms.map(|form| moved(operation, form)).collect()
}

/// A place, and the lawful forms of it that meet those of other places.
type Factor = Vec<Move>;

/// Requests in which every two lawful forms of two places are together once: a covering array of strength two.
pub(crate) fn paired<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    parts: &Parts,
) -> Vec<Case> {
    let factors = factors(operation, forms, parts);
    let Some(plain) = parts.requests.plain_clause(operation) else { return vec![] };
    let names = parts.requests.forms(operation).iter().enumerate();
    let numbers: HashMap<&str, usize> = names.map(|(number, form)| (form.name.as_str(), number)).collect();
    let mut cases = Vec::new();
    for row in covering(&factors) {
        let mut draft = Draft::plain(operation);
        for (factor, level) in row {
            draft.add(factors[factor][level].clone());
        }
        // What does not go together, as a rule over several places says, goes one after the other.
        while let Some((case, due)) = draft.case(parts) {
            if matches!(due, Due::Accepted { .. }) {
                let id = format!("{}/pairs-{}", of_operation(plain, operation), cases.len() + 1);
                let together = draft.moves.iter().filter_map(|one| numbers.get(one.form.as_str()).copied());
                let together = together.collect();
                cases.push(Case { id, clause: plain.to_owned(), together, ..case });
                break;
            }
            if draft.moves.pop().is_none() || draft.moves.len() < 2 {
                break;
            }
        }
    }
    cases
}

/// The request in which these lawful forms of an operation, by their numbers, are together, if it must be
/// accepted.
pub(crate) fn of_forms(operation: &str, numbers: &[usize], parts: &Parts) -> Option<Case> {
    let forms = parts.requests.forms(operation);
    let mut draft = Draft::plain(operation);
    for number in numbers {
        draft.add(moved(operation, forms.get(*number)?));
    }
    let (case, due) = draft.case(parts)?;
    matches!(due, Due::Accepted { .. }).then_some(case)
}

fn factors<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    parts: &Parts,
) -> Vec<Factor> {
    let mut places: BTreeMap<&str, Vec<&'a Form>> = BTreeMap::new();
    for (form, (case, due)) in forms.filter(|(form, _)| !form.place.is_empty() && form.before.is_empty()) {
        // Another reading may refuse what is only expected to be accepted.
        if !parts.is_expected(&case.clause) && matches!(due, Due::Accepted { .. }) {
            places.entry(&form.place).or_default().push(form);
        }
    }
    let few = |forms: Vec<&'a Form>| {
        // From the first to the last, as far from each other as can be.
        let levels = LEVELS.min(forms.len());
        let kept = (0..levels).map(|level| level * (forms.len() - 1) / (levels.max(2) - 1));
        kept.map(|at| moved(operation, forms[at])).collect()
    };
    places.into_values().map(few).collect()
}

/// Rows of factor and level; greedily, so that few rows have every pair.
fn covering(factors: &[Factor]) -> Vec<Vec<(usize, usize)>> {
    type Pair = ((usize, usize), (usize, usize));
    let fits = |one: (usize, usize), other: (usize, usize)| {
        factors[one.0][one.1].touches.is_disjoint(&factors[other.0][other.1].touches)
    };
    let every = || {
        factors.iter().enumerate().flat_map(|(at, levels)| (0..levels.len()).map(move |level| (at, level)))
    };
    let mut open: BTreeSet<Pair> = BTreeSet::new();
    for one in every() {
        open.extend(every().filter(|other| one.0 < other.0 && fits(one, *other)).map(|other| (one, other)));
    }
    let mut rows = Vec::new();
    while let Some((first, second)) = open.first().copied() {
        let mut row = vec![first, second];
        for (at, levels) in factors.iter().enumerate() {
            if row.iter().any(|(known, _)| *known == at) {
                continue;
            }
            let settled = |level: usize| {
                let pair = |other: &(usize, usize)| {
                    if other.0 < at { (*other, (at, level)) } else { ((at, level), *other) }
                };
                row.iter().filter(|other| open.contains(&pair(other))).count()
            };
            let fitting =
                (0..levels.len()).filter(|level| row.iter().all(|other| fits((at, *level), *other)));
            if let Some(level) = fitting.max_by_key(|level| (settled(*level), levels.len() - level)) {
                row.push((at, level));
            }
        }
        for one in &row {
            for other in row.iter().filter(|other| one.0 < other.0) {
                open.remove(&(*one, *other));
            }
        }
        rows.push(row);
    }
    rows
}
