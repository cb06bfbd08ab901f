//! Mutates every field of the maximal bodies: a value of any other type, `null`, and absence.
//!
//! Required fields are listed here by hand from the document's tables, not read from the schemas under test.

use serde_json::{Value, json};
use xs2aspec_spec::{
    AnswerRules, Tree,
    answer::{Checked, Finding},
};

/// Returns the fields that a table marks as required. `*` matches any element of a list.
fn required(operation: &str) -> &'static [&'static str] {
    match operation {
        "basket" => &["/transactionStatus", "/_links/self/href", "/_links/self/verbs"],
        "ncbct" | "periodic" => &[
            "/paymentId",
            "/transactionStatus",
            "/transactionFees/amount",
            "/transactionFees/currency",
            "/tppMessages/*/category",
            "/tppMessages/*/code",
            "/_links/scaRedirect/href",
            "/_links/scaRedirect/verbs",
            "/_links/status/href",
            "/_links/status/verbs",
        ],
        "customers" => &[
            "/*/customerId",
            "/*/customerNumber",
            "/*/customerType",
            "/*/customerName",
            "/*/agreements",
            "/*/accounts",
            "/*/cardAccounts",
            "/*/_links",
            "/*/_links/self",
            "/*/_links/self/href",
            "/*/_links/self/verbs",
            "/*/agreements/*/id",
            "/*/agreements/*/name",
            "/*/agreements/*/engagements",
            "/*/agreements/*/_links",
            "/*/agreements/*/_links/self",
            "/*/agreements/*/_links/self/href",
            "/*/agreements/*/_links/self/verbs",
            "/*/agreements/*/_links/engagements",
            "/*/agreements/*/_links/engagements/href",
            "/*/agreements/*/_links/engagements/verbs",
        ],
        "transaction" => &[
            "/transactionsDetails",
            "/transactionsDetails/transactionAmount/amount",
            "/transactionsDetails/transactionAmount/currency",
            "/transactionsDetails/currencyExchange/sourceCurrency",
            "/transactionsDetails/currencyExchange/exchangeRate",
            "/transactionsDetails/currencyExchange/unitCurrency",
            "/transactionsDetails/currencyExchange/targetCurrency",
            "/transactionsDetails/currencyExchange/quotationDate",
            "/transactionsDetails/remittanceInformationStructuredArray/*/reference",
            "/transactionsDetails/_links/detail/href",
            "/transactionsDetails/_links/detail/verbs",
            "/transactionsDetails/entryDetails/*/transactionAmount",
            "/transactionsDetails/entryDetails/*/transactionAmount/amount",
            "/transactionsDetails/entryDetails/*/transactionAmount/currency",
            "/transactionsDetails/entryDetails/*/remittanceInformationStructuredArray/*/reference",
            "/transactionsDetails/entryDetails/*/_links/detail/href",
            "/transactionsDetails/entryDetails/*/_links/detail/verbs",
        ],
        other => panic!("{other} has no responses"),
    }
}

struct Body {
    operation: &'static str,
    body: Value,
}

fn bodies() -> Vec<Body> {
    let body = |name: &str, operation| Body { operation, body: crate::sample(name) };
    vec![
        body("basket", "basket"),
        body("payment", "ncbct"),
        body("payment", "periodic"),
        body("customers", "customers"),
        body("transaction", "transaction"),
    ]
}

impl Body {
    fn check(&self, rules: &AnswerRules, body: &Value) -> Checked {
        let bytes = serde_json::to_vec(body).unwrap();
        rules.check(self.operation, 200, Some("application/json"), &bytes)
    }

    /// Returns the body with the value at `pointer` replaced.
    fn with(&self, pointer: &str, value: Value) -> Value {
        let mut body = self.body.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    }

    fn without(&self, pointer: &str) -> Value {
        let mut body = self.body.clone();
        let (outer, name) = pointer.rsplit_once('/').unwrap();
        match body.pointer_mut(outer).unwrap() {
            Value::Object(members) => _ = members.shift_remove(name).unwrap(),
            other => panic!("{pointer}: {other}"),
        }
        body
    }
}

fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| pointers(value, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

fn kind(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Returns the pointer with `*` for every element.
fn pattern(pointer: &str) -> String {
    let token = |token: &str| if token.parse::<usize>().is_ok() { "*".to_owned() } else { token.to_owned() };
    pointer.split('/').map(token).collect::<Vec<_>>().join("/")
}

fn is_required(operation: &str, pointer: &str) -> bool {
    required(operation).contains(&pattern(pointer).as_str())
}

/// Returns true for the whole body, an element of a list or a link. None of these is a field that could be
/// absent or null.
fn is_whole(operation: &str, pointer: &str) -> bool {
    let link = pattern(pointer).rsplit('/').nth(1) == Some("_links") && operation != "customers";
    pointer.is_empty() || pattern(pointer).ends_with('*') || link
}

/// Returns the findings without those about the batch number. It depends on its indicator, so that a mutation
/// of one may violate that relation as well.
fn apart_from_the_relation(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.clause != "transaction.batch-number.iff").collect()
}

#[test]
fn a_value_of_another_type_is_one_finding_at_its_place() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let mut mutations = 0;
    for body in bodies() {
        let mut all = Vec::new();
        pointers(&body.body, "", &mut all);
        for pointer in all {
            let original = kind(body.body.pointer(&pointer).unwrap());
            for wrong in [json!(true), json!(17.5), json!("?"), json!(["?", 1]), json!({"?": 1})] {
                if kind(&wrong) == original {
                    continue;
                }
                mutations += 1;
                let checked = body.check(&rules, &body.with(&pointer, wrong.clone()));
                let findings = apart_from_the_relation(&checked.findings);
                let at: Vec<_> = findings.iter().map(|finding| finding.at.as_str()).collect();
                assert_eq!(at, [format!("body{pointer}")], "{} {wrong}: {findings:#?}", body.operation);
            }
        }
    }
    assert!(mutations > 500, "{mutations} mutations");
}

#[test]
fn null_is_a_finding_for_what_is_required_and_an_observation_elsewhere() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    for body in bodies() {
        let mut all = Vec::new();
        pointers(&body.body, "", &mut all);
        for pointer in all {
            let checked = body.check(&rules, &body.with(&pointer, Value::Null));
            let findings = apart_from_the_relation(&checked.findings).len();
            let nulls = checked.observations.iter().filter(|seen| seen.clause == "json.null").count();
            let demanded = is_required(body.operation, &pointer) || is_whole(body.operation, &pointer);
            let expected = if demanded { (1, 0) } else { (0, 1) };
            assert_eq!((findings, nulls), expected, "{} {pointer}: {checked:#?}", body.operation);
        }
    }
}

#[test]
fn absence_is_a_finding_for_what_is_required_only() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    for body in bodies() {
        let mut all = Vec::new();
        pointers(&body.body, "", &mut all);
        for pointer in all {
            let (outer, _) = pointer.rsplit_once('/').unwrap_or_default();
            if pointer.is_empty() || body.body.pointer(outer).unwrap().is_array() {
                continue;
            }
            let checked = body.check(&rules, &body.without(&pointer));
            let at: Vec<_> =
                apart_from_the_relation(&checked.findings).iter().map(|finding| finding.at.clone()).collect();
            let expected =
                if is_required(body.operation, &pointer) { vec![format!("body{pointer}")] } else { vec![] };
            assert_eq!(at, expected, "{} without {pointer}", body.operation);
        }
    }
}

#[test]
fn bytes_of_any_kind_are_survived() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let deep = "[".repeat(100_000);
    let deep_member = format!("{{\"transactionsDetails\":{}", "{\"a\":".repeat(100_000));
    let bodies: [&[u8]; 7] = [
        b"",
        b"\xFF",
        b"\xEF\xBB\xBF",
        b"{\"a\":1e999}",
        deep.as_bytes(),
        deep_member.as_bytes(),
        &[0; 4096],
    ];
    for operation in rules.operations() {
        for body in bodies {
            for status in [200, 204, 299] {
                let checked = rules.check(operation, status, None, body);
                assert_eq!(checked.findings.len(), 1, "{operation} {status}");
                assert!(checked.checks >= 1);
            }
            for status in [0, 100, 302, 400, 499, 500, 65535] {
                assert_eq!(rules.check(operation, status, None, body).findings, [], "{operation} {status}");
            }
        }
    }
}

#[test]
fn a_body_that_breaks_one_clause_many_times_is_cut_short() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let body = serde_json::to_vec(&vec![json!({}); 20_000]).unwrap();
    let checked = rules.check("customers", 200, Some("application/json"), &body);
    assert_eq!(checked.findings.len(), 200);
}

#[test]
fn many_observations_do_not_hide_a_finding() {
    let rules = AnswerRules::load(&Tree::embedded()).unwrap();
    let entry = json!({"transactionAmount": {"amount": "1.00", "currency": "NOK"}, "creditorName": null});
    let mut entries = vec![entry; 5_000];
    entries.push(json!({}));
    let body = json!({"transactionsDetails": {"entryDetails": entries}});
    let body = serde_json::to_vec(&body).unwrap();
    let checked = rules.check("transaction", 200, Some("application/json"), &body);
    let at: Vec<_> = checked.findings.iter().map(|finding| finding.at.as_str()).collect();
    assert_eq!(at, ["body/transactionsDetails/entryDetails/5000/transactionAmount"]);
    assert_eq!(checked.observations.len(), 200);
}

#[test]
fn the_rules_are_shared_by_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&AnswerRules::load(&Tree::embedded()).unwrap());
}
