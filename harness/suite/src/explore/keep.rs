//! A request that shows a violation, as a case file.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{draft::Draft, oracle::Verdict};
use crate::{case::Case, suite::Suite};

/// The text of a case file with this request and its control, the plain request. `name` is the name of the case.
pub fn file(suite: &Suite, draft: &Draft, case: &Case, verdict: &Verdict, name: &str) -> Option<String> {
    let plain = suite.baselines().get(&draft.operation)?;
    let changes: Vec<Value> = draft
        .changes(&plain.request)?
        .into_iter()
        .map(|change| {
            let mut written = serde_json::Map::new();
            for (verb, at) in [
                ("set", &change.set),
                ("remove", &change.remove),
                ("rename", &change.rename),
                ("raw", &change.raw),
            ] {
                if let Some(at) = at {
                    written.insert(verb.to_owned(), json!(at));
                }
            }
            if let Some(to) = change.to {
                written.insert("to".to_owned(), to);
            }
            Value::Object(written)
        })
        .collect();
    let own = if draft.operation == "basket" {
        "basket.body".to_owned()
    } else {
        format!("{}.path", draft.operation)
    };
    let control = format!("{own}/control-of-{name}");
    // Flow style of YAML is JSON.
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Found by `xs2aspec explore`: {}",
        draft.says(&plain.request).join("; ").replace('\n', " ")
    );
    let _ = writeln!(text, "title: {}", json!(format!("Found by explore: {}", case.clause)));
    let _ = writeln!(
        text,
        "cases:\n  - clause: {own}\n    name: control-of-{name}\n    baseline: {}\n    expect: accepted",
        draft.operation
    );
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
    let _ = writeln!(text, "    control: {control}\n    expect: {expect}");
    Some(text)
}
