//! `ctrf.json`: the Common Test Report Format (ctrf.io, JSON Schema of specification 0.0.0), for dashboards that read many tools.

use chrono::DateTime;
use serde_json::{Value, json};
use xs2aspec_record::{CaseVerdict, Verdict};

use crate::{
    block,
    run::{self, Run},
    text,
};

/// The report of a run.
pub fn report(run: &Run<'_>) -> Value {
    let start = run.start();
    let counts = run.ledger().counts();
    let begin = DateTime::parse_from_rfc3339(&start.now).map_or(0, |time| time.timestamp_millis());
    let took = run.finish().map_or(0, |finish| i64::try_from(finish.micros / 1000).unwrap_or(i64::MAX));
    let of = |verdicts: &[Verdict]| verdicts.iter().map(|word| counts.of(*word)).sum::<usize>();
    let (name, version) = start.tool.split_once(' ').unwrap_or((&start.tool, ""));
    json!({
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {
            "tool": {"name": name, "version": version},
            "summary": {
                "tests": counts.total(),
                "passed": of(&[Verdict::Pass, Verdict::Observed]),
                "failed": of(&[Verdict::Fail]),
                "skipped": of(&[Verdict::NotApplicable, Verdict::Waived]),
                "pending": 0,
                "other": of(&[Verdict::Inconclusive, Verdict::Error]),
                "start": begin,
                "stop": begin.saturating_add(took),
            },
            "tests": run.selected().map(|verdict| test(run, verdict)).collect::<Vec<_>>(),
            "environment": {
                "appName": text::short(&start.target),
                "appVersion": text::short(start.target_version.as_deref().unwrap_or_default()),
                "testEnvironment": text::short(start.environment.as_deref().unwrap_or_default()),
            },
            "extra": {
                "baseUrl": start.base_url, "seed": start.seed, "clock": start.now, "depth": start.depth,
                "suiteSha256": start.suite_sha256, "documentSha256": start.document_sha256,
                "exit": run.exit().code(), "conclusion": run.conclusion(),
            },
        },
    })
}

fn test(run: &Run<'_>, verdict: &CaseVerdict) -> Value {
    let status = match verdict.verdict {
        Verdict::Pass | Verdict::Observed => "passed",
        Verdict::Fail => "failed",
        Verdict::NotApplicable | Verdict::Waived => "skipped",
        Verdict::Inconclusive | Verdict::Error => "other",
    };
    let mut test = json!({
        "name": verdict.case,
        "status": status,
        "duration": verdict.micros / 1000,
        "suite": [verdict.area, verdict.clause],
        "rawStatus": verdict.verdict.word(),
        "filePath": verdict.place.file,
        "line": verdict.place.line,
        "tags": [verdict.operation, run.strength(verdict).word()],
    });
    match verdict.verdict {
        Verdict::Fail => {
            let first = verdict.findings.first();
            test["message"] = text::short(&first.map(run::mismatch).unwrap_or_default()).into();
            test["trace"] = block::of(run, verdict).into();
        }
        Verdict::Pass | Verdict::Observed => {}
        _ => test["message"] = text::short(run::reason(verdict)).into(),
    }
    test
}
