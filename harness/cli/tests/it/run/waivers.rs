//! Waivers: a waived case must still fail, and a stale waiver fails the run.

use std::fs;

use tempfile::TempDir;

use crate::support::{command, printed};

/// This fault accepts duplicate months unless they are adjacent.
const FAULT: [&str; 4] =
    ["--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic.months.duplicate"];

struct Ran {
    exit: Option<i32>,
    said: String,
    junit: String,
    summary: String,
}

fn run(waivers: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let waived: Vec<(String, &str)> =
        waivers.iter().map(|(cases, expires)| (format!("cases = \"{cases}\""), *expires)).collect();
    run_with(&waived, arguments)
}

/// Runs with these waivers. Each line after `cases` is written to the file unchanged.
fn run_with(waivers: &[(String, &str)], arguments: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("waivers.toml");
    let entry = |(waived, expires): &(String, &str)| {
        format!(
            "[[waiver]]\n{waived}\nowner = \"payments\"\nreason = \"comes with the next release\"\n\
             ticket = \"T-17\"\nexpires = \"{expires}\"\n"
        )
    };
    fs::write(&file, waivers.iter().map(entry).collect::<Vec<_>>().concat()).unwrap();
    let out = folder.path().join("out");
    let output = command()
        .args(["run", "--quiet", "--now", "2030-01-31T12:00:00Z", "--out"])
        .arg(&out)
        .args(arguments)
        .arg("--waivers")
        .arg(&file)
        .output()
        .unwrap();
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap_or_default();
    let said = printed(&output);
    Ran { exit: output.status.code(), said, junit: read("junit.xml"), summary: read("summary.md") }
}

/// Returns the failing cases of the fault.
fn failing() -> Vec<String> {
    let ran = run(&[], &FAULT);
    assert_eq!(ran.exit, Some(1), "{}", ran.said);
    let cases = ran.junit.split("<testcase name=\"").filter(|case| case.contains("<failure "));
    let failing: Vec<String> =
        cases.filter_map(|case| case.split_once('"')).map(|(case, _)| case.to_owned()).collect();
    assert!(failing.len() > 1, "{}", ran.said);
    failing
}

#[test]
fn what_is_waived_fails_and_the_run_conforms() {
    let failing = failing();
    let each: Vec<(&str, &str)> = failing.iter().map(|case| (case.as_str(), "2030-01-31")).collect();
    let ran = run(&each, &FAULT);
    assert_eq!(ran.exit, Some(0), "{}", ran.said);
    assert!(ran.said.contains("waiver  ") && !ran.said.contains("deny  "), "{}", ran.said);
    assert!(
        ran.said.contains("until 2030-01-31 (payments, T-17): comes with the next release"),
        "{}",
        ran.said
    );
    let skipped = ran.junit.matches("<skipped message=\"waived until 2030-01-31 by payments (T-17)").count();
    assert_eq!(skipped, failing.len());
    assert!(ran.summary.contains("### Waivers") && ran.summary.contains("T-17"));

    // A further violation fails the run, with the entry to paste.
    let ran = run(&each[1..], &FAULT);
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.said.contains("[[waiver]]  # periodic.months.duplicate\nfindings = [\"")
            && ran.said.contains("\"]\nowner = \"\""),
        "{}",
        ran.said
    );
}

/// Returns the `findings = [..]` that a run prints for pasting.
fn pasted(ran: &Ran) -> String {
    let line = ran.said.lines().find(|line| line.starts_with("findings = ["));
    line.unwrap_or_else(|| panic!("{}", ran.said)).to_owned()
}

#[test]
fn a_finding_is_waived_by_its_id_and_what_else_is_wrong_is_not() {
    // With a waiver for other cases, the run prints the entry to paste.
    let ran = run(&[("basket.mix", "2030-02-01")], &FAULT);
    let waived = pasted(&ran);
    assert!(ran.summary.contains(&waived[13..29]), "the id is that of the reports: {waived}");
    let ran = run_with(&[(waived.clone(), "2030-02-01")], &FAULT);
    assert_eq!(ran.exit, Some(0), "{}", ran.said);
    assert!(ran.said.contains("waiver  ") && !ran.said.contains("deny  "), "{}", ran.said);
    assert_eq!(ran.junit.matches("<failure ").count(), 0);
    // Another finding of the same clause fails the run, and the waived one is not shown again.
    let both = [&FAULT[..], &["--fault", "basket.mix/first-payment-only", "--only", "basket.mix"]].concat();
    let ran = run_with(&[(waived.clone(), "2030-02-01")], &both);
    assert_eq!(ran.exit, Some(1), "{}", ran.said);
    assert!(ran.said.contains("deny  basket.mix ") && !ran.said.contains("deny  periodic"), "{}", ran.said);
    // With a pattern, the finding is waived only in these cases.
    let elsewhere = format!("cases = \"basket.mix\"\n{waived}");
    let ran = run_with(&[(elsewhere, "2030-02-01")], &FAULT);
    assert_eq!(ran.exit, Some(1), "{}", ran.said);
}

/// A bank that rejects the control of some cases.
const REJECTS_CONTROLS: [&str; 8] = [
    "--depth",
    "quick",
    "--fault",
    "periodic.months/no-eleven",
    "--only",
    "periodic.months",
    "--only",
    "periodic.months.duplicate",
];

#[test]
fn what_cannot_be_judged_for_a_control_that_is_waived_or_allowed_is_waived_with_it() {
    const CLAUSE: &str = "periodic.months";
    // With another waiver, the run prints the entry to paste.
    let ran = run(&[("basket.mix", "2030-02-01")], &REJECTS_CONTROLS);
    assert!(matches!(ran.exit, Some(1 | 3)), "{}", ran.said);
    assert!(ran.junit.matches("type=\"inconclusive\"").count() > 0, "{}", ran.said);
    let by_id = pasted(&ran);
    let by_clause = format!("cases = \"{CLAUSE}\"");
    let none = "cases = \"basket.mix\"".to_owned();
    for (waived, level) in [(&by_id, None), (&by_clause, None), (&none, Some("-A")), (&none, Some("-W"))] {
        let level = level.map(|option| vec![option, CLAUSE]).unwrap_or_default();
        let ran = run_with(&[(waived.clone(), "2030-02-01")], &[&REJECTS_CONTROLS[..], &level].concat());
        assert_eq!(ran.exit, Some(0), "{waived} {level:?}: {}", ran.said);
        assert_eq!(ran.junit.matches("type=\"inconclusive\"").count(), 0, "{waived} {level:?}");
        assert!(ran.junit.contains("which is waived until") || ran.junit.contains("which is allowed by"));
        // The output does not contradict itself about violations.
        assert!(
            ran.said.contains(" 0 broken") || !ran.said.contains("no clause that was checked is violated")
        );
    }
}

#[test]
fn a_finding_that_is_not_there_any_more_makes_its_waiver_red_in_a_whole_run() {
    let waived = [("findings = [\"0123456789abcdef\"]".to_owned(), "2030-02-01")];
    let ran = run_with(&waived, &["--only", "basket.mix"]);
    assert_eq!(ran.exit, Some(0), "of a part of the cases nobody knows: {}", ran.said);
    let ran = run_with(&waived, &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.said);
    assert!(ran.said.contains("WAIVER  ") && ran.said.contains("matches no finding"), "{}", ran.said);
    let ran = run_with(&[("findings = [\"0123\"]".to_owned(), "2030-02-01")], &[]);
    assert!(ran.exit == Some(2) && ran.said.contains("16 hexadecimal digits"), "{}", ran.said);
}

#[test]
fn what_does_not_hold_is_red_with_its_line() {
    let failing = failing();
    let each: Vec<(&str, &str)> = failing.iter().map(|case| (case.as_str(), "2030-01-31")).collect();
    for (waiver, expected) in [
        (("basket.mix", "2030-02-01"), "is waived"),
        (("periodic.months.duplicate/adjacent", "2030-02-01"), "waives cases that do not fail"),
        (
            ("periodic.months.duplicat", "2030-02-01"),
            "is not a case, clause or area; did you mean `periodic.months.duplicate`?",
        ),
        (("periodic.months.duplicate", "2030-01-30"), "expired on 2030-01-30"),
    ] {
        let mut waivers = each.clone();
        waivers.push(waiver);
        let ran = run(&waivers, &FAULT);
        let place = format!("waivers.toml:{}", each.len() * 6 + 1);
        if waiver.0 == "basket.mix" {
            // The cases of this waiver did not run, so it cannot be judged.
            assert_eq!(ran.exit, Some(0), "{}", ran.said);
            assert!(ran.said.contains("none of its cases was judged"), "{}", ran.said);
            continue;
        }
        assert_eq!(ran.exit, Some(1), "{}", ran.said);
        let line = ran.said.lines().find(|line| line.starts_with("WAIVER  ")).unwrap();
        assert!(line.contains(expected) && line.contains(&place), "{line}");
        assert!(ran.said.contains("does not conform: a waiver is stale"), "{}", ran.said);
    }
}

#[test]
fn a_file_that_is_none_is_refused_before_anything_is_sent() {
    let ran = run(&[("basket.mix", "soon")], &[]);
    assert_eq!(ran.exit, Some(2));
    assert!(
        ran.said.contains("waivers.toml:1:1: `expires`: expected a day such as \"2027-01-31\""),
        "{}",
        ran.said
    );
    assert!(ran.junit.is_empty());
}
