//! Each response leads to the verdict that the rules of judgement require.

use std::collections::BTreeMap;

use xs2aspec_suite::{Clause, Spec, Tree};

use super::*;

fn rules() -> AnswerRules {
    AnswerRules::load(&xs2aspec_spec::Tree::embedded()).unwrap()
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, headers: vec![("content-type".into(), "application/json".into())], body: body.into() }
}

/// Returns the header of a request that has none.
fn unnamed(_: &str) -> Option<String> {
    None
}

fn judged(expect: &Value, profile: &Profile, answer: &Answer) -> Judged {
    judged_by(expect, (profile, &Levels::default()), answer)
}

fn judged_by(expect: &Value, by: (&Profile, &Levels), answer: &Answer) -> Judged {
    let examined = examine("ncbct", unnamed, answer, &rules(), by.1);
    let expect = Expectation::parse(expect).unwrap();
    judge(("ncbct.path", "ncbct"), &expect, answer, examined, by, &rules())
}

/// Returns a ledger with this entry, whose quote does not matter.
fn ledger(entry: &str) -> BTreeMap<String, Clause> {
    let text = format!("clauses:\n  - {{says: a, quote: covers all nine parts, {entry}}}\n");
    Spec::load(&Tree::of(&[("cases/clauses/a.yaml", &text)]), &mut vec![]).clauses
}

/// Returns a profile that declares these choices.
fn declaring(choices: &[(&str, &str)]) -> Profile {
    let mut profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.choices = choices.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    profile
}

const RCVD: &str = r#"{"paymentId":"p","transactionStatus":"RCVD"}"#;
const RJCT: &str = r#"{"paymentId":"p","transactionStatus":"RJCT"}"#;
const MIX: &str = r#"{"tppMessages":[{"category":"ERROR","code":"REFERENCE_MIX_INVALID"}]}"#;

#[test]
fn each_answer_leads_to_the_verdict_of_the_design() {
    use serde_json::json;
    let mut profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let exact = json!({"refused": {"status": 400, "code": "REFERENCE_MIX_INVALID"}});
    let nothing = json!({"refused": {"nothing-created": true}});
    let table: &[(&Value, u16, &str, Verdict)] = &[
        (&json!("accepted"), 201, RCVD, Verdict::Pass),
        (&json!("accepted"), 202, RCVD, Verdict::Pass),
        (&json!("accepted"), 201, RJCT, Verdict::Fail),
        (&json!("accepted"), 400, "", Verdict::Fail),
        (&json!("accepted"), 500, "", Verdict::Fail),
        (&json!("accepted"), 302, "", Verdict::Fail),
        (&json!("accepted"), 201, r#"{"transactionStatus":"RCVD"}"#, Verdict::Fail),
        (&json!("refused"), 400, "", Verdict::Pass),
        (&json!("refused"), 422, "<html>", Verdict::Pass),
        (&json!("accepted"), 200, "{}", Verdict::Fail),
        (&json!("refused"), 200, "<html>", Verdict::Fail),
        (&json!("refused"), 201, RJCT, Verdict::Pass),
        (&json!("refused"), 201, RCVD, Verdict::Fail),
        (&json!("refused"), 500, "", Verdict::Fail),
        (&json!("refused"), 302, "", Verdict::Fail),
        (&json!("refused"), 400, r#"{"tppMessages":[{"category":"NOTE","code":"X"}]}"#, Verdict::Fail),
        (&nothing, 201, RJCT, Verdict::Fail),
        (&nothing, 401, "", Verdict::Pass),
        (&exact, 400, MIX, Verdict::Pass),
        (&exact, 409, MIX, Verdict::Fail),
        (&exact, 400, "{}", Verdict::Fail),
        (&exact, 201, RJCT, Verdict::Fail),
        (&json!("answered"), 201, RCVD, Verdict::Pass),
        (&json!("answered"), 404, "", Verdict::Pass),
        (&json!("answered"), 500, "", Verdict::Fail),
        (&json!("observed"), 201, RCVD, Verdict::Observed),
        (&json!("observed"), 400, "", Verdict::Observed),
        (&json!("observed"), 500, "", Verdict::Fail),
        (&json!("observed"), 201, "{}", Verdict::Fail),
    ];
    for (expect, status, body, verdict) in table {
        let judged = judged(expect, &profile, &answer(*status, body));
        assert_eq!(judged.verdict, *verdict, "{expect} {status} {body}: {:?}", judged.findings);
        assert!(judged.checks > 0, "{expect} {status} {body}");
        assert_eq!(judged.findings.is_empty(), *verdict != Verdict::Fail);
    }
    profile.rejected_is_refusal = false;
    assert_eq!(judged(&json!("refused"), &profile, &answer(201, RJCT)).verdict, Verdict::Fail);
    let or_rejected = json!({"refused": {"or-rejected": true}});
    for (status, body, verdict) in
        [(201, RJCT, Verdict::Pass), (409, "", Verdict::Pass), (201, RCVD, Verdict::Fail)]
    {
        assert_eq!(judged(&or_rejected, &profile, &answer(status, body)).verdict, verdict);
    }
}

#[test]
fn a_body_has_the_values_that_are_demanded_of_it() {
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let expect = Expectation::parse(&serde_json::json!({
        "body": {"/transactionStatus": "RJCT", "/fundsAvailable": false}
    }))
    .unwrap();
    for (status, body, verdict, settled) in [
        (200, r#"{"transactionStatus":"RJCT","fundsAvailable":false}"#, Verdict::Pass, true),
        (200, r#"{"transactionStatus":"RJCT","fundsAvailable":true}"#, Verdict::Fail, false),
        (200, r#"{"transactionStatus":"RJCT"}"#, Verdict::Fail, false),
        (200, r#"{"transactionStatus":"RCVD","fundsAvailable":false}"#, Verdict::Fail, false),
        (200, "no JSON", Verdict::Fail, true),
        (404, "{}", Verdict::Fail, true),
        (500, "{}", Verdict::Fail, true),
    ] {
        let answer = answer(status, body);
        let by = (&profile, &Levels::default());
        let examined = examine("payment-status", unnamed, &answer, &rules(), &Levels::default());
        assert_eq!(is_settled(&expect, &examined), settled, "{status} {body}");
        let judged = judge(("error.funds", "payment-status"), &expect, &answer, examined, by, &rules());
        assert_eq!(judged.verdict, verdict, "{status} {body}");
        assert!(judged.checks > 1);
    }
}

#[test]
fn to_read_that_something_was_rejected_is_no_refusal() {
    let outcome =
        |operation| examine(operation, unnamed, &answer(200, RJCT), &rules(), &Levels::default()).outcome;
    assert_eq!(outcome("payment-status"), Outcome::Accepted);
    for makes in ["ncbct", "periodic"] {
        assert_eq!(outcome(makes), Outcome::Rejected, "{makes}");
    }
}

#[test]
fn what_is_not_the_same_as_before_is_named_at_its_place() {
    let before =
        r#"{"transactionStatus":"RCVD","messages":[{"text":"a"},{"text":"b"}],"at":"2031-01-01T00:00:00Z"}"#;
    for (now, at, expected, actual) in [
        (
            r#"{"transactionStatus":"ACTC","messages":[{"text":"a"},{"text":"b"}],"at":"2031-01-01T00:00:01Z"}"#,
            "/transactionStatus",
            r#""RCVD""#,
            r#""ACTC""#,
        ),
        (
            r#"{"transactionStatus":"RCVD","messages":[{"text":"a"},{"text":"c"}],"at":"2031-01-01T00:00:00Z"}"#,
            "/messages/1/text",
            r#""b""#,
            r#""c""#,
        ),
        (
            r#"{"transactionStatus":"RCVD","messages":[{"text":"a"},{}],"at":"2031-01-01T00:00:00Z"}"#,
            "/messages/1/text",
            r#""b""#,
            "nothing",
        ),
        (
            r#"{"transactionStatus":"RCVD","messages":[],"at":"2031-01-01T00:00:00Z"}"#,
            "/messages",
            r#"[{"text":"a"},{"text":"b"}]"#,
            "[]",
        ),
        (
            r#"{"transactionStatus":"RCVD","messages":[{"text":"a"},{"text":"b"}],"at":"2031-01-01T00:00:00Z","more":1}"#,
            "/more",
            "nothing",
            "1",
        ),
    ] {
        let same = serde_json::json!({ "same-as": serde_json::from_str::<Value>(before).unwrap() });
        let now: Value = serde_json::from_str(now).unwrap();
        let differences =
            shows::differences(&BTreeMap::from([(String::new(), same)]), Some(&now), &Value::clone);
        let expected = format!("the same as before: {expected}");
        assert_eq!(differences, [(expected, actual.to_owned(), format!("body{at}"))]);
    }
}

#[test]
fn lists_are_the_same_in_any_order_and_not_with_an_item_twice() {
    let before = serde_json::json!({ "same-as": [{"name": "a"}, {"name": "b"}, {"name": "a"}] });
    let differences = |now: Value| {
        shows::differences(&BTreeMap::from([(String::new(), before.clone())]), Some(&now), &Value::clone)
            .len()
    };
    assert_eq!(differences(serde_json::json!([{"name": "b"}, {"name": "a"}, {"name": "a"}])), 0);
    assert_eq!(differences(serde_json::json!([{"name": "b"}, {"name": "b"}, {"name": "a"}])), 1);
    assert_eq!(differences(serde_json::json!([{"name": "b"}, {"name": "a"}])), 1);
}

/// The bank decides the depth and length of its bodies.
#[test]
fn what_is_deep_or_long_is_compared_in_a_moment() {
    let deep = |leaf: u8| (0..100).fold(Value::from(leaf), |inside, _| Value::from(vec![inside]));
    let long = |reversed: bool| {
        let numbers = (0..50_000).map(|number| if reversed { 50_000 - number } else { number });
        Value::from(numbers.collect::<Vec<u32>>())
    };
    let start = std::time::Instant::now();
    for (now, before) in [(deep(1), deep(2)), (long(true), long(false))] {
        let same = BTreeMap::from([(String::new(), serde_json::json!({ "same-as": before }))]);
        assert_eq!(shows::differences(&same, Some(&now), &Value::clone).len(), 1);
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn what_the_document_does_not_list_may_be_another_in_each_answer() {
    let earlier = serde_json::json!([{"customerId": "a", "trace": "1"}]);
    let same = BTreeMap::from([(String::new(), serde_json::json!({ "same-as": earlier }))]);
    let rules = rules();
    let differences = |now: Value| {
        let differences = shows::differences(&same, Some(&now), &|body| rules.listed("customers", body));
        differences.into_iter().map(|(_, _, at)| at).collect::<Vec<_>>()
    };
    assert!(differences(serde_json::json!([{"customerId": "a", "trace": "2"}])).is_empty());
    assert_eq!(differences(serde_json::json!([{"customerId": "b", "trace": "2"}])), ["body/0/customerId"]);
}

#[test]
fn what_is_demanded_once_a_body_is_so_far_is_observed_before() {
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let once = serde_json::json!({"is": false, "once": {"/transactionStatus": "RJCT"}});
    let expect = Expectation::parse(&serde_json::json!({"body": {"/fundsAvailable": once}})).unwrap();
    for (status, body, verdict, settled) in [
        (200, r#"{"transactionStatus":"RJCT","fundsAvailable":false}"#, Verdict::Pass, true),
        (200, r#"{"transactionStatus":"RJCT"}"#, Verdict::Fail, false),
        (200, r#"{"transactionStatus":"RCVD"}"#, Verdict::Observed, false),
        (404, "{}", Verdict::Fail, true),
    ] {
        let answer = answer(status, body);
        let levels = Levels::default();
        let examined = examine("payment-status", unnamed, &answer, &rules(), &levels);
        assert_eq!(is_settled(&expect, &examined), settled, "{status} {body}");
        let clause = ("error.funds", "payment-status");
        let judged = judge(clause, &expect, &answer, examined, (&profile, &levels), &rules());
        assert_eq!(judged.verdict, verdict, "{status} {body}");
    }
}

#[test]
fn fewer_digits_than_those_of_the_currency_break_the_rule_of_the_change_that_is_named() {
    let fee = r#""transactionFees":{"amount":"50","currency":"NOK"}"#;
    let answer = answer(201, &format!("{},{fee}}}", RCVD.trim_end_matches('}')));
    for (value, clause) in [
        (Some("amount-as-string"), "amount.digits.fewer.response"),
        (Some("longer-name, amount-as-string"), "amount.digits.fewer.response"),
        (Some("longer-name"), "amount.digits.fewer.response.other"),
        (Some("amount-as-strings"), "amount.digits.fewer.response.other"),
        (None, "amount.digits.fewer.response.other"),
    ] {
        let field = |name: &str| value.filter(|_| name == "x-accept-fix").map(str::to_owned);
        let found = examine("ncbct", field, &answer, &rules(), &Levels::default()).findings;
        assert_eq!(found.iter().map(|one| one.clause.as_str()).collect::<Vec<_>>(), [clause], "{value:?}");
    }
}

#[test]
fn an_operation_that_the_document_does_not_show_may_not_be_implemented() {
    for (operation, status, outcome) in [
        ("deletion", 501, Outcome::Refused),
        ("customer-creation", 501, Outcome::Refused),
        ("deletion", 500, Outcome::ServerError),
        ("deletion", 502, Outcome::ServerError),
        ("ncbct", 501, Outcome::ServerError),
        ("payment-status", 501, Outcome::ServerError),
    ] {
        let examined = examine(operation, unnamed, &answer(status, ""), &rules(), &Levels::default());
        assert_eq!(examined.outcome, outcome, "{operation} {status}");
    }
}

#[test]
fn a_member_may_be_left_out_where_only_its_value_is_demanded() {
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let expect = serde_json::json!({"body": {"/transactionsDetails/transactionId": {"or-nothing": "a"}}});
    for (body, verdict) in [
        (r#"{"transactionId":"a"}"#, Verdict::Pass),
        (r#"{"transactionId":null}"#, Verdict::Pass),
        ("{}", Verdict::Pass),
        (r#"{"transactionId":"b"}"#, Verdict::Fail),
    ] {
        let answer = answer(200, &format!("{{\"transactionsDetails\":{body}}}"));
        let levels = Levels::default();
        let examined = examine("transaction", unnamed, &answer, &rules(), &levels);
        let expect = Expectation::parse(&expect).unwrap();
        let clause = ("transaction.path", "transaction");
        let judged = judge(clause, &expect, &answer, examined, (&profile, &levels), &rules());
        let own: Vec<&Finding> =
            judged.findings.iter().filter(|one| one.at.ends_with("Id") && one.clause == clause.0).collect();
        assert_eq!(own.is_empty(), verdict == Verdict::Pass, "{body}: {:?}", judged.findings);
        assert!(own.iter().all(|one| one.expected == "\"a\" or nothing"), "{own:?}");
    }
}

#[test]
fn a_target_that_has_no_time_is_neither_right_nor_wrong() {
    let table = [(429, "refused"), (429, "accepted"), (503, "refused"), (503, "accepted"), (503, "observed")];
    for ((status, expect), says_when) in table.into_iter().flat_map(|row| [(row, true), (row, false)]) {
        let mut answer = answer(status, "");
        if says_when {
            answer.headers.push(("Retry-After".into(), "30".into()));
        }
        let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
        let judged = judged(&Value::from(expect), &profile, &answer);
        assert_eq!(judged.verdict, Verdict::Inconclusive);
        assert!(judged.reason.is_some());
    }
}

#[test]
fn a_time_to_come_back_is_the_refusal_where_a_quota_is_used_up() {
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let quota = serde_json::json!({"refused": {"quota": true}});
    for (status, verdict) in [(429, Verdict::Pass), (503, Verdict::Inconclusive)] {
        let mut answer = answer(status, "");
        answer.headers.push(("Retry-After".into(), "30".into()));
        assert_eq!(judged(&quota, &profile, &answer).verdict, verdict, "{status}");
    }
}

#[test]
fn a_quota_that_is_used_up_is_observed_where_nothing_is_demanded() {
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let says = |code: &str| format!(r#"{{"tppMessages":[{{"category":"ERROR","code":"{code}"}}]}}"#);
    let table = [
        ("ACCESS_EXCEEDED", "observed", Verdict::Observed),
        ("ACCESS_EXCEEDED", "accepted", Verdict::Inconclusive),
        ("SYSTEM_ERROR", "observed", Verdict::Inconclusive),
    ];
    for (code, expect, verdict) in table {
        let judged = judged(&Value::from(expect), &profile, &answer(429, &says(code)));
        assert_eq!(judged.verdict, verdict, "{code} {expect}");
    }
}

#[test]
fn a_choice_is_asserted_where_it_is_declared_or_has_a_plain_reading() {
    let expect = serde_json::json!({"choice": {"accept": "accepted", "refuse": "refused"}});
    let entry = "id: ncbct.path, strength: choice, choice: {key: a, default: refuse";
    let (free, plain) = (ledger(&format!("{entry}}}")), ledger(&format!("{entry}, expected: true}}")));
    let verdict = |ledger: &BTreeMap<String, Clause>, choice: Option<&str>, status, body| {
        let profile = declaring(choice.map(|choice| ("a", choice)).as_slice());
        let levels = Levels::new(ledger, &profile).unwrap();
        judged_by(&expect, (&profile, &levels), &answer(status, body)).verdict
    };
    assert_eq!(verdict(&free, None, 400, ""), Verdict::Observed);
    assert_eq!(verdict(&plain, None, 400, ""), Verdict::Pass);
    assert_eq!(verdict(&plain, None, 201, RCVD), Verdict::Fail);
    for ledger in [&free, &plain] {
        assert_eq!(verdict(ledger, Some("observe"), 201, RCVD), Verdict::Observed);
        assert_eq!(verdict(ledger, Some("accept"), 400, ""), Verdict::Fail);
        assert_eq!(verdict(ledger, Some("refuse"), 201, RCVD), Verdict::Fail);
        assert_eq!(verdict(ledger, Some("refuse"), 400, ""), Verdict::Pass);
    }
}

#[test]
fn what_is_observed_in_an_answer_is_a_finding_with_its_place_where_the_levels_mind_it() {
    let body =
        r#"{"paymentId":"p","transactionStatus":"RCVD","tppMessages":[{"category":"ERROR","code":"NEW"}]}"#;
    let found = |strength: &str| {
        let ledger = ledger(&format!("id: tpp-message.code.unlisted, strength: {strength}"));
        let levels = Levels::new(&ledger, &declaring(&[])).unwrap();
        examine("ncbct", unnamed, &answer(201, body), &rules(), &levels)
    };
    let seen = found("observed, why: a");
    assert_eq!(seen.findings, []);
    let unlisted = "tpp-message.code.unlisted: body/tppMessages/0/code: ";
    assert!(seen.observations.iter().any(|seen| seen.starts_with(unlisted)), "{:?}", seen.observations);
    let minded = found("expected").findings;
    assert_eq!(minded.len(), 1);
    assert_eq!(minded[0].at, "body/tppMessages/0/code");
    assert!(minded[0].actual.contains("NEW"), "{minded:?}");
}

#[test]
fn the_success_status_is_asserted_where_it_is_declared_or_has_a_plain_reading() {
    let entry =
        "id: payment.success-status, strength: choice, choice: {key: payment.success-status, default: '201'";
    let (free, plain) = (ledger(&format!("{entry}}}")), ledger(&format!("{entry}, expected: true}}")));
    let judged = |ledger: &BTreeMap<String, Clause>, choices: &[(&str, &str)], status| {
        let profile = declaring(choices);
        let levels = Levels::new(ledger, &profile).unwrap();
        judged_by(&Value::from("accepted"), (&profile, &levels), &answer(status, RCVD))
    };
    let declared = [("payment.success-status", "201")];
    for (ledger, choices, words) in [
        (&free, &declared[..], "status 201, as the profile declares"),
        (&plain, &[], "status 201, by the plain reading of the clause"),
    ] {
        let fails = judged(ledger, choices, 200);
        assert_eq!(fails.findings[0].clause, "payment.success-status");
        assert_eq!(fails.findings[0].expected, words);
        assert_eq!(judged(ledger, choices, 201).verdict, Verdict::Pass);
    }
    let free = judged(&free, &[], 200);
    assert_eq!((free.verdict, free.findings), (Verdict::Pass, vec![]));
}

#[test]
fn a_refusal_with_a_message_says_something_in_whatever_form() {
    for said in [
        MIX,
        r#"{"error":"NOT POSSIBLE"}"#,
        r#"[{"text":"no"}]"#,
        r#""no""#,
        r#"{"code":4711}"#,
        "<p>no</p>",
        "no",
    ] {
        assert!(says_something(said.as_bytes()), "{said}");
    }
    for nothing in
        ["", " \n", "{}", "[]", "null", r#"{"tppMessages":[]}"#, r#"{"tppMessages":[{"text":" "}]}"#]
    {
        assert!(!says_something(nothing.as_bytes()), "{nothing}");
    }
    let expect = serde_json::json!({"refused": {"text": true}});
    let profile = declaring(&[]);
    for (body, verdict) in [(MIX, Verdict::Pass), ("{}", Verdict::Fail), ("", Verdict::Fail)] {
        assert_eq!(judged(&expect, &profile, &answer(409, body)).verdict, verdict, "{body}");
    }
}
