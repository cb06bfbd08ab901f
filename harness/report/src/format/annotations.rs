//! Annotations on the lines of case files, as workflow commands of GitHub Actions (its manual, Workflow
//! commands): `::error file=..,line=..::`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use xs2aspec_record::Verdict;

use crate::{
    format::groups::Groups,
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::short,
    words::mismatch,
};

/// Violations that get a line of their own; a server shows no more than ten of a kind for a step.
const MOST: usize = 50;

/// A line for each violation, and one for each reason for which nothing could be report. What the target
/// wrote cannot end a line or begin a command: it is made harmless first, and then escaped as the manual
/// says.
#[derive(Debug, Default)]
pub struct Github {
    errors: Vec<String>,
    unjudged: BTreeMap<Verdict, Groups>,
}

impl Reporter for Github {
    fn case(&mut self, _: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        match verdict.verdict {
            Verdict::Fail if self.errors.len() < MOST => {
                let findings: Vec<String> =
                    verdict.findings.iter().map(|finding| short(&mismatch(finding))).collect();
                let (file, line) = (property(&verdict.place.file), verdict.place.line);
                let title = property(&format!("{} is broken", verdict.clause));
                let says = message(&format!("{}: {}", verdict.case, findings.join("; ")));
                self.errors.push(format!("::error file={file},line={line},title={title}::{says}\n"));
            }
            Verdict::Inconclusive | Verdict::Error => {
                self.unjudged.entry(verdict.verdict).or_default().add_reason(verdict);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = self.errors.concat();
        for (word, groups) in &self.unjudged {
            for (reason, group) in groups.by_times().into_iter().take(MOST) {
                let says = message(&format!("{} cases could not be judged: {}", group.times, short(reason)));
                // Writing to a String cannot fail.
                _ = writeln!(lines, "::warning title={}::{says}", word.word());
            }
        }
        out.write_all(lines.as_bytes())
    }
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
        let run = crate::Run::of(&events).unwrap();
        let lines = String::from_utf8(run.draw(&mut Github::default())).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.starts_with("::error file=cases/"), "{lines}");
        assert!(lines.contains("%250A") && lines.contains("title=periodic.months is broken::"), "{lines}");
    }
}
