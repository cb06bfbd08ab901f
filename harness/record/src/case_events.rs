//! The entries of a record, as reports take them: the run as a whole, and one case after the other.

use std::collections::BTreeMap;

use crate::{event::Event, exchange::Exchange, verdict::CaseVerdict};

/// Everything that a record says of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseEvents {
    /// Case id.
    pub case: String,
    /// What was sent for it, in the order in which it ended.
    pub exchanges: Vec<Exchange>,
    /// The last conclusion; `None` where the run was killed before.
    pub verdict: Option<CaseVerdict>,
}

impl CaseEvents {
    /// A case of which nothing is known yet.
    pub(crate) fn of(case: String) -> Self {
        Self { case, ..Self::default() }
    }

    /// Takes the next event of the case. A later verdict takes the place of an earlier one.
    pub(crate) fn add(&mut self, event: Event) {
        match event {
            Event::Exchange(exchange) => self.exchanges.push(exchange),
            Event::Verdict(verdict) => self.verdict = Some(verdict),
            _ => {}
        }
    }

    /// The events, in the order of time.
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

/// Puts events that are in memory into the order of a record, as its reader does.
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
            // The end that was written before a run went on is none.
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
