//! Tests of findings that depend on the exchanges before the judged request.

use super::*;

/// Replaces the requests and responses of a case, step by step.
fn exchanged(events: &mut Vec<Event>, case: &str, steps: &[(&str, &str, u16, &str)]) {
    let at = events
        .iter()
        .position(|event| matches!(event, Event::Exchange(exchange) if exchange.case == case))
        .expect("an exchange of the case");
    let Event::Exchange(judged) = events[at].clone() else { unreachable!() };
    let made = steps.iter().enumerate().map(|(before, (step, sent, status, came))| {
        let mut exchange = judged.clone();
        exchange.step = (*step).to_owned();
        // Earlier exchanges have smaller numbers. Their exact values do not matter here.
        exchange.number = judged.number + before as u64 - (steps.len() as u64 - 1);
        exchange.request.body = Body::of(sent.as_bytes());
        let response = exchange.response.as_mut().unwrap();
        (response.status, response.body) = (*status, Body::of(came.as_bytes()));
        Event::Exchange(exchange)
    });
    events.splice(at..=at, made.collect::<Vec<_>>());
}

fn shown_of(events: &[Event]) -> Vec<(String, Vec<String>)> {
    let run = Run::of(events).unwrap();
    let named = |found: &Found| {
        (found.clause.clone(), found.other_clauses().into_iter().map(str::to_owned).collect())
    };
    run.summary().findings().all().iter().map(named).collect()
}

#[test]
fn a_request_with_a_wrong_value_of_an_answer_is_refused_for_that() {
    let with_id = |id: &str, sent: &str, status| {
        let mut sample = Sample::new(2);
        sample.verdict("basket.mix/plain", Verdict::Fail);
        gets(&mut sample, REFUSED);
        let wrong = &mut sample.verdict("ncbct.path/a", Verdict::Warn).findings[0];
        (wrong.clause, wrong.at) = ("amount.digits".into(), "body/id".into());
        let mut events = sample.finished();
        let came = format!(r#"{{"id":{id}}}"#);
        let steps = [("payment", "{}", 201, came.as_str()), ("request", sent, status, "{}")];
        exchanged(&mut events, "basket.mix/plain", &steps);
        shown_of(&events)
    };
    let with = |sent: &str, status| with_id("1717", sent, status);
    assert_eq!(with_id("null", r#"{"ids":[null]}"#, 400), [pair("amount.digits", &["basket.mix"])]);
    assert_eq!(with(r#"{"ids":["1717"]}"#, 400), [pair("amount.digits", &["basket.mix"])]);
    let apart = [pair("basket.mix", &[]), pair("amount.digits", &[])];
    assert_eq!(with(r#"{"ids":["17"]}"#, 400), apart, "it sends another value");
    assert_eq!(with(r#"{"ids":["1717"]}"#, 201), apart, "it was not rejected");
}

#[test]
fn where_other_values_are_accepted_at_a_place_the_finding_is_of_no_clause_that_the_plain_request_shows() {
    let with = |accepted: &str, is_plain: bool| {
        let mut sample = Sample::new(4);
        fails(&mut sample, "ncbct.path/present", "body/months", REFUSED);
        let left_out = sample.verdict("ncbct.path/left-out", Verdict::Pass);
        left_out.same_as = is_plain.then(|| "ncbct.path/plain".into());
        fails(&mut sample, "amount.digits/twelve", "body/months", REFUSED);
        for case in ["amount.digits/eleven", "amount.digits/ten", "amount.digits/two"] {
            sample.verdict(case, Verdict::Pass);
        }
        let mut events = sample.finished();
        for (case, sent, status) in [
            ("ncbct.path/present", r#"{"months":12}"#, 400),
            ("amount.digits/twelve", r#"{"months":12}"#, 400),
            ("amount.digits/eleven", accepted, 201),
        ] {
            exchanged(&mut events, case, &[("request", sent, status, "{}")]);
        }
        shown_of(&events)
    };
    let (path, digits) = ([pair("ncbct.path", &["amount.digits"])], [pair("amount.digits", &["ncbct.path"])]);
    assert_eq!(with(r#"{"months":11}"#, true), digits);
    assert_eq!(with("{}", false), path, "no other value is known, and one more of its cases fails");
    assert_eq!(with("{}", true), digits, "the other clause says only that the request exists");
    assert_eq!(with(r#"{"months":11}"#, false), path);
}

#[test]
fn a_plain_request_of_which_nothing_is_known_goes_with_one_that_is_refused_for_what_all_have() {
    let with = |place: &str, got: Got| {
        let mut sample = Sample::new(2);
        sample.verdict("basket.mix/plain", Verdict::Fail);
        gets(&mut sample, got);
        let form = RefusedForm { place: place.into(), changes: vec!["a = 1".into()], clause: None };
        let known = sample.verdict("ncbct.path/plain", Verdict::Fail);
        known.culprit = Some(Box::new(Culprit::Accepted { form, replaces: true }));
        gets(&mut sample, REFUSED);
        shown(&sample)
    };
    let one = [pair("ncbct.path", &["basket.mix"])];
    for place in ["signing", "header/Digest"] {
        assert_eq!(with(place, REFUSED), one, "{place}");
    }
    assert_eq!(with("body/months", REFUSED).len(), 2, "a basket has no such field");
    for other in [(Mismatch::NotAccepted, 401, "FORMAT_ERROR"), (Mismatch::NotAccepted, 400, "OTHER")] {
        assert_eq!(with("signing", other).len(), 2, "{other:?}");
    }
}

#[test]
fn two_plain_requests_of_which_nothing_is_known_are_one_finding_if_one_reason_may_be_of_both() {
    let with = |got: Got, accepts_another: bool| {
        let mut sample = Sample::new(3);
        for case in ["basket.mix/plain", "ncbct.path/plain"] {
            sample.verdict(case, Verdict::Fail);
            gets(&mut sample, got);
        }
        if accepts_another {
            sample.verdict("transaction.path/plain", Verdict::Pass);
        }
        shown(&sample).len()
    };
    // The client is the same in all cases, whatever is accepted.
    let unauthorized = (Mismatch::NotAccepted, 401, "CERTIFICATE_INVALID");
    assert_eq!((with(unauthorized, false), with(unauthorized, true)), (1, 1));
    // Equal outcomes of two requests that have nothing in common are two findings.
    assert_eq!((with(REFUSED, false), with(REFUSED, true)), (1, 2));
}

#[test]
fn two_values_that_are_rejected_in_the_same_words_at_a_place_that_accepts_others_are_two_findings() {
    let other = (Mismatch::NotAccepted, 400, "OTHER");
    let with = |one: &str, another: &str, got: Got, accepts_others: bool| {
        let mut sample = Sample::new(3);
        sends(&mut sample, "periodic.months/one", ("body/months", one), REFUSED);
        sends(&mut sample, "periodic.months.duplicate/two", ("body/months", another), got);
        // Both have the same operation.
        let mut events = {
            sample.verdict("periodic.months/three", Verdict::Pass);
            sample.finished()
        };
        if accepts_others {
            exchanged(&mut events, "periodic.months/three", &[("request", r#"{"months":[1]}"#, 201, "{}")]);
        }
        shown_of(&events).len()
    };
    assert_eq!(with("[11]", "[2,1]", REFUSED, true), 2, "unrelated");
    assert_eq!(with("[11]", "[11]", REFUSED, true), 1, "the same value");
    assert_eq!(with("[11]", "[2,1]", REFUSED, false), 1, "nothing is known to be accepted there");
    assert_eq!(with("[11]", "[2,1]", other, false), 2, "another error code");
}

#[test]
fn what_one_clause_says_of_several_parts_of_the_same_answers_is_one_finding() {
    let with = |verdict, other: &str| {
        let mut sample = Sample::new(2);
        let finding = |clause: &str, at: &str, level| Finding {
            clause: clause.into(),
            expected: "nothing".into(),
            actual: "-1".into(),
            at: at.into(),
            kind: Mismatch::Value,
            level,
            end: End::Bank,
        };
        sample.verdict("transaction.path/a", Verdict::Fail).findings = vec![
            finding("basket.mix", "body/details/a", Level::Deny),
            finding("basket.mix", "body/details/b", Level::Deny),
            finding("amount.digits", "body/details/b", Level::Warn),
        ];
        let level = if verdict == Verdict::Fail { Level::Deny } else { Level::Warn };
        sample.verdict("transaction.path/b", verdict).findings =
            vec![finding(other, "body/details/b", level)];
        shown(&sample)
    };
    assert_eq!(with(Verdict::Warn, "amount.digits"), [pair("basket.mix", &["amount.digits"])]);
    assert_eq!(with(Verdict::Fail, "basket.mix").len(), 2, "one of both is wrong in more responses");
}

#[test]
fn of_one_wrong_part_of_answers_the_clause_that_more_answers_break_is_the_finding_of_whatever_level() {
    let with = |further: usize| {
        let mut sample = Sample::new(1 + further);
        let finding = |clause: &str, level| Finding {
            clause: clause.into(),
            expected: format!("that of {clause}"),
            actual: "1".into(),
            at: "body/status".into(),
            kind: Mismatch::Value,
            level,
            end: End::Bank,
        };
        let shape = finding("amount.digits", Level::Warn);
        sample.verdict("transaction.path/a", Verdict::Fail).findings =
            vec![shape.clone(), finding("basket.mix", Level::Deny)];
        for number in 0..further {
            let case = format!("transaction.path/b-{number}");
            sample.verdict(&case, Verdict::Warn).findings = vec![shape.clone()];
        }
        shown(&sample)
    };
    assert_eq!(with(0), [pair("basket.mix", &["amount.digits"])]);
    assert_eq!(with(2), [pair("amount.digits", &["basket.mix"])]);
}
