//! The entries of a record for reports: events of the run as a whole, then one case after the other.

use std::collections::BTreeMap;

use crate::{event::Event, exchange::Exchange, verdict::CaseVerdict};

/// All events of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseEvents {
    /// Case id.
    pub case: String,
    /// Its exchanges, in the order in which they ended.
    pub exchanges: Vec<Exchange>,
    /// The last verdict. `None` if the run was killed before.
    pub verdict: Option<CaseVerdict>,
}

impl CaseEvents {
    /// Returns a case without events.
    pub(crate) fn of(case: String) -> Self {
        Self { case, ..Self::default() }
    }

    /// Adds the next event of the case. A later verdict replaces an earlier one.
    pub(crate) fn add(&mut self, event: Event) {
        match event {
            Event::Exchange(exchange) => self.exchanges.push(exchange),
            Event::Verdict(verdict) => self.verdict = Some(verdict),
            _ => {}
        }
    }

    /// Returns the events in order of time.
    pub fn into_events(self) -> impl Iterator<Item = Event> {
        self.exchanges.into_iter().map(Event::Exchange).chain(self.verdict.map(Event::Verdict))
    }
}

/// An entry of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An event of the run as a whole.
    Run(Event),
    /// All events of a case.
    Case(CaseEvents),
}

/// Sorts events in memory into the order in which the reader of a record returns them.
pub fn entries(events: &[Event]) -> Vec<Entry> {
    let mut cases = BTreeMap::<&str, CaseEvents>::new();
    let (mut run, mut end) = (Vec::new(), Vec::new());
    for event in events {
        if let Some(case) = event.case() {
            if !matches!(event, Event::Sending(_)) {
                let case = cases.entry(case).or_insert_with(|| CaseEvents::of(case.to_owned()));
                case.add(event.clone());
            }
        } else if event.is_of_end() {
            end.push(Entry::Run(event.clone()));
        } else {
            // A resumed run discards the end that was written before.
            if matches!(event, Event::Resumed(_)) {
                end.clear();
            }
            run.push(Entry::Run(event.clone()));
        }
    }
    run.extend(cases.into_values().map(Entry::Case));
    run.extend(end);
    run
}
