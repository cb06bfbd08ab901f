//! Tests of the terminal output for handmade records.

use xs2aspec_record::{ControlSeen, Finding, LevelRule, LevelSource};

use super::*;
use crate::{
    Run,
    format::finding_blocks::WHOLE,
    sample::{self, Sample},
};

fn attention(events: &[xs2aspec_record::Event]) -> String {
    let (run, mut terminal) = (Run::of(events).unwrap(), Terminal::default());
    run.show(&mut [&mut terminal]);
    terminal.attention(run.summary())
}

/// Returns the closing summary with its tables, and the conclusion.
fn whole_of(summary: &RunSummary) -> String {
    format!("{}{}\n", closing(summary, true), conclusion(summary))
}

fn whole(events: &[xs2aspec_record::Event]) -> String {
    whole_of(Run::of(events).unwrap().summary())
}

#[test]
fn tables_and_observations_are_shown_on_request() {
    let run = Run::of(&sample::mixed()).unwrap();
    let (short, whole) = (closing(run.summary(), false), closing(run.summary(), true));
    assert!(whole.contains("operation ") && whole.contains("4 observations of choices"), "{whole}");
    assert!(!short.contains("operation ") && !short.contains("observation"), "{short}");
    assert!(short.starts_with("target "), "{short}");
}

#[test]
fn the_closing_summary() {
    insta::assert_snapshot!(whole(&sample::mixed()), @"
    operation    pass  fail  inconclusive  not-applicable  observed  error  total    p50    p95  largest
    basket          2     0             0               0         0      0      2
    customers       0     0             0               1         0      0      1
    ncbct           0     0             0               0         0      1      1
    periodic        1     1             1               0         1      0      4  12 ms  12 ms    12 ms
    transaction     1     0             0               0         0      0      1
    all             4     1             1               1         1      1      9

    target test bank 2.4, sandbox at https://bank.test/psd2, contact payments team
    9 cases, 10 exchanges (1 retried), 2.500 s, 3.6 cases per second
    7 required clauses: 3 passed, 1 violated, 1 not tested, 2 skipped
    violated: periodic.months.duplicate
    4 observations of choices that the document leaves open: see `summary.md` next to the record
    does not conform: at least one clause is violated (exit 1)
    ");
}

#[test]
fn the_closing_summary_of_a_killed_run_says_so() {
    let mut sample = Sample::new(300);
    sample.verdict("periodic.months/one", Verdict::Pass);
    insta::assert_snapshot!(whole(&sample.killed()), @"
    operation  pass  fail  total
    periodic      1     0      1
    all           1     0      1

    target test bank 2.4, sandbox at https://bank.test/psd2, contact payments team
    1 case, 1 exchange
    7 required clauses: 1 passed, 0 violated, 6 not tested, 0 skipped
    the run did not finish, 1 of 300 selected cases have a verdict; the result is inconclusive (exit 3)
    ");
}

#[test]
fn what_was_asked_in_another_form_says_so() {
    let mut sample = Sample::new(2);
    for (case, word) in [("periodic.months/one", Verdict::Fail), ("periodic.months/two", Verdict::Pass)] {
        sample.verdict(case, word).judged_with = vec!["header/A = 1".into()];
    }
    let events = sample.finished();
    assert!(attention(&events).contains("\n   = with    header/A = 1\n"));
    let closing = whole(&events);
    let line =
        "\nsent with header/A = 1: 2 cases, because the target rejects the baseline request without it\n";
    assert!(closing.contains(line), "{closing}");
}

#[test]
fn hundreds_of_cases_stay_readable() {
    let mut sample = Sample::new(1500);
    for number in 0..500 {
        let fail = sample.verdict(&format!("periodic.months/fail-{number:03}"), Verdict::Fail);
        fail.findings[0].at = format!("body/member-{number:03}");
        let reason = format!("reason {}", number % 30);
        sample.verdict(&format!("periodic.months/unsure-{number:03}"), Verdict::Inconclusive).reason =
            Some(Reason::InWords { says: reason });
        sample.verdict(&format!("periodic.months/error-{number:03}"), Verdict::Error);
    }
    let events = sample.finished();
    let shown = attention(&events);
    assert_eq!(shown.lines().filter(|line| line.starts_with("deny  p")).count(), 500);
    let again = "   = again   xs2aspec run --only periodic.months/fail-";
    assert_eq!(shown.lines().filter(|line| line.starts_with(again)).count(), WHOLE);
    assert!(shown.contains(
        "\ndeny  periodic.months / fail-499: body/member-499: expected a rejection (4xx), got 201"
    ));
    let rest = &shown[shown.find("INCONCLUSIVE").unwrap()..];
    let first =
        "INCONCLUSIVE  500 cases, by reason\n   | 17 cases: reason 0\n   |   periodic.months / unsure-000";
    assert!(rest.starts_with(first));
    let second = rest.lines().nth(3).unwrap();
    assert_eq!(second, "   |   and 16 more");
    assert!(rest.contains("   | 449 cases: 27 further reasons\n"));
    assert!(rest.contains("ERROR  500 cases, by reason\n   | 500 cases: no answer within 5 s\n"));
}

#[test]
fn without_findings_more_reasons_are_listed() {
    let mut sample = Sample::new(500);
    for number in 0..500 {
        let unsure = sample.verdict(&format!("periodic.months/unsure-{number:03}"), Verdict::Inconclusive);
        unsure.reason = Some(Reason::InWords { says: format!("reason {}", number % 30) });
    }
    let shown = attention(&sample.finished());
    assert_eq!(shown.matches("   |   and 14 more\n").count(), 20, "{shown}");
    assert!(shown.contains("   | 160 cases: 10 further reasons\n"));
}

#[test]
fn of_a_target_that_accepts_nothing_one_plain_request_stands_for_all_cases() {
    let record = |is_accepted: bool| {
        let mut sample = Sample::new(2 * (FEW + 1));
        for operation in ["customers", "ncbct"] {
            let plain = format!("{operation}.path/plain");
            sample.verdict(&plain, Verdict::Error);
            for number in 0..FEW {
                let verdict = sample.verdict(&format!("{operation}.path/{number}"), Verdict::Error);
                verdict.control = Some(ControlSeen { case: plain.clone(), accepted: is_accepted });
            }
        }
        sample.finished()
    };
    let events = record(false);
    let shown = attention(&events);
    assert!(shown.starts_with("ERROR  customers.path / plain\n"), "{shown}");
    assert!(
        shown.ends_with(
            "\n\n11 further cases: no baseline request was accepted, so nothing else was tested\n\n"
        ),
        "{shown}"
    );
    assert!(!shown.contains("ncbct") && !shown.contains("by reason"), "{shown}");
    let said = whole(&events);
    assert!(said.contains("no valid request was accepted: there was no response; try "), "{said}");
    assert!(attention(&record(true)).starts_with("ERROR  12 cases, by reason\n"));
}

#[test]
fn a_few_are_shown_whole() {
    let shown = attention(&sample::mixed());
    let heads: Vec<&str> = shown.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
    assert_eq!(
        heads,
        [
            "deny  periodic.months.duplicate    month numbers may not repeat",
            "1 violation, 0 warnings",
            "INCONCLUSIVE  periodic.months.duplicate / spread",
            "ERROR  ncbct.path / plain"
        ]
    );
}

#[test]
fn beside_several_findings_what_could_not_be_judged_is_short() {
    let mut sample = Sample::new(6);
    for (case, status) in [
        ("basket.mix/a", 200),
        ("ncbct.path/a", 201),
        ("periodic.months/a", 202),
        ("transaction.path/a", 203),
    ] {
        sample.verdict(case, Verdict::Fail);
        sample.responds(status, "{}");
    }
    sample.verdict("periodic.months.duplicate/a", Verdict::Inconclusive);
    assert!(attention(&sample.finished()).contains("\nINCONCLUSIVE  periodic.months.duplicate / a\n"));
    sample.verdict("periodic.months.duplicate/b", Verdict::Inconclusive);
    assert!(attention(&sample.finished()).contains("\nINCONCLUSIVE  2 cases, by reason\n"));
}

#[test]
fn violations_come_before_warnings_and_each_is_shown_once_by_its_smallest_witness() {
    let mut sample = Sample::new(5);
    sample.verdict("ncbct.name/a", Verdict::Warn).changes = vec!["one".into(), "two".into()];
    sample.verdict("ncbct.name/b", Verdict::Warn).changes = vec!["body/name = \"\"".into()];
    sample.verdict("ncbct.name/c", Verdict::Warn).changes = vec!["three".into()];
    let both = sample.verdict("periodic.months/one", Verdict::Fail);
    both.changes = vec![];
    let own = both.findings[0].clone();
    // The other mismatch of the case is a finding of its own clause, at the same place of each element.
    let other =
        |at: &str| Finding { clause: "ncbct.name".into(), level: Level::Warn, at: at.into(), ..own.clone() };
    both.findings.extend([other("body/list/0/name"), other("body/list/17/name")]);
    sample.verdict("periodic.months/two", Verdict::Observed).observations = vec!["a".into(), "b".into()];
    let events = sample.finished();
    let run = Run::of(&events).unwrap();
    insta::assert_snapshot!(attention(&events), @r#"
    level  clause           cases  finding
    deny   periodic.months      1  07bdb2b76e5ae52a
    warn   ncbct.name           1  1603cc560258553e
    warn   ncbct.name           3  8953e82b2f029670

    deny  periodic.months    months 1 to 11 are accepted
      --> cases/periodic/months-of-execution.yaml:18
       | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 4
       | expected a rejection (4xx), got 201 with transactionStatus RCVD
       | response {"transactionStatus":"RCVD"}
       = witness periodic.months / one
       = clause  stated: Endpoints > Create periodic payment, line 242 of the document
       = again   xs2aspec run --only periodic.months/one --target 'my bank.toml' --now 2030-01-02T03:04:05Z
       = next    xs2aspec explain 07bdb2b7 --target 'my bank.toml'
       = curl    xs2aspec curl 07bdb2b7 --target 'my bank.toml'

    warn  ncbct.name    a name has no letters but those of the table
      --> cases/periodic/months-of-execution.yaml:18
       | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 4
       | body/list/0/name: expected a rejection (4xx), got 201 with transactionStatus RCVD
       | response {"transactionStatus":"RCVD"}
       = witness periodic.months / one
       = clause  expected: Endpoints > Create periodic payment, line 242 of the document
       = again   xs2aspec run --only periodic.months/one --target 'my bank.toml' --now 2030-01-02T03:04:05Z
       = next    xs2aspec explain 1603cc56 --target 'my bank.toml'
       = curl    xs2aspec curl 1603cc56 --target 'my bank.toml'

    warn  ncbct.name    a name has no letters but those of the table    (3 cases)
      --> cases/ncbct/months-of-execution.yaml:18
       | POST /v1/periodic-payments/norwegian-domestic-credit-transfers     201 in 12 ms, request 3
       | three
       | expected a rejection (4xx), got 201 with transactionStatus RCVD
       | response {"transactionStatus":"RCVD"}
       = witness ncbct.name / c
       = clause  expected: Endpoints > Create periodic payment, line 242 of the document
       = again   xs2aspec run --only ncbct.name/c --target 'my bank.toml' --now 2030-01-02T03:04:05Z
       = next    xs2aspec explain 8953e82b --target 'my bank.toml'
       = curl    xs2aspec curl 8953e82b --target 'my bank.toml'

    1 violation, 2 warnings
    "#);
    let closing = whole_of(run.summary());
    assert!(
        closing.contains("\nviolated: periodic.months\nwarnings for: ncbct.name\n2 observations of choices"),
        "{closing}"
    );
}

#[test]
fn a_run_with_warnings_alone_conforms_and_says_so_unless_they_are_denied() {
    let mut sample = Sample::new(1);
    sample.verdict("ncbct.name/a", Verdict::Warn);
    let last = |sample: &Sample| {
        let shown = whole(&sample.finished());
        shown.lines().last().unwrap_or_default().to_owned()
    };
    let conforms = "conforms, with warnings for 1 clause: no clause of level deny is violated; 7 of 7 required clauses were skipped (exit 0)";
    assert_eq!(last(&sample), conforms);
    let pattern = LevelRule::WARNINGS.to_owned();
    sample.start().levels = vec![LevelRule { pattern, level: Level::Deny, by: LevelSource::CommandLine }];
    assert_eq!(last(&sample), "does not conform: warnings are denied (exit 1)");
}

#[test]
fn other_cases_are_report_in_the_first_line_and_in_the_last() {
    let mut sample = Sample::new(1);
    sample.verdict("periodic.months/one", Verdict::Pass);
    sample.start().other_cases = Some("my\u{1b}[2J/cases".into());
    let events = sample.finished();
    let shown = String::from_utf8(Run::of(&events).unwrap().draw(&mut Terminal::default())).unwrap();
    let said = "cases from my\\u{1b}[2J/cases, not those built into xs2aspec 0.1.0";
    assert!(shown.starts_with(&format!("{said}\n\n")), "{shown}");
    assert!(
        shown.contains(&format!("\n{said}: conforms: no clause that was checked is violated;")),
        "{shown}"
    );
}

#[test]
fn another_document_is_said_first_and_asked_again() {
    let mut sample = Sample::new(1);
    sample.verdict("periodic.months.duplicate/adjacent", Verdict::Fail);
    sample.start().other_document = Some("other".into());
    sample.start().arguments.extend(["--pack".into(), "other".into()]);
    let events = sample.finished();
    let shown = String::from_utf8(Run::of(&events).unwrap().draw(&mut Terminal::default())).unwrap();
    assert!(shown.starts_with("document from other, not the one built into xs2aspec 0.1.0\n"), "{shown}");
    for command in ["run --only periodic.months.duplicate/adjacent", "explain 219065e1", "curl 219065e1"] {
        let command = format!("xs2aspec {command} --target");
        let line = shown.lines().find(|line| line.contains(&command)).unwrap_or_default();
        assert!(line.contains(" --pack other"), "{line}: {shown}");
    }
}

#[test]
fn nothing_hostile_passes() {
    let events = sample::hostile();
    for shown in [attention(&events), whole(&events)] {
        assert!(!shown.chars().any(|letter| letter != '\n' && text::is_hostile(letter)), "{shown:?}");
    }
}
