//! The conclusion of a run, in one sentence.

use xs2aspec_record::{Demanded, Exit};

use super::RunSummary;
use crate::text;

impl RunSummary {
    /// Returns the verdict on the whole run, in one sentence. It says so if the run is not complete.
    pub fn conclusion(&self) -> String {
        let exit = Exit::of(&self.totals);
        if self.complete() && exit != Exit::Violation && self.exit() == Exit::Violation {
            return "does not conform: a waiver is stale".to_owned();
        }
        if self.complete() {
            return self.sentence(exit);
        }
        let how = match &self.finish {
            None => "the run did not finish",
            Some(finish) if finish.stopped_early => "the run stopped early",
            Some(_) => "the run lost cases",
        };
        let rest = if exit == Exit::Conforms { "the result is inconclusive" } else { self.exit().sentence() };
        let done = self.totals.counts().total();
        format!("{how}, {done} of {} selected cases have a verdict; {rest}", self.start.cases)
    }

    /// Returns the conclusion of a finished run. It conforms in what was tested.
    fn sentence(&self, exit: Exit) -> String {
        let numbers = self.demanded();
        match exit {
            Exit::CouldNotTell if numbers.not_asked > 0 => {
                let Demanded { not_asked, .. } = numbers;
                let clauses = if not_asked == 1 { "clause was" } else { "clauses were" };
                format!(
                    "incomplete: {not_asked} of {} required {clauses} not tested or could not be judged",
                    numbers.total()
                )
            }
            Exit::CouldNotTell if self.totals.is_flaky() => {
                let counts = self.totals.counts();
                format!("incomplete: {} of {} cases are flaky, more than 1 %", counts.flaky, counts.total())
            }
            Exit::Violation if self.totals.counts().fail + self.totals.broken_controls() == 0 => {
                let is_flaky = self.totals.denies_flaky() && self.totals.counts().flaky > 0;
                let denied = if is_flaky { "flaky cases" } else { "warnings" };
                format!("does not conform: {denied} are denied")
            }
            Exit::Conforms => {
                let is_waived = self.totals.counts().waived > 0;
                let but = if is_waived { ", except what is waived or allowed" } else { "" };
                let warned = match self.warned.len() {
                    0 if is_waived => format!("conforms: nothing is violated{but}"),
                    0 => exit.sentence().to_owned(),
                    warned => format!(
                        "conforms, with warnings for {}: no clause of level deny is violated{but}",
                        text::count(warned, "clause")
                    ),
                };
                match numbers.left_out {
                    0 => warned,
                    1 => format!("{warned}; 1 of {} required clauses was skipped", numbers.total()),
                    left_out => {
                        format!("{warned}; {left_out} of {} required clauses were skipped", numbers.total())
                    }
                }
            }
            _ => exit.sentence().to_owned(),
        }
    }
}
