//! The matrix: one case for each form of each place of the spec. What must come back, and the clause that says
//! so, is what the rules of the place make of it.

use sha2::{Digest, Sha256};
use xs2aspec_spec::{
    At, Problem,
    request::{Due, Form},
};

use crate::{
    case::{Case, Parts, area_of},
    definition::{Depth, FormGroup, IfControlRefused},
    draft::{Draft, Move},
};

/// The file in which the places are written.
const FILE: &str = xs2aspec_spec::request::FILE;

/// The cases of a group.
pub(crate) fn cases(path: &str, group: &At<FormGroup>, parts: &Parts) -> Result<Vec<Case>, Problem> {
    let FormGroup { at, operations } = &group.value;
    for name in operations {
        if !parts.requests.operations().any(|known| known == name) {
            let problem = group.problem(path, format!("there is no operation `{name}`"));
            return Err(problem.nearest(name, parts.requests.operations()));
        }
    }
    let is_wanted = |operation: &str| operations.is_empty() || operations.iter().any(|one| one == operation);
    let mut cases = Vec::new();
    for operation in parts.requests.operations().filter(|name| is_wanted(name)) {
        for form in parts.requests.forms(operation).iter().filter(|form| is_at(form, at) && !form.is_written)
        {
            if let Some(case) = case(operation, form, parts) {
                cases.push(Case { area: area_of(path), group: group.line, ..case? });
            }
        }
    }
    if cases.is_empty() {
        return Err(group.problem(path, format!("no place that begins with `{at}` has a form")));
    }
    Ok(cases)
}

fn is_at(form: &Form, at: &str) -> bool {
    if at.is_empty() { form.place.is_empty() } else { form.place.starts_with(at) }
}

/// The case of a form. None where the form changes nothing: the plain request has its value, or has nothing
/// that it could take away.
fn case(operation: &str, form: &Form, parts: &Parts) -> Option<Result<Case, Problem>> {
    let (case, _) = drawn(operation, form, parts)?;
    let id = id(&case.clause, operation, form);
    let problem = |message: String| Problem { line: form.line, column: 5, ..Problem::of_file(FILE, message) };
    if !parts.spec.clauses.contains_key(&case.clause) {
        let message = format!("`{}`: no clause `{}` in the ledger", form.name, case.clause);
        let known = parts.spec.clauses.keys().map(String::as_str);
        return Some(Err(problem(message).nearest(&case.clause, known)));
    }
    let mut if_control_refused = IfControlRefused::Inconclusive;
    let control = match &form.twin {
        None => None,
        Some(label) => {
            let forms = parts.requests.forms(operation);
            let twin = forms.iter().find(|other| other.place == form.place && other.label == *label);
            let Some(twin) = twin else {
                let message = format!("`{}`: its place has no form `{label}` to be its twin", form.name);
                return Some(Err(problem(message)));
            };
            // A twin that changes nothing is the plain request.
            let twin_case = drawn(operation, twin, parts);
            // Where the bank may refuse the twin, the mistake is judged only if it does not.
            if twin_case.as_ref().is_some_and(|(_, due)| !matches!(due, Due::Accepted { .. })) {
                if_control_refused = IfControlRefused::Observed;
            }
            twin_case.map(|(case, _)| self::id(&case.clause, operation, twin))
        }
    };
    Some(Ok(Case {
        id,
        file: parts.tree.shown(FILE),
        line: form.line,
        column: 5,
        depth: if form.is_exhaustive { Depth::Exhaustive } else { Depth::Standard },
        about: form.about.clone(),
        control,
        if_control_refused,
        ..case
    }))
}

fn drawn(operation: &str, form: &Form, parts: &Parts) -> Option<(Case, Due)> {
    let mut draft = Draft::plain(operation);
    draft.add(Move::draw(form, &form.touches(), &mut numbers(&format!("{operation} {}", form.name))));
    draft.case_of(parts)
}

/// The id of the case of a form: the clause, and what of operation and place the clause does not say.
fn id(clause: &str, operation: &str, form: &Form) -> String {
    let mut id = clause.to_owned();
    if !clause.split('.').any(|part| part == operation) {
        id = format!("{id}/{operation}");
    }
    let (part, place) = form.place.split_once('/').unwrap_or(("", &form.place));
    if !place.is_empty() && part != "" {
        id = format!("{id}/{}", place.replace('/', "."));
    }
    format!("{id}/{}", form.label)
}

/// Numbers that are the same for the same name, whatever else a suite has.
fn numbers(name: &str) -> impl FnMut(u64) -> u64 {
    let hash = Sha256::digest(name);
    let mut state = hash[..8].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    move |below| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % below.max(1)
    }
}
