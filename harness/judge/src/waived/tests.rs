//! Waived findings, and cases that are waived with their control.

use std::sync::Arc;

use xs2aspec_record::{ControlSeen, End, Exchange, Finding, LevelRule, Mismatch, finding_id};
use xs2aspec_suite::Tree;

use super::*;
use crate::{Profile, waiver};

/// A case whose control belongs to another clause and has a control of its own.
const CASE: &str = "signature.parameters.duplicate.first/ncbct/right-key-id-first";
const CONTROL: &str = "signature.wrap.bare/ncbct";
const CLAUSE: &str = "signature.wrap.bare";

/// Returns a judge and its knowledge.
fn judge(levels: &[(&str, Level, LevelSource)]) -> (Judge, Known) {
    let suite = Arc::new(Suite::load(Tree::embedded()).unwrap());
    let mut profile = Profile::of_url("http://127.0.0.1:1", xs2aspec_suite::ProfileSpec::embedded()).unwrap();
    let rule = |(pattern, level, by): &(&str, Level, LevelSource)| LevelRule {
        pattern: (*pattern).into(),
        level: *level,
        by: *by,
    };
    profile.levels = levels.iter().map(rule).collect();
    (Judge::of_traffic(suite, profile).unwrap(), Known::default())
}

fn finding(clause: &str, at: &str, level: Level) -> Finding {
    Finding {
        clause: clause.into(),
        expected: "acceptance (2xx)".into(),
        actual: "403".into(),
        at: at.into(),
        kind: Mismatch::NotAccepted,
        level,
        end: End::Bank,
    }
}

fn verdict(judge: &Judge, case: &str, word: Verdict, findings: Vec<Finding>) -> CaseVerdict {
    let blank = crate::blank::left_in_doubt(judge.suite().case(case).unwrap());
    CaseVerdict { verdict: word, reason: None, findings, exchange: Some(1), ..blank }
}

/// Returns the judged exchange of a case with this status.
fn exchange(case: &str, status: u16) -> Exchange {
    let created = r#"{"paymentId":"p","transactionStatus":"RCVD"}"#;
    serde_json::from_value(serde_json::json!({
        "number": 1, "case": case, "step": "request", "micros": 1,
        "request": {"method": "POST", "url": "/", "headers": []},
        "response": {"status": status, "headers": [], "body": {"text": created}},
    }))
    .unwrap()
}

fn waivers(entries: &[&str]) -> Waivers {
    let entry = |entry: &&str| {
        format!(
            "[[waiver]]\n{entry}\nowner = \"a\"\nreason = \"b\"\nticket = \"c\"\nexpires = \"2030-01-31\"\n"
        )
    };
    let text: String = entries.iter().map(entry).collect();
    Waivers::new(waiver::parse("w.toml", &text).unwrap(), "2029-01-01T00:00:00Z".parse().unwrap())
}

/// Returns the verdict of an inconclusive case whose control had this result.
fn with_control(
    (judge, known): &mut (Judge, Known),
    waivers: &mut Waivers,
    (word, findings, status): (Verdict, Vec<Finding>, u16),
) -> CaseVerdict {
    known.keep(judge, &verdict(judge, CONTROL, word, findings), Some(&exchange(CONTROL, status)));
    let control = Some(ControlSeen { case: CONTROL.into(), accepted: false });
    let mut case = CaseVerdict { control, ..verdict(judge, CASE, Verdict::Inconclusive, vec![]) };
    waivers.apply((judge, known), &mut case);
    case
}

#[test]
fn a_case_is_waived_with_its_control_if_all_that_rejects_that_is_waived_or_allowed() {
    use LevelSource::{CommandLine, Profile as ByProfile};
    use Verdict::{Fail, Inconclusive, Observed, Waived, Warn};
    let id = finding_id::id(CLAUSE, "status");
    let (by_id, by_clause) = (format!("findings = [\"{id}\"]"), format!("cases = \"{CLAUSE}\""));
    let deny = || vec![finding(CLAUSE, "status", Level::Deny)];
    let warn = || vec![finding(CLAUSE, "status", Level::Warn)];
    let server = || [deny(), vec![finding("http.server-error", "status", Level::Deny)]].concat();
    for (entry, levels, control, expected) in [
        // Nothing is waived or allowed.
        (None, None, (Fail, deny(), 403), Inconclusive),
        (None, None, (Warn, warn(), 403), Inconclusive),
        (None, None, (Observed, vec![], 403), Inconclusive),
        (Some("cases = \"basket.mix\""), None, (Fail, deny(), 403), Inconclusive),
        (None, Some(("basket.mix", Level::Note, CommandLine)), (Observed, vec![], 403), Inconclusive),
        (None, Some((CLAUSE, Level::Deny, CommandLine)), (Fail, deny(), 403), Inconclusive),
        // A waiver, in each way of naming it.
        (Some(by_id.as_str()), None, (Fail, deny(), 403), Waived),
        (Some(&by_clause), None, (Fail, deny(), 403), Waived),
        (Some(&by_clause), None, (Warn, warn(), 403), Waived),
        (Some("cases = \"signature\""), None, (Fail, deny(), 403), Waived),
        // A level, in each way of setting it.
        (None, Some((CLAUSE, Level::Note, CommandLine)), (Observed, vec![], 403), Waived),
        (None, Some((CLAUSE, Level::Note, ByProfile)), (Observed, vec![], 403), Waived),
        (None, Some((CLAUSE, Level::Warn, CommandLine)), (Warn, warn(), 403), Waived),
        (None, Some((CLAUSE, Level::Warn, ByProfile)), (Warn, warn(), 403), Waived),
        // Only a part of the rejection is excused.
        (Some(&by_id), None, (Fail, server(), 500), Inconclusive),
        (None, Some((CLAUSE, Level::Note, CommandLine)), (Observed, vec![], 500), Inconclusive),
        // The control was not rejected because of its content, or was accepted.
        (Some(&by_clause), None, (Verdict::Error, vec![], 403), Inconclusive),
        (None, Some((CLAUSE, Level::Note, CommandLine)), (Observed, vec![], 201), Inconclusive),
    ] {
        let levels: Vec<_> = levels.into_iter().collect();
        let mut by = judge(&levels);
        let mut waivers = waivers(&entry.into_iter().collect::<Vec<_>>());
        let what = format!("{entry:?} {levels:?} {control:?}");
        let case = with_control(&mut by, &mut waivers, control);
        assert_eq!(case.verdict, expected, "{what}");
        assert_eq!(case.waived_with.as_deref(), (expected == Waived).then_some(CONTROL), "{what}");
        assert_eq!(case.contradiction(), None, "{what}");
        assert_eq!(case.unwaived(), Inconclusive, "{what}");
    }
}

#[test]
fn what_is_inconclusive_for_another_reason_is_not_waived() {
    let mut by = judge(&[]);
    let by_clause = format!("cases = \"{CLAUSE}\"");
    let deny = (Verdict::Fail, vec![finding(CLAUSE, "status", Level::Deny)], 403);
    let (findings, status) = (deny.1.clone(), deny.2);
    let case = with_control(&mut by, &mut waivers(&[&by_clause]), deny);
    assert_eq!(case.verdict, Verdict::Waived);
    let (judge, known) = &mut by;
    known.keep(judge, &verdict(judge, CONTROL, Verdict::Fail, findings), Some(&exchange(CONTROL, status)));
    let open = CaseVerdict { verdict: Verdict::Inconclusive, reason: None, waived_with: None, ..case };
    let accepted = ControlSeen { case: CONTROL.into(), accepted: true };
    for other in [
        // The control was accepted, there is none, or the target now rejects everything.
        CaseVerdict { control: Some(accepted), ..open.clone() },
        CaseVerdict { control: None, ..open.clone() },
        CaseVerdict { unconfirmed: true, ..open },
    ] {
        let mut verdict = other.clone();
        waivers(&[&by_clause]).apply((&by.0, &by.1), &mut verdict);
        assert_eq!(verdict, other);
    }
}

#[test]
fn a_chain_of_controls_is_followed_to_the_one_that_is_waived() {
    let mut by = judge(&[]);
    let plain = by.0.suite().case(CONTROL).unwrap().control.clone().unwrap();
    let clause = by.0.suite().case(&plain).unwrap().clause.clone();
    let rejected = verdict(&by.0, &plain, Verdict::Fail, vec![finding(&clause, "status", Level::Deny)]);
    by.1.keep(&by.0, &rejected, Some(&exchange(&plain, 400)));
    let seen = Some(ControlSeen { case: plain.clone(), accepted: false });
    let between = CaseVerdict { control: seen, ..verdict(&by.0, CONTROL, Verdict::Inconclusive, vec![]) };
    by.1.keep(&by.0, &between, None);
    let control = Some(ControlSeen { case: CONTROL.into(), accepted: false });
    let case = CaseVerdict { control, ..verdict(&by.0, CASE, Verdict::Inconclusive, vec![]) };
    for (waived, expected) in [(clause.as_str(), Some(plain)), (CLAUSE, None)] {
        let mut verdict = case.clone();
        waivers(&[&format!("cases = \"{waived}\"")]).apply((&by.0, &by.1), &mut verdict);
        assert_eq!(verdict.waived_with, expected, "{waived}");
    }
}

#[test]
fn a_waiver_by_id_is_of_what_is_wrong_and_of_nothing_else() {
    let by = judge(&[]);
    let failing = |places: &[&str]| {
        let findings = places.iter().map(|at| finding(CLAUSE, at, Level::Deny)).collect();
        verdict(&by.0, CONTROL, Verdict::Fail, findings)
    };
    let by_id = format!("findings = [\"{}\"]", finding_id::id(CLAUSE, "status"));
    let state = |waivers: &Waivers, is_whole| waivers.seen(by.0.suite(), is_whole)[0].state;
    for (places, word, whole, part) in [
        (&["status"][..], Verdict::Waived, WaiverState::InForce, WaiverState::InForce),
        // The case has another violation too, so it fails, but the finding occurred.
        (&["status", "body/a"], Verdict::Fail, WaiverState::InForce, WaiverState::InForce),
        // The finding did not occur. This is an error in a whole run, but unknown in a partial one.
        (&["body/a"], Verdict::Fail, WaiverState::Unmatched, WaiverState::NotAsked),
    ] {
        let (mut waivers, mut verdict) = (waivers(&[&by_id]), failing(places));
        waivers.apply((&by.0, &by.1), &mut verdict);
        assert_eq!(verdict.verdict, word, "{places:?}");
        assert_eq!((state(&waivers, true), state(&waivers, false)), (whole, part), "{places:?}");
    }
    assert!(waivers(&[&by_id]).seen(by.0.suite(), true)[0].is_red());
}

#[test]
fn a_waiver_by_clause_is_stale_only_if_nothing_of_the_clause_fails() {
    let by = judge(&[]);
    let cases: Vec<&str> =
        by.0.suite()
            .cases()
            .iter()
            .filter(|case| case.clause == CLAUSE)
            .map(|case| case.id.as_str())
            .collect();
    assert!(cases.len() > 3, "{cases:?}");
    let other = "basket.mix/two/periodic-last";
    let pass = |case: &str| verdict(&by.0, case, Verdict::Pass, vec![]);
    let fail = |case: &str, clause: &str| {
        verdict(&by.0, case, Verdict::Fail, vec![finding(clause, "status", Level::Deny)])
    };
    let all = |from: usize| cases[from..].iter().map(|case| pass(case)).collect::<Vec<_>>();
    for (what, verdicts, expected) in [
        ("all pass", all(0), WaiverState::Passing),
        ("some were not judged", all(1), WaiverState::NotAsked),
        ("nothing was judged", vec![], WaiverState::NotAsked),
        ("one fails", [vec![fail(cases[0], CLAUSE)], all(1)].concat(), WaiverState::InForce),
        ("one fails after the others", [all(1), vec![fail(cases[0], CLAUSE)]].concat(), WaiverState::InForce),
        (
            "a case of another clause breaks it",
            [all(0), vec![fail(other, CLAUSE)]].concat(),
            WaiverState::InForce,
        ),
        (
            "another clause is broken",
            [all(0), vec![fail(other, "basket.mix")]].concat(),
            WaiverState::Passing,
        ),
    ] {
        let mut waivers = waivers(&[&format!("cases = \"{CLAUSE}\"")]);
        for mut verdict in verdicts {
            waivers.apply((&by.0, &by.1), &mut verdict);
            let is_covered = verdict.findings.iter().any(|finding| finding.clause == CLAUSE);
            assert_eq!(verdict.verdict == Verdict::Waived, is_covered, "{what}: {}", verdict.case);
        }
        let seen = &waivers.seen(by.0.suite(), true)[0];
        assert_eq!((seen.state, seen.is_red()), (expected, expected == WaiverState::Passing), "{what}");
    }
}

#[test]
fn a_waiver_holds_until_its_last_day_is_over_everywhere() {
    let by = judge(&[]);
    for (now, holds) in [
        ("2030-01-31T00:00:00Z", true),
        ("2030-01-31T23:59:59Z", true),
        // At noon UTC of the next day the day ends in UTC-12, the last time zone.
        ("2030-02-01T11:59:59Z", true),
        ("2030-02-01T12:00:00Z", false),
    ] {
        let entry = format!("cases = \"{CLAUSE}\"");
        let parsed = waivers(&[&entry]).all.into_iter().map(|(waiver, _)| waiver).collect();
        let mut waivers = Waivers::new(parsed, now.parse().unwrap());
        let mut verdict =
            verdict(&by.0, CONTROL, Verdict::Fail, vec![finding(CLAUSE, "status", Level::Deny)]);
        waivers.apply((&by.0, &by.1), &mut verdict);
        assert_eq!(verdict.verdict == Verdict::Waived, holds, "{now}");
        let state = if holds { WaiverState::InForce } else { WaiverState::Expired };
        assert_eq!(waivers.seen(by.0.suite(), true)[0].state, state, "{now}");
    }
}
