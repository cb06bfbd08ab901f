//! Handles targets that accept no baseline request. The cause may be our key or URL, so the responses prove
//! nothing about the bank.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{CaseVerdict, Exchange, Response, Role, Verdict};

use crate::{Done, Judge, blank::unconfirm, judge::is_foreign, known::Known};

/// A verdict and its judged exchange.
pub type Settled = (CaseVerdict, Option<Exchange>);

/// Returns the verdicts of a run's baseline requests as they are reported. If the target accepted none, and
/// another key or URL could explain that, none counts as a violation.
pub fn weighed(judge: &Judge, known: &Known, plain: &[(Arc<Done>, Role)]) -> Vec<Settled> {
    let told = plain.iter().map(|(done, role)| (done.told(*role), done.judged().cloned()));
    let mut cases: Vec<Settled> = told.collect();
    let are_ours = known.plain.is_hopeless && may_be_ours(&cases);
    for ((verdict, _), (done, _)) in cases.iter_mut().zip(plain) {
        match verdict.verdict {
            Verdict::Inconclusive => {
                verdict.reason = verdict.reason.take().map(|reason| judge.hinted(reason, done, known));
            }
            Verdict::Fail | Verdict::Warn if are_ours => {
                unconfirm(verdict, judge.reason(&done.verdict.case, done, known));
            }
            _ => {}
        }
    }
    cases
}

/// Returns true if another key or URL could explain these responses: web pages, statuses about authorization,
/// or one response for several operations.
fn may_be_ours(cases: &[Settled]) -> bool {
    let mut operations = BTreeSet::new();
    let mut answers: Vec<&Response> = Vec::new();
    for (verdict, judged) in cases {
        if let Some(answer) = judged.as_ref().and_then(|judged| judged.response.as_ref()) {
            operations.insert(verdict.operation.as_str());
            answers.push(answer);
        }
    }
    let (Some(first), is_several) = (answers.first(), operations.len() > 1) else { return false };
    let is_alike = answers.iter().all(|one| one.status == first.status && one.body == first.body);
    answers.iter().all(|answer| is_foreign(answer) || is_several && says_who_may(answer.status))
        || is_several && is_alike && first.status < 300
}

/// Returns true if a status is about the caller or the address (RFC 9110 sections 15.4, 15.5.2, 15.5.4 to
/// 15.5.6).
fn says_who_may(status: u16) -> bool {
    matches!(status, 300..=399 | 401 | 403 | 404 | 405 | 407)
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::Body;

    use super::*;

    fn case(operation: &str, status: u16, media: &str, body: &str) -> Settled {
        let verdict = serde_json::json!({
            "case": "a/b", "clause": "a", "area": "x", "operation": operation, "role": "selected", "verdict": "fail",
            "place": {"file": "d", "line": 1, "column": 1}, "expected": "accepted", "checks": 1, "micros": 1,
            "exchange": 1,
        });
        let exchange = serde_json::json!({
            "number": 1, "case": "a/b", "step": "request", "micros": 1,
            "request": {"method": "GET", "url": "/", "headers": []},
            "response": {
                "status": status, "headers": [["Content-Type", media]], "body": Body::of(body.as_bytes()),
            },
        });
        (serde_json::from_value(verdict).unwrap(), Some(serde_json::from_value(exchange).unwrap()))
    }

    #[test]
    fn what_another_key_or_url_would_change_is_told_from_a_bank_that_is_wrong() {
        let json = "application/json";
        for (one, other, ours) in [
            ((200, "text/html; charset=utf-8", "<p>"), (200, "text/html", "<p>"), true),
            ((501, "text/html", "no"), (404, "text/html", "no"), true),
            ((204, "", ""), (204, "", ""), true),
            ((200, json, "{}"), (200, json, "{}"), true),
            ((200, json, "{}"), (200, json, "{\"a\":1}"), false),
            ((401, json, ""), (404, json, "{}"), true),
            ((400, json, "{}"), (400, json, "{}"), false),
            ((500, json, ""), (500, json, ""), false),
            ((401, json, "{}"), (201, json, "{}"), false),
        ] {
            let of =
                |operation, (status, media, body): (u16, &str, &str)| case(operation, status, media, body);
            assert_eq!(may_be_ours(&[of("x", one), of("y", other)]), ours, "{one:?} {other:?}");
        }
        assert!(may_be_ours(&[case("x", 200, "text/html", "<p>")]));
        assert!(!may_be_ours(&[case("x", 401, json, "{}")]), "one operation is not enough");
        assert!(!may_be_ours(&[]));
    }
}
