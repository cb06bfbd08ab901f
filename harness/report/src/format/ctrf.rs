//! `ctrf.json`: the Common Test Report Format (ctrf.io, JSON Schema of specification 0.0.0), for dashboards
//! that combine many tools.

use std::io::{self, Write};

use chrono::DateTime;
use serde_json::{Value, json};
use xs2aspec_record::Verdict;

use crate::{
    demanded,
    format::block,
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text, words,
};

/// The report of a run, with one line per test.
#[derive(Debug, Default)]
pub struct Ctrf {
    has_tests: bool,
}

impl Reporter for Ctrf {
    fn begin(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let start = summary.start();
        let (counts, is_denied) = (summary.totals().counts(), summary.totals().denies_warnings());
        let begin = DateTime::parse_from_rfc3339(&start.now).map_or(0, |time| time.timestamp_millis());
        let lasted =
            summary.finish().map_or(0, |finish| i64::try_from(finish.micros / 1000).unwrap_or(i64::MAX));
        let of = |verdicts: &[Verdict]| verdicts.iter().map(|word| counts.of(*word)).sum::<usize>();
        let (name, version) = start.tool.split_once(' ').unwrap_or((&start.tool, ""));
        let tool = json!({"name": name, "version": version});
        let counted = json!({
            "tests": counts.total(),
            "passed": of(&[Verdict::Pass, Verdict::Flaky, Verdict::Observed]) + if is_denied { 0 } else { counts.warn },
            "failed": of(&[Verdict::Fail]) + if is_denied { counts.warn } else { 0 },
            "skipped": of(&[Verdict::NotApplicable, Verdict::Waived]),
            "pending": 0,
            "other": of(&[Verdict::Inconclusive, Verdict::Error]),
            "start": begin,
            "stop": begin.saturating_add(lasted),
            "flaky": counts.flaky,
        });
        let environment = json!({
            "appName": text::short(&start.target),
            "appVersion": text::short(start.target_version.as_deref().unwrap_or_default()),
            "testEnvironment": text::short(start.environment.as_deref().unwrap_or_default()),
        });
        let mut extra = json!({
            "baseUrl": start.base_url, "seed": start.seed, "clock": start.now, "depth": start.depth,
            "suiteSha256": start.suite_sha256, "documentSha256": start.document_sha256,
            "exit": summary.exit().code(),
            "conclusion": format!("{}{}", summary.of_other_cases(text::short), summary.conclusion()),
        });
        for (name, number) in demanded::named(summary) {
            extra[name] = number.into();
        }
        write!(
            out,
            "{{\"reportFormat\":\"CTRF\",\"specVersion\":\"0.0.0\",\"results\":{{\n\"tool\":{tool},\n\"summary\":{counted},\n\
             \"environment\":{environment},\n\"extra\":{extra},\n\"tests\":["
        )
    }

    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let between = if std::mem::replace(&mut self.has_tests, true) { "," } else { "" };
        write!(out, "{between}\n{}", test(summary, report))
    }

    fn finish(&mut self, _: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]}}\n")
    }
}

fn test(summary: &RunSummary, report: &CaseReport<'_>) -> Value {
    let verdict = report.verdict;
    let status = match verdict.verdict {
        Verdict::Pass | Verdict::Flaky | Verdict::Observed => "passed",
        Verdict::Warn if !summary.totals().denies_warnings() => "passed",
        Verdict::Fail | Verdict::Warn => "failed",
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
        "tags": [verdict.operation, summary.strength(verdict).word()],
    });
    if verdict.verdict == Verdict::Flaky {
        test["flaky"] = true.into();
    }
    match verdict.verdict {
        Verdict::Fail | Verdict::Warn => {
            let first = verdict.findings.first();
            let ids: Vec<&str> =
                summary.findings().of_case(verdict).into_iter().map(|found| found.id.as_str()).collect();
            let says = first.map(|first| words::mismatch(words::end(summary.start(), first), first));
            test["message"] = text::short(&says.unwrap_or_default()).into();
            test["extra"] = json!({"findings": ids});
            if let Some(number) = verdict.exchange {
                test["extra"]["request"] = number.into();
            }
            test["trace"] = block::failure_block(summary, report).into();
        }
        Verdict::Pass | Verdict::Observed => {}
        _ => test["message"] = words::why(verdict).into(),
    }
    test
}
