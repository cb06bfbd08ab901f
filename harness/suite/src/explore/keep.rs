//! A request that shows a violation, as a case file.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Map, Value, json};

use super::{draft::Draft, oracle::Verdict, sequence::Sent};
use xs2aspec_spec::Strength;

use crate::{
    case::Case,
    definition::{Change, Signing},
    suite::Suite,
};

/// The line of the case in a file that has it alone.
pub const ALONE: u32 = 4;

/// The text of a case file with this request alone. Its control is the plain request of the suite.
pub fn alone(suite: &Suite, draft: &Draft, case: &Case, verdict: &Verdict, name: &str) -> Option<String> {
    text(suite, draft, case, verdict, name, None)
}

/// The text of a case file with this request and its control, the plain request. `name` is the name of the
/// case.
pub fn file(suite: &Suite, draft: &Draft, case: &Case, verdict: &Verdict, name: &str) -> Option<String> {
    text(suite, draft, case, verdict, name, Some(&plain_clause(&draft.operation).0))
}

/// `own` is the clause of a control that stands before the case.
fn text(
    suite: &Suite,
    draft: &Draft,
    case: &Case,
    verdict: &Verdict,
    name: &str,
    own: Option<&str>,
) -> Option<String> {
    let plain = suite.baselines().get(&draft.operation)?;
    let changes: Vec<Value> = draft.changes(&plain.request)?.iter().map(written).collect();
    // Flow style of YAML is JSON.
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Found by `xs2aspec explore`: {}",
        draft.says(&plain.request).join("; ").replace('\n', " ")
    );
    let _ = writeln!(text, "title: {}", json!(format!("Found by explore: {}", case.clause)));
    text.push_str("cases:\n");
    if let Some(own) = own {
        let _ = writeln!(
            text,
            "  - clause: {own}\n    name: control-of-{name}\n    baseline: {}\n    expect: accepted",
            draft.operation
        );
    }
    let _ =
        writeln!(text, "  - clause: {}\n    name: {name}\n    baseline: {}", case.clause, draft.operation);
    if !case.needs.is_empty() {
        let _ = writeln!(text, "    needs: {}", json!(case.needs));
    }
    if case.before.iter().any(|step| step.times.is_some())
        || case.before.len() > 1
        || case.before.iter().any(|step| step.baseline != "ncbct")
    {
        text.push_str("    before:\n");
        for step in &case.before {
            let times = step.times.map(|times| format!(", times: {times}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "      - {{ name: {}, baseline: {}{times}, keep: {{ id: body/paymentId }} }}",
                step.name, step.baseline
            );
        }
    }
    if !changes.is_empty() {
        text.push_str("    change:\n");
        for change in changes {
            let _ = writeln!(text, "      - {change}");
        }
    }
    let signing = case.request.signing.differing();
    if !signing.is_empty() {
        let _ = writeln!(text, "    signing: {}", Value::Object(signing));
    }
    let expect = match verdict {
        Verdict::Accepted => json!("accepted"),
        Verdict::Choice(_) => json!({"choice": {"accept": "accepted", "refuse": "refused"}}),
        Verdict::Open(_) => json!("observed"),
        Verdict::Refused { nothing_created, status, code, .. } => {
            let mut conditions = serde_json::Map::new();
            if *nothing_created {
                conditions.insert("nothing-created".to_owned(), json!(true));
            }
            if let Some(status) = status {
                conditions.insert("status".to_owned(), json!(status));
            }
            if let Some(code) = code {
                conditions.insert("code".to_owned(), json!(code));
            }
            if conditions.is_empty() { json!("refused") } else { json!({"refused": conditions}) }
        }
    };
    if let Some(own) = own {
        let _ = writeln!(text, "    control: {own}/control-of-{name}");
    }
    let _ = writeln!(text, "    expect: {expect}");
    Some(text)
}

/// The text of a case file with a sequence whose last request is the judged one, and with its control.
/// `expect` is what must come back, as a case file says it. `None` where the clause is none that a case may
/// hold a target to.
pub fn sequence(suite: &Suite, sent: &[Sent], clause: &str, expect: &Value, name: &str) -> Option<String> {
    let (last, before) = sent.split_last()?;
    let strength = &suite.clauses().get(clause)?.strength;
    if matches!(strength, Strength::Observed(_) | Strength::Untestable(_))
        || before.iter().any(|step| step.signing != Signing::default())
    {
        return None;
    }
    let ids: Vec<(String, String)> = before
        .iter()
        .enumerate()
        .filter_map(|(at, step)| Some((step.made.clone()?, format!("${{step-{}.id}}", at + 1))))
        .collect();
    let changes = |sent: &Sent| -> Vec<Value> {
        sent.changes.iter().map(|change| named(written(change), &ids)).collect()
    };
    let operation = &suite.baselines().get(last.baseline)?.request.operation;
    let (own, is_accepted) = plain_clause(operation);
    let control = format!("{own}/control-of-{name}");
    let needs: BTreeSet<&str> = sent
        .iter()
        .filter_map(|one| suite.baselines().get(one.baseline))
        .flat_map(|baseline| baseline.needs.iter().map(String::as_str))
        .collect();
    let mut text = String::from("# Found by `xs2aspec explore`, in a sequence.\n");
    let _ = writeln!(text, "title: {}", json!(format!("Found by explore: {clause}")));
    let word = if is_accepted { "accepted" } else { "observed" };
    let _ = writeln!(
        text,
        "cases:\n  - clause: {own}\n    name: control-of-{name}\n    baseline: {operation}\n    expect: {word}"
    );
    let _ = writeln!(text, "  - clause: {clause}\n    name: {name}\n    baseline: {}", last.baseline);
    if !needs.is_empty() {
        let _ = writeln!(text, "    needs: {}", json!(needs));
    }
    if !before.is_empty() {
        text.push_str("    before:\n");
    }
    for (at, step) in before.iter().enumerate() {
        let mut said = json!({"name": format!("step-{}", at + 1), "baseline": step.baseline});
        let changes = changes(step);
        if !changes.is_empty() {
            said["change"] = changes.into();
        }
        if step.made.is_some() {
            said["keep"] = json!({"id": "body/paymentId"});
        }
        if !step.accepted {
            said["expect"] = json!("any");
        }
        let _ = writeln!(text, "      - {said}");
    }
    let changes = changes(last);
    if !changes.is_empty() {
        text.push_str("    change:\n");
        for change in changes {
            let _ = writeln!(text, "      - {change}");
        }
    }
    let signing = last.signing.differing();
    if !signing.is_empty() {
        let _ = writeln!(text, "    signing: {}", Value::Object(signing));
    }
    if !is_accepted {
        text.push_str("    if-control-refused: observed\n");
    }
    let _ = writeln!(text, "    control: {control}\n    expect: {expect}");
    Some(text)
}

/// The clause of an operation's plain request, and whether it must be accepted.
fn plain_clause(operation: &str) -> (String, bool) {
    match operation {
        "basket" => ("basket.body".to_owned(), true),
        "deletion" => ("status.pdng.deletion-path".to_owned(), false),
        "payment-status" => ("basket.payment-status".to_owned(), false),
        _ => (format!("{operation}.path"), true),
    }
}

/// A change as a case file says it.
fn written(change: &Change) -> Value {
    let mut written = Map::new();
    for (verb, at) in
        [("set", &change.set), ("remove", &change.remove), ("rename", &change.rename), ("raw", &change.raw)]
    {
        if let Some(at) = at {
            written.insert(verb.to_owned(), json!(at));
        }
    }
    if let Some(to) = &change.to {
        written.insert("to".to_owned(), to.clone());
    }
    Value::Object(written)
}

/// A value in which the ids that steps gave are named after their steps.
fn named(mut value: Value, ids: &[(String, String)]) -> Value {
    match &mut value {
        Value::String(text) => {
            for (id, name) in ids {
                *text = text.replace(id, name);
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = named(item.take(), ids);
            }
        }
        Value::Object(members) => {
            for (_, member) in members {
                *member = named(member.take(), ids);
            }
        }
        _ => {}
    }
    value
}
