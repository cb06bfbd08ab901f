//! A generated request: a valid one, and the forms that are applied to it one after the other.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value, json};
use xs2aspec_spec::request::{self, Before, Due, Edit, Form, Prepared};

use crate::{
    baseline::Baseline,
    case::{Case, Preparation},
    definition::{Change, Signing, StepExpect},
    expectation::Expectation,
    lazy_request::LazyRequest,
    parts::Parts,
    request::RequestSpec,
    template,
};

/// A function that returns a random number below its argument, which is not zero.
pub type Draw<'a> = dyn FnMut(u64) -> u64 + 'a;

/// The effect of a form on a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AppliedForm {
    /// Name of the form.
    pub form: String,
    /// The place that it changes.
    pub place: String,
    /// The clause that it tests.
    pub clause: String,
    /// Parts of the request that it touches.
    pub touches: BTreeSet<String>,
    /// The changes.
    pub edits: Vec<Edit>,
    /// The way of signing.
    pub signing: Option<Signing>,
    /// Requests that are sent before it.
    pub before: Vec<Before>,
    /// Capabilities that the target needs for it.
    pub needs: Vec<String>,
}

impl AppliedForm {
    /// Generates the effect of a form. `touches` lists the parts of a request that it touches.
    pub fn draw(form: &Form, touches: &BTreeSet<String>, number: &mut Draw<'_>) -> Self {
        let signing = form.signing.clone().map(|signing| serde_json::from_value(Value::Object(signing)));
        let before =
            form.before.iter().map(|step| Before { edits: drawn(&step.edits, number), ..step.clone() });
        Self {
            before: before.collect(),
            form: form.name.clone(),
            place: form.place.clone(),
            clause: form.clause.clone(),
            touches: touches.clone(),
            edits: drawn(&form.edits, number),
            // `lint` reports a way of signing that cannot be read.
            signing: signing.and_then(Result::ok),
            needs: form.needs.clone(),
        }
    }

    /// Returns its effect on places that another form does not change. Returns None if they cannot be told
    /// apart.
    pub(crate) fn apart_from(&self, other: &Self) -> Option<Self> {
        let is_at = |edit: &Edit| match edit {
            Edit::Set(at, _) | Edit::Repeat(at, _) | Edit::Remove(at) => Some(at.to_lowercase()),
            _ => None,
        };
        let taken: Vec<String> = other.edits.iter().map(is_at).collect::<Option<_>>()?;
        let is_within = |one: &str, other: &str| {
            one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut edits = Vec::new();
        for edit in &self.edits {
            let at = is_at(edit)?;
            if !taken.iter().any(|taken| is_within(&at, taken) || is_within(taken, &at)) {
                edits.push(edit.clone());
            }
        }
        let is_apart = self.signing.is_none() && self.before.is_empty() && !edits.is_empty();
        is_apart.then(|| Self { edits, ..self.clone() })
    }
}

fn drawn(edits: &[Edit], number: &mut Draw<'_>) -> Vec<Edit> {
    let value = |value: &Value, number: &mut Draw<'_>| {
        let value = request::draw(value, number);
        // A function that cannot be evaluated stays visible in the request.
        template::compute(value.clone()).unwrap_or(value)
    };
    let drawn = edits.iter().map(|edit| match edit {
        Edit::Set(at, to) => Edit::Set(at.clone(), value(to, number)),
        Edit::Repeat(at, to) => Edit::Repeat(at.clone(), value(to, number)),
        Edit::Remove(at) => Edit::Remove(at.clone()),
        Edit::Raw(to) => Edit::Raw(value(to, number)),
        Edit::MembersInAnotherOrder(_) => Edit::MembersInAnotherOrder(number(u64::MAX)),
        Edit::HeaderLast(_) => Edit::HeaderLast(number(u64::MAX)),
        Edit::HeaderNameInAnotherCase(_) => Edit::HeaderNameInAnotherCase(number(u64::MAX)),
    });
    drawn.collect()
}

/// A generated request.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The operation.
    pub operation: String,
    /// The forms that are applied to its baseline request.
    pub forms: Vec<AppliedForm>,
}

impl Combination {
    /// Returns the baseline request of an operation.
    pub fn plain(operation: &str) -> Self {
        Self { operation: operation.to_owned(), forms: Vec::new() }
    }

    /// Adds a form and returns true, unless it touches something that another one touches. A form that
    /// replaces the body conflicts with forms that change its fields.
    pub fn add(&mut self, one: AppliedForm) -> bool {
        let is_whole = |one: &AppliedForm| one.touches.contains("body");
        let in_body = |one: &AppliedForm| {
            one.touches.iter().any(|part| part.starts_with("body/") || part == "order of members")
        };
        let fits = self.forms.iter().all(|other| {
            other.touches.is_disjoint(&one.touches)
                && !(is_whole(other) && in_body(&one) || is_whole(&one) && in_body(other))
        });
        if fits {
            self.forms.push(one);
        }
        fits
    }

    /// Returns a case with the request, and the response that it requires. Returns `None` if its forms
    /// conflict.
    pub(crate) fn case(&self, parts: &Parts) -> Option<(Case, Due)> {
        let baseline = parts.baselines.get(&self.operation)?;
        self.as_case(parts, self.judged(parts, baseline)?, baseline)
    }

    /// Returns the response that the request requires. Returns `None` if its forms conflict.
    pub(crate) fn due(&self, parts: &Parts) -> Option<Due> {
        self.judged(parts, parts.baselines.get(&self.operation)?).map(|judged| judged.due)
    }

    fn judged(&self, parts: &Parts, baseline: &Baseline) -> Option<Judged> {
        let (mut request, changes) = self.edited(&baseline.request)?;
        if let Some(signing) = self.forms.iter().find_map(|one| one.signing.clone()) {
            request.signing = signing;
        }
        let (before, prepared) = self.before(parts, baseline)?;
        let due = parts.due(&request, &baseline.request, &prepared);
        Some(Judged { request, changes, before, due })
    }

    fn as_case(&self, parts: &Parts, judged: Judged, baseline: &Baseline) -> Option<(Case, Due)> {
        let Judged { request, changes, before, due } = judged;
        // A case that expects a rejection has a clause that the request violates, preferably a firm one. A
        // case that expects acceptance has the clause of its last form, unless another one is less firm.
        let own = self.forms.iter().rev().map(|one| one.clause.as_str());
        let clause = match &due {
            Due::Refused { clauses, .. } => {
                preferred(clauses.iter().map(String::as_str), |clause| !parts.is_expected(clause))
            }
            Due::Accepted { clauses } => {
                preferred(own.chain(clauses.iter().map(String::as_str)), |clause| parts.is_expected(clause))
            }
            Due::Choice { clause, .. } => Some(clause.as_str()),
            Due::Open(_) => self.forms.last().map(|one| one.clause.as_str()),
        };
        let clause = clause.or_else(|| parts.requests().plain_clause(&self.operation))?.to_owned();
        let mut needs = baseline.needs.clone();
        for need in self.forms.iter().flat_map(|one| &one.needs) {
            if !needs.contains(need) {
                needs.push(need.clone());
            }
        }
        let case = Case {
            notes: self.notes(),
            before,
            expect: Expectation::parse(&expected(&due)).ok()?,
            needs,
            request: LazyRequest::made(&baseline.request, changes, request),
            ..Case::unwritten(self.name(), clause, &self.operation, &baseline.request)
        };
        Some((case, due))
    }

    /// Returns the names of its forms, which distinguish it from other requests.
    pub fn name(&self) -> String {
        let forms: Vec<&str> = self.forms.iter().map(|one| one.form.as_str()).collect();
        let forms = if forms.is_empty() { "plain".to_owned() } else { forms.join(" + ") };
        format!("{}: {forms}", self.operation)
    }

    /// Returns the differences from the baseline other than its changes, one line each.
    fn notes(&self) -> Vec<String> {
        let signings = self.forms.iter().filter_map(|one| one.signing.as_ref());
        let mut said: Vec<String> = signings.flat_map(Signing::describe).collect();
        said.extend(self.forms.iter().flat_map(|one| &one.before).map(|step| {
            let times = if step.times == 1 { "once".to_owned() } else { format!("{} times", step.times) };
            format!("{} is sent {times} before", step.baseline)
        }));
        said
    }

    /// Returns its forms as changes of a case file. Returns `None` if they cannot be applied.
    pub fn changes(&self, plain: &RequestSpec) -> Option<Vec<Change>> {
        Some(self.edited(plain)?.1)
    }

    fn edited(&self, plain: &RequestSpec) -> Option<(RequestSpec, Vec<Change>)> {
        edited(self.forms.iter().flat_map(|one| &one.edits), plain)
    }

    /// Returns the requests that are sent before it. Those of the forms come first, and they replace steps of
    /// the baseline with the same name.
    fn before(&self, parts: &Parts, baseline: &Baseline) -> Option<(Vec<Preparation>, Prepared)> {
        let mut steps: Vec<Before> = self.forms.iter().flat_map(|one| one.before.clone()).collect();
        for own in &baseline.before {
            if steps.iter().all(|step| step.name != own.name) {
                steps.push(Before {
                    name: own.name.clone(),
                    baseline: own.baseline.clone(),
                    edits: vec![],
                    times: 1,
                    keep: own.keep.clone(),
                    any: false,
                });
            }
        }
        let mut prepared = Prepared::new();
        let mut before = Vec::new();
        for step in steps {
            let plain = &parts.baselines.get(&step.baseline)?.request;
            let request = if step.edits.is_empty() {
                Arc::clone(plain).into()
            } else {
                let (request, changes) = edited(&step.edits, plain)?;
                LazyRequest::made(plain, changes, request)
            };
            prepared.insert(step.name.clone(), (request.operation().to_owned(), step.times));
            let keep = step.keep.iter().map(|(key, at)| Some((key.clone(), at.parse().ok()?)));
            before.push(Preparation {
                keep: keep.collect::<Option<_>>()?,
                name: step.name,
                baseline: step.baseline,
                request,
                times: (step.times > 1).then_some(step.times),
                at_once: false,
                distinct: Vec::new(),
                expect: if step.any { StepExpect::Any } else { StepExpect::Accepted },
            });
        }
        Some((before, prepared))
    }
}

/// A generated request, and the response that it requires.
struct Judged {
    request: RequestSpec,
    changes: Vec<Change>,
    before: Vec<Preparation>,
    due: Due,
}

/// Returns the first clause that `is_so` accepts, or else the first of all.
fn preferred<'a>(
    mut clauses: impl Iterator<Item = &'a str> + Clone,
    is_so: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let first = clauses.clone().next();
    clauses.find(|clause| is_so(clause)).or(first)
}

/// Returns the expected response as a case file writes it.
pub fn expected(due: &Due) -> Value {
    match due {
        Due::Accepted { .. } => json!("accepted"),
        Due::Refused { conditions, .. } if conditions.is_empty() => json!("refused"),
        Due::Refused { conditions, .. } => json!({"refused": conditions}),
        Due::Choice { values, .. } => json!({"choice": values}),
        Due::Open(_) => json!("observed"),
    }
}

/// Returns a request after these edits, and the edits as changes of a case file. Returns `None` if they
/// cannot be applied.
pub fn edited<'a>(
    edits: impl IntoIterator<Item = &'a Edit>,
    plain: &RequestSpec,
) -> Option<(RequestSpec, Vec<Change>)> {
    let set = |at: &str, to: Value| Change { set: Some(at.to_owned()), to: Some(to), ..Change::default() };
    let remove = |at: &str| Change { remove: Some(at.to_owned()), ..Change::default() };
    let mut request = plain.clone();
    let mut changes = Vec::new();
    // Edits of the request as a whole come after all others, and new header names come last.
    let mut late: Vec<&Edit> = Vec::new();
    for edit in edits {
        let change = match edit {
            Edit::Set(at, to) => set(at, to.clone()),
            Edit::Repeat(at, to) => {
                Change { repeat: Some(at.clone()), to: Some(to.clone()), ..Change::default() }
            }
            Edit::Remove(at) => remove(at),
            Edit::Raw(text) => {
                Change { raw: Some("body".to_owned()), to: Some(text.clone()), ..Change::default() }
            }
            whole => {
                late.push(whole);
                continue;
            }
        };
        request.apply(&change).ok()?;
        changes.push(change);
    }
    late.sort_by_key(|edit| matches!(edit, Edit::HeaderNameInAnotherCase(_)));
    for edit in late {
        let header = |number: &u64| {
            let at = usize::try_from(*number % request.headers.len().max(1) as u64).unwrap_or(0);
            request.headers.get(at).cloned()
        };
        let made = match edit {
            Edit::HeaderLast(number) => {
                let (name, value) = header(number)?;
                let place = format!("header/{name}");
                vec![remove(&place), set(&place, value)]
            }
            Edit::HeaderNameInAnotherCase(number) => {
                let (name, _) = header(number)?;
                let to = Some(json!(in_another_case(&name, *number)));
                vec![Change { rename: Some(format!("header/{name}")), to, ..Change::default() }]
            }
            Edit::MembersInAnotherOrder(number) => match request.members() {
                Some(members) => vec![set("body", Value::Object(turned(members, *number)))],
                None => continue,
            },
            _ => continue,
        };
        for change in made {
            // The same order is not a change.
            if request.apply(&change).is_ok() {
                changes.push(change);
            }
        }
    }
    Some((request, changes))
}

fn in_another_case(name: &str, number: u64) -> String {
    let mixed = |(at, letter): (usize, char)| {
        if at.is_multiple_of(2) { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
    };
    match number.rotate_left(32) % 3 {
        0 => name.to_lowercase(),
        1 => name.to_uppercase(),
        _ => name.chars().enumerate().map(mixed).collect(),
    }
}

/// Returns the same fields in another order.
fn turned(members: &Map<String, Value>, mut number: u64) -> Map<String, Value> {
    let mut rest: Vec<(&String, &Value)> = members.iter().collect();
    let mut turned = Map::new();
    while !rest.is_empty() {
        let count = rest.len() as u64;
        let (name, value) = rest.remove(usize::try_from(number % count).unwrap_or(0));
        number = (number / count) ^ number.rotate_left(17);
        turned.insert(name.clone(), value.clone());
    }
    turned
}
