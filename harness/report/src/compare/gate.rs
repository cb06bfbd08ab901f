//! The gate of a pipeline: fails only for what an earlier run does not have.

use std::collections::BTreeSet;

use xs2aspec_record::{Changes, ClauseState, Exit, Level, WaiverSeen, finding_id::printed};

use crate::{
    summary::RunSummary,
    text::{self, harmless},
};

/// Limit of the findings and clauses that the line names.
const NAMED: usize = 5;

/// The result of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code.
    pub exit: Exit,
    /// The reason, in one line.
    pub says: String,
}

/// Returns the result for a run and its changes from an earlier run. New violations fail it, and new warnings
/// if they are denied here or by the run. So do new stale waivers. A run that is incomplete passes if the
/// earlier run was incomplete for the same reasons.
pub fn outcome(base: &RunSummary, head: &RunSummary, changes: &Changes, denies_warnings: bool) -> Outcome {
    let denies_warnings = denies_warnings || head.totals().denies_warnings();
    let least = if denies_warnings { Level::Warn } else { Level::Deny };
    if changes.is_red(denies_warnings) {
        let is_told = |id: &String| changes.levels.get(id).is_none_or(|level| *level >= least);
        let new: Vec<String> = changes
            .new_findings
            .iter()
            .filter(|(id, _)| is_told(id))
            .map(|(id, says)| {
                let clause = says.split(':').next().unwrap_or_default();
                format!("{} {}", printed(id), harmless(clause))
            })
            .collect();
        return failed(
            Exit::Violation,
            &format!("{}: {}", text::count(new.len(), "new finding"), named(&new)),
        );
    }
    let stale = |summary: &RunSummary| -> BTreeSet<String> {
        let red = summary.waivers().iter().filter(|waiver| waiver.is_red());
        red.map(WaiverSeen::named).collect()
    };
    let stale: Vec<String> = stale(head).difference(&stale(base)).map(|waiver| harmless(waiver)).collect();
    if !stale.is_empty() {
        return failed(Exit::Violation, &format!("newly stale waivers: {}", named(&stale)));
    }
    if !head.complete() {
        return failed(Exit::CouldNotTell, "the run did not finish");
    }
    if head.exit() == Exit::NothingRan {
        return failed(Exit::NothingRan, "nothing ran");
    }
    match incomplete(base, head, changes) {
        Err(why) => failed(Exit::CouldNotTell, &why),
        Ok(same) => {
            let known = head.findings().of(Level::Deny).count();
            let known = match known {
                0 => "no violation".to_owned(),
                1 => "1 known violation remains".to_owned(),
                known => format!("{known} known violations remain"),
            };
            let says = format!("gate passed: no new finding; {known}{same}");
            Outcome { exit: Exit::Conforms, says }
        }
    }
}

fn failed(exit: Exit, why: &str) -> Outcome {
    Outcome { exit, says: format!("gate failed: {why}") }
}

/// Returns an error with what is incomplete only now, or else what is incomplete as before.
fn incomplete(base: &RunSummary, head: &RunSummary, changes: &Changes) -> Result<String, String> {
    let open = |summary: &RunSummary| -> BTreeSet<String> {
        let states = summary.totals().clauses().states();
        let open = states.filter(|(_, state)| *state == ClauseState::NotAsked);
        open.map(|(clause, _)| clause.to_owned()).collect()
    };
    let (before, now) = (open(base), open(head));
    let new: Vec<String> = now.difference(&before).map(|clause| harmless(clause)).collect();
    if !new.is_empty() {
        let clauses = if new.len() == 1 { "clause" } else { "clauses" };
        let told = "newly not tested or inconclusive";
        return Err(format!("{} required {clauses} {told}: {}", new.len(), named(&new)));
    }
    let totals = head.totals();
    if totals.is_flaky() && !base.totals().is_flaky() {
        return Err("more than 1 % of the cases are flaky".to_owned());
    }
    let unjudged = totals.counts().error + totals.demanded_inconclusive();
    let lost: Vec<String> = changes.newly_not_assessed.iter().map(|(case, _)| harmless(case)).collect();
    if unjudged > 0 && !lost.is_empty() {
        let cases = text::count(lost.len(), "case");
        return Err(format!("{cases} judged before and not now: {}", named(&lost)));
    }
    Ok(match now.len() {
        0 if unjudged == 0 && !totals.is_flaky() => String::new(),
        0 => "; incomplete for the same reasons as before".to_owned(),
        clauses => format!(
            "; incomplete for the same reasons as before: {clauses} of {} required clauses",
            head.demanded().total()
        ),
    })
}

/// Returns the first few names, separated by commas.
fn named(names: &[String]) -> String {
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ") + &more
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{
        Absence, Event, LevelRule, LevelSource, RecordReader, RecordWriter, Verdict, finding_id::PRINTED,
    };

    use super::*;
    use crate::{compare::diff, sample::Sample, stream};

    fn written(events: &[Event]) -> Vec<u8> {
        let mut writer = RecordWriter::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        writer.finish().unwrap()
    }

    fn gate(base: &[Event], head: &[Event]) -> (u8, String) {
        let (base, head) = (written(base), written(head));
        let record = |bytes: &'static [u8]| RecordReader::new(std::io::Cursor::new(bytes));
        let (base, head): (&'static [u8], &'static [u8]) = (base.leak(), head.leak());
        let changes = diff::diff(record(base), record(head)).unwrap();
        let summary = |bytes| stream::summary(record(bytes)).unwrap();
        let Outcome { exit, says } = outcome(&summary(base), &summary(head), &changes, false);
        (exit.code(), says)
    }

    /// Returns a run with these verdicts. A case that does not apply lacks a line of the profile.
    fn ran(verdicts: &[(&str, Verdict)]) -> Sample {
        let mut sample = Sample::new(verdicts.len());
        for (case, verdict) in verdicts {
            let one = sample.verdict(case, *verdict);
            if *verdict == Verdict::NotApplicable {
                one.absence = Some(Absence::NotSaid { add: "line = 1".into() });
            }
        }
        sample
    }

    #[test]
    fn only_what_is_new_fails() {
        use Verdict::{Fail, Inconclusive, NotApplicable, Pass, Warn};
        let (one, name) = ("periodic.months/one", "basket.mix/n");
        for (base, head, exit, says) in [
            (vec![(one, Pass)], vec![(one, Pass)], 0, "gate passed: no new finding; no violation"),
            (
                vec![(one, Fail)],
                vec![(one, Fail)],
                0,
                "gate passed: no new finding; 1 known violation remains",
            ),
            (vec![(one, Pass)], vec![(one, Warn)], 0, "gate passed: no new finding; no violation"),
            (
                vec![(name, NotApplicable), (one, Pass)],
                vec![(name, NotApplicable), (one, Fail)],
                1,
                "gate failed: 1 new finding: ID periodic.months",
            ),
            (
                vec![(name, NotApplicable), (one, Fail)],
                vec![(name, NotApplicable), (one, Fail)],
                0,
                "gate passed: no new finding; 1 known violation remains; incomplete for the same reasons as \
                 before: 1 of 7 required clauses",
            ),
            (
                vec![(name, Pass), (one, Pass)],
                vec![(name, NotApplicable), (one, Pass)],
                3,
                "gate failed: 1 required clause newly not tested or inconclusive: basket.mix",
            ),
            (
                vec![(name, Pass), (one, Fail)],
                vec![(name, Inconclusive), (one, Fail)],
                3,
                "gate failed: 1 required clause newly not tested or inconclusive: basket.mix",
            ),
            (
                vec![(one, Fail), ("periodic.months/two", Pass)],
                vec![(one, Fail), ("periodic.months/two", Inconclusive)],
                3,
                "gate failed: 1 case judged before and not now: periodic.months/two",
            ),
        ] {
            let (found, said) = gate(&ran(&base).finished(), &ran(&head).finished());
            let is_id =
                |word: &&str| word.len() == PRINTED && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            let said: Vec<&str> =
                said.split(' ').map(|word| if is_id(&word) { "ID" } else { word }).collect();
            assert_eq!((found, said.join(" ").as_str()), (exit, says), "{base:?} {head:?}");
        }
    }

    #[test]
    fn denied_warnings_and_a_run_that_stopped_fail() {
        let one = "periodic.months/one";
        let base = ran(&[(one, Verdict::Pass)]);
        let mut warned = ran(&[(one, Verdict::Warn)]);
        let pattern = LevelRule::WARNINGS.to_owned();
        warned.start().levels = vec![LevelRule { pattern, level: Level::Deny, by: LevelSource::CommandLine }];
        assert_eq!(gate(&base.finished(), &warned.finished()).0, 1);
        let stopped = gate(&base.finished(), &ran(&[(one, Verdict::Pass)]).stopped_early());
        assert_eq!(stopped, (3, "gate failed: the run did not finish".to_owned()));
    }
}
