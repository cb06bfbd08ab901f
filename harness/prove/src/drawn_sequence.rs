//! A drawn sequence of requests, as a case that can be run.

use xs2aspec_generate::{Sequence, export, sequence::Written};
use xs2aspec_judge::Done;
use xs2aspec_runner::Runner;
use xs2aspec_suite::{Case, Suite};

/// The area of drawn cases, below `cases/`.
pub const AREA: &str = "explored";

/// A drawn sequence, and what must become of its last request.
#[derive(Debug, Clone)]
pub struct DrawnSequence {
    pub(crate) sequence: Sequence,
    pub(crate) written: Written,
    pub(crate) case: Case,
}

impl DrawnSequence {
    /// A sequence with what must become of it, as the case of this name. None if that is open.
    pub(crate) fn new(sequence: Sequence, suite: &Suite, name: &str) -> Option<Self> {
        let written = sequence.written(&suite.spec().sequences)?;
        let text = export::sequence(&written, name)?;
        // Each that is drawn is a case, as a test of `generate` holds.
        let cases = suite.written(&format!("cases/{AREA}/{name}.yaml"), &text).ok()?;
        Some(Self { sequence, written, case: cases.into_iter().next()? })
    }

    /// The requests in words.
    pub fn says(&self) -> &[String] {
        &self.written.says
    }

    /// The text of a case file that has it alone.
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        export::sequence(&self.written, name)
    }
}

/// The smallest sequence that breaks the clause that this one breaks, as far as the runner's limit goes, and
/// what it came to. None if it does not show again.
pub(crate) async fn shrink(
    suite: &Suite,
    runner: &Runner,
    first: DrawnSequence,
    name: &str,
) -> Option<(DrawnSequence, Done)> {
    let clause_of = |done: &Done| done.verdict.findings.first().map(|finding| finding.clause.clone());
    let mut shown = runner.run(&again(&first, runner)).await;
    let broken = clause_of(&shown)?;
    let mut best = first;
    let mut is_smaller = true;
    while is_smaller && runner.exchanges_left() > 0 {
        is_smaller = false;
        for sequence in best.sequence.smaller() {
            let Some(drawn) = DrawnSequence::new(sequence, suite, name) else { continue };
            let done = runner.run(&again(&drawn, runner)).await;
            if clause_of(&done).as_ref() == Some(&broken) {
                (best, shown, is_smaller) = (drawn, done, true);
                break;
            }
            if runner.exchanges_left() == 0 {
                break;
            }
        }
    }
    let best = DrawnSequence::new(best.sequence.clone(), suite, name).unwrap_or(best);
    Some((best, shown))
}

/// The case once more, with identifiers of its own.
fn again(drawn: &DrawnSequence, runner: &Runner) -> Case {
    Case { id: format!("explore/shrink/{}", runner.exchanges()), ..drawn.case.clone() }
}
