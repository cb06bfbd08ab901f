//! The authoring rules that loading does not enforce.
//!
//! - Every case but the plain request of an operation has a control.
//! - A case that expects a refusal differs from its control in exactly one thing.
//! - Nothing is expected beyond the document: acceptance and refusal only for what it states or what follows, a status or code
//!   only where the clause names it, a choice only for a choice.
//! - A limit is shown on both sides.
//! - Every clause that can be shown has a case, and every baseline and table is used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    case::Case,
    clause::{Clause, Strength},
    coverage::Coverage,
    expectation::Expectation,
    problem::Problem,
    request::{BodySpec, RequestSpec},
    suite::Suite,
    template,
};

/// Every breach of the authoring rules, sorted by place. `every_answer` are the clauses that the runner checks on every answer.
pub fn lint(suite: &Suite, every_answer: &BTreeSet<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for case in suite.cases() {
        problems.extend(no_control(case));
        problems.extend(one_fault(suite, case));
        if let Some(clause) = suite.clauses().get(&case.clause) {
            problems.extend(beyond(case, clause));
        }
    }
    problems.extend(bounds(suite));
    let coverage = Coverage::of(suite, every_answer);
    for statement in coverage.to_do() {
        if let Some(clause) = suite.clauses().get(&statement.clause) {
            let message = format!("clause `{}` has no case", clause.id);
            problems.push(Problem {
                line: clause.file_line,
                column: 5,
                ..Problem::of_file(&clause.file, message)
            });
        }
    }
    for line in &coverage.lines_without_clause {
        problems.push(Problem::of_file(
            "fixtures/document/interface.md",
            format!("line {line} says something and no clause of the ledger names it"),
        ));
    }
    problems.extend(orphans(suite));
    problems.sort();
    problems
}

fn no_control(case: &Case) -> Option<Problem> {
    let message = format!("case `{}` leans on nothing: its operation has no plain request", case.id);
    (case.control.is_none() && !case.is_plain).then(|| {
        case.problem(message).help("give it a `control`, or its operation a case with `control: none`")
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
            format!("case `{}` differs from its control in {} things: {found:?}", case.id, found.len());
        case.problem(message)
            .help(format!("a refused case is its control ({}) and exactly one fault", control.id))
    })
}

/// Where two cases differ: places in the judged request, the way of signing, or the preparing requests.
pub fn differences(case: &Case, control: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let prepared = |case: &Case| {
        // The judged request itself, sent before, makes it the same request again and no other one.
        let steps = case.before.iter().filter(|step| step.request != case.request);
        let steps = steps.map(|step| (step.request.clone(), step.times));
        steps.collect::<Vec<(RequestSpec, Option<usize>)>>()
    };
    let other_steps = prepared(case) != prepared(control);
    if other_steps {
        found.push("before".to_owned());
    }
    let (one, two) = (&case.request, &control.request);
    // A path that names another prepared resource differs by what was prepared.
    let path =
        |request: &RequestSpec| if other_steps { without_names(&request.path) } else { request.path.clone() };
    if (&one.method, path(one)) != (&two.method, path(two)) {
        found.push("path".to_owned());
    }
    let names = |request: &RequestSpec| {
        request
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), (name.clone(), value.clone())))
            .collect::<Vec<_>>()
    };
    fields("header", &names(one), &names(two), &mut found);
    let query = |request: &RequestSpec| {
        request
            .query
            .iter()
            .map(|(name, value)| (name.clone(), (name.clone(), value.clone())))
            .collect::<Vec<_>>()
    };
    fields("query", &query(one), &query(two), &mut found);
    match (&one.body, &two.body) {
        (BodySpec::Json(a, repeats), BodySpec::Json(b, others)) => {
            members("body", a, b, other_steps, &mut found);
            if repeats != others {
                found.push("body, repeated".to_owned());
            }
        }
        (a, b) if a != b => found.push("body".to_owned()),
        _ => {}
    }
    if one.signing != two.signing {
        found.push("signing".to_owned());
    }
    found
}

type Field = (String, (String, Value));

fn fields(kind: &str, one: &[Field], two: &[Field], found: &mut Vec<String>) {
    let grouped = |fields: &[Field]| {
        let mut map = BTreeMap::<String, Vec<(String, Value)>>::new();
        for (name, field) in fields {
            map.entry(name.clone()).or_default().push(field.clone());
        }
        map
    };
    let (one, two) = (grouped(one), grouped(two));
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    found.extend(
        names
            .into_iter()
            .filter(|name| one.get(*name) != two.get(*name))
            .map(|name| format!("{kind}/{name}")),
    );
}

/// Members that differ, at the highest place at which a member is added, taken away or of another type. What was kept from
/// preparing requests is another value each time, and no difference of its own where those requests differ.
fn members(place: &str, one: &Value, two: &Value, other_steps: bool, found: &mut Vec<String>) {
    match (one, two) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let place = format!("{place}/{name}");
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => members(&place, a, b, other_steps, found),
                    _ => found.push(place),
                }
            }
        }
        (a, b) if a == b => {}
        (a, b) if other_steps && (kept(a) && kept(b)) => {}
        _ => found.push(place.to_owned()),
    }
}

/// A text with all its placeholders made alike.
fn without_names(text: &str) -> String {
    let names = template::names(&Value::String(text.to_owned()));
    names.iter().fold(text.to_owned(), |text, name| text.replace(&format!("${{{name}}}"), "${}"))
}

/// Whether a value is made of what preparing requests kept.
fn kept(value: &Value) -> bool {
    let names = template::names(value);
    !names.is_empty() && names.iter().all(|name| !template::RUN_TIME.contains(&template::head(name)))
}

fn beyond(case: &Case, clause: &Clause) -> Option<Problem> {
    let wrong = |message: String| Some(case.problem(message));
    match (&case.expect, &clause.strength) {
        (
            Expectation::Accepted | Expectation::Refused(_) | Expectation::Answered,
            Strength::Choice(_) | Strength::Observed(_) | Strength::Untestable(_),
        ) => wrong(format!(
            "case `{}` expects `{}` for a clause that is {}",
            case.id,
            case.expect,
            clause.strength.word()
        )),
        (Expectation::Choice(_), Strength::Choice(_)) => None,
        (Expectation::Choice(_), _) => {
            wrong(format!("case `{}` leaves a choice that its clause does not", case.id))
        }
        (Expectation::Refused(refusal), _) => {
            let named = |text: &str| clause.says.contains(text);
            if let Some(status) = refusal.status.filter(|status| !named(&status.to_string())) {
                return wrong(format!(
                    "case `{}` expects status {status}, which its clause does not name",
                    case.id
                ));
            }
            match refusal.code.as_deref().filter(|code| !named(code)) {
                Some(code) => {
                    wrong(format!("case `{}` expects code {code}, which its clause does not name", case.id))
                }
                None => None,
            }
        }
        _ => None,
    }
}

/// A stated limit is shown by a refused case beyond it, and by one within it that is not refused: a case of the clause itself,
/// of one below it (`.limit.ten` below `.limit`), or of the one that it is below (`periodic.months` above `.range`).
fn bounds(suite: &Suite) -> Vec<Problem> {
    let limited = |id: &str| [".length", ".limit", ".range"].iter().any(|ending| id.ends_with(ending));
    let refuses = |case: &&Case| matches!(case.expect, Expectation::Refused(_));
    let mut problems = Vec::new();
    for clause in
        suite.clauses().values().filter(|clause| limited(&clause.id) && clause.strength == Strength::Stated)
    {
        let below = format!("{}.", clause.id);
        let above = clause.id.rsplit_once('.').map_or("", |(above, _)| above);
        let beyond = suite.cases().iter().filter(refuses).any(|case| case.clause == clause.id);
        let within =
            suite.cases().iter().filter(|case| !refuses(case)).any(|case| {
                case.clause == clause.id || case.clause == above || case.clause.starts_with(&below)
            });
        let missing = match (beyond, within) {
            (true, false) => "within",
            (false, true) if suite.cases().iter().any(|case| case.clause == clause.id) => "beyond",
            _ => continue,
        };
        let message = format!("clause `{}` has no case {missing} the limit", clause.id);
        problems.push(Problem {
            line: clause.file_line,
            column: 5,
            ..Problem::of_file(&clause.file, message)
        });
    }
    problems
}

/// Baselines and tables that nothing uses.
fn orphans(suite: &Suite) -> Vec<Problem> {
    let mut used = BTreeSet::new();
    for case in suite.cases() {
        used.insert(case.baseline.as_str());
        used.extend(case.before.iter().map(|step| step.baseline.as_str()));
    }
    used.extend(suite.baselines().values().filter_map(|baseline| baseline.extends.as_deref()));
    let baselines = suite.baselines().keys().filter(|name| !used.contains(name.as_str()));
    let baselines = baselines.map(|name| format!("fixtures/requests/{name}.yaml"));
    let texts: Vec<&str> = suite.tree().below("cases/", ".yaml").map(|(_, text)| text).collect();
    let named = |table: &str| texts.iter().any(|text| text.contains(&format!("table: {table}")));
    let tables = suite.tree().below("fixtures/tables/", ".csv").map(|(path, _)| path).filter(|path| {
        let name = path.trim_start_matches("fixtures/tables/").trim_end_matches(".csv");
        name != SOURCE && !named(name)
    });
    baselines
        .chain(tables.map(str::to_owned))
        .map(|path| Problem::of_file(&path, "nothing uses this file"))
        .collect()
}

/// The table that other tables are held to by a test, and that the rules for answers read.
const SOURCE: &str = "currencies";
