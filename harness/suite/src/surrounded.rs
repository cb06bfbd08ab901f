//! Invalid values in requests with further allowed forms. They reveal a bank that skips a check if something
//! else is present.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
    slice,
};

use serde_json::Value;
use xs2aspec_spec::request::{Due, Edit, Form};

use crate::{
    case::{BESIDE, Case},
    combination::{AppliedForm, Combination},
    covering::each_once,
    definition::{Change, Depth, IfControlRefused},
    difference::differences,
    forms::{FormCases, id, moved, of_operation},
    paired::{Factor, factors, is_accepted, lawful, lawful_case, levels},
    parallel::in_parallel,
    parts::Parts,
    request::{ChangeError, RequestSpec},
};

/// Maximum number of allowed forms of one place that are combined with invalid values.
const ROW_LEVELS: usize = 9;

/// Number of rows of such forms at the standard depth.
const ROWS: usize = 9;

/// Number of rows with invalid values of every sort. The next constant is the number of sorts at the standard
/// depth.
const FULL_ROWS: usize = 2;
const FULL_SORTS: usize = 3;

/// Returns the lowest depth at which the `number`-th of `of` invalid values of a clause is tried in
/// surroundings. The first one reveals a bank that does not check at all. The middle one reveals a bank that
/// only checks less closely.
fn depth_of(number: usize, of: usize) -> Depth {
    if number == 0 || number == of / 2 { Depth::Standard } else { Depth::Exhaustive }
}

/// Returns the cases of invalid values in each of the surroundings, and the case of each surrounding alone,
/// which is their control.
pub(crate) fn surrounded<'a>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))> + Clone,
    all: &FormCases,
    parts: &Parts,
) -> Vec<Case> {
    let mistakes = mistakes(forms.clone());
    let accepted = forms.clone().filter(|(form, (_, due))| {
        form.before.is_empty() && form.alone.is_none() && matches!(due, Due::Accepted { .. })
    });
    let accepted: Vec<(&str, &Form)> =
        accepted.map(|(form, (case, _))| (case.clause.as_str(), form)).collect();
    let surroundings = surroundings(operation, forms, &mistakes, &accepted, parts);
    in_parallel(&surroundings, |one| one.cases(operation, all, parts).unwrap_or_default()).concat()
}

/// Allowed forms, and the invalid values that are combined with them.
struct Surrounding<'a> {
    /// Name, which is part of case ids.
    name: String,
    lawful: Vec<AppliedForm>,
    own_connection: bool,
    /// Lists of invalid values. From each list, the one that keeps most of the allowed forms is used.
    mistakes: Vec<Vec<Mistake<'a>>>,
    /// Further allowed forms with the clauses of their cases. Each is combined with `lawful`.
    accepted: &'a [(&'a str, &'a Form)],
}

impl Surrounding<'_> {
    /// Returns the cases of the allowed forms alone, and with each invalid value and each further allowed
    /// form. Returns None if nothing can be combined with an invalid value.
    fn cases(&self, operation: &str, all: &FormCases, parts: &Parts) -> Option<Vec<Case>> {
        let plain = parts.requests().plain_clause(operation)?;
        let own = || format!("{}/{}", of_operation(plain, operation), self.name);
        let mut fitting = Combination::plain(operation);
        add(&mut fitting, &self.lawful, parts);
        if fitting.forms.is_empty() && !self.own_connection {
            return None;
        }
        // If the bank may reject the allowed forms, the cases count only if it accepts them.
        let chosen = || self.by_choice(&fitting, parts).map(|case| (case, IfControlRefused::Observed));
        let (control, if_control_refused) = lawful_case(own(), &fitting, parts)
            .map(|case| (case, IfControlRefused::Inconclusive))
            .or_else(chosen)?;
        let (own, by_choice) = (control.id.clone(), if_control_refused == IfControlRefused::Observed);
        let mut cases = vec![control.clone()];
        let mut around = AroundTwins {
            whole: Around::new(operation, fitting.forms, parts, by_choice),
            beside: BTreeMap::new(),
        };
        let mut known = BTreeSet::new();
        for any in &self.mistakes {
            let Some(met) = around.first_met(any, all, &control) else { continue };
            let MetMistake { mistake: (clause, form, depth), case, twin } = met;
            let id = |clause: &str, form: &Form| format!("{}/{}", id(clause, operation, form), self.name);
            // It may replace another invalid value of its clause, and occur again as itself.
            if !known.insert(id(clause, form)) {
                continue;
            }
            let mut control = own.clone();
            if let Some((twin, twin_case)) = twin {
                control = id(&twin_case.clause, twin);
                if known.insert(control.clone()) {
                    let (id, own) = (control.clone(), Some(own.clone()));
                    let case = Case::clone(&twin_case);
                    cases.push(Case { id, line: twin.line, control: own, depth, if_control_refused, ..case });
                } else if let Some(twin) = cases.iter_mut().find(|case| case.id == control) {
                    twin.depth = twin.depth.min(depth);
                }
            }
            let (id, line, control) = (id(clause, form), form.line, Some(control));
            cases.push(Case { id, line, depth, control, if_control_refused, ..case });
        }
        for (clause, form) in self.accepted {
            let Some((case, Due::Accepted { .. })) = around.whole.beside(form) else { continue };
            let id = format!("{}/{}", id(clause, operation, form), self.name);
            if differences(&case, &control).len() == 1 && known.insert(id.clone()) {
                let (clause, control) = ((*clause).to_owned(), Some(own.clone()));
                cases.push(Case { id, clause, line: form.line, depth: Depth::Exhaustive, control, ..case });
            }
        }
        // A control runs at the depth of the cases that depend on it, and so do the twins.
        let depth = cases[1..].iter().map(|case| case.depth).min();
        cases[0].depth = depth.unwrap_or(Depth::Exhaustive);
        if self.own_connection {
            cases.iter_mut().for_each(Case::on_a_connection_of_its_own);
        }
        Some(cases)
    }

    /// Returns the case of the allowed forms alone, if the bank chooses whether to accept them.
    fn by_choice(&self, fitting: &Combination, parts: &Parts) -> Option<Case> {
        let (case, Due::Choice { .. }) = fitting.case(parts)? else { return None };
        Some(Case { id: format!("{}/{}", case.clause, self.name), ..case })
    }
}

/// Returns true if a request must be accepted, or if the bank's profile decides about it.
fn may_be_accepted(due: &Due) -> bool {
    matches!(due, Due::Accepted { .. } | Due::Choice { .. })
}

/// Returns the surroundings of the spec, rows with every allowed form of every place once, and rows with all
/// forms that can be combined at once.
fn surroundings<'a, 'b>(
    operation: &str,
    forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))> + Clone,
    mistakes: &'b OfClauses<'a>,
    accepted: &'b [(&'a str, &'a Form)],
    parts: &Parts,
) -> Vec<Surrounding<'b>> {
    let mut made = Vec::new();
    for one in parts.requests().surroundings() {
        let of_clause = |(clause, all): (&&'b str, &'b Vec<&'b Form>)| {
            let which = if one.own_connection { first_of_each_sort(all) } else { all.as_slice() };
            let (clause, of) = (*clause, which.len());
            let depths = which.iter().enumerate().map(move |(at, form)| (*form, depth_of(at, of)));
            let kept = depths.filter(|(_, depth)| !one.few || *depth == Depth::Standard);
            kept.map(move |(form, depth)| vec![(clause, form, depth)])
        };
        made.push(Surrounding {
            name: one.name.clone(),
            lawful: lawful(operation, one, parts),
            own_connection: one.own_connection,
            mistakes: mistakes.iter().flat_map(of_clause).collect(),
            accepted: if one.own_connection || one.few { &[] } else { accepted },
        });
    }
    let every = factors(operation, forms.clone(), usize::MAX, parts);
    let factors = factors(operation, forms, ROW_LEVELS, parts);
    let rows = each_once(&levels(&factors), |row| is_accepted(operation, &[], &factors, row, parts));
    for (number, row) in rows.iter().enumerate() {
        let lawful: Vec<AppliedForm> =
            row.iter().map(|(factor, level)| factors[*factor][*level].clone()).collect();
        // Forms that the rules of a place depend on are combined with it at the standard depth.
        let depth = |form: &Form| {
            let is_there = |part: &str| lawful.iter().any(|one| one.touches.contains(part));
            let is_near = || parts.requests().depends_on(operation, &form.place).any(is_there);
            if number < ROWS || is_near() { Depth::Standard } else { Depth::Exhaustive }
        };
        // Each row has an invalid value of each clause, and another one than the row before. The first rows,
        // which have a form of every place, have one of each sort.
        let of_clause = |(clause, all): (&&'b str, &'b Vec<&'b Form>)| {
            // Each row starts with another one.
            let turned = |mut any: Vec<Mistake<'b>>| {
                let first = number % any.len();
                any.rotate_left(first);
                any
            };
            if number < FULL_ROWS {
                let of_sort = |(rank, first): (usize, &&Form)| {
                    let depth = if rank < FULL_SORTS { Depth::Standard } else { Depth::Exhaustive };
                    let alike = all.iter().filter(|form| sort(form) == sort(first));
                    turned(alike.map(|form| (*clause, *form, depth)).collect())
                };
                first_of_each_sort(all).iter().enumerate().map(of_sort).collect()
            } else {
                vec![turned(all.iter().map(|form| (*clause, *form, depth(form))).collect())]
            }
        };
        let mistakes = mistakes.iter().flat_map(of_clause).collect();
        made.push(Surrounding {
            name: format!("{BESIDE}{}", number + 1),
            lawful,
            own_connection: false,
            mistakes,
            accepted: &[],
        });
    }
    // Every invalid value is combined with all forms that fit into one request.
    let one_by_one = |(clause, all): (&&'b str, &'b Vec<&'b Form>)| {
        let clause = *clause;
        let of = all.len();
        all.iter().enumerate().map(move |(at, form)| vec![(clause, *form, depth_of(at, of))])
    };
    let Some(plain) = parts.baselines.get(operation).map(|baseline| &baseline.request) else { return made };
    let gives = |one: &&AppliedForm| adds(one, plain);
    // Of each place, take the form that sets most and removes nothing. Then take the last form, starting with
    // the last place. If two forms conflict, each of them is in one of the two requests.
    let richest = |factor: &Factor| {
        let all = factor.iter().filter(gives).filter(|one| one.edits.iter().all(is_set));
        all.min_by_key(|one| Reverse(members_given(one))).cloned()
    };
    let richest: Vec<AppliedForm> = every.iter().filter_map(richest).collect();
    let last = |factor: &Factor| factor.iter().rfind(gives).cloned();
    let lasts: Vec<AppliedForm> = every.iter().rev().filter_map(last).collect();
    for (name, lawful) in [("crowded", richest), ("crowded-otherwise", lasts)] {
        made.push(Surrounding {
            name: name.to_owned(),
            lawful,
            own_connection: false,
            mistakes: mistakes.iter().flat_map(one_by_one).collect(),
            accepted: &[],
        });
    }
    made
}

fn is_set(edit: &Edit) -> bool {
    matches!(edit, Edit::Set(..))
}

/// Returns true if a form adds something to a request that the baseline lacks.
fn adds(one: &AppliedForm, plain: &RequestSpec) -> bool {
    let is_absent = |at: &str| {
        let without = Change { remove: Some(at.to_owned()), ..Change::default() };
        matches!(plain.clone().apply(&without), Err(ChangeError::Missing(..)))
    };
    one.edits.iter().any(|edit| matches!(edit, Edit::Set(at, _) if is_absent(at)))
}

/// Returns the number of fields of objects that a form sets.
fn members_given(one: &AppliedForm) -> usize {
    let members = |edit: &Edit| match edit {
        Edit::Set(_, Value::Object(members)) => members.len(),
        _ => 0,
    };
    one.edits.iter().map(members).sum()
}

/// The valid form for an invalid value, and its case.
type Twin<'a> = (&'a Form, Rc<Case>);

/// Allowed forms that are combined with others.
struct Around<'a> {
    operation: &'a str,
    lawful: Vec<AppliedForm>,
    parts: &'a Parts,
    /// The cases of twins with these forms, by the number of the twin. `None` if the twin cannot be a
    /// control.
    twins: HashMap<usize, Option<Rc<Case>>>,
    /// True if the bank chooses whether to accept them.
    by_choice: bool,
}

impl<'a> Around<'a> {
    fn new(operation: &'a str, lawful: Vec<AppliedForm>, parts: &'a Parts, by_choice: bool) -> Self {
        Self { operation, lawful, parts, twins: HashMap::new(), by_choice }
    }

    /// Returns the allowed forms that are compatible with a twin.
    fn beside_twin(&self, twin: usize) -> Self {
        let mut combination = Combination::plain(self.operation);
        combination.add(moved(self.operation, self.form(twin)));
        add(&mut combination, &self.lawful, self.parts);
        Self::new(self.operation, combination.forms.split_off(1), self.parts, self.by_choice)
    }

    fn form(&self, number: usize) -> &'a Form {
        &self.parts.requests().forms(self.operation)[number]
    }

    /// Returns the request with a form in addition to these. Of the allowed forms, edits at the place of the
    /// form are dropped. The whole allowed form is dropped if the rest of it may be wrong alone.
    fn beside(&self, form: &Form) -> Option<(Case, Due)> {
        let one = moved(self.operation, form);
        let mut combination = Combination::plain(self.operation);
        combination.add(one.clone());
        for lawful in &self.lawful {
            combination.add(lawful.clone());
        }
        let mut whole = combination.clone();
        for lawful in &self.lawful {
            if combination.forms.iter().all(|known| known.form != lawful.form) {
                whole.forms.extend(lawful.apart_from(&one));
            }
        }
        if whole.forms.len() > combination.forms.len()
            && let Some((case, due)) = whole.case(self.parts)
            && (open(&due).is_empty() || Some(open(&due)) == combination.due(self.parts).as_ref().map(open))
        {
            return Some((case, due));
        }
        combination.case(self.parts)
    }

    /// Returns the case of an invalid value of this clause with these forms. Also returns the case of its
    /// twin with these forms if the invalid value differs from the control in more than one place.
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
        let twin_case = self.twin(twin?)?;
        (differences(&case, &twin_case).len() == 1).then_some((case, Some((self.form(twin?), twin_case))))
    }

    /// Returns the case of a twin with these forms, if it can be a control.
    fn twin(&mut self, number: usize) -> Option<Rc<Case>> {
        if !self.twins.contains_key(&number) {
            let is_control = |(case, due): &(Case, Due)| {
                let is_accepted = matches!(due, Due::Accepted { .. });
                (is_accepted || self.by_choice && may_be_accepted(due))
                    && !self.parts.is_expected(&case.clause)
            };
            let form = self.form(number);
            let made = self.beside(form).filter(is_control);
            // It is about its own form, since the control has the others as well, or about the choice.
            let about_form = |case: Case| Case { clause: form.clause.clone(), ..case };
            let made = made.map(|(case, _)| Rc::new(if self.by_choice { case } else { about_form(case) }));
            self.twins.insert(number, made);
        }
        self.twins[&number].clone()
    }
}

/// Allowed forms, and those of them that are compatible with each twin.
struct AroundTwins<'a> {
    whole: Around<'a>,
    /// By the number of the twin.
    beside: BTreeMap<usize, Around<'a>>,
}

impl<'a> AroundTwins<'a> {
    fn beside(&mut self, twin: usize) -> &mut Around<'a> {
        self.beside.entry(twin).or_insert_with(|| self.whole.beside_twin(twin))
    }

    /// Returns the invalid value that keeps most of the allowed forms. Forms that conflict with its twin are
    /// dropped.
    fn first_met<'m>(
        &mut self,
        any: &[Mistake<'m>],
        all: &FormCases,
        control: &Case,
    ) -> Option<MetMistake<'m, 'a>> {
        let twin = |form: &Form| form.twin.as_ref().and_then(|twin| all.number(twin));
        let with_twins = any.iter().map(|mistake| (*mistake, twin(mistake.1)));
        let (alone, twins): (Vec<_>, Vec<_>) = with_twins.partition(|(_, twin)| twin.is_none());
        let mut fewer = Vec::new();
        for (mistake, twin) in alone.into_iter().chain(twins) {
            if twin.is_some_and(|twin| self.whole.twin(twin).is_none()) {
                fewer.push((mistake, twin));
            } else if let Some(met) = self.met(mistake, twin, control) {
                return Some(met);
            }
        }
        if fewer.len() > 1 {
            fewer.sort_by_cached_key(|(_, twin)| Reverse(twin.map(|twin| self.beside(twin).lawful.len())));
        }
        fewer.into_iter().find_map(|(mistake, twin)| self.met(mistake, twin, control))
    }

    fn met<'m>(
        &mut self,
        mistake: Mistake<'m>,
        twin: Option<usize>,
        control: &Case,
    ) -> Option<MetMistake<'m, 'a>> {
        let (clause, form, _) = mistake;
        let (case, twin) = self.whole.met(clause, form, twin, control).or_else(|| {
            let around = self.beside(twin?);
            if around.lawful.is_empty() { None } else { around.met(clause, form, twin, control) }
        })?;
        Some(MetMistake { mistake, case, twin })
    }
}

/// An invalid value combined with allowed forms.
struct MetMistake<'m, 'a> {
    mistake: Mistake<'m>,
    case: Case,
    /// The valid form that its control has, if that is not the control of the surrounding.
    twin: Option<Twin<'a>>,
}

/// Returns the reasons why a bank may reject a request because the document leaves something open.
fn open(due: &Due) -> &[String] {
    match due {
        Due::Open(why) => slice::from_ref(why),
        Due::Refused { open, .. } => open,
        Due::Accepted { .. } | Due::Choice { .. } => &[],
    }
}

/// Adds those of these forms with which the request must be accepted: all at once, or else those that each
/// half allows.
fn add(combination: &mut Combination, forms: &[AppliedForm], parts: &Parts) {
    let before = combination.forms.len();
    let fits = forms.iter().all(|one| combination.add(one.clone()));
    if fits && combination.due(parts).as_ref().is_some_and(may_be_accepted) {
        return;
    }
    combination.forms.truncate(before);
    if forms.len() > 1 {
        let (one, other) = forms.split_at(forms.len() / 2);
        add(combination, one, parts);
        add(combination, other, parts);
    }
}

/// An invalid value: the clause that it violates alone, its form, and the lowest depth at which it runs.
type Mistake<'a> = (&'a str, &'a Form, Depth);

/// The invalid values of each clause, starting with the first one of each sort.
type OfClauses<'a> = BTreeMap<&'a str, Vec<&'a Form>>;

/// Returns the invalid values that violate exactly one clause, by clause.
fn mistakes<'a>(forms: impl Iterator<Item = (&'a Form, &'a (Case, Due))>) -> OfClauses<'a> {
    let mut all: OfClauses<'a> = BTreeMap::new();
    for (form, (_, due)) in forms.filter(|(form, _)| form.before.is_empty()) {
        if let Due::Refused { clauses, .. } = due
            && let [clause] = clauses.as_slice()
        {
            all.entry(clause).or_default().push(form);
        }
    }
    for forms in all.values_mut() {
        let mut known = BTreeSet::new();
        let (first, others): (Vec<_>, Vec<_>) = forms.drain(..).partition(|form| known.insert(sort(form)));
        forms.extend(first.into_iter().chain(others));
    }
    all
}

/// Returns the sort of an invalid value, which is the start of its label (`type-`, `near-`).
fn sort(form: &Form) -> &str {
    form.label.split('-').next().unwrap_or_default()
}

/// Returns the first invalid value of each sort of a clause. The list starts with them.
fn first_of_each_sort<'a, 'b>(all: &'b [&'a Form]) -> &'b [&'a Form] {
    let mut known = BTreeSet::new();
    let sorts = all.iter().take_while(|form| known.insert(sort(form))).count();
    &all[..sorts]
}
