//! The matrix: one case for each form of each place of the spec. The rules of the place determine the
//! expected response and its clause.

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

/// The file that defines the places.
const FILE: &str = xs2aspec_spec::request::FILE;

/// Returns the operations of a group.
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

/// Returns the cases of a group for one operation.
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

/// A cell of the matrix: a form of a place, and the decision about it.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The operation.
    pub operation: String,
    /// The place. Empty for the request as a whole.
    pub place: String,
    /// The form: an invalid or allowed value. If it has no case, its name as written.
    pub form: String,
    /// The block and name that define the form, which are the same for all items of its `each`.
    #[serde(skip)]
    pub written: Arc<str>,
    /// The decision.
    pub decision: Decision,
    /// The clause that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// Strength of the clause, as a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<&'static str>,
    /// The expected response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// The reason why nothing is expected or sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The decision about a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Acceptance is a violation.
    Refused,
    /// Acceptance is a warning.
    RefusedOrWarned,
    /// A rejection is a violation.
    Accepted,
    /// A rejection is a warning.
    AcceptedOrWarned,
    /// The bank profile decides.
    Choice,
    /// The response is recorded without any requirement.
    Observed,
    /// The baseline request already is this.
    Plain,
    /// A case file tests it better.
    Written,
    /// Not sent, since it makes no sense at this place.
    LeftOut,
    /// A response that is a violation.
    Denied,
    /// A response that is a warning.
    Warned,
    /// A response that is only recorded.
    Noted,
    /// A response that is allowed.
    Lawful,
}

/// Returns every cell of the matrix, in the order of places and forms.
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

/// Returns the case of a form, with its control.
fn case(
    operation: &str,
    form: &Form,
    (case, _): &(Case, Due),
    all: &FormCases,
    parts: &Parts,
) -> Result<Case, Problem> {
    let problem = |message: String| Problem { line: form.line, column: 5, ..Problem::of_file(FILE, message) };
    if !parts.spec.clauses.contains_key(&case.clause) {
        let message = format!("`{}`: clause `{}` is not declared", form.name, case.clause);
        let known = parts.spec.clauses.keys().map(String::as_str);
        return Err(problem(message).nearest(&case.clause, known));
    }
    let twin = match &form.twin {
        None => None,
        Some(twin) => {
            let number = all.number(twin).ok_or_else(|| {
                let (place, label) = twin;
                problem(format!("`{}`: its twin `{label}` does not exist at `{place}`", form.name))
            })?;
            // A twin that changes nothing is the baseline.
            all.cases[number].as_ref().map(|twin| (&parts.requests().forms(operation)[number], twin))
        }
    };
    // If the bank may reject the twin, the invalid value is judged only after the twin was accepted.
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
