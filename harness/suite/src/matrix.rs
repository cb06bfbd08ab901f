//! The matrix: one case for each form of each place of the spec. What must come back, and the clause that says
//! so, is what the rules of the place make of it.

use serde::Serialize;
use sha2::{Digest, Sha256};
use xs2aspec_spec::{
    At, Problem, Strength,
    request::{Due, Form},
};

use crate::{
    case::{Case, Parts, area_of},
    definition::{Depth, FormGroup, IfControlRefused, Met},
    draft::{Draft, Move},
    suite::Suite,
    together,
};

/// The file in which the places are written.
const FILE: &str = xs2aspec_spec::request::FILE;

/// The cases of a group.
pub(crate) fn cases(path: &str, group: &At<FormGroup>, parts: &Parts) -> Result<Vec<Case>, Problem> {
    let FormGroup { at, met, operations } = &group.value;
    for name in operations {
        if !parts.requests.operations().any(|known| known == name) {
            let problem = group.problem(path, format!("there is no operation `{name}`"));
            return Err(problem.nearest(name, parts.requests.operations()));
        }
    }
    let is_wanted = |operation: &str| operations.is_empty() || operations.iter().any(|one| one == operation);
    let mut cases = Vec::new();
    for operation in parts.requests.operations().filter(|name| is_wanted(name)) {
        let forms = parts.requests.forms(operation).iter();
        let forms = forms.filter(|form| is_at(form, at.as_deref()) && !form.is_written);
        match met {
            Met::Alone => {
                for form in forms {
                    cases.extend(case(operation, form, parts).transpose()?);
                }
            }
            Met::Surrounded => cases.extend(together::surrounded(operation, forms, parts)),
            Met::Paired => cases.extend(together::paired(operation, forms, parts)),
        }
    }
    if cases.is_empty() {
        return Err(group.problem(path, "there is no such form at these places"));
    }
    let (area, file) = (area_of(path), parts.tree.shown(FILE));
    for case in &mut cases {
        case.area.clone_from(&area);
        case.file.clone_from(&file);
        case.column = 5;
        case.group = group.line;
    }
    Ok(cases)
}

/// One field of the matrix: a form of a place, and what must come back.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The operation.
    pub operation: String,
    /// The place; none for the request as a whole.
    pub place: String,
    /// The form: a mistake or a lawful value.
    pub form: String,
    /// The clause that says what must come back.
    pub clause: String,
    /// Strength of the clause, in a word.
    pub strength: &'static str,
    /// What must come back.
    pub expect: String,
    /// Why nothing is expected, where nothing is.
    pub reason: Option<String>,
}

/// Every field of the matrix, in the order of places and forms.
pub fn cells(suite: &Suite) -> Vec<Cell> {
    let parts = suite.parts();
    let of_operation = |operation: &'_ str| {
        let forms = parts.requests.forms(operation).iter().filter(|form| !form.is_written);
        forms.filter_map(|form| cell(operation, form, parts)).collect::<Vec<_>>()
    };
    parts.requests.operations().flat_map(of_operation).collect()
}

fn cell(operation: &str, form: &Form, parts: &Parts) -> Option<Cell> {
    let (case, due) = drawn(operation, form, parts)?;
    let reason = if let Due::Open(why) = due { Some(why) } else { None };
    Some(Cell {
        operation: operation.to_owned(),
        place: form.place.clone(),
        form: form.label.clone(),
        strength: parts.spec.clauses.get(&case.clause)?.strength.word(),
        expect: case.expect.to_string(),
        clause: case.clause,
        reason,
    })
}

fn is_at(form: &Form, at: Option<&str>) -> bool {
    at.is_none_or(|at| if at.is_empty() { form.place.is_empty() } else { form.place.starts_with(at) })
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
            let is_sure = |(case, due): &(Case, Due)| {
                let clause = parts.spec.clauses.get(&case.clause);
                let is_expected = clause.is_some_and(|clause| clause.strength == Strength::Expected);
                matches!(due, Due::Accepted { .. }) && !is_expected
            };
            if twin_case.as_ref().is_some_and(|twin| !is_sure(twin)) {
                if_control_refused = IfControlRefused::Observed;
            }
            twin_case.map(|(case, _)| self::id(&case.clause, operation, twin))
        }
    };
    Some(Ok(Case {
        id,
        line: form.line,
        depth: if form.is_exhaustive { Depth::Exhaustive } else { Depth::Standard },
        about: form.about.clone(),
        control,
        if_control_refused,
        ..case
    }))
}

fn drawn(operation: &str, form: &Form, parts: &Parts) -> Option<(Case, Due)> {
    let mut draft = Draft::plain(operation);
    draft.add(moved(operation, form));
    draft.case_of(parts)
}

/// What a form does, the same each time.
pub(crate) fn moved(operation: &str, form: &Form) -> Move {
    Move::draw(form, &form.touches(), &mut numbers(&format!("{operation} {}", form.name)))
}

/// The id of the case of a form: the clause, and what of operation and place the clause does not say.
pub(crate) fn id(clause: &str, operation: &str, form: &Form) -> String {
    let mut id = clause.to_owned();
    if !clause.split('.').any(|part| part == operation) {
        id = format!("{id}/{operation}");
    }
    let (part, place) = form.place.split_once('/').unwrap_or(("", &form.place));
    if !place.is_empty() && !part.is_empty() {
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
