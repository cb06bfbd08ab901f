//! Sequences between the single requests of an exploration.

use std::sync::Arc;

use xs2aspec_record::Verdict as Word;

use super::{Exploration, Step, name_of};
use crate::{
    drawn_sequence::{DrawnSequence, shrink},
    violation::{Key, Shown},
};

/// Number of generated requests per sequence.
const EVERY: usize = 12;

impl Exploration<'_> {
    /// Sends a sequence, if it is due. Returns true if its last request is the first one judged by its rule.
    pub(super) async fn ask_sequence(&mut self) -> bool {
        if self.drawn < self.next_sequence {
            return false;
        }
        self.next_sequence = self.drawn + EVERY;
        let suite = Arc::clone(&self.suite);
        let drawn = self.sequencer.draw(&suite.spec().sequences);
        let Some((sequence, _, is_new)) = drawn else { return false };
        let name = name_of(self.drawn + 1);
        let Some(drawn) = DrawnSequence::new(sequence, &suite, &name) else { return false };
        let done = self.runner.run(&drawn.case).await;
        if done.is_held_back {
            return false;
        }
        self.drawn += 1;
        let word = done.verdict.verdict;
        *self.counts.entry(word.word()).or_default() += 1;
        if let Some(why) = &done.verdict.reason {
            *self.reasons.entry(why.clone()).or_default() += 1;
        }
        self.record.case(&drawn.case, drawn.source(&name), &done, |event| (self.step)(Step::Event(event)));
        if matches!(word, Word::Fail | Word::Warn) {
            self.runner.limit_exchanges(self.budget.shrinking(self.runner.exchanges()));
            let smallest_name = format!("{name}-smallest");
            // Delays were already waited for once.
            self.runner.wait_for_answers(false);
            let smallest = shrink(&suite, &self.runner, drawn.clone(), &smallest_name).await;
            self.runner.wait_for_answers(true);
            self.runner.limit_exchanges(self.budget.drawing);
            let (smallest, done) = smallest.unwrap_or_else(|| (drawn.clone(), done));
            let findings = done.verdict.findings.clone();
            let key = Key::of_sequence(&smallest, &findings);
            if smallest.sequence != drawn.sequence && !self.found.contains_key(&key) {
                let source = smallest.source(&smallest_name);
                self.record.case(&smallest.case, source, &done, |event| (self.step)(Step::Event(event)));
            }
            let clause = findings.first().map_or(&smallest.case.clause, |finding| &finding.clause).clone();
            self.found(key, clause, findings, Shown::Sequence(Box::new(smallest)));
        }
        is_new
    }
}
