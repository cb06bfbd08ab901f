//! The matrix: one case for each form of each place of the spec. What must come back, and the clause that
//! says so, is what the rules of the place make of it.

use std::sync::Arc;

use serde::Serialize;
use xs2aspec_spec::{
    At, Problem, Strength,
    request::{Due, Form},
};

use crate::{
    case::{Case, area_of},
    definition::{Depth, FormGroup, IfControlRefused, Met},
    forms::{FormCases, id},
    paired,
    parts::Parts,
    surrounded,
};

/// The file in which the places are written.
const FILE: &str = xs2aspec_spec::request::FILE;

/// The operations of a group.
pub(crate) fn operations<'a>(
    path: &str,
    group: &'a At<FormGroup>,
    parts: &'a Parts,
) -> Result<impl Iterator<Item = &'a str>, Problem> {
    let FormGroup { operations, .. } = &group.value;
    for name in operations {
        if !parts.requests().operations().any(|known| known == name) {
            let problem = group.problem(path, format!("there is no operation `{name}`"));
            return Err(problem.nearest(name, parts.requests().operations()));
        }
    }
    let is_wanted = |name: &&str| operations.is_empty() || operations.iter().any(|one| one == name);
    Ok(parts.requests().operations().filter(is_wanted))
}

/// The cases of a group for one operation.
pub(crate) fn cases(
    path: &str,
    group: &At<FormGroup>,
    operation: &str,
    all: &FormCases,
    parts: &Parts,
) -> Result<Vec<Case>, Problem> {
    let FormGroup { at, met, nested, .. } = &group.value;
    let forms = parts.requests().forms(operation).iter().zip(&all.cases);
    let is_wanted =
        |form: &Form| is_at(form, at.as_deref()) && (*nested || form.place.split('/').count() < 3);
    let forms = forms.filter(|(form, _)| is_wanted(form) && !form.is_written);
    let forms = forms.filter_map(|(form, case)| Some((form, case.as_ref()?)));
    let mut cases = match met {
        Met::Alone => forms
            .map(|(form, drawn)| case(operation, form, drawn, all, parts))
            .collect::<Result<Vec<Case>, Problem>>()?,
        Met::Surrounded => surrounded::surrounded(operation, forms, all, parts),
        Met::Paired => paired::paired(operation, &forms, parts),
    };
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
    /// The form: a mistake or a lawful value. Where no case is made of it, its name as it is written.
    pub form: String,
    /// Where the form is written; the same for all items of its `each`.
    #[serde(skip)]
    pub written: Arc<str>,
    /// What is decided.
    pub decision: Decision,
    /// The clause that says what must come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// Strength of the clause, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<&'static str>,
    /// What must come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// Why nothing is expected, or nothing is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is decided of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// A refusal, or it is a violation.
    Refused,
    /// A refusal, or it is a warning.
    RefusedOrWarned,
    /// Acceptance, or it is a violation.
    Accepted,
    /// Acceptance, or it is a warning.
    AcceptedOrWarned,
    /// What the target profile chooses.
    Choice,
    /// Nothing: it is recorded.
    Observed,
    /// The plain request is that already.
    Plain,
    /// A case file has it better.
    Written,
    /// Not asked: it makes no sense at this place.
    LeftOut,
    /// An answer that is a violation.
    Denied,
    /// An answer that is a warning.
    Warned,
    /// An answer that is recorded, and no more.
    Noted,
    /// An answer of which nothing is said.
    Lawful,
}

/// Every field of the matrix, in the order of places and forms.
pub(crate) fn cells(parts: &Parts) -> Vec<Cell> {
    let of_operation = |(operation, all): (&str, FormCases)| {
        let forms = parts.requests().forms(operation).iter().zip(&all.cases);
        let cells = forms.filter_map(|(form, drawn)| cell(operation, form, drawn.as_ref(), parts));
        let left_out = parts.requests().left_out(operation).iter().map(|left_out| Cell {
            operation: operation.to_owned(),
            place: left_out.place.clone(),
            form: left_out.name.clone(),
            written: Arc::clone(&left_out.written),
            decision: Decision::LeftOut,
            clause: None,
            strength: None,
            expect: None,
            reason: Some(left_out.reason.clone()),
        });
        cells.chain(left_out).collect::<Vec<_>>()
    };
    FormCases::of_each_operation(parts).into_iter().flat_map(of_operation).collect()
}

fn cell(operation: &str, form: &Form, drawn: Option<&(Case, Due)>, parts: &Parts) -> Option<Cell> {
    let clause = drawn.map_or(&form.clause, |(case, _)| &case.clause);
    let strength = &parts.spec.clauses.get(clause)?.strength;
    let is_warned = *strength == Strength::Expected;
    let (decision, reason) = match drawn {
        _ if form.is_written => (Decision::Written, None),
        None => (Decision::Plain, None),
        Some((_, due)) => match (due, is_warned) {
            (Due::Accepted { .. }, false) => (Decision::Accepted, None),
            (Due::Accepted { .. }, true) => (Decision::AcceptedOrWarned, None),
            (Due::Refused { .. }, false) => (Decision::Refused, None),
            (Due::Refused { .. }, true) => (Decision::RefusedOrWarned, None),
            (Due::Choice { .. }, _) => (Decision::Choice, None),
            (Due::Open(why), _) => (Decision::Observed, Some(why.clone())),
        },
    };
    Some(Cell {
        operation: operation.to_owned(),
        place: form.place.clone(),
        form: form.label.clone(),
        written: Arc::clone(&form.written),
        decision,
        clause: Some(clause.clone()),
        strength: Some(strength.word()),
        expect: drawn.map(|(case, _)| case.expect.to_string()),
        reason,
    })
}

fn is_at(form: &Form, at: Option<&str>) -> bool {
    at.is_none_or(|at| if at.is_empty() { form.place.is_empty() } else { form.place.starts_with(at) })
}

/// The case of a form, with its control.
fn case(
    operation: &str,
    form: &Form,
    (case, _): &(Case, Due),
    all: &FormCases,
    parts: &Parts,
) -> Result<Case, Problem> {
    let problem = |message: String| Problem { line: form.line, column: 5, ..Problem::of_file(FILE, message) };
    if !parts.spec.clauses.contains_key(&case.clause) {
        let message = format!("`{}`: no clause `{}` in the ledger", form.name, case.clause);
        let known = parts.spec.clauses.keys().map(String::as_str);
        return Err(problem(message).nearest(&case.clause, known));
    }
    let twin = match &form.twin {
        None => None,
        Some(twin) => {
            let number = all.number(twin).ok_or_else(|| {
                let (place, label) = twin;
                problem(format!("`{}`: `{place}` has no form `{label}` to be its twin", form.name))
            })?;
            // A twin that changes nothing is the plain request.
            all.cases[number].as_ref().map(|twin| (&parts.requests().forms(operation)[number], twin))
        }
    };
    // Where the bank may refuse the twin, the mistake is judged only if it does not.
    let is_sure = twin.is_none_or(|(_, (case, due))| {
        matches!(due, Due::Accepted { .. }) && !parts.is_expected(&case.clause)
    });
    Ok(Case {
        id: id(&case.clause, operation, form),
        line: form.line,
        depth: if form.is_exhaustive { Depth::Exhaustive } else { Depth::Standard },
        about: form.about.clone(),
        control: twin.map(|(twin, (case, _))| id(&case.clause, operation, twin)),
        if_control_refused: if is_sure { IfControlRefused::Inconclusive } else { IfControlRefused::Observed },
        ..case.clone()
    })
}
