//! The order of a record: what is said of the run as a whole, then the cases in the order of their ids, each
//! with its exchanges and its verdict, then the end.

use std::collections::VecDeque;

use crate::{
    event::{Event, Exchange},
    verdict::CaseVerdict,
};

/// Everything that a record says of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseEvents {
    /// Case id.
    pub case: String,
    /// What was sent for it.
    pub exchanges: Vec<Exchange>,
    /// What was concluded; `None` where the run was killed before.
    pub verdict: Option<CaseVerdict>,
}

impl CaseEvents {
    /// The events, in the order of a record.
    pub fn into_events(self) -> impl Iterator<Item = Event> {
        self.exchanges.into_iter().map(Event::Exchange).chain(self.verdict.map(Event::Verdict))
    }
}

/// The next entry of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An event of the run as a whole.
    Run(Event),
    /// All events of a case.
    Case(CaseEvents),
}

/// Cases that do not stand in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the events of each case together and cases in the order of their ids, found `{case}` after `{after}`"
)]
pub struct OutOfOrder {
    /// The case.
    pub case: String,
    /// The case before it.
    pub after: String,
}

/// Puts the events of each case together. One case is in memory at a time.
#[derive(Debug, Default)]
pub struct Grouping {
    open: Option<CaseEvents>,
    /// The case that was closed last.
    last: String,
    ready: VecDeque<Entry>,
}

impl Grouping {
    /// Takes the next event of a record.
    pub fn push(&mut self, event: Event) -> Result<(), OutOfOrder> {
        match event {
            Event::Exchange(exchange) => self.open(&exchange.case)?.exchanges.push(exchange),
            Event::Verdict(verdict) => {
                self.open(&verdict.case)?;
                if let Some(open) = &mut self.open {
                    open.verdict = Some(verdict);
                }
                self.close();
            }
            event => {
                self.close();
                self.ready.push_back(Entry::Run(event));
            }
        }
        Ok(())
    }

    /// The next entry that is whole.
    pub fn pop(&mut self) -> Option<Entry> {
        self.ready.pop_front()
    }

    /// No further event comes.
    pub fn close(&mut self) {
        if let Some(case) = self.open.take() {
            self.last.clone_from(&case.case);
            self.ready.push_back(Entry::Case(case));
        }
    }

    fn open(&mut self, case: &str) -> Result<&mut CaseEvents, OutOfOrder> {
        if self.open.as_ref().is_some_and(|open| open.case != case) {
            self.close();
        }
        if self.open.is_none() && !self.last.is_empty() && *case <= *self.last {
            return Err(OutOfOrder { case: case.to_owned(), after: self.last.clone() });
        }
        Ok(self.open.get_or_insert_with(|| CaseEvents { case: case.to_owned(), ..CaseEvents::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Verdict, verdict::sample};

    fn exchange(number: u64, case: &str) -> Event {
        let text = format!(
            r#"{{"number":{number},"case":"{case}","step":"request","micros":1,
                "request":{{"method":"GET","url":"/ø","headers":[]}}}}"#
        );
        Event::Exchange(serde_json::from_str(&text).unwrap())
    }

    fn verdict(case: &str, exchange: u64) -> Event {
        let verdict = CaseVerdict { exchange: Some(exchange), ..sample("a", Verdict::Pass) };
        Event::Verdict(CaseVerdict { case: case.to_owned(), ..verdict })
    }

    fn grouped(events: Vec<Event>) -> Result<Vec<Entry>, OutOfOrder> {
        let mut grouping = Grouping::default();
        events.into_iter().try_for_each(|event| grouping.push(event))?;
        grouping.close();
        Ok(std::iter::from_fn(|| grouping.pop()).collect())
    }

    #[test]
    fn the_events_of_a_case_come_together_and_keep_their_numbers() {
        let events =
            vec![exchange(7, "a"), exchange(9, "a"), verdict("a", 9), exchange(3, "b"), verdict("c", 1)];
        let cases: Vec<_> = grouped(events)
            .unwrap()
            .into_iter()
            .map(|entry| {
                let Entry::Case(case) = entry else { panic!("{entry:?}") };
                let numbers: Vec<u64> = case.exchanges.iter().map(|exchange| exchange.number).collect();
                (case.case, numbers, case.verdict.map(|verdict| verdict.exchange))
            })
            .collect();
        assert_eq!(
            cases,
            [
                ("a".to_owned(), vec![7, 9], Some(Some(9))),
                ("b".to_owned(), vec![3], None),
                ("c".to_owned(), vec![], Some(Some(1)))
            ]
        );
    }

    #[test]
    fn a_case_that_comes_twice_or_too_late_is_refused() {
        for events in [
            vec![verdict("a", 1), verdict("a", 1)],
            vec![verdict("b", 1), verdict("a", 1)],
            vec![exchange(1, "a"), exchange(2, "b"), exchange(3, "a")],
            vec![verdict("a", 1), exchange(1, "a")],
        ] {
            assert!(grouped(events.clone()).is_err(), "{events:?}");
        }
    }
}
