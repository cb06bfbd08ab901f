//! Annotations on the lines of case files, as workflow commands of GitHub Actions (its manual, Workflow commands): `::error file=..,line=..::`.

use std::fmt::Write as _;

use xs2aspec_record::Verdict;

use crate::{run::Run, run::mismatch, text::short};

/// Violations that get a line of their own; a server shows no more than ten of a kind for a step.
const MOST: usize = 50;

/// A line for each violation, and one for each reason for which nothing could be told. What the target wrote cannot end a line or
/// begin a command: it is made harmless first, and then escaped as the manual says.
pub fn github(run: &Run<'_>) -> String {
    let mut lines = String::new();
    for verdict in run.with(Verdict::Fail).take(MOST) {
        let findings: Vec<String> =
            verdict.findings.iter().map(|finding| short(&mismatch(finding))).collect();
        let (file, line) = (property(&verdict.place.file), verdict.place.line);
        let title = property(&format!("{} is broken", verdict.clause));
        let says = message(&format!("{}: {}", verdict.case, findings.join("; ")));
        // Writing to a String cannot fail.
        _ = writeln!(lines, "::error file={file},line={line},title={title}::{says}");
    }
    for word in [Verdict::Inconclusive, Verdict::Error] {
        for (reason, cases) in run.by_reason(word).iter().take(MOST) {
            let says = message(&format!("{} cases could not be judged: {}", cases.len(), short(reason)));
            _ = writeln!(lines, "::warning title={}::{says}", word.word());
        }
    }
    lines
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_hostile_answer_begins_no_command() {
        let mut sample = sample::Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
        verdict.findings[0].actual = "201\n::set-output name=a::b\r\n::error::%0A::add-mask::c".into();
        let events = sample.finished();
        let lines = github(&Run::of(&events).unwrap());
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.starts_with("::error file=cases/"), "{lines}");
        assert!(lines.contains("%250A") && lines.contains("title=periodic.months is broken::"), "{lines}");
    }
}
