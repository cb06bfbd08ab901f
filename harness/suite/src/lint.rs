//! The authoring rules that loading does not enforce.
//!
//! - Every case except the baseline case of an operation has a control.
//! - A case that expects a rejection differs from its control in exactly one place.
//! - A case expects only what the document says: acceptance and rejection only for what it states or implies,
//!   a status or code only if the clause names it, a choice only for a choice.
//! - A limit is tested on both sides, at exactly its size and at one more.
//! - Every clause that can be tested has a case, and every baseline and table is used.
//! - Every clause that the rules for responses name is declared, and every response that differs from a
//!   sample in one place is decided.

use std::collections::BTreeSet;

use serde_json::Value;
use xs2aspec_spec::{Clause, Problem, Strength, answer, client, document, request};

use crate::{
    case::Case,
    coverage::Coverage,
    definition::Signing,
    difference::{differences, kept},
    expectation::Expectation,
    request::BodySpec,
    suite::Suite,
    template,
};

/// Returns every violation of the authoring rules, sorted by location.
pub fn lint(suite: &Suite) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for case in suite.cases() {
        problems.extend(no_control(case));
        problems.extend(one_fault(suite, case));
        if let Some(clause) = suite.clauses().get(&case.clause) {
            problems.extend(beyond(case, clause));
        }
    }
    problems.extend(bounds(suite));
    problems.extend(unknown_signing(suite));
    let coverage = Coverage::of(suite);
    for statement in coverage.to_do() {
        if let Some(clause) = suite.clauses().get(&statement.clause) {
            let message = format!(
                "clause `{}` is {} by the document, but no case or check of responses can find it violated",
                clause.id,
                if statement.is_demanded() { "required" } else { "left to the bank" }
            );
            problems.push(Problem {
                line: clause.file_line,
                column: 5,
                ..Problem::of_file(&clause.file, message)
            });
        }
    }
    for line in &coverage.lines_without_clause {
        problems.push(Problem::of_file(
            document::FILE,
            format!("line {line} has content, but no clause quotes it"),
        ));
    }
    problems.extend(unknown(suite));
    problems.extend(suite.answers().problems());
    problems.extend(orphans(suite));
    for problem in &mut problems {
        problem.file = suite.tree().shown(&problem.file);
    }
    problems.sort();
    problems
}

fn no_control(case: &Case) -> Option<Problem> {
    let message = format!("case `{}` has no control: its operation has no baseline case", case.id);
    (case.control.is_none() && !case.is_plain).then(|| {
        case.problem(message).help("add a `control`, or a case of its operation with `control: none`")
    })
}

fn one_fault(suite: &Suite, case: &Case) -> Option<Problem> {
    if !matches!(case.expect, Expectation::Refused(_)) {
        return None;
    }
    let control = suite.case(case.control.as_deref()?)?;
    let found = differences(case, control);
    (found.len() != 1).then(|| {
        let message =
            format!("case `{}` differs from its control in {} places: {found:?}", case.id, found.len());
        case.problem(message).help(format!(
            "a case that expects a rejection is its control ({}) with exactly one difference",
            control.id
        ))
    })
}

fn beyond(case: &Case, clause: &Clause) -> Option<Problem> {
    let wrong = |message: String| Some(case.problem(message));
    match (&case.expect, &clause.strength) {
        (
            Expectation::Accepted | Expectation::Shows(_) | Expectation::Refused(_) | Expectation::Answered,
            Strength::Choice(_) | Strength::Observed(_) | Strength::Untestable(_),
        ) => wrong(format!(
            "case `{}` expects `{}` for a clause that is {}",
            case.id,
            case.expect,
            clause.strength.word()
        )),
        (Expectation::Choice(values), Strength::Choice(choice))
            if choice.expected && !values.contains_key(&choice.default) =>
        {
            wrong(format!(
                "case `{}` has no expectation for `{}`, the plain reading of its clause",
                case.id, choice.default
            ))
        }
        (Expectation::Choice(_), Strength::Choice(_)) => None,
        (Expectation::Choice(_), _) => {
            wrong(format!("case `{}` expects a choice, but its clause leaves none", case.id))
        }
        (Expectation::Refused(refusal), _) => {
            let named = |text: &str| clause.says.contains(text);
            if let Some(status) = refusal.statuses.iter().find(|status| !named(&status.to_string())) {
                return wrong(format!(
                    "case `{}` expects status {status}, which its clause does not name",
                    case.id
                ));
            }
            match refusal.codes.iter().find(|code| !named(code)) {
                Some(code) => {
                    wrong(format!("case `{}` expects code {code}, which its clause does not name", case.id))
                }
                None => None,
            }
        }
        _ => None,
    }
}

/// Checks that cases test both sides of each stated limit: one of exactly its size that must be accepted, and
/// one of one more that must be rejected.
///
/// If the document cannot require anything for the exact size, an observed case that says why in `about`
/// replaces the first. The cases belong to the clause itself. Accepted ones may also belong to a clause below
/// it (`.limit.ten` below `.limit`) or to the clause above it (`periodic.months` above `.range`). A clause
/// without a number may have any cases on both sides.
fn bounds(suite: &Suite) -> Vec<Problem> {
    let limited = |id: &str| [".length", ".limit", ".range"].iter().any(|ending| id.ends_with(ending));
    let mut problems = Vec::new();
    for clause in
        suite.clauses().values().filter(|clause| limited(&clause.id) && clause.strength == Strength::Stated)
    {
        let below = format!("{}.", clause.id);
        let above = clause.id.rsplit_once('.').map_or("", |(above, _)| above);
        let own = || suite.cases().iter().filter(|case| case.clause == clause.id);
        let near = suite.cases().iter().filter(|case| {
            case.clause == clause.id || case.clause == above || case.clause.starts_with(&below)
        });
        if own().next().is_none() {
            continue;
        }
        let limit = limit(&clause.says);
        let is_of = |case: &Case, size: usize| limit.is_none() || sizes(suite, case).contains(&size);
        let most = limit.unwrap_or_default();
        let is_within = |case: &Case| match case.expect {
            Expectation::Accepted => is_of(case, most),
            Expectation::Observed => limit.is_some() && case.about.is_some() && is_of(case, most),
            _ => false,
        };
        let is_beyond = |case: &Case| matches!(case.expect, Expectation::Refused(_)) && is_of(case, most + 1);
        let mut missing = |message: String| {
            problems.push(Problem {
                line: clause.file_line,
                column: 5,
                ..Problem::of_file(&clause.file, message)
            });
        };
        if !near.into_iter().any(is_within) {
            let size = limit.map_or_else(String::new, |limit| format!(" of exactly {limit}"));
            missing(format!("clause `{}` has no case{size} that must be accepted", clause.id));
        }
        if !own().any(is_beyond) {
            let size = limit.map_or_else(String::new, |limit| format!(" of {}", limit + 1));
            missing(format!("clause `{}` has no case{size} that must be rejected", clause.id));
        }
    }
    problems
}

/// Returns the limit that a clause names: `at most 70 characters`, `more than 10 payments`.
fn limit(says: &str) -> Option<usize> {
    let after = ["at most ", "more than "].iter().find_map(|words| Some(says.split_once(words)?.1))?;
    after.split(' ').next()?.parse().ok()
}

/// Returns the sizes at the places where a case differs from its control: characters of strings, entries of
/// lists.
fn sizes(suite: &Suite, case: &Case) -> BTreeSet<usize> {
    let mut sizes = BTreeSet::new();
    let control = case.control.as_deref().and_then(|id| suite.case(id));
    let (Some(control), BodySpec::Json(body, _)) = (control, &case.request.body) else { return sizes };
    for place in differences(case, control) {
        if place == "before" {
            // Lists of what preparing requests keep are not places of their own.
            let values = body.as_object().into_iter().flat_map(|members| members.values());
            values.filter(|value| kept(value)).for_each(|value| size(case, value, &mut sizes));
        } else if let Some(value) = place.strip_prefix("body").and_then(|pointer| body.pointer(pointer)) {
            size(case, value, &mut sizes);
        }
    }
    sizes
}

fn size(case: &Case, value: &Value, sizes: &mut BTreeSet<usize>) {
    match value {
        Value::String(text) => {
            let times = text
                .strip_prefix("${")
                .map(template::head)
                .and_then(|name| case.before.iter().find(|step| step.name == name)?.times);
            sizes.insert(times.unwrap_or_else(|| text.chars().count()));
        }
        Value::Array(items) => {
            sizes.insert(items.len());
            for item in items {
                size(case, item, sizes);
            }
        }
        Value::Object(members) => {
            for member in members.values() {
                size(case, member, sizes);
            }
        }
        _ => {}
    }
}

/// Returns a problem for each clause that the rules name and that is not declared. A finding could not show
/// its text.
fn unknown(suite: &Suite) -> impl Iterator<Item = Problem> {
    let of_answers = suite.answers().of_every_answer().into_iter().map(|id| (answer::FILE, id));
    let of_requests = suite.requests().clauses().map(|id| (request::FILE, id));
    let of_clients = suite.spec().client.clauses().map(|id| (client::FILE, id));
    let named: BTreeSet<(&str, &str)> = of_answers.chain(of_requests).chain(of_clients).collect();
    named.into_iter().filter(|(_, id)| !suite.clauses().contains_key(*id)).map(|(file, id)| {
        let message = format!("clause `{id}`, named in this file or in a schema, is not declared");
        Problem::of_file(file, message).nearest(id, suite.clauses().keys().map(String::as_str))
    })
}

/// Returns a problem for each form whose way of signing cannot be read.
fn unknown_signing(suite: &Suite) -> impl Iterator<Item = Problem> {
    let forms = suite.requests().operations().flat_map(|operation| suite.requests().forms(operation));
    forms.filter_map(|form| {
        let signing = Value::Object(form.signing.clone()?);
        let error = serde_json::from_value::<Signing>(signing).err()?;
        Some(Problem::of_file(request::FILE, format!("`signing` of the form `{}`: {error}", form.name)))
    })
}

/// Returns a problem for each baseline and table that nothing uses.
fn orphans(suite: &Suite) -> Vec<Problem> {
    let mut used = BTreeSet::new();
    for case in suite.cases() {
        used.insert(case.baseline.as_str());
        used.extend(case.before.iter().map(|step| step.baseline.as_str()));
    }
    used.extend(suite.baselines().values().filter_map(|baseline| baseline.extends.as_deref()));
    let baselines = suite.baselines().keys().filter(|name| !used.contains(name.as_str()));
    let baselines = baselines.map(|name| format!("fixtures/requests/{name}.yaml"));
    let requests = suite.tree().text(request::FILE);
    let cases = suite.tree().below("cases/", ".yaml").map(|(_, text)| text);
    let texts: Vec<&str> = cases.chain(requests).collect();
    let named = |table: &str| texts.iter().any(|text| text.contains(&format!("table: {table}")));
    let tables = suite.tree().below("fixtures/tables/", ".csv").map(|(path, _)| path).filter(|path| {
        let name = path.trim_start_matches("fixtures/tables/").trim_end_matches(".csv");
        let is_of_requests = *path == request::HEADERS && requests.is_some();
        name != SOURCE && !is_of_requests && !named(name)
    });
    baselines
        .chain(tables.map(str::to_owned))
        .map(|path| Problem::of_file(&path, "nothing uses this file"))
        .collect()
}

/// The table that a test compares other tables with, and that the rules for responses read.
const SOURCE: &str = "currencies";
