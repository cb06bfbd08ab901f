//! A generated sequence of requests as an executable case.

use xs2aspec_generate::{Sequence, export, sequence::Written};
use xs2aspec_judge::Done;
use xs2aspec_runner::Runner;
use xs2aspec_suite::{Case, Suite};

/// The area of generated cases, below `cases/`.
pub const AREA: &str = "explored";

/// A generated sequence with the expected outcome of its last request.
#[derive(Debug, Clone)]
pub struct DrawnSequence {
    pub(crate) sequence: Sequence,
    pub(crate) written: Written,
    pub(crate) case: Case,
}

impl DrawnSequence {
    /// Creates the case with this name. Returns None if the expected outcome is open.
    pub(crate) fn new(sequence: Sequence, suite: &Suite, name: &str) -> Option<Self> {
        let written = sequence.written(&suite.spec().sequences)?;
        let text = export::sequence(&written, name)?;
        // A test of `generate` ensures that every generated sequence is a valid case.
        let cases = suite.written(&format!("cases/{AREA}/{name}.yaml"), &text).ok()?;
        Some(Self { sequence, written, case: cases.into_iter().next()? })
    }

    /// Returns the requests in words.
    pub fn says(&self) -> &[String] {
        &self.written.says
    }

    /// Returns a case file with this sequence alone.
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        export::sequence(&self.written, name)
    }
}

/// Returns the smallest sequence that violates the same clause, within the runner's limit, and its result.
/// Returns None if the violation does not recur.
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

/// Returns the case with new identifiers.
fn again(drawn: &DrawnSequence, runner: &Runner) -> Case {
    Case { id: format!("explore/shrink/{}", runner.exchanges()), ..drawn.case.clone() }
}
