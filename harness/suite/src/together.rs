//! Forms that are met together: mistakes beside lawful forms, and lawful forms beside each other.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
};

use xs2aspec_spec::request::{Due, Form, Surrounding};

use crate::{
    case::Case,
    combination::{AppliedForm, Combination},
    definition::Depth,
    difference::differences,
    forms::{FormCases, id, moved, of_operation},
    parts::Parts,
};

/// Lawful forms of one place that meet those of other places, at most. The plain value is one more.
const LEVELS: usize = 5;

/// Sorts of mistakes of one clause that are made in surroundings at the standard depth.
const SORTS: usize = 2;

/// Mistakes beside each of the surroundings, and each of these alone, which is the control.
pub(crate) fn surrounded<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    all: &FormCases,
    parts: &Parts,
) -> Vec<Case> {
    let every = mistakes(forms);
    let first = first_of_each_sort(&every);
    let Some(plain) = parts.requests.plain_clause(operation) else { return vec![] };
    let mut cases = Vec::new();
    let numbers = numbers(operation, parts);
    for surrounding in parts.requests.surroundings() {
        let lawful = lawful(operation, surrounding, parts);
        let mut control = Combination::plain(operation);
        let lawful = lawful.into_iter().filter(|one| added(&mut control, one, parts)).collect::<Vec<_>>();
        let Some((case, Due::Accepted { .. })) = control.case(parts) else { continue };
        if lawful.is_empty() && !surrounding.own_connection {
            continue;
        }
        let first_case = cases.len();
        let own = format!("{}/{}", of_operation(plain, operation), surrounding.name);
        let together = lawful.iter().filter_map(|one| numbers.get(one.form.as_str()).copied()).collect();
        let control = Case { id: own.clone(), clause: plain.to_owned(), together, ..case };
        cases.push(control.clone());
        let mut whole = Around::new(operation, lawful, parts);
        // What does not go together with a twin is left out.
        let mut beside_twins: BTreeMap<usize, Around<'_>> = BTreeMap::new();
        let mut twins = BTreeSet::new();
        for (clause, form, depth) in if surrounding.every { &every } else { &first } {
            let number = form.twin.as_ref().and_then(|twin| all.number(twin));
            let Some((case, by)) = whole.met(clause, form, number, &control).or_else(|| {
                let around = beside_twins.entry(number?).or_insert_with(|| whole.beside_twin(number));
                if around.lawful.is_empty() { None } else { around.met(clause, form, number, &control) }
            }) else {
                continue;
            };
            let mut control = own.clone();
            if let Some((twin, twin_case)) = by {
                control = format!("{}/{}", id(&twin_case.clause, operation, twin), surrounding.name);
                if twins.insert(control.clone()) {
                    let id = control.clone();
                    cases.push(Case {
                        id,
                        line: twin.line,
                        control: Some(own.clone()),
                        ..Case::clone(&twin_case)
                    });
                }
            }
            let id = format!("{}/{}", id(clause, operation, form), surrounding.name);
            cases.push(Case { id, line: form.line, depth: *depth, control: Some(control), ..case });
        }
        if surrounding.own_connection {
            cases[first_case..].iter_mut().for_each(Case::on_a_connection_of_its_own);
        }
    }
    cases
}

/// The valid form beside a mistake, and its case.
type Twin<'a> = (&'a Form, Rc<Case>);

/// Lawful forms beside which others are met.
struct Around<'a> {
    operation: &'a str,
    lawful: Vec<AppliedForm>,
    parts: &'a Parts,
    /// The cases of twins beside them, by the number of the twin; None where it cannot be a control.
    twins: HashMap<usize, Option<Rc<Case>>>,
}

impl<'a> Around<'a> {
    fn new(operation: &'a str, lawful: Vec<AppliedForm>, parts: &'a Parts) -> Self {
        Self { operation, lawful, parts, twins: HashMap::new() }
    }

    /// Those of its lawful forms that go together with a twin.
    fn beside_twin(&self, twin: Option<usize>) -> Self {
        let mut combination = Combination::plain(self.operation);
        combination.forms.extend(twin.map(|number| moved(self.operation, self.form(number))));
        let lawful =
            self.lawful.iter().filter(|one| twin.is_some() && added(&mut combination, one, self.parts));
        Self::new(self.operation, lawful.cloned().collect(), self.parts)
    }

    fn form(&self, number: usize) -> &'a Form {
        &self.parts.requests.forms(self.operation)[number]
    }

    fn beside(&self, form: &Form) -> Option<(Case, Due)> {
        let mut combination = Combination::plain(self.operation);
        combination.add(moved(self.operation, form));
        // Of the lawful forms the one at the place of the mistake gives way.
        for one in &self.lawful {
            combination.add(one.clone());
        }
        combination.case(self.parts)
    }

    /// The case of a mistake of this clause beside them, and that of its twin beside them where the mistake is
    /// more than one thing away from the control.
    fn met(
        &mut self,
        clause: &str,
        form: &Form,
        twin: Option<usize>,
        control: &Case,
    ) -> Option<(Case, Option<Twin<'a>>)> {
        let (case, due) = self.beside(form)?;
        if !matches!(due, Due::Refused { clauses, .. } if clauses == [clause]) {
            return None;
        }
        if differences(&case, control).len() == 1 {
            return Some((case, None));
        }
        let number = twin?;
        let twin = self.form(number);
        if !self.twins.contains_key(&number) {
            let is_control = |(case, due): &(Case, Due)| {
                matches!(due, Due::Accepted { .. }) && !self.parts.is_expected(&case.clause)
            };
            let made = self.beside(twin).filter(is_control).map(|(case, _)| Rc::new(case));
            self.twins.insert(number, made);
        }
        let twin_case = self.twins[&number].clone()?;
        (differences(&case, &twin_case).len() == 1).then_some((case, Some((twin, twin_case))))
    }
}

/// Adds a form, if the request is to be accepted with it.
fn added(combination: &mut Combination, one: &AppliedForm, parts: &Parts) -> bool {
    let fits = combination.add(one.clone());
    if fits && !matches!(combination.case(parts), Some((_, Due::Accepted { .. }))) {
        combination.forms.pop();
        return false;
    }
    fits
}

/// A mistake: the clause that it breaks alone, its form, and from which depth on it is met.
type Mistake<'a> = (String, &'a Form, Depth);

/// Every mistake of one clause.
fn mistakes<'a>(forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>) -> Vec<Mistake<'a>> {
    let of_one_clause = |(form, (_, due)): (&'a Form, &'a (Case, Due))| match due {
        Due::Refused { clauses, .. } if form.before.is_empty() => {
            let [clause] = clauses.as_slice() else { return None };
            let depth = if form.is_exhaustive { Depth::Exhaustive } else { Depth::Standard };
            Some((clause.clone(), form, depth))
        }
        _ => None,
    };
    forms.filter_map(of_one_clause).collect()
}

/// The first mistake of each sort of each clause: what their labels begin with (`type-`, `near-`) tells sorts apart.
fn first_of_each_sort<'a>(all: &[Mistake<'a>]) -> Vec<Mistake<'a>> {
    let mut mistakes = Vec::new();
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (clause, form, _) in all {
        let sorts = known.entry(clause).or_default();
        if sorts.insert(form.label.split('-').next().unwrap_or_default()) {
            let depth = if sorts.len() > SORTS { Depth::Exhaustive } else { Depth::Standard };
            mistakes.push((clause.clone(), *form, depth));
        }
    }
    mistakes
}

fn lawful(operation: &str, around: &Surrounding, parts: &Parts) -> Vec<AppliedForm> {
    let forms = parts.requests.forms(operation).iter().filter(|form| around.has(form));
    forms.map(|form| moved(operation, form)).collect()
}

/// A place, and the lawful forms of it that meet those of other places.
type Factor = Vec<AppliedForm>;

/// Requests in which every two lawful forms of two places are together once: a covering array of strength two.
pub(crate) fn paired<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>,
    parts: &Parts,
) -> Vec<Case> {
    let factors = factors(operation, forms, parts);
    let Some(plain) = parts.requests.plain_clause(operation) else { return vec![] };
    let numbers = numbers(operation, parts);
    let draft_of = |row: &[Cell]| {
        let mut combination = Combination::plain(operation);
        let fits = row.iter().all(|(factor, level)| combination.add(factors[*factor][*level].clone()));
        fits.then_some(combination)
    };
    let is_accepted = |row: &[Cell]| {
        let due = draft_of(row).and_then(|combination| combination.due(parts));
        matches!(due, Some(Due::Accepted { .. }))
    };
    let rows = covering(&factors.iter().map(Vec::len).collect::<Vec<_>>(), is_accepted);
    let combinations = rows.iter().filter_map(|row| draft_of(row));
    let case = |(number, combination): (usize, Combination)| {
        let (case, _) = combination.case(parts)?;
        let id = format!("{}/pairs-{}", of_operation(plain, operation), number + 1);
        let together =
            combination.forms.iter().filter_map(|one| numbers.get(one.form.as_str()).copied()).collect();
        Some(Case { id, clause: plain.to_owned(), together, ..case })
    };
    combinations.enumerate().filter_map(case).collect()
}

/// The number of each form of an operation, by its name.
fn numbers<'a>(operation: &str, parts: &'a Parts) -> HashMap<&'a str, usize> {
    let names = parts.requests.forms(operation).iter().enumerate();
    names.map(|(number, form)| (form.name.as_str(), number)).collect()
}

/// The request in which these lawful forms of an operation, by their numbers, are together, if it must be
/// accepted.
pub(crate) fn of_forms(operation: &str, numbers: &[usize], parts: &Parts) -> Option<Case> {
    let forms = parts.requests.forms(operation);
    let mut combination = Combination::plain(operation);
    for number in numbers {
        combination.add(moved(operation, forms.get(*number)?));
    }
    let (case, due) = combination.case(parts)?;
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

/// A factor and one of its levels.
type Cell = (usize, usize);

/// Rows of cells in which every two cells that go together are together once; greedily, so that rows are few.
/// Which cells go together only `is_accepted` knows: two that do not are found when a row with them is not
/// accepted, and are no longer put into one.
fn covering(levels: &[usize], is_accepted: impl Fn(&[Cell]) -> bool) -> Vec<Vec<Cell>> {
    let pair = |one: Cell, other: Cell| if one.0 < other.0 { (one, other) } else { (other, one) };
    let every = || {
        levels.iter().enumerate().flat_map(|(factor, levels)| (0..*levels).map(move |level| (factor, level)))
    };
    let mut open: BTreeSet<(Cell, Cell)> = BTreeSet::new();
    for one in every() {
        open.extend(every().filter(|other| one.0 < other.0).map(|other| (one, other)));
    }
    let mut apart: BTreeSet<(Cell, Cell)> = BTreeSet::new();
    let mut rows = Vec::new();
    while let Some((first, second)) = open.pop_first() {
        let mut row = vec![first, second];
        for (factor, levels) in levels.iter().enumerate() {
            if row.iter().any(|known| known.0 == factor) {
                continue;
            }
            let fits = |cell: Cell| row.iter().all(|other| !apart.contains(&pair(cell, *other)));
            let gain = |cell: Cell| row.iter().filter(|other| open.contains(&pair(cell, **other))).count();
            let fitting = (0..*levels).map(|level| (factor, level)).filter(|cell| fits(*cell));
            row.extend(fitting.max_by_key(|cell| (gain(*cell), levels - cell.1)));
        }
        if !is_accepted(&row) {
            let mut kept: Vec<Cell> = Vec::new();
            for cell in row {
                kept.push(cell);
                if kept.len() > 1 && !is_accepted(&kept) {
                    kept.pop();
                    let other = kept.iter().find(|other| !is_accepted(&[**other, cell]));
                    apart.extend(other.map(|other| pair(cell, *other)));
                }
            }
            row = kept;
        }
        for one in &row {
            for other in row.iter().filter(|other| one.0 < other.0) {
                open.remove(&(*one, *other));
            }
        }
        open.retain(|pair| !apart.contains(pair));
        if row.len() > 1 {
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_cells_that_go_together_are_together_once() {
        // Two that do not go together, and three of which any two do.
        let is_accepted = |row: &[Cell]| {
            let has = |cell| row.contains(&cell);
            !(has((0, 1)) && has((1, 0)) || has((1, 1)) && has((2, 2)) && has((3, 0)))
        };
        let levels = [3, 2, 4, 2];
        let rows = covering(&levels, is_accepted);
        assert!(rows.iter().all(|row| is_accepted(row)), "{rows:?}");
        let together =
            |one: Cell, other: Cell| rows.iter().any(|row| row.contains(&one) && row.contains(&other));
        for (one, other) in
            [((0, 0), (1, 0)), ((1, 1), (2, 2)), ((1, 1), (3, 0)), ((2, 2), (3, 0)), ((2, 3), (3, 1))]
        {
            assert!(together(one, other), "{one:?} {other:?} {rows:?}");
        }
        let cells = levels
            .iter()
            .enumerate()
            .flat_map(|(factor, levels)| (0..*levels).map(move |level| (factor, level)));
        let cells: Vec<Cell> = cells.collect();
        for one in &cells {
            for other in cells.iter().filter(|other| one.0 < other.0) {
                assert_eq!(together(*one, *other), is_accepted(&[*one, *other]), "{one:?} {other:?}");
            }
        }
        assert!(rows.len() < 24, "{} rows for 44 pairs", rows.len());
    }
}
