//! Waivers: what is waived must still fail, and what no longer holds is red.

use std::fs;

use tempfile::TempDir;

use crate::support::{command, printed};

/// The duplicate months of this fault are accepted where they do not stand side by side.
const FAULT: [&str; 4] =
    ["--fault", "periodic.months.duplicate/only-adjacent", "--only", "periodic.months.duplicate"];

struct Ran {
    exit: Option<i32>,
    said: String,
    junit: String,
    summary: String,
}

fn run(waivers: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("waivers.toml");
    let entry = |(cases, expires): &(&str, &str)| {
        format!(
            "[[waiver]]\ncases = \"{cases}\"\nowner = \"payments\"\nreason = \"comes with the next release\"\n\
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

/// The failing cases of the fault.
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

    // A further violation is red, with the entry to paste.
    let ran = run(&each[1..], &FAULT);
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.said.contains("[[waiver]]\ncases = \"periodic.months.duplicate\"\nowner = \"\""),
        "{}",
        ran.said
    );
}

#[test]
fn what_does_not_hold_is_red_with_its_line() {
    let failing = failing();
    let each: Vec<(&str, &str)> = failing.iter().map(|case| (case.as_str(), "2030-01-31")).collect();
    for (waiver, expected) in [
        (("basket.mix", "2030-02-01"), "is waived"),
        (("periodic.months.duplicate/adjacent", "2030-02-01"), "waives what does not fail"),
        (
            ("periodic.months.duplicat", "2030-02-01"),
            "is no case, clause or area; did you mean `periodic.months.duplicate`?",
        ),
        (("periodic.months.duplicate", "2030-01-30"), "has expired on 2030-01-30"),
    ] {
        let mut waivers = each.clone();
        waivers.push(waiver);
        let ran = run(&waivers, &FAULT);
        let place = format!("waivers.toml:{}", each.len() * 6 + 1);
        if waiver.0 == "basket.mix" {
            // Not asked for in this run: nothing can be said of it.
            assert_eq!(ran.exit, Some(0), "{}", ran.said);
            assert!(ran.said.contains("none of its cases was judged"), "{}", ran.said);
            continue;
        }
        assert_eq!(ran.exit, Some(1), "{}", ran.said);
        let line = ran.said.lines().find(|line| line.starts_with("WAIVER  ")).unwrap();
        assert!(line.contains(expected) && line.contains(&place), "{line}");
        assert!(ran.said.contains("does not conform: a waiver does not hold"), "{}", ran.said);
    }
}

#[test]
fn a_file_that_is_none_is_refused_before_anything_is_sent() {
    let ran = run(&[("basket.mix", "soon")], &[]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.said.contains("waivers.toml:1:1: `expires` is a day such as \"2027-01-31\""), "{}", ran.said);
    assert!(ran.junit.is_empty());
}
