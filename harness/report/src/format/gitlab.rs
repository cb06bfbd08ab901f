//! `gl-code-quality-report.json`: findings as code quality of GitLab (its manual, Code Quality, "Implement a
//! custom tool"). Merge requests show what is new in it.

use std::io::{self, Write};

use serde_json::{Value, json};
use xs2aspec_record::{Level, outputs};

use crate::{
    findings::Found,
    reporter::Reporter,
    summary::RunSummary,
    text::{harmless, short},
};

/// The findings of a run. It writes everything at the end.
#[derive(Debug, Default)]
pub struct Gitlab;

impl Reporter for Gitlab {
    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let all: Vec<Value> = summary.findings().all().iter().map(|found| entry(summary, found)).collect();
        serde_json::to_writer_pretty(&mut *out, &all)?;
        out.write_all(b"\n")
    }
}

/// Returns the entry of a finding. GitLab compares entries by their fingerprint.
fn entry(summary: &RunSummary, found: &Found) -> Value {
    let is_denied = found.level() == Level::Warn && summary.totals().denies_warnings();
    let severity = match found.level() {
        Level::Deny => "major",
        Level::Warn if is_denied => "major",
        Level::Warn => "minor",
        Level::Note => "info",
    };
    // GitLab requires a file. Without a profile, it is the record of the run.
    let place = summary.place(found);
    let (file, line) =
        place.map_or_else(|| (outputs::RECORD.to_owned(), 1), |place| (place.file, place.line));
    let says = summary.clause(&found.clause).map_or("", |clause| clause.says.as_str());
    let cases = match found.witnesses() {
        1 => "1 case".to_owned(),
        cases => format!("{cases} cases"),
    };
    json!({
        "description": format!("{} Found: {} ({cases})", short(says), short(&found.root.mismatch)),
        "check_name": harmless(&found.clause),
        "fingerprint": found.id,
        "severity": severity,
        "location": {"path": harmless(&file), "lines": {"begin": line.max(1)}},
    })
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{LevelRule, LevelSource, Verdict};

    use super::*;
    use crate::{
        Run,
        sample::{self, Sample},
    };

    /// Returns what is wrong with an entry, by the description of the format: required keys, their types, the
    /// five severities, a relative path and a line.
    fn wrong(entry: &Value) -> Option<&'static str> {
        let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let line = entry.pointer("/location/lines/begin").and_then(Value::as_u64).unwrap_or_default();
        let is_relative = !text("/location/path").starts_with(['/', '.']);
        [
            (text("/description").is_empty(), "description"),
            (text("/check_name").is_empty(), "check_name"),
            (text("/fingerprint").is_empty(), "fingerprint"),
            (!["info", "minor", "major", "critical", "blocker"].contains(&text("/severity")), "severity"),
            (text("/location/path").is_empty() || !is_relative, "location.path"),
            (line == 0, "location.lines.begin"),
        ]
        .into_iter()
        .find(|(is_wrong, _)| *is_wrong)
        .map(|(_, what)| what)
    }

    fn drawn(sample: &Sample) -> Vec<Value> {
        let run = Run::of(&sample.finished()).unwrap();
        serde_json::from_slice(&run.draw(&mut Gitlab)).unwrap()
    }

    #[test]
    fn each_finding_is_an_entry_on_a_line_of_the_profile() {
        let mut sample = Sample::new(3);
        sample.verdict("ncbct.name/a", Verdict::Warn);
        sample.verdict("periodic.months/one", Verdict::Fail);
        sample.verdict("periodic.months/two", Verdict::Fail);
        let entries = drawn(&sample);
        let told: Vec<(&str, &str, &str)> = entries
            .iter()
            .map(|entry| {
                let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap();
                (text("/check_name"), text("/severity"), text("/location/path"))
            })
            .collect();
        assert_eq!(
            told,
            [("periodic.months", "major", "my bank.toml"), ("ncbct.name", "minor", "my bank.toml")]
        );
        assert!(entries[0]["description"].as_str().unwrap().ends_with("(2 cases)"), "{entries:?}");
        assert_ne!(entries[0]["fingerprint"], entries[1]["fingerprint"]);
        let pattern = LevelRule::WARNINGS.to_owned();
        sample.start().levels = vec![LevelRule { pattern, level: Level::Deny, by: LevelSource::Profile }];
        sample.start().arguments.clear();
        let entries = drawn(&sample);
        assert!(entries.iter().all(|entry| entry["severity"] == "major"), "{entries:?}");
        assert!(entries.iter().all(|entry| entry["location"]["path"] == "record.jsonl"), "{entries:?}");
    }

    #[test]
    fn what_is_written_has_the_form_that_gitlab_describes() {
        for events in [sample::mixed(), sample::hostile()] {
            let run = Run::of(&events).unwrap();
            let drawn = run.draw(&mut Gitlab);
            let entries: Vec<Value> = serde_json::from_slice(&drawn).unwrap();
            assert!(!entries.is_empty());
            assert_eq!(entries.iter().find_map(wrong), None, "{entries:?}");
        }
        let good = json!({
            "description": "a", "check_name": "b", "fingerprint": "c", "severity": "minor",
            "location": {"path": "bank.toml", "lines": {"begin": 1}},
        });
        assert_eq!(wrong(&good), None);
        for (pointer, value, expected) in [
            ("/severity", json!("error"), "severity"),
            ("/location/path", json!("./bank.toml"), "location.path"),
            ("/location/lines/begin", json!("1"), "location.lines.begin"),
            ("/fingerprint", json!(null), "fingerprint"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            assert_eq!(wrong(&bad), Some(expected));
        }
        let passing = {
            let mut sample = Sample::new(1);
            sample.verdict("periodic.months/one", Verdict::Pass);
            drawn(&sample)
        };
        assert!(passing.is_empty());
    }
}
