//! Tests bodies that conform and bodies that do not, as rows of `tests/it/response/*.json`. Each defect is
//! found at its own place, by its own clause and no other.
//!
//! A row is a whole `body` or `text`, or a sample as `base` with `set` (pointer to value) or `remove`
//! (pointer). `{"repeat": "x", "times": 71}` is a long string. Findings and observations that a row does not
//! name must not occur.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use xs2aspec_spec::{AnswerRules, Tree};

const FILES: [(&str, &str); 8] = [
    ("types.json", include_str!("response/types.json")),
    ("basket.json", include_str!("response/basket.json")),
    ("payment.json", include_str!("response/payment.json")),
    ("payment-status.json", include_str!("response/payment-status.json")),
    ("refusal.json", include_str!("response/refusal.json")),
    ("customers.json", include_str!("response/customers.json")),
    ("transaction.json", include_str!("response/transaction.json")),
    ("bytes.json", include_str!("response/bytes.json")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    operation: Option<String>,
    #[serde(default = "success")]
    status: u16,
    #[serde(default = "json_type")]
    content_type: Option<String>,
    base: Option<String>,
    #[serde(default, deserialize_with = "given")]
    body: Option<Value>,
    text: Option<String>,
    #[serde(default)]
    set: Map<String, Value>,
    remove: Option<String>,
    #[serde(default)]
    findings: Vec<String>,
    #[serde(default)]
    observations: Vec<String>,
}

#[test]
fn every_row_has_exactly_the_findings_and_observations_that_it_names() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for (file, text) in FILES {
        for row in serde_json::from_str::<Vec<Row>>(text).unwrap_or_else(|error| panic!("{file}: {error}")) {
            rows += 1;
            wrong.extend(row.judged(&rules).into_iter().map(|what| format!("{file}: {}: {what}", row.name)));
        }
    }
    assert!(wrong.is_empty(), "{} of {rows} rows\n{}", wrong.len(), wrong.join("\n"));
    assert!(rows > 150);
}

impl Row {
    fn judged(&self, rules: &AnswerRules) -> Option<String> {
        let operation = match (self.operation.as_deref(), self.base.as_deref()) {
            (Some(word), _) => word,
            (None, Some("payment")) => "ncbct",
            (None, Some(base)) => base,
            (None, None) => panic!("{}: no operation", self.name),
        };
        let bytes = self.bytes();
        let checked = rules.check(operation, self.status, self.content_type.as_deref(), &bytes);
        let mut found: Vec<_> = checked.findings.iter().map(|finding| finding.clause.as_str()).collect();
        let mut seen: Vec<_> = checked.observations.iter().map(|seen| seen.clause.as_str()).collect();
        found.sort_unstable();
        seen.sort_unstable();
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        if found != sorted(&self.findings) || seen != sorted(&self.observations) {
            return Some(format!("{:#?} {:#?}", checked.findings, checked.observations));
        }
        let place = self.set.keys().next().or(self.remove.as_ref()).map(|pointer| format!("body{pointer}"));
        if let (Some(place), [finding]) = (place, checked.findings.as_slice())
            && !finding.at.starts_with(&place)
            && finding.clause != "transaction.batch-number.iff"
        {
            return Some(format!("found at {}, not at {place}", finding.at));
        }
        if let Some(finding) = checked.findings.iter().find(|finding| {
            finding.expected.is_empty() || finding.actual.is_empty() || finding.actual.chars().count() > 120
        }) {
            return Some(format!("badly worded: {finding:?}"));
        }
        let success = (200..300).contains(&self.status);
        (success && checked.checks == 0).then(|| "no check at all".to_owned())
    }

    fn bytes(&self) -> Vec<u8> {
        if let Some(text) = &self.text {
            return text.clone().into_bytes();
        }
        let mut body = match (&self.body, &self.base) {
            (Some(body), None) => body.clone(),
            (None, Some(base)) => base_of(base),
            _ => panic!("{}: one of body, text and base", self.name),
        };
        for (pointer, value) in &self.set {
            *slot(&mut body, pointer) = expanded(value);
        }
        if let Some(pointer) = &self.remove {
            let (outer, member) = pointer.rsplit_once('/').unwrap();
            let removed =
                body.pointer_mut(outer).and_then(|outer| outer.as_object_mut()?.shift_remove(member));
            assert!(removed.is_some(), "{}: nothing to remove", self.name);
        }
        serde_json::to_vec(&body).unwrap()
    }
}

/// Returns a sample without the fields that are recorded wherever they are.
fn base_of(name: &str) -> Value {
    let mut body = crate::sample(name);
    if let Some(Value::Object(details)) = body.get_mut("transactionsDetails") {
        details
            .retain(|name, _| !["creditorId", "ultimateCreditor", "ultimateDebtor"].contains(&name.as_str()));
    }
    body
}

/// Returns the value at a pointer. A missing field is created.
fn slot<'a>(body: &'a mut Value, pointer: &str) -> &'a mut Value {
    let (outer, token) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    match body.pointer_mut(outer).expect("the outer value is there") {
        Value::Object(members) => {
            members.entry(token.replace("~1", "/").replace("~0", "~")).or_insert(json!(null))
        }
        Value::Array(items) => &mut items[token.parse::<usize>().unwrap()],
        other => panic!("{pointer}: {other} has no members"),
    }
}

fn expanded(value: &Value) -> Value {
    match (value["repeat"].as_str(), value["times"].as_u64()) {
        (Some(text), Some(times)) => json!(text.repeat(usize::try_from(times).unwrap())),
        _ => value.clone(),
    }
}

/// Reads a `body`, which may be `null`.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

const fn success() -> u16 {
    201
}

#[allow(clippy::unnecessary_wraps)] // what serde fills in has the field's type
fn json_type() -> Option<String> {
    Some("application/json".to_owned())
}
