//! Writes a request that reveals a violation as a case file.

use serde_json::{Map, Value, json};
use xs2aspec_spec::request::Due;
use xs2aspec_suite::{Case, StepExpect, Suite, definition::Change};

use xs2aspec_suite::combination::{edited, expected};

use crate::{Combination, sequence::Written};

/// Line of the case in a file that contains nothing else.
pub const ALONE: u32 = 4;

/// Returns a case file with this request alone. Its control is the suite's baseline request.
pub fn alone(suite: &Suite, combination: &Combination, case: &Case, due: &Due, name: &str) -> Option<String> {
    text(&case.changes(), &[written_case(suite, combination, case, due, name)?])
}

/// Returns a case file with this request and its control, the baseline request. `name` is the name of the
/// case.
pub fn file(suite: &Suite, combination: &Combination, case: &Case, due: &Due, name: &str) -> Option<String> {
    let clause = suite.requests().plain_clause(&combination.operation)?;
    let (control, plain) = (format!("control-of-{name}"), combination.operation.as_str());
    let control_case = json!({"clause": clause, "name": control, "baseline": plain, "expect": "accepted"});
    let mut written = written_case(suite, combination, case, due, name)?;
    written["control"] = json!(format!("{clause}/{control}"));
    text(&case.changes(), &[control_case, written])
}

/// Returns a case file with this sequence alone. Its control is a case of the suite.
pub fn sequence(written: &Written, name: &str) -> Option<String> {
    text(&written.says, &[sequence_case(written, name)])
}

/// Returns a case file with this sequence and its control.
pub fn sequence_file(suite: &Suite, written: &Written, name: &str) -> Option<String> {
    let mut case = sequence_case(written, name);
    let known = suite.case(case["control"].as_str()?)?;
    let control = format!("control-of-{name}");
    case["control"] = json!(format!("{}/{control}", known.clause));
    let expect = if known.expect.is_accepted() { "accepted" } else { "observed" };
    let control =
        json!({"clause": known.clause, "name": control, "baseline": known.baseline, "expect": expect});
    text(&written.says, &[control, case])
}

fn sequence_case(written: &Written, name: &str) -> Value {
    let mut case = Map::new();
    for (at, (key, value)) in written.case.iter().enumerate() {
        case.insert(key.clone(), value.clone());
        if at == 0 {
            case.insert("name".to_owned(), json!(name));
        }
    }
    Value::Object(case)
}

/// Returns a comment with the differences from the baseline request, the title, and the cases.
fn text(changes: &[String], cases: &[Value]) -> Option<String> {
    let says = changes.join("; ").replace('\n', " ");
    let clause = cases.last()?["clause"].as_str()?;
    let title = json!(format!("Found by explore: {clause}"));
    let head = format!("# Found by `xs2aspec explore`: {says}\ntitle: {title}\ncases:\n");
    Some(cases.iter().filter_map(Value::as_object).fold(head, |text, case| text + &block(case)))
}

/// Returns a case with one line per field and per item of a list. JSON is valid YAML in flow style.
fn block(case: &Map<String, Value>) -> String {
    let mut lines = Vec::new();
    for (name, value) in case {
        let begin = if lines.is_empty() { "  - " } else { "    " };
        match (value.as_array(), value.as_str()) {
            (Some(items), _) if items.iter().all(Value::is_object) => {
                lines.push(format!("{begin}{name}:\n"));
                lines.extend(items.iter().map(|item| format!("      - {item}\n")));
            }
            (_, Some(word)) if is_plain(word) => lines.push(format!("{begin}{name}: {word}\n")),
            _ => lines.push(format!("{begin}{name}: {value}\n")),
        }
    }
    lines.concat()
}

/// Returns true if YAML reads a word as a string without quotation marks.
fn is_plain(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-./".contains(letter))
        && !["true", "false", "null"].contains(&word)
}

/// Returns the case in the format of a case file.
fn written_case(
    suite: &Suite,
    combination: &Combination,
    case: &Case,
    due: &Due,
    name: &str,
) -> Option<Value> {
    let baseline = suite.baselines().get(&combination.operation)?;
    let changes: Vec<Value> = combination.changes(&baseline.request)?.iter().map(written).collect();
    let signing = case.request.signing.differing();
    let is_own = combination.forms.iter().all(|one| one.before.is_empty());
    let before: Vec<Value> = if is_own { vec![] } else { written_steps(suite, combination, case) };
    let mut file = Map::new();
    let mut put = |name: &str, value: Value| _ = file.insert(name.to_owned(), value);
    put("clause", json!(case.clause));
    put("name", json!(name));
    put("baseline", json!(combination.operation));
    let lists = [("needs", json!(case.needs)), ("before", json!(before)), ("change", json!(changes))];
    for (name, list) in lists.into_iter().filter(|(_, list)| *list != json!([])) {
        put(name, list);
    }
    if !signing.is_empty() {
        put("signing", Value::Object(signing));
    }
    put("expect", expected(due));
    Some(Value::Object(file))
}

/// Returns the setup steps in the format of a case file.
fn written_steps(suite: &Suite, combination: &Combination, case: &Case) -> Vec<Value> {
    let steps = case.before.iter().map(|step| {
        let mut file = json!({"name": step.name, "baseline": step.baseline});
        let keep: Map<String, Value> =
            step.keep.iter().map(|(key, at)| (key.clone(), json!(at.to_string()))).collect();
        let own = combination.forms.iter().flat_map(|one| &one.before).find(|own| own.name == step.name);
        let plain = suite.baselines().get(&step.baseline).map(|baseline| &baseline.request);
        let changes = own.zip(plain).and_then(|(own, plain)| {
            let (_, changes) = edited(&own.edits, plain)?;
            Some(changes.iter().map(written).collect::<Vec<_>>())
        });
        let changes = changes.unwrap_or_default();
        for (name, value) in [("keep", json!(keep)), ("change", json!(changes))] {
            if value != json!({}) && value != json!([]) {
                file[name] = value;
            }
        }
        if let Some(times) = step.times {
            file["times"] = json!(times);
        }
        if step.expect == StepExpect::Any {
            file["expect"] = json!("any");
        }
        file
    });
    steps.collect()
}

/// Returns a change in the format of a case file.
fn written(change: &Change) -> Value {
    let mut written = Map::new();
    let verbs = [
        ("set", &change.set),
        ("remove", &change.remove),
        ("repeat", &change.repeat),
        ("rename", &change.rename),
        ("raw", &change.raw),
    ];
    for (verb, at) in verbs {
        if let Some(at) = at {
            written.insert(verb.to_owned(), json!(at));
        }
    }
    if let Some(to) = &change.to {
        written.insert("to".to_owned(), to.clone());
    }
    Value::Object(written)
}
