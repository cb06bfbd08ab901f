//! Annotations on the lines of the user's files, as workflow commands of GitHub Actions (its manual, Workflow
//! commands): `::error file=..,line=..::`.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use xs2aspec_record::{Level, Reason, Verdict};

use crate::{
    findings::Found,
    format::groups::Groups,
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{harmless, short},
};

/// Limit of the annotated findings of a level. GitHub shows at most ten of a kind per step.
const MOST: usize = 50;

/// Writes a line for each finding, and one for each reason that left cases without a verdict. Text from the
/// target cannot end a line or begin a command: it is made harmless first, and then escaped as the manual
/// requires.
#[derive(Debug, Default)]
pub struct Github {
    unjudged: BTreeMap<Verdict, Groups<Reason>>,
}

impl Reporter for Github {
    fn case(&mut self, _: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        if matches!(verdict.verdict, Verdict::Inconclusive | Verdict::Error) {
            self.unjudged.entry(verdict.verdict).or_default().add_reason(verdict);
        }
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let denied = summary.totals().denies_warnings();
        let warning = if denied { "error" } else { "warning" };
        let mut lines = String::new();
        for (level, command, what) in
            [(Level::Deny, "error", "is violated"), (Level::Warn, warning, "has a warning")]
        {
            for found in summary.findings().of(level).take(MOST) {
                lines.push_str(&line(summary, command, what, found));
            }
        }
        for (word, groups) in &self.unjudged {
            for (reason, group) in groups.by_times().into_iter().take(MOST) {
                let says = message(&format!("not judged (cases: {}): {}", group.times, short(&reason)));
                // Writing to a String cannot fail.
                _ = writeln!(lines, "::warning title={}::{says}", word.word());
            }
        }
        out.write_all(lines.as_bytes())
    }
}

/// Returns the line of a finding, with its place in a file of the user, if there is one.
fn line(summary: &RunSummary, command: &str, what: &str, found: &Found) -> String {
    let witness = &found.root.witness;
    let place = summary.place(found);
    let place = place.map(|place| format!("file={},line={},", property(&harmless(&place.file)), place.line));
    let place = place.unwrap_or_default();
    let title = property(&format!("{} {what}", found.clause));
    let more = match found.witnesses() {
        1 => String::new(),
        witnesses => format!(" ({witnesses} cases)"),
    };
    let request = found.root.request.map(|number| format!(", request {number}")).unwrap_or_default();
    let sent = found.root.changes.first().map(|change| format!(" (sent {})", short(change)));
    let (mismatch, sent) = (short(&found.root.mismatch), sent.unwrap_or_default());
    let says = message(&format!("{}{request}: {mismatch}{sent}{more}", witness.case));
    format!("::{command} {place}title={title}::{says}\n")
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Level, LevelRule, LevelSource};

    use super::*;
    use crate::sample;

    #[test]
    fn a_warning_is_one_on_the_line_of_the_profile_unless_warnings_are_denied() {
        let mut sample = sample::Sample::new(2);
        sample.verdict("ncbct.name/a", Verdict::Warn);
        sample.verdict("periodic.months/one", Verdict::Fail);
        let commands = |sample: &sample::Sample| -> Vec<String> {
            let run = crate::Run::of(&sample.finished()).unwrap();
            let lines = String::from_utf8(run.draw(&mut Github::default())).unwrap();
            lines.lines().map(|line| line.rsplitn(2, "::").last().unwrap_or_default().to_owned()).collect()
        };
        let file = "file=my bank.toml,line=1,title=periodic.months is violated";
        let other = "file=my bank.toml,line=1,title=ncbct.name has a warning";
        assert_eq!(commands(&sample), [format!("::error {file}"), format!("::warning {other}")]);
        let pattern = LevelRule::WARNINGS.to_owned();
        sample.start().levels = vec![LevelRule { pattern, level: Level::Deny, by: LevelSource::Profile }];
        assert_eq!(commands(&sample), [format!("::error {file}"), format!("::error {other}")]);
        sample.start().arguments = vec!["--target".to_owned(), "http://127.0.0.1".to_owned()];
        assert_eq!(commands(&sample)[0], "::error title=periodic.months is violated");
    }

    #[test]
    fn a_hostile_answer_begins_no_command() {
        let mut sample = sample::Sample::new(1);
        let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
        verdict.findings[0].actual = "201\n::set-output name=a::b\r\n::error::%0A::add-mask::c".into();
        let events = sample.finished();
        let run = crate::Run::of(&events).unwrap();
        let lines = String::from_utf8(run.draw(&mut Github::default())).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.starts_with("::error file=my bank.toml,"), "{lines}");
        assert!(lines.contains("%250A") && lines.contains("title=periodic.months is violated::"), "{lines}");
    }
}
