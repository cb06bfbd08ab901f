use super::*;
use xs2aspec_record::{ControlSeen, End, Finding, Level, Place};

fn verdict(case: &str, clause: &str, word: Verdict, names: &[&str]) -> CaseVerdict {
    let finding = |clause: &&str| Finding {
        clause: (*clause).to_owned(),
        expected: "a refusal".into(),
        actual: "201".into(),
        at: "status".into(),
        kind: xs2aspec_record::Mismatch::NotRejected,
        level: if word == Verdict::Warn { Level::Warn } else { Level::Deny },
        end: End::Bank,
    };
    let place = Place { file: "f.yaml".into(), line: 1, column: 1 };
    CaseVerdict {
        area: "area".into(),
        operation: "ncbct".into(),
        verdict: word,
        expected: "refused".into(),
        checks: 1,
        findings: names.iter().map(finding).collect(),
        reason: (word == Verdict::Inconclusive).then_some(Reason::DailyCalls),
        micros: 1,
        ..CaseVerdict::blank(case.to_owned(), clause.to_owned(), place)
    }
}

fn flaws(rows: Vec<Row>, testable: &[&str]) -> Vec<String> {
    let testable = testable.iter().map(|clause| (*clause).to_owned()).collect();
    KillMatrix::new(rows, testable).flaws(true, &BTreeMap::new()).into_iter().map(|Flaw(text)| text).collect()
}

fn fault(verdicts: &[CaseVerdict]) -> Row {
    Row::new((Kind::Fault, "a.b/off-by-one", "a.b"), verdicts)
}

#[test]
fn a_fault_is_caught_by_a_case_of_its_clause_or_by_a_finding_that_names_it() {
    assert_eq!(flaws(vec![fault(&[verdict("a.b/x", "a.b", Verdict::Fail, &["a.b"])])], &["a.b"]), [""; 0]);
    assert_eq!(flaws(vec![fault(&[verdict("c/x", "c", Verdict::Fail, &["a.b"])])], &["a.b"]), [""; 0]);
}

#[test]
fn a_fault_is_caught_by_the_plain_request_that_its_case_is_by_name() {
    let by_name = CaseVerdict {
        same_as: Some("c/plain".to_owned()),
        ..verdict("a.b/left-out", "a.b", Verdict::Inconclusive, &[])
    };
    let plain = |word, names: &[&str]| verdict("c/plain", "c", word, names);
    assert_eq!(flaws(vec![fault(&[by_name.clone(), plain(Verdict::Fail, &["c"])])], &["a.b"]), [""; 0]);
    let survives = ["fault a.b/off-by-one survives: no case fails"];
    assert_eq!(flaws(vec![fault(&[by_name, plain(Verdict::Inconclusive, &[])])], &["a.b"]), survives);
}

#[test]
fn a_fault_that_refuses_a_control_is_counted_apart() {
    let control = |accepted| Some(ControlSeen { case: "c/plain".to_owned(), accepted });
    let unjudged = |accepted| CaseVerdict {
        control: control(accepted),
        ..verdict("a.b/x", "a.b", Verdict::Inconclusive, &[])
    };
    let plain = verdict("c/plain", "c", Verdict::Fail, &["c"]);
    let refuses = fault(&[unjudged(false), plain.clone()]);
    let says = "fault a.b/off-by-one rejects c/plain, which is denied, so a.b cannot be judged";
    assert_eq!(flaws(vec![refuses.clone()], &[]), [says]);
    let matrix = KillMatrix::new(vec![refuses], BTreeSet::new());
    assert_eq!(matrix.percent_caught(), 0);
    let totals = matrix.totals();
    assert!(
        totals.starts_with(
            "0 of 1 faults in 1 clauses caught by their own clause, 1 by a control that they reject; "
        ),
        "{totals}"
    );
    let elsewhere = "fault a.b/off-by-one is caught only by c, not by a.b";
    assert_eq!(flaws(vec![fault(&[unjudged(true), plain.clone()])], &[]), [elsewhere], "it was accepted");
    assert_eq!(flaws(vec![fault(&[plain])], &[]), [elsewhere], "no case of its clause depends on it");
}

#[test]
fn a_fault_that_survives_or_is_caught_by_others_only_is_a_flaw() {
    let survives = fault(&[verdict("a.b/x", "a.b", Verdict::Pass, &[])]);
    assert_eq!(flaws(vec![survives], &[]), ["fault a.b/off-by-one survives: no case fails"]);
    let inconclusive = fault(&[verdict("a.b/x", "a.b", Verdict::Inconclusive, &[])]);
    assert_eq!(flaws(vec![inconclusive], &[]).len(), 1, "unjudged cases catch nothing");
    let others = fault(&[verdict("c/x", "c", Verdict::Fail, &["d"])]);
    let known = BTreeMap::from([("a.b/off-by-one".to_owned(), "why".to_owned())]);
    let told = |row: Row, whole: bool| {
        let flaws = KillMatrix::new(vec![row], BTreeSet::new()).flaws(whole, &known);
        flaws.into_iter().map(|Flaw(text)| text).collect::<Vec<_>>()
    };
    let listed = |row: Row| told(row, true);
    assert_eq!(listed(others.clone()), [""; 0], "a known survivor");
    let mut part = others.clone();
    (part.name, part.whole) = ("a.b/off-by-one-at-times".to_owned(), Some("a.b/off-by-one".to_owned()));
    let as_whole = ["fault a.b/off-by-one-at-times is not caught, like a.b/off-by-one: why"];
    assert_eq!(told(part.clone(), false), as_whole);
    part.fired = BTreeMap::from([("a.b/x".to_owned(), BTreeSet::from(["a.b".to_owned()]))]);
    assert_eq!(told(part, false), [""; 0], "it is caught, unlike the whole one");
    let caught = fault(&[verdict("a.b/x", "a.b", Verdict::Fail, &["a.b"])]);
    assert_eq!(listed(caught), ["fault a.b/off-by-one is caught, but still listed as a survivor"]);
    assert_eq!(flaws(vec![others], &[]), ["fault a.b/off-by-one is caught only by c, d, not by a.b"]);
}

#[test]
fn alarms_and_unjudged_cases_where_nothing_is_wrong_are_flaws() {
    for (kind, name) in [(Kind::Clean, "clean"), (Kind::Variation, "a.b/other")] {
        let quiet = Row::new((kind, name, ""), &[verdict("x", "c", Verdict::Pass, &[])]);
        assert_eq!(flaws(vec![quiet], &[]), [""; 0]);
        for word in [Verdict::Fail, Verdict::Inconclusive, Verdict::Error] {
            let row = Row::new((kind, name, ""), &[verdict("x", "c", word, &[])]);
            assert_eq!(flaws(vec![row], &[]).len(), 1, "{word:?} on {name}");
        }
    }
}

#[test]
fn a_style_is_counted_apart_and_a_masked_case_of_it_is_a_flaw() {
    let mut row = Row::new((Kind::Style, "strict", ""), &[verdict("x", "c", Verdict::Pass, &[])]);
    let totals = |row: &Row| KillMatrix::new(vec![row.clone()], BTreeSet::new()).totals();
    assert!(totals(&row).contains("0 false alarms on the clean bank and 1 styles"));
    assert!(KillMatrix::new(vec![row.clone()], BTreeSet::new()).is_silent());
    row.masked.insert("x".to_owned(), "must be rejected for c, but is rejected for d".to_owned());
    assert!(!KillMatrix::new(vec![row.clone()], BTreeSet::new()).is_silent());
    assert_eq!(flaws(vec![row], &[]), ["masked: x: must be rejected for c, but is rejected for d"]);
}

#[test]
fn a_fault_that_is_warned_of_is_caught_and_the_numbers_say_how() {
    let warned = fault(&[
        verdict("a.b/x", "a.b", Verdict::Warn, &["a.b"]),
        verdict("d/x", "d", Verdict::Warn, &["a.b", "e"]),
    ]);
    let denied = Row::new((Kind::Fault, "c/z", "c"), &[verdict("c/x", "c", Verdict::Fail, &["c"])]);
    assert_eq!(flaws(vec![warned.clone(), denied.clone()], &[]), [""; 0]);
    let matrix = KillMatrix::new(vec![warned, denied], BTreeSet::new());
    assert!(
        matrix.totals().starts_with(
            "2 of 2 faults in 2 clauses caught by their own clause (1 denied, 1 warned of); 0 false alarms"
        ),
        "{}",
        matrix.totals()
    );
    let line = "fault\ta.b/off-by-one\twarned of\ta.b/x\n";
    assert!(matrix.snapshot().contains(line), "{}", matrix.snapshot());
    assert!(matrix.details().contains("fault\ta.b/off-by-one\td/x\twarn a.b, warn e\n"));
    let others = fault(&[verdict("c/x", "c", Verdict::Warn, &["d"])]);
    assert_eq!(flaws(vec![others], &[]), ["fault a.b/off-by-one is caught only by warn d, not by a.b"]);
}

#[test]
fn a_variation_may_be_warned_of_for_its_own_clause_alone() {
    let variation = |names: &[&str]| {
        flaws(
            vec![Row::new((Kind::Variation, "a.b/other", "a.b"), &[verdict("x", "c", Verdict::Warn, names)])],
            &[],
        )
    };
    assert_eq!(variation(&["a.b"]), [""; 0]);
    assert_eq!(variation(&["a.b", "d"]), ["false alarm on a.b/other: x warns (a.b, d)"]);
    let clean = Row::new((Kind::Clean, "clean", ""), &[verdict("x", "c", Verdict::Warn, &["a.b"])]);
    assert_eq!(flaws(vec![clean], &[]), ["false alarm on the clean bank: x warns (a.b)"]);
}

#[test]
fn a_testable_clause_without_a_fault_is_a_flaw_when_all_faults_were_tried() {
    let row = fault(&[verdict("a.b/x", "a.b", Verdict::Fail, &[])]);
    assert_eq!(flaws(vec![row.clone()], &["a.b", "c"]), ["no fault violates the clause c"]);
    let matrix = KillMatrix::new(vec![row], ["c".to_owned()].into());
    assert_eq!(matrix.flaws(false, &BTreeMap::new()), []);
}

#[test]
fn the_case_that_alone_catches_a_fault_is_named() {
    let rows = vec![
        fault(&[verdict("a.b/x", "a.b", Verdict::Fail, &[]), verdict("a.b/y", "a.b", Verdict::Fail, &[])]),
        Row::new((Kind::Fault, "c/z", "c"), &[verdict("c/x", "c", Verdict::Fail, &[])]),
    ];
    let matrix = KillMatrix::new(rows, BTreeSet::new());
    assert_eq!(matrix.alone(), BTreeMap::from([("c/x", "c/z")]));
    assert_eq!(
        matrix.cases(&["a.b/x", "c/x", "d/x"]).lines().skip(1).collect::<Vec<_>>(),
        ["a.b/x\t1\t", "c/x\t1\tc/z", "d/x\t0\t"]
    );
    assert!(matrix.totals().starts_with("2 of 2 faults in 2 clauses"));
    assert!(matrix.snapshot().contains("fault\ta.b/off-by-one\tdenied\ta.b/x\n"), "{}", matrix.snapshot());
    assert!(matrix.details().contains("fault\tc/z\tc/x\tc\n"));
    assert!(matrix.summary(&[]).contains("| `c` | 1 | 1 | 1 |"));
    let needs = matrix.needs();
    assert!(needs.contains(
        "1 clauses depend on one case, which alone catches all of their faults:\n\n- `c`: `c/x`\n"
    ));
    assert!(
        needs.contains("1 cases are the only one to catch some fault by its own clause:\n\n- `c/x`: `c/z`\n"),
        "{needs}"
    );
}

#[test]
fn the_summary_counts_by_operator_what_nobody_wrote() {
    let made = |name, verdicts: &[CaseVerdict]| {
        let mut row = Row::new((Kind::Fault, name, "a.b"), verdicts);
        row.operator = Some("limit-one-up".to_owned());
        row
    };
    let denied = made("a.b/one", &[verdict("a.b/x", "a.b", Verdict::Fail, &["a.b"])]);
    let warned = made("a.b/two", &[verdict("a.b/x", "a.b", Verdict::Warn, &["a.b"])]);
    let missed = made("a.b/three", &[verdict("a.b/x", "a.b", Verdict::Pass, &[])]);
    let by_another = made("a.b/four", &[verdict("c/x", "c", Verdict::Fail, &["c"])]);
    let refused = Some(ControlSeen { case: "c/x".to_owned(), accepted: false });
    let unjudged = CaseVerdict { control: refused, ..verdict("a.b/x", "a.b", Verdict::Inconclusive, &[]) };
    let by_plain = made("a.b/five", &[unjudged, verdict("c/x", "c", Verdict::Fail, &["c"])]);
    let written = fault(&[verdict("a.b/x", "a.b", Verdict::Fail, &["a.b"])]);
    let summary = |rows| KillMatrix::new(rows, BTreeSet::new()).summary(&[]);
    let with = summary(vec![denied, warned, missed, by_another, by_plain, written.clone()]);
    assert!(with.contains("| `limit-one-up` | 5 | 1 | 1 | 1 | 1 | 1 |"), "{with}");
    assert!(with.contains("### By area\n") && with.contains("| `a` | 6 | 2 | 1 | 1 | 1 | 1 |"), "{with}");
    assert!(!with.contains("By style"), "{with}");
    let mut in_a_style = written.clone();
    in_a_style.style = Some("strict".to_owned());
    let without = summary(vec![written, in_a_style]);
    assert!(!without.contains("By operator"), "{without}");
    assert!(without.contains("| `strict` | 1 | 1 | 0 | 0 | 0 | 0 |"), "{without}");
}
