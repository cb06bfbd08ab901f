//! The outcome of one run, read from the published results: the exit code and the SARIF log.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

/// The exit code, and the clauses of violations and warnings in the order of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// None if a signal ended the program.
    pub(super) exit: Option<i32>,
    /// Clause of each violation, the root cause first.
    pub(super) violated: Vec<String>,
    /// Clause of each warning.
    pub(super) warned: Vec<String>,
    /// The clause that the run must find, if it repeats a violation of another run.
    pub(super) repeats: Option<String>,
    /// The command that reruns each finding, with its clause if it is a violation.
    pub(super) again: Vec<(Option<String>, String)>,
    /// The error that the program printed, if it did not run.
    pub(super) complaint: String,
}

impl Outcome {
    /// Reads the outcome of a run that wrote its reports into `folder`.
    pub(super) fn read(output: &Output, folder: &Path) -> Self {
        let sarif = fs::read(folder.join("results.sarif")).unwrap_or_default();
        let log: Value = serde_json::from_slice(&sarif).unwrap_or_default();
        Self {
            exit: output.status.code(),
            violated: rules(&log, "error"),
            warned: rules(&log, "warning"),
            repeats: None,
            again: again(&log),
            complaint: complaint(output),
        }
    }

    /// Returns the error in the outcome on a conforming bank, if there is one.
    pub(super) fn accusation(&self) -> Option<String> {
        match self.exit {
            Some(0 | 3 | 4) => None,
            Some(1) => Some(format!("accused of {}", shortened(&self.violated))),
            _ => Some(self.broken()),
        }
    }

    /// Returns the error in the outcome on a bank with a fault that is denied as `expected` without the
    /// condition, if there is one.
    pub(super) fn acquittal(&self, expected: &str) -> Option<String> {
        match self.exit {
            Some(1) if self.violated.first().is_none_or(|first| first == expected) => None,
            Some(1) => Some(format!("{} instead of {expected}", shortened(&self.violated))),
            Some(3) => None,
            Some(0 | 4) => Some(format!("conforms instead of {expected}")),
            _ => Some(self.broken()),
        }
    }

    /// Returns the error in the runs of a bank with a fault that is denied as `expected` without the
    /// condition, if there is one. The last run counts, unless the runs repeat violations.
    pub(super) fn acquittal_of(outcomes: &[Self], expected: &str) -> Option<String> {
        let repeated = |outcome: &Self| Some(outcome.acquittal(outcome.repeats.as_deref()?));
        let repeated: Vec<_> = outcomes.iter().filter_map(repeated).collect();
        if repeated.is_empty() {
            return outcomes.last()?.acquittal(expected);
        }
        repeated.into_iter().flatten().next()
    }

    fn broken(&self) -> String {
        match self.exit {
            Some(code) => format!("exit code {code}: {}", self.complaint),
            None => "ended by a signal".to_owned(),
        }
    }
}

/// Returns the first line that the program printed as an error.
fn complaint(output: &Output) -> String {
    let printed = String::from_utf8_lossy(&output.stderr);
    let error = printed.lines().find(|line| line.contains("error")).or_else(|| printed.lines().next());
    error.unwrap_or_default().to_owned()
}

/// Returns the results that no waiver suppresses.
fn results(log: &Value) -> impl Iterator<Item = &Value> {
    let all = log["runs"][0]["results"].as_array().into_iter().flatten();
    all.filter(|result| result.get("suppressions").is_none())
}

/// Returns the rules of the results with this level.
fn rules(log: &Value, level: &str) -> Vec<String> {
    let of_level = results(log).filter(|result| result["level"] == level);
    of_level.filter_map(|result| Some(result["ruleId"].as_str()?.to_owned())).collect()
}

/// Returns the command that reruns each result, with its rule if it is a violation.
fn again(log: &Value) -> Vec<(Option<String>, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let violated = |result: &Value| text(&result["ruleId"]).filter(|_| result["level"] == "error");
    let command = |result| Some((violated(result), text(&result["properties"]["again"])?));
    results(log).filter_map(command).collect()
}

/// Joins the first few names.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 if names.is_empty() => "a clause that no report names".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(exit: i32, violated: &[&str]) -> Outcome {
        let violated = violated.iter().map(|clause| (*clause).to_owned()).collect();
        Outcome { exit: Some(exit), violated, ..Outcome::default() }
    }

    #[test]
    fn a_conforming_bank_is_accused_by_exit_code_1_alone() {
        for (exit, is_accused) in [(0, false), (1, true), (2, true), (3, false), (4, false), (101, true)] {
            assert_eq!(outcome(exit, &["a"]).accusation().is_some(), is_accused, "exit code {exit}");
        }
    }

    #[test]
    fn a_fault_is_acquitted_by_conforming_and_by_another_first_finding() {
        let table = [
            (0, &["a"][..], true),
            (1, &["a", "b"], false),
            (1, &["b", "a"], true),
            (1, &[], false),
            (3, &[], false),
            (4, &[], true),
        ];
        for (exit, violated, is_wrong) in table {
            assert_eq!(outcome(exit, violated).acquittal("a").is_some(), is_wrong, "{exit} {violated:?}");
        }
    }

    #[test]
    fn of_several_runs_the_last_is_judged_and_of_repetitions_each() {
        let of = |clause: &str, outcome| Outcome { repeats: Some(clause.to_owned()), ..outcome };
        let acquittal = |outcomes: &[Outcome]| Outcome::acquittal_of(outcomes, "a").is_some();
        assert!(acquittal(&[outcome(1, &["a"]), outcome(0, &[])]));
        assert!(!acquittal(&[outcome(0, &[]), outcome(1, &["a"])]));
        assert!(!acquittal(&[
            of("a", outcome(1, &["a"])),
            of("b", outcome(1, &["b", "a"])),
            outcome(0, &[])
        ]));
        assert!(acquittal(&[of("a", outcome(0, &[])), of("b", outcome(1, &["b"]))]));
        assert!(acquittal(&[of("a", outcome(1, &["a"])), of("b", outcome(1, &["a"]))]));
    }

    #[test]
    fn results_that_a_waiver_suppresses_are_none() {
        let log = json!({"runs": [{"results": [
            {"ruleId": "w", "level": "warning"},
            {"ruleId": "b", "level": "error"},
            {"ruleId": "s", "level": "error", "suppressions": [{}]},
            {"ruleId": "a", "level": "error"},
        ]}]});
        assert_eq!(rules(&log, "error"), ["b", "a"]);
        assert_eq!(rules(&log, "warning"), ["w"]);
        assert_eq!(rules(&json!({}), "error"), [""; 0]);
        let log = json!({"runs": [{"results": [
            {"ruleId": "a", "level": "error", "properties": {"again": "one"}},
            {"ruleId": "b", "level": "error", "properties": {}},
            {"ruleId": "w", "level": "warning", "properties": {"again": "two"}},
        ]}]});
        assert_eq!(again(&log), [(Some("a".to_owned()), "one".to_owned()), (None, "two".to_owned())]);
    }
}
