//! The required clauses of a run, in the wording that all reports share: their numbers, and the lines to add
//! to a profile so that more of them can be tested.

use xs2aspec_record::ClauseState;

use crate::{summary::RunSummary, text};

/// Limit of the profile lines that are named here. The record has all of them.
const LINES: usize = 5;

/// Returns the numbers of required clauses as a sentence. It also says how many of the passed clauses had
/// nothing to check in any response.
pub fn numbers(summary: &RunSummary) -> String {
    let clauses = summary.totals().clauses();
    let numbers = summary.demanded();
    match clauses.not_exercised().count() {
        0 => numbers.to_string(),
        1 => {
            format!("{numbers}; 1 of the passed clauses is about optional fields that no response contained")
        }
        idle => format!(
            "{numbers}; {idle} of the passed clauses are about optional fields that no response contained"
        ),
    }
}

/// Returns the numbers with their machine-readable names.
pub fn named(summary: &RunSummary) -> [(&'static str, usize); 5] {
    let numbers = summary.demanded();
    [
        ("clauses-passed", numbers.kept),
        ("clauses-violated", numbers.broken),
        ("clauses-waived", numbers.waived),
        ("clauses-not-tested", numbers.not_asked),
        ("clauses-skipped", numbers.left_out),
    ]
}

/// Returns the profile lines that open the most clauses, each with the number of clauses. The list is empty
/// if every clause was tested, or if the target rejected everything, which no line would change.
pub(crate) fn to_add(summary: &RunSummary) -> Vec<String> {
    if summary.refused_everything().is_some() {
        return Vec::new();
    }
    let lines = summary.totals().clauses().to_add();
    let mut shown: Vec<String> = lines
        .iter()
        .take(LINES)
        .map(|(line, count)| format!("{}: {}", text::count(*count, "clause"), text::short(line)))
        .collect();
    if lines.len() > LINES {
        shown.push(format!("and {}", text::count(lines.len() - LINES, "more line")));
    }
    shown
}

/// Returns the state of a required clause, and the number of responses that its check looked at, if it has
/// one.
pub(crate) fn state(summary: &RunSummary, clause: &str) -> Option<(ClauseState, Option<String>)> {
    let checked = summary.totals().clauses().answers(clause).map(|check| {
        let answers = usize::try_from(check.answers).unwrap_or(usize::MAX);
        format!("checked on {}, exercised by {}", text::count(answers, "response"), check.exercised)
    });
    Some((summary.state(clause)?, checked))
}

#[cfg(test)]
mod tests {
    use xs2aspec_record::{Absence, Verdict};

    use super::*;
    use crate::{Run, sample::Sample};

    #[test]
    fn what_to_add_is_said_by_what_it_opens_and_never_without_end() {
        let mut sample = Sample::new(8);
        sample.verdict("periodic.months/one", Verdict::Pass);
        for number in 0..7 {
            let verdict = sample.verdict(&format!("basket.mix/{number}"), Verdict::NotApplicable);
            verdict.absence = Some(Absence::NotSaid { add: format!("line-{number} = 1") });
        }
        let events = sample.finished();
        let run = Run::of(&events).unwrap();
        let lines = to_add(run.summary());
        assert_eq!(lines.len(), LINES + 1);
        assert_eq!((lines[0].as_str(), lines[LINES].as_str()), ("1 clause: line-0 = 1", "and 2 more lines"));
        assert_eq!(state(run.summary(), "basket.mix"), Some((ClauseState::NotAsked, None)));
        assert_eq!(state(run.summary(), "periodic.months.twelve"), None, "a choice is not required");
    }
}
