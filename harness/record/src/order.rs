//! The order of a record that is kept. While a run goes on its events are written as they happen; which case ends first depends on
//! the target and on chance. Once it has come to its end the same events are put in an order that does not.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
};

use crate::event::{CaseSource, ClauseText, Event};

/// The events of a whole record in the order in which it is kept: the start, the profile, clauses, sources, then case after case its
/// exchanges and its verdict, then where the run was resumed, what changed, and the end. Cases come in the order of their ids, and exchanges are
/// numbered anew in that order.
pub fn settled(events: Vec<Event>) -> Vec<Event> {
    let mut rest = Rest::default();
    let mut cases: Vec<Event> = events.into_iter().filter_map(|event| rest.add(event)).collect();
    cases.sort_by(|one, other| of_case(one).cmp(&of_case(other)));
    let mut settled = Vec::new();
    let told = rest.settle(cases.into_iter().map(Ok::<_, Infallible>), |event| {
        settled.push(event);
        Ok(())
    });
    match told {
        Ok(()) => settled,
        Err(never) => match never {},
    }
}

/// The case of an exchange or verdict, and what comes first within it: exchanges by number, then the verdict. `None` for events of
/// no case.
pub(crate) fn of_case(event: &Event) -> Option<(&str, u64)> {
    match event {
        Event::Exchange(exchange) => Some((&exchange.case, exchange.number)),
        Event::Verdict(verdict) => Some((&verdict.case, VERDICT)),
        _ => None,
    }
}

/// Where verdicts stand among the exchanges of their case.
pub(crate) const VERDICT: u64 = u64::MAX;

/// The events of a record that are of no case.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    first: Vec<Event>,
    clauses: BTreeMap<String, ClauseText>,
    sources: BTreeMap<String, CaseSource>,
    last: Vec<Event>,
}

impl Rest {
    /// Takes an event; one of a case is given back.
    pub(crate) fn add(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::RunStarted(_) | Event::Profile(_) => self.first.push(event),
            Event::Clause(clause) => drop(self.clauses.insert(clause.id.clone(), clause)),
            Event::Source(source) => drop(self.sources.insert(source.file.clone(), source)),
            Event::Exchange(_) | Event::Verdict(_) => return Some(event),
            Event::Resumed(_) | Event::AnswerChecks(_) | Event::Changes(_) | Event::RunFinished(_) => {
                self.last.push(event);
            }
        }
        None
    }

    /// Takes an event that comes before the last one.
    pub(crate) fn add_before_end(&mut self, event: Event) {
        let end = self.last.len().saturating_sub(1);
        self.last.insert(end, event);
    }

    /// What comes before the cases, and what comes after them.
    pub(crate) fn around(&self) -> (Vec<Event>, &[Event]) {
        let clauses = self.clauses.values().cloned().map(Event::Clause);
        let sources = self.sources.values().cloned().map(Event::Source);
        (self.first.iter().cloned().chain(clauses).chain(sources).collect(), &self.last)
    }

    /// Tells every event in the order of a record that is kept. Those of cases come as [`of_case`] orders them.
    pub(crate) fn settle<E>(
        self,
        cases: impl Iterator<Item = Result<Event, E>>,
        mut tell: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        self.first.into_iter().try_for_each(&mut tell)?;
        self.clauses.into_values().map(Event::Clause).try_for_each(&mut tell)?;
        self.sources.into_values().map(Event::Source).try_for_each(&mut tell)?;
        let mut count = 0;
        // Numbers of the case that is told, old and new.
        let (mut case, mut numbers) = (String::new(), HashMap::new());
        for event in cases {
            let mut event = event?;
            if let Some((id, _)) = of_case(&event).filter(|(id, _)| *id != case) {
                id.clone_into(&mut case);
                numbers.clear();
            }
            match &mut event {
                Event::Exchange(exchange) => {
                    count += 1;
                    numbers.insert(std::mem::replace(&mut exchange.number, count), count);
                }
                Event::Verdict(verdict) => {
                    verdict.exchange = verdict.exchange.and_then(|old| numbers.get(&old).copied());
                }
                _ => {}
            }
            tell(event)?;
        }
        self.last.into_iter().try_for_each(tell)
    }
}
