//! The numbers of requests in a merged record: again in order of time, over all shards.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use xs2aspec_record::{CaseEvents, Event, Exchange, RunStarted};

use crate::findings::AskedAgain;

/// A request of a shard: when it was sent, counted from the start of its shard, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sent {
    at: u64,
    number: u64,
}

impl Sent {
    pub(super) fn of(exchange: &Exchange) -> Self {
        Self { at: exchange.at, number: exchange.number }
    }
}

/// The new numbers of the requests of one shard.
#[derive(Debug)]
pub(super) struct Numbering {
    numbers: HashMap<u64, u64>,
    /// How much later than the first shard this one started, in microseconds.
    later: u64,
}

impl Numbering {
    /// Numbers the requests of all shards in order of time, from 1.
    pub(super) fn of<'a>(shards: impl Iterator<Item = (&'a RunStarted, &'a [Sent])>) -> Vec<Self> {
        let shards: Vec<(DateTime<Utc>, &[Sent])> =
            shards.map(|(start, sent)| (start.now.parse().unwrap_or_default(), sent)).collect();
        let first = shards.iter().map(|(now, _)| *now).min().unwrap_or_default();
        let mut all = Vec::new();
        let mut numberings = Vec::new();
        for (shard, (now, sent)) in shards.into_iter().enumerate() {
            let later = (now - first).num_microseconds().and_then(|later| u64::try_from(later).ok());
            let later = later.unwrap_or_default();
            all.extend(sent.iter().map(|Sent { at, number }| (at.saturating_add(later), shard, *number)));
            numberings.push(Self { numbers: HashMap::new(), later });
        }
        all.sort_unstable();
        for ((_, shard, number), new) in all.into_iter().zip(1..) {
            numberings[shard].numbers.insert(number, new);
        }
        numberings
    }

    /// Gives the requests of a case their new numbers, and times that count from the start of the first
    /// shard.
    pub(super) fn apply(&self, case: &mut CaseEvents) {
        for exchange in &mut case.exchanges {
            exchange.number = self.number(exchange.number);
            exchange.at = exchange.at.saturating_add(self.later);
        }
        if let Some(verdict) = &mut case.verdict {
            verdict.exchange = verdict.exchange.map(|number| self.number(number));
        }
    }

    /// Returns what a shard asked again, with the new numbers.
    pub(super) fn asked_again(&self, again: &AskedAgain) -> Vec<Event> {
        let mut again = again.clone();
        for asked in &mut again.alone {
            (asked.since, asked.until) = (self.number(asked.since), self.number(asked.until));
            if let Some(earlier) = &mut asked.earlier {
                earlier.request = self.number(earlier.request);
            }
        }
        for refused in &mut again.refused {
            (refused.since, refused.until) = (self.number(refused.since), self.number(refused.until));
            refused.again = refused.again.map(|number| self.number(number));
        }
        let refused = again.refused.into_iter().map(Event::RefusedSince);
        refused.chain(again.alone.into_iter().map(Event::AskedAlone)).collect()
    }

    /// The new number of a request; 0 for 0, which stands for none.
    fn number(&self, number: u64) -> u64 {
        self.numbers.get(&number).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_all_shards_are_numbered_in_order_of_time() {
        let start = |now: &str| RunStarted { now: now.to_owned(), ..RunStarted::default() };
        let (one, two) = (start("2030-01-01T00:00:01Z"), start("2030-01-01T00:00:00Z"));
        let sent = |sent: &[(u64, u64)]| -> Vec<Sent> {
            sent.iter().map(|(at, number)| Sent { at: *at, number: *number }).collect()
        };
        // The second shard started a second earlier.
        let (first, second) = (sent(&[(5, 1), (9, 2)]), sent(&[(999_999, 7), (1_000_006, 9)]));
        let both = [(&one, first.as_slice()), (&two, second.as_slice())];
        let numberings = Numbering::of(both.into_iter());
        let numbers = |shard: usize, old: [u64; 3]| old.map(|number| numberings[shard].number(number));
        assert_eq!((numbers(0, [1, 2, 0]), numbers(1, [7, 9, 0])), ([2, 4, 0], [1, 3, 0]));
        assert_eq!((numberings[0].later, numberings[1].later), (1_000_000, 0));
    }
}
