//! Tests that symptoms of handmade records become the right findings.

mod exchanged;

use xs2aspec_record::{
    AskedAlone, Body, Came, ControlSeen, Culprit, Difference, Earlier, End, Event, Finding, Level, Mismatch,
    RefusedForm, Repeated, Verdict,
};

use super::*;
use crate::{Run, sample::Sample};

/// A wrong response: kind of mismatch, status and error code. All of them have the same texts.
type Got = (Mismatch, u16, &'static str);

const ACCEPTED: Got = (Mismatch::NotRejected, 201, "");
const REFUSED: Got = (Mismatch::NotAccepted, 400, "FORMAT_ERROR");

/// Adds a failing case that sends 1 at this place, unlike its control, and that got this response.
fn fails<'a>(sample: &'a mut Sample, case: &str, place: &str, got: Got) -> &'a mut Sample {
    sends(sample, case, (place, "1"), got)
}

/// Adds a failing case that sends this value at this place.
fn sends<'a>(sample: &'a mut Sample, case: &str, (place, sent): (&str, &str), got: Got) -> &'a mut Sample {
    let verdict = sample.verdict(case, Verdict::Fail);
    verdict.control = Some(ControlSeen { case: "periodic.months/plain".into(), accepted: true });
    verdict.changes = vec![format!("{place} = {sent}")];
    verdict.differences = vec![at(place, sent)];
    gets(sample, got)
}

fn at(place: &str, sent: &str) -> Difference {
    Difference { place: place.into(), sent: Some(sent.into()), control: None }
}

/// Gives the last case this response.
fn gets(sample: &mut Sample, (kind, status, code): Got) -> &mut Sample {
    let verdict = sample.last();
    verdict.findings[0].kind = kind;
    verdict.codes = Some(code.to_owned()).filter(|code| !code.is_empty()).into_iter().collect();
    sample.responds(status, "{}");
    sample
}

fn shown(sample: &Sample) -> Vec<(String, Vec<String>)> {
    let run = Run::of(&sample.finished()).unwrap();
    let named = |found: &Found| {
        (found.clause.clone(), found.other_clauses().into_iter().map(str::to_owned).collect())
    };
    run.summary().findings().all().iter().map(named).collect()
}

fn pair(clause: &str, others: &[&str]) -> (String, Vec<String>) {
    (clause.to_owned(), others.iter().map(ToString::to_string).collect())
}

#[test]
fn what_is_accepted_at_one_place_is_one_finding_under_the_clause_that_fails_most() {
    let mut sample = Sample::new(8);
    for case in ["periodic.months/one", "periodic.months/two", "periodic.months/three"] {
        fails(&mut sample, case, "body/months", ACCEPTED);
    }
    fails(&mut sample, "amount.digits/a", "body/months", ACCEPTED);
    for case in ["amount.digits/b", "amount.digits/c"] {
        sample.verdict(case, Verdict::Pass);
    }
    assert_eq!(shown(&sample), [pair("periodic.months", &["amount.digits"])]);
    // At another place, or with another outcome, it is a finding of its own.
    fails(&mut sample, "basket.mix/a", "body/other", ACCEPTED);
    fails(&mut sample, "ncbct.path/a", "body/months", REFUSED);
    let clauses: Vec<String> = shown(&sample).into_iter().map(|(clause, _)| clause).collect();
    assert_eq!(clauses, ["periodic.months", "basket.mix", "ncbct.path"]);
}

#[test]
fn a_request_that_differs_in_one_place_tells_more_than_one_that_differs_in_many() {
    let mut sample = Sample::new(3);
    for case in ["amount.digits/a", "amount.digits/b"] {
        fails(&mut sample, case, "body/months", REFUSED);
        sample.last().differences =
            ["body/months", "body/amount", "header/a"].map(|place| at(place, "1")).into();
    }
    fails(&mut sample, "periodic.months/one", "body/months", REFUSED);
    assert_eq!(shown(&sample), [pair("periodic.months", &["amount.digits"])]);
}

#[test]
fn a_part_of_a_place_belongs_to_it_and_a_longer_name_does_not() {
    for (other, findings) in [("body/months/0", 1), ("body/monthsOf", 2), ("before", 2)] {
        let mut sample = Sample::new(2);
        fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
        fails(&mut sample, "amount.digits/a", other, ACCEPTED);
        assert_eq!(shown(&sample).len(), findings, "{other}");
    }
}

#[test]
fn a_refused_plain_request_comes_first_and_is_named_by_what_is_minded() {
    let mut sample = Sample::new(3);
    for case in ["amount.digits/a", "amount.digits/b"] {
        fails(&mut sample, case, "body/amount", ACCEPTED);
    }
    let form = RefusedForm {
        place: "header/Months".into(),
        changes: vec!["header/Months = 1".into()],
        clause: Some("periodic.months".into()),
    };
    let plain = sample.verdict("ncbct.path/plain", Verdict::Fail);
    plain.culprit = Some(Box::new(Culprit::Accepted { form, replaces: false }));
    gets(&mut sample, REFUSED);
    let expected = [pair("periodic.months", &["ncbct.path"]), pair("amount.digits", &[])];
    assert_eq!(shown(&sample), expected);
    // A case of its own names the clause better.
    fails(&mut sample, "periodic.months.duplicate/left-out", "header/months", REFUSED);
    sample.start().cases = 4;
    assert_eq!(shown(&sample)[0], pair("periodic.months.duplicate", &["ncbct.path"]));
}

#[test]
fn a_wrong_part_of_answers_is_one_finding_in_all_operations_and_comes_before_single_rules() {
    let mut sample = Sample::new(4);
    fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
    for (case, at) in [
        ("ncbct.path/a", "body/links/self"),
        ("basket.mix/a", "body/list/3/self"),
        ("basket.mix/b", "body/self"),
    ] {
        let verdict = sample.verdict(case, Verdict::Fail);
        verdict.findings = vec![Finding {
            clause: "amount.digits".into(),
            expected: "a text".into(),
            actual: "3".into(),
            at: at.into(),
            kind: Mismatch::Value,
            level: Level::Deny,
            end: End::Bank,
        }];
    }
    assert_eq!(shown(&sample), [pair("amount.digits", &[]), pair("periodic.months", &[])]);
}

#[test]
fn a_refused_plain_request_of_which_nothing_is_known_names_the_cases_that_share_it() {
    let mut sample = Sample::new(2);
    sample.verdict("ncbct.path/plain", Verdict::Fail);
    gets(&mut sample, REFUSED);
    sample.verdict("periodic.months/one", Verdict::Inconclusive).same_as = Some("ncbct.path/plain".into());
    let run = Run::of(&sample.finished()).unwrap();
    assert_eq!(run.summary().findings().all()[0].shared_by, ["periodic.months"]);
}

#[test]
fn an_id_is_that_of_clause_and_place_whatever_else_a_run_shows() {
    let mut sample = Sample::new(1);
    fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
    let id = |sample: &Sample| {
        let run = Run::of(&sample.finished()).unwrap();
        let all = run.summary().findings().all();
        let found = all.iter().find(|found| found.clause == "periodic.months").unwrap();
        let verdict = run.verdicts().find(|verdict| verdict.clause == "periodic.months").unwrap();
        assert_eq!(run.summary().findings().of_case(verdict)[0].id, found.id);
        found.id.clone()
    };
    let alone = id(&sample);
    fails(&mut sample, "periodic.months/again", "body/months", ACCEPTED);
    fails(&mut sample, "amount.digits/a", "body/else", ACCEPTED);
    sample.start().cases = 3;
    assert_eq!(id(&sample), alone);
}

/// Returns the rerun of a case of this clause, whose cases are judged by status.
fn asked_again(clause: &str, (until, since): (u64, u64), again: Repeated) -> AskedAlone {
    AskedAlone {
        clause: clause.into(),
        at: "status".into(),
        case: format!("{clause}/one"),
        since,
        until,
        requests: 1,
        again,
        came: Some(Came::Got(xs2aspec_record::Got::status(200))),
        earlier: None,
    }
}

/// Returns the findings of a run with these reruns: the clause, the explained clauses, and the sentence about
/// the order.
fn ordered(sample: &Sample, asked_again: Vec<AskedAlone>) -> Vec<(String, Vec<String>, Option<String>)> {
    in_order(sample.finished(), asked_again)
}

fn in_order(
    mut events: Vec<Event>,
    asked_again: Vec<AskedAlone>,
) -> Vec<(String, Vec<String>, Option<String>)> {
    let end = events.len() - 1;
    events.splice(end..end, asked_again.into_iter().map(Event::AskedAlone));
    let run = Run::of(&events).unwrap();
    let all = run.summary().findings().all().iter();
    let named = |found: &Found| {
        let others = found.other_clauses().into_iter().map(str::to_owned).collect();
        (found.clause.clone(), others, found.sequence.clone())
    };
    all.map(named).collect()
}

#[test]
fn what_began_at_one_request_and_stayed_is_one_finding_that_says_since_when() {
    let mut sample = Sample::new(3);
    fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
    fails(&mut sample, "basket.mix/one", "body/ids", REFUSED);
    fails(&mut sample, "amount.digits/one", "body/amount", REFUSED);
    let since = |clause, time| {
        let earlier = Earlier { case: format!("{clause}/zero"), request: 7, again: Repeated::Same };
        AskedAlone { earlier: Some(earlier), ..asked_again(clause, time, Repeated::Same) }
    };
    let (one, other) = (since("periodic.months", (90, 120)), since("basket.mix", (80, 100)));
    let found = ordered(&sample, vec![one.clone(), other]);
    assert_eq!(found.len(), 2, "{found:?}");
    let (_, _, Some(says)) = &found.iter().find(|(.., says)| says.is_some()).unwrap() else {
        panic!("{found:?}")
    };
    assert!(says.starts_with("it began between requests 90 and 100: "), "{says}");
    assert!(
        found
            .iter()
            .any(|(clause, others, says)| clause == "amount.digits" && others.is_empty() && says.is_none())
    );
    // A symptom that began at another time is another finding.
    let found = ordered(&sample, vec![one, since("basket.mix", (10, 20))]);
    assert_eq!(found.len(), 3, "{found:?}");
    // If an earlier case still passes, the order of the cases was a coincidence.
    let mut kept = since("periodic.months", (90, 120));
    kept.earlier.as_mut().unwrap().again = Repeated::Kept;
    assert!(ordered(&sample, vec![kept]).iter().all(|(.., says)| says.is_none()));
}

#[test]
fn what_is_wrong_in_company_only_belongs_to_a_sequence_that_is_wrong_alone() {
    let mut sample = Sample::new(4);
    fails(&mut sample, "periodic.months/one", "body/months", REFUSED);
    fails(&mut sample, "basket.mix/one", "body/ids", REFUSED);
    fails(&mut sample, "amount.digits/one", "body/amount", REFUSED);
    fails(&mut sample, "ncbct.path/one", "body/path", ACCEPTED);
    let company = ["periodic.months", "basket.mix"].map(|clause| asked_again(clause, (0, 9), Repeated::Kept));
    let alone = asked_again("ncbct.path", (0, 5), Repeated::Same);
    // No case shows it in isolation, so it is one finding that depends on other requests.
    let found = ordered(&sample, [&company[..], std::slice::from_ref(&alone)].concat());
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found.iter().filter(|(.., says)| says.is_some()).count(), 1, "{found:?}");
    // A sequence with the same outcome explains it.
    let sequence = AskedAlone { requests: 6, ..asked_again("amount.digits", (0, 5), Repeated::Same) };
    let found = ordered(&sample, [&company[..], &[sequence, alone]].concat());
    let digits = found.iter().find(|(clause, ..)| clause == "amount.digits").unwrap();
    assert_eq!(digits.1.len(), 2, "{found:?}");
    assert_eq!((found.len(), digits.2.is_some()), (2, true), "{found:?}");
}

#[test]
fn a_statement_is_the_finding_and_not_one_that_goes_on_from_it() {
    let mut sample = Sample::new(3);
    for case in ["periodic.months.duplicate/a", "periodic.months.duplicate/b"] {
        fails(&mut sample, case, "body/months", ACCEPTED);
    }
    fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
    assert_eq!(shown(&sample), [pair("periodic.months", &["periodic.months.duplicate"])]);
}

#[test]
fn what_an_answer_lacks_that_should_have_been_a_refusal_is_no_finding_of_its_own() {
    let mut sample = Sample::new(1);
    let verdict = fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED).last();
    let body = Finding {
        expected: "a body with a message".into(),
        actual: "none".into(),
        at: "body".into(),
        ..verdict.findings[0].clone()
    };
    verdict.findings.insert(0, body);
    let run = Run::of(&sample.finished()).unwrap();
    let all = run.summary().findings().all();
    assert_eq!(
        (all.len(), all[0].root.mismatch.as_str()),
        (1, "expected a rejection (4xx), got 201 with transactionStatus RCVD")
    );
}

#[test]
fn what_an_answer_lacks_goes_with_the_refusal_that_is_missing_under_whatever_clause_that_goes() {
    let mut sample = Sample::new(2);
    fails(&mut sample, "periodic.months/one", "body/months", ACCEPTED);
    let verdict = fails(&mut sample, "periodic.months.duplicate/a", "body/months", ACCEPTED).last();
    let body = Finding { at: "body".into(), actual: "none".into(), ..verdict.findings[0].clone() };
    verdict.findings.insert(0, body);
    assert_eq!(shown(&sample), [pair("periodic.months", &["periodic.months.duplicate"])]);
    // A defect in a response of the right kind is another finding.
    sample.last().findings.remove(1);
    assert_eq!(shown(&sample).len(), 2);
}

#[test]
fn the_status_of_answers_that_is_wrong_whatever_is_asked_is_one_finding() {
    let with = |status: u16| {
        let mut sample = Sample::new(2);
        for (case, clause, status) in
            [("ncbct.path/a", "amount.digits", 201), ("basket.mix/a", "periodic.months", status)]
        {
            sample.verdict(case, Verdict::Fail).findings[0].clause = clause.into();
            gets(&mut sample, (Mismatch::Status, status, ""));
        }
        shown(&sample).len()
    };
    assert_eq!((with(201), with(200)), (1, 2));
}

#[test]
fn what_is_refused_alike_for_what_was_made_before_is_one_finding_and_a_sequence_names_it() {
    const GONE: Got = (Mismatch::NotAccepted, 404, "RESOURCE_UNKNOWN");
    const OTHER: Got = (Mismatch::NotAccepted, 404, "OTHER");
    let found = |place: &str, operation: &str, got: Got, asked: Vec<AskedAlone>| {
        let mut sample = Sample::new(2);
        for case in ["periodic.months/one", "periodic.months/two"] {
            fails(&mut sample, case, "before", GONE);
        }
        fails(&mut sample, "amount.digits/one", place, got).last().operation = operation.into();
        let found = in_order(sample.finished(), asked);
        found.into_iter().map(|(clause, others, _)| (clause, others)).collect::<Vec<_>>()
    };
    let sequence =
        || vec![AskedAlone { requests: 6, ..asked_again("amount.digits", (0, 5), Repeated::Same) }];
    let named = |place, operation, got| found(place, operation, got, sequence());
    // The symptom with the most cases names the finding, or the sequence if there is one.
    assert_eq!(found("before", "periodic", GONE, vec![]), [pair("periodic.months", &["amount.digits"])]);
    assert_eq!(named("before", "periodic", GONE), [pair("amount.digits", &["periodic.months"])]);
    // A request that changes nothing names it better than a sequence.
    let mut sample = Sample::new(2);
    fails(&mut sample, "amount.digits/one", "path", GONE);
    fails(&mut sample, "periodic.months/own", "", GONE).last().differences.clear();
    assert_eq!(in_order(sample.finished(), sequence())[0].0, "periodic.months");
    // Another place, operation or outcome is another finding.
    assert_eq!(named("body/months", "periodic", GONE).len(), 2);
    assert_eq!(named("before", "basket", GONE).len(), 2);
    assert_eq!(named("before", "periodic", OTHER).len(), 2);
}

#[test]
fn a_sequence_that_explains_others_explains_sequences_that_are_wrong_alone() {
    let mut sample = Sample::new(3);
    fails(&mut sample, "periodic.months/one", "body/months", REFUSED);
    fails(&mut sample, "basket.mix/one", "body/ids", REFUSED);
    fails(&mut sample, "ncbct.path/one", "body/path", ACCEPTED);
    let alone = |clause| AskedAlone { requests: 4, ..asked_again(clause, (0, 9), Repeated::Same) };
    let (one, other) = (alone("basket.mix"), alone("ncbct.path"));
    assert_eq!(ordered(&sample, vec![one.clone(), other.clone()]).len(), 3);
    let company = asked_again("periodic.months", (0, 9), Repeated::Kept);
    let found = ordered(&sample, vec![company, one, other]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "basket.mix");
}
