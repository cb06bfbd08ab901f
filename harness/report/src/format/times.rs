//! Response times of a target: by operation, and those that exceed the limit of the profile.

use std::fmt::Write as _;

use xs2aspec_record::{OperationTimes, Times};

use crate::{
    summary::RunSummary,
    text::{self, duration, harmless},
};

/// The columns of a table of times, after the operation.
pub(crate) const COLUMNS: [&str; 5] = ["responses", "p50", "p95", "p99", "largest"];

/// Returns the times of a finished run.
fn times(summary: &RunSummary) -> Option<&Times> {
    summary.finish().map(|finish| &finish.times).filter(|times| !times.is_empty())
}

/// Returns each operation with the cells of its row. The result is empty if nothing was measured.
pub(crate) fn rows(summary: &RunSummary) -> Vec<(String, [String; 5])> {
    let cells = |one: &OperationTimes| {
        let [p50, p95, p99, largest] = [one.p50, one.p95, one.p99, one.largest].map(duration);
        (harmless(&one.operation), [one.answers.to_string(), p50, p95, p99, largest])
    };
    times(summary).map(|times| times.operations.iter().map(cells).collect()).unwrap_or_default()
}

/// Returns the limit of the profile and a line for each operation that exceeded it, or None if none did.
pub(crate) fn too_slow(summary: &RunSummary) -> Option<(String, Vec<String>)> {
    let times = times(summary).filter(|times| times.slow() > 0)?;
    let limit = duration(times.slow_ms?.saturating_mul(1000));
    let slow = text::count(usize::try_from(times.slow()).unwrap_or(usize::MAX), "response");
    let heading = format!(
        "{slow} took longer than `[limits] slow-ms` of the profile allows ({limit}); the document sets no limit"
    );
    let lines = times.operations.iter().filter(|one| one.slow > 0).map(|one| {
        format!(
            "{}: {} of {} responses, up to {}, for example in {}",
            harmless(&one.operation),
            one.slow,
            one.answers,
            duration(one.largest),
            one.slow_cases.iter().map(|case| harmless(case)).collect::<Vec<_>>().join(", ")
        )
    });
    Some((heading, lines.collect()))
}

/// Renders the warning about slow responses as a block for the terminal.
pub(crate) fn block(summary: &RunSummary) -> Option<String> {
    let (heading, lines) = too_slow(summary)?;
    let mut shown = format!("warn  {}    {heading}\n", Times::LIMIT);
    for line in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(shown, "   | {line}");
    }
    shown.push('\n');
    Some(shown)
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Event, Verdict};

    use crate::{
        Run,
        format::{
            Report,
            terminal::{Scope, Terminal},
        },
        sample::{self, Sample},
    };

    /// Returns a run with one request that took longer than its profile allows, and longer than the others.
    fn slow() -> Vec<Event> {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Pass);
        let mut events = sample.finished();
        let Some(Event::RunFinished(finish)) = events.last_mut() else { panic!("no end") };
        let times = &mut finish.times;
        times.slow_ms = Some(10);
        times.operations[0].slow = 1;
        times.operations[0].slow_cases = vec!["periodic.months/<i>|\u{1b}".to_owned()];
        events
    }

    fn drawn(events: &[Event], report: Report) -> String {
        let run = Run::of(events).unwrap();
        String::from_utf8(run.draw(report.reporter(None).unwrap().as_mut())).unwrap()
    }

    #[test]
    fn the_terminal_warns_of_what_is_slow_by_the_profile() {
        let run = Run::of(&slow()).unwrap();
        let shown =
            String::from_utf8(run.draw(&mut Terminal::new(Scope { is_verbose: true, ..Scope::default() })))
                .unwrap();
        let (attention, rest) = shown.split_once("0 violations, 1 warning\n").unwrap();
        insta::assert_snapshot!(attention.trim_end(), @r#"
        warn  limits.slow-ms    1 response took longer than `[limits] slow-ms` of the profile allows (10 ms); the document sets no limit
           | periodic: 1 of 1 responses, up to 12 ms, for example in periodic.months/<i>|\u{1b}
        "#);
        insta::assert_snapshot!(rest.trim_start().lines().take(2).collect::<Vec<_>>().join("\n"), @r"
        operation  pass  fail  total    p50    p95  largest
        periodic      1     0      1  12 ms  12 ms    12 ms
        ");
    }

    #[test]
    fn the_files_say_it_as_text() {
        let page = drawn(&slow(), Report::Markdown);
        for line in [
            "| time | responses | p50 | p95 | p99 | largest |",
            "| `periodic` | 1 | 12 ms | 12 ms | 12 ms | 12 ms |",
            "### Slower than the profile allows",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        let html = drawn(&slow(), Report::Html);
        assert!(html.contains("slow-ms"), "{html}");
        for page in [page, html] {
            assert!(!page.contains('\u{1b}'), "{page}");
        }
    }

    #[test]
    fn what_an_older_record_says_of_slow_values_is_left_out() {
        let mut lines = Vec::new();
        for event in slow() {
            let mut line = serde_json::to_value(event).unwrap();
            if let Some(operation) = line.pointer_mut("/times/operations/0") {
                let slow = serde_json::json!([{"change": "header/Digest", "answers": 3, "least": 85_000}]);
                operation["slow-for"] = slow;
            }
            lines.push(line);
        }
        assert!(lines.iter().any(|line| line.to_string().contains("header/Digest")));
        let events: Vec<Event> =
            lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
        let terminal = Run::of(&events).unwrap().draw(&mut Terminal::default());
        assert!(!String::from_utf8(terminal).unwrap().contains("header/Digest"));
        for report in [Report::Markdown, Report::Html] {
            assert!(!drawn(&events, report).contains("header/Digest"), "{report:?}");
        }
    }

    #[test]
    fn a_record_without_times_says_nothing_of_them() {
        let mut events = sample::mixed();
        for event in &mut events {
            if let Event::RunFinished(finish) = event {
                finish.times = xs2aspec_record::Times::default();
            }
        }
        assert!(!drawn(&events, Report::Markdown).contains("p95"));
    }
}
