//! Each answer leads to the verdict of the design.

use super::*;

fn rules() -> AnswerRules {
    AnswerRules::load(&xs2aspec_spec::Tree::embedded()).unwrap()
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, headers: vec![("content-type".into(), "application/json".into())], body: body.into() }
}

fn judged(expect: &Value, profile: &Profile, choice: Option<&str>, answer: &Answer) -> Judged {
    let examined = examine("ncbct", answer, &rules(), &BTreeSet::new());
    let expect = Expectation::parse(expect).unwrap();
    judge(("ncbct.path", "ncbct"), &expect, choice, answer, examined, profile, &rules())
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
        let judged = judged(expect, &profile, None, &answer(*status, body));
        assert_eq!(judged.verdict, *verdict, "{expect} {status} {body}: {:?}", judged.findings);
        assert!(judged.checks > 0, "{expect} {status} {body}");
        assert_eq!(judged.findings.is_empty(), *verdict != Verdict::Fail);
    }
    profile.rejected_is_refusal = false;
    assert_eq!(judged(&json!("refused"), &profile, None, &answer(201, RJCT)).verdict, Verdict::Fail);
    let or_rejected = json!({"refused": {"or-rejected": true}});
    for (status, body, verdict) in
        [(201, RJCT, Verdict::Pass), (409, "", Verdict::Pass), (201, RCVD, Verdict::Fail)]
    {
        assert_eq!(judged(&or_rejected, &profile, None, &answer(status, body)).verdict, verdict);
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
        (200, "no JSON", Verdict::Fail, false),
        (404, "{}", Verdict::Fail, true),
        (500, "{}", Verdict::Fail, true),
    ] {
        let answer = answer(status, body);
        let examined = examine("payment-status", &answer, &rules(), &BTreeSet::new());
        assert_eq!(is_settled(&expect, &examined), settled, "{status} {body}");
        let judged =
            judge(("error.funds", "payment-status"), &expect, None, &answer, examined, &profile, &rules());
        assert_eq!(judged.verdict, verdict, "{status} {body}");
        assert!(judged.checks > 1);
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
        let judged = judged(&Value::from(expect), &profile, None, &answer);
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
        assert_eq!(judged(&quota, &profile, None, &answer).verdict, verdict, "{status}");
    }
}

#[test]
fn a_choice_is_asserted_only_where_it_is_declared() {
    let expect = serde_json::json!({"choice": {"accept": "accepted", "refuse": "refused"}});
    let profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let verdict = |choice, status, body| judged(&expect, &profile, choice, &answer(status, body)).verdict;
    assert_eq!(verdict(None, 400, ""), Verdict::Observed);
    assert_eq!(verdict(Some("observe"), 201, RCVD), Verdict::Observed);
    assert_eq!(verdict(Some("accept"), 400, ""), Verdict::Fail);
    assert_eq!(verdict(Some("refuse"), 201, RCVD), Verdict::Fail);
    assert_eq!(verdict(Some("refuse"), 400, ""), Verdict::Pass);
}

#[test]
fn what_the_profile_declares_strict_is_a_finding() {
    let body =
        r#"{"paymentId":"p","transactionStatus":"RCVD","tppMessages":[{"category":"ERROR","code":"NEW"}]}"#;
    let found = |strict: &[&str]| {
        let strict = strict.iter().map(|clause| (*clause).to_owned()).collect();
        examine("ncbct", &answer(201, body), &rules(), &strict).findings
    };
    assert_eq!(found(&[]), []);
    let findings = found(&["tpp-message.code.unlisted", "tpp-message.code"]);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].actual.contains("NEW"), "{findings:?}");
}

#[test]
fn the_success_status_is_asserted_only_where_it_is_declared() {
    let mut profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    profile.choices.insert("payment.success-status".into(), "201".into());
    let fails = judged(&Value::from("accepted"), &profile, None, &answer(200, RCVD));
    assert_eq!(fails.findings[0].clause, "payment.success-status");
    assert_eq!(judged(&Value::from("accepted"), &profile, None, &answer(201, RCVD)).verdict, Verdict::Pass);
}
