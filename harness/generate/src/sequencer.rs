//! Generates sequences of requests, deterministic for a seed.

use std::collections::BTreeSet;

use fastrand::Rng;
use xs2aspec_spec::sequence::SequenceRules;

use crate::sequence::{Move, Sequence, Written};

/// Limit of the requests of a sequence.
const MOST: usize = 8;

/// Limit of the attempts to generate a valid sequence.
const TRIES: usize = 60;

/// A generator of sequences.
#[derive(Debug)]
pub struct Sequencer {
    rng: Rng,
    /// The rules that have judged a last request.
    reached: BTreeSet<usize>,
}

impl Sequencer {
    /// Creates a sequencer with this seed.
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed ^ 0x73_65_71), reached: BTreeSet::new() }
    }

    /// Returns the next sequence, and true if it is the first one judged by its rule. Returns None if the
    /// document has no model of the state, or if no attempt was successful.
    pub fn draw(&mut self, rules: &SequenceRules) -> Option<(Sequence, Written, bool)> {
        if rules.callers.is_empty() {
            return None;
        }
        let length = self.rng.usize(2..=MOST);
        let mut sequence = Sequence::default();
        for _ in 0..TRIES {
            let is_last = sequence.moves.len() + 1 == length;
            let one = self.one(&sequence, rules, is_last)?;
            sequence.moves.push(one);
            if is_last && let Some(written) = sequence.written(rules) {
                let is_new = self.reached.insert(written.rule);
                return Some((sequence, written, is_new));
            }
            // A request that cannot be a step, or cannot be judged, is replaced.
            if is_last || !sequence.can_go_on(rules) {
                sequence.moves.pop();
            }
        }
        None
    }

    /// Returns the number of rules that have judged a last request.
    pub fn reached(&self) -> usize {
        self.reached.len()
    }

    fn one(&mut self, so_far: &Sequence, rules: &SequenceRules, is_last: bool) -> Option<Move> {
        let made: Vec<(usize, &str)> = so_far
            .moves
            .iter()
            .enumerate()
            .filter_map(|(at, one)| match one {
                Move::Make { kind, .. } => Some((at, kind.as_str())),
                Move::Act { .. } => None,
            })
            .collect();
        let makes = made.is_empty() || self.rng.u8(..if is_last { 12 } else { 3 }) == 0;
        if makes {
            return self.make(rules);
        }
        let (act, how) = rules.acts.get_index(self.rng.usize(..rules.acts.len()))?;
        // Most requests come from the owner of the things.
        let caller = if self.rng.u8(..3) > 0 { 0 } else { self.rng.usize(..rules.callers.len()) };
        let mut things: Vec<(usize, &str)> =
            made.iter().filter(|(_, kind)| how.of.contains_key(*kind)).copied().collect();
        // There are too few things for this act.
        if !things.is_empty() && things.len() < how.least && !is_last {
            return self.make(rules);
        }
        self.rng.shuffle(&mut things);
        // If rules about different kinds of things apply at once, the outcome is not defined. Most acts
        // therefore have things of one kind, if there are enough.
        if how.least > 1 && self.rng.u8(..3) > 0 {
            let alike = |kind: &str| things.iter().filter(|(_, other)| *other == kind).count();
            if let Some(kind) = things.iter().map(|(_, kind)| *kind).find(|kind| alike(kind) >= how.least) {
                things.retain(|(_, other)| *other == kind);
            }
        }
        let count = if how.most > 1 { self.rng.usize(how.least..=how.most) } else { 1 };
        let things = things.into_iter().map(|(at, _)| at).take(count).collect();
        Some(Move::Act { act: act.clone(), caller, things })
    }

    fn make(&mut self, rules: &SequenceRules) -> Option<Move> {
        let (kind, thing) = rules.things.get_index(self.rng.usize(..rules.things.len()))?;
        let by = &thing.by[self.rng.usize(..thing.by.len())];
        let caller = rules.callers.iter().position(|caller| caller.name == *by)?;
        Some(Move::Make { kind: kind.clone(), caller })
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{Suite, Tree};

    use super::*;

    #[test]
    fn every_rule_is_reached_and_every_sequence_is_a_case() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let rules = &suite.spec().sequences;
        let mut sequencer = Sequencer::new(1);
        let mut clauses = BTreeSet::new();
        for number in 0..600 {
            let (sequence, written, _) = sequencer.draw(rules).expect("a sequence");
            let text = crate::export::sequence(&written, &format!("drawn-{number}")).unwrap();
            let cases = suite.written("cases/explored/drawn.yaml", &text);
            let cases = cases.unwrap_or_else(|problem| panic!("{problem}: {:?}\n{text}", sequence.moves));
            assert!(suite.case(cases[0].control.as_deref().unwrap()).is_some(), "{text}");
            clauses.insert(cases[0].clause.clone());
        }
        let demanded: BTreeSet<String> = rules.demands().map(|demand| demand.clause.clone()).collect();
        assert_eq!(clauses, demanded);
        let mut again = Sequencer::new(1);
        let first = again.draw(rules).map(|(sequence, ..)| sequence);
        assert_eq!(first, Sequencer::new(1).draw(rules).map(|(sequence, ..)| sequence));
    }
}
