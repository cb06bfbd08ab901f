//! Mistakes beside lawful forms: a check that a bank leaves out where some other thing is there is found so.

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

/// Lawful forms of one place beside which mistakes are made, at most.
const ROW_LEVELS: usize = 9;

/// Rows of them at the standard depth.
const ROWS: usize = 9;

/// Rows in which mistakes of every sort are made, and how many sorts of them at the standard depth.
const FULL_ROWS: usize = 2;
const FULL_SORTS: usize = 3;

/// From which depth on a mistake of a clause, by its number of so many, is made in surroundings: the first
/// one, which whoever does not look at all takes, and one in the middle, since some only look less closely.
fn depth_of(number: usize, of: usize) -> Depth {
    if number == 0 || number == of / 2 { Depth::Standard } else { Depth::Exhaustive }
}

/// Mistakes beside each of the surroundings, and each of these alone, which is the control.
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

/// Lawful forms, and the mistakes that are met beside them.
struct Surrounding<'a> {
    /// A part of case ids.
    name: String,
    lawful: Vec<AppliedForm>,
    own_connection: bool,
    /// Of each list the one that leaves most of the lawful forms.
    mistakes: Vec<Vec<Mistake<'a>>>,
    /// Further lawful forms, each of which is met beside these, with the clauses of their cases.
    accepted: &'a [(&'a str, &'a Form)],
}

impl Surrounding<'_> {
    /// The lawful forms alone, and each mistake and each further lawful form beside them. None if nothing can
    /// be beside a mistake.
    fn cases(&self, operation: &str, all: &FormCases, parts: &Parts) -> Option<Vec<Case>> {
        let plain = parts.requests().plain_clause(operation)?;
        let own = || format!("{}/{}", of_operation(plain, operation), self.name);
        let mut fitting = Combination::plain(operation);
        add(&mut fitting, &self.lawful, parts);
        if fitting.forms.is_empty() && !self.own_connection {
            return None;
        }
        // Whoever may refuse what is around them is asked no more.
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
            // It may stand in for another mistake of its clause, and come again as itself.
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
        // A control is asked where what leans on it is, as the twins are.
        let depth = cases[1..].iter().map(|case| case.depth).min();
        cases[0].depth = depth.unwrap_or(Depth::Exhaustive);
        if self.own_connection {
            cases.iter_mut().for_each(Case::on_a_connection_of_its_own);
        }
        Some(cases)
    }

    /// The lawful forms alone, where the bank chooses whether it takes them.
    fn by_choice(&self, fitting: &Combination, parts: &Parts) -> Option<Case> {
        let (case, Due::Choice { .. }) = fitting.case(parts)? else { return None };
        Some(Case { id: format!("{}/{}", case.clause, self.name), ..case })
    }
}

/// Whether a request is to be accepted, or is where the bank's profile says so.
fn may_be_accepted(due: &Due) -> bool {
    matches!(due, Due::Accepted { .. } | Due::Choice { .. })
}

/// The surroundings of the spec, rows in which every lawful form of every place is there once, and all that
/// may be there at once.
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
        // What the rules of a place depend on is met early.
        let depth = |form: &Form| {
            let is_there = |part: &str| lawful.iter().any(|one| one.touches.contains(part));
            let is_near = || parts.requests().depends_on(operation, &form.place).any(is_there);
            if number < ROWS || is_near() { Depth::Standard } else { Depth::Exhaustive }
        };
        // Each clause in each row, with another mistake in each: in the first rows, which have something of
        // every place, one of each sort.
        let of_clause = |(clause, all): (&&'b str, &'b Vec<&'b Form>)| {
            // Another one first in each row.
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
    // Every mistake beside all that may be there at once.
    let one_by_one = |(clause, all): (&&'b str, &'b Vec<&'b Form>)| {
        let clause = *clause;
        let of = all.len();
        all.iter().enumerate().map(move |(at, form)| vec![(clause, *form, depth_of(at, of))])
    };
    let Some(plain) = parts.baselines.get(operation).map(|baseline| &baseline.request) else { return made };
    let gives = |one: &&AppliedForm| adds(one, plain);
    // Of each place what gives most and takes nothing away; then the last form, from the last place on, so
    // that what does not go together with another one is there in one of the two.
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

/// Whether a form gives a request something that the plain one does not have.
fn adds(one: &AppliedForm, plain: &RequestSpec) -> bool {
    let is_absent = |at: &str| {
        let without = Change { remove: Some(at.to_owned()), ..Change::default() };
        matches!(plain.clone().apply(&without), Err(ChangeError::Missing(..)))
    };
    one.edits.iter().any(|edit| matches!(edit, Edit::Set(at, _) if is_absent(at)))
}

/// How many members of objects a form sets.
fn members_given(one: &AppliedForm) -> usize {
    let members = |edit: &Edit| match edit {
        Edit::Set(_, Value::Object(members)) => members.len(),
        _ => 0,
    };
    one.edits.iter().map(members).sum()
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
    /// Whether the bank chooses if it takes them.
    by_choice: bool,
}

impl<'a> Around<'a> {
    fn new(operation: &'a str, lawful: Vec<AppliedForm>, parts: &'a Parts, by_choice: bool) -> Self {
        Self { operation, lawful, parts, twins: HashMap::new(), by_choice }
    }

    /// Those of its lawful forms that go together with a twin.
    fn beside_twin(&self, twin: usize) -> Self {
        let mut combination = Combination::plain(self.operation);
        combination.add(moved(self.operation, self.form(twin)));
        add(&mut combination, &self.lawful, self.parts);
        Self::new(self.operation, combination.forms.split_off(1), self.parts, self.by_choice)
    }

    fn form(&self, number: usize) -> &'a Form {
        &self.parts.requests().forms(self.operation)[number]
    }

    /// The request with a form beside them. Of the lawful forms what is at the place of the form gives way;
    /// all of such a form where the rest of it may be wrong without what is taken away.
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

    /// The case of a mistake of this clause beside them, and that of its twin beside them where the mistake
    /// is more than one thing away from the control.
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

    /// The case of a twin beside them, if it can be a control.
    fn twin(&mut self, number: usize) -> Option<Rc<Case>> {
        if !self.twins.contains_key(&number) {
            let is_control = |(case, due): &(Case, Due)| {
                let is_accepted = matches!(due, Due::Accepted { .. });
                (is_accepted || self.by_choice && may_be_accepted(due))
                    && !self.parts.is_expected(&case.clause)
            };
            let form = self.form(number);
            let made = self.beside(form).filter(is_control);
            // It is about its own form, since the others are in the control as well; or about the choice.
            let about_form = |case: Case| Case { clause: form.clause.clone(), ..case };
            let made = made.map(|(case, _)| Rc::new(if self.by_choice { case } else { about_form(case) }));
            self.twins.insert(number, made);
        }
        self.twins[&number].clone()
    }
}

/// Lawful forms, and those of them that go together with each twin.
struct AroundTwins<'a> {
    whole: Around<'a>,
    /// By the number of the twin.
    beside: BTreeMap<usize, Around<'a>>,
}

impl<'a> AroundTwins<'a> {
    fn beside(&mut self, twin: usize) -> &mut Around<'a> {
        self.beside.entry(twin).or_insert_with(|| self.whole.beside_twin(twin))
    }

    /// Of these mistakes the one beside which most of the lawful forms stay; what does not go together with
    /// its twin is left out.
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

/// A mistake beside lawful forms.
struct MetMistake<'m, 'a> {
    mistake: Mistake<'m>,
    case: Case,
    /// The valid form that its control has, where that is not the control of the surrounding.
    twin: Option<Twin<'a>>,
}

/// Why a request might be refused by what the document leaves open.
fn open(due: &Due) -> &[String] {
    match due {
        Due::Open(why) => slice::from_ref(why),
        Due::Refused { open, .. } => open,
        Due::Accepted { .. } | Due::Choice { .. } => &[],
    }
}

/// Adds what of these forms the request is to be accepted with: all at once, or else what each half has.
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

/// A mistake: the clause that it breaks alone, its form, and from which depth on it is met.
type Mistake<'a> = (&'a str, &'a Form, Depth);

/// The mistakes of each clause, those first that begin a sort.
type OfClauses<'a> = BTreeMap<&'a str, Vec<&'a Form>>;

/// Every mistake of one clause.
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

/// What tells sorts of mistakes apart: what their labels begin with (`type-`, `near-`).
fn sort(form: &Form) -> &str {
    form.label.split('-').next().unwrap_or_default()
}

/// The first mistake of each sort of a clause, which stand first.
fn first_of_each_sort<'a, 'b>(all: &'b [&'a Form]) -> &'b [&'a Form] {
    let mut known = BTreeSet::new();
    let sorts = all.iter().take_while(|form| known.insert(sort(form))).count();
    &all[..sorts]
}
