//! The order of a record that is kept. While a run goes on its events are written as they happen; which case ends first depends on
//! the target and on chance. Once it has come to its end the same events are put in an order that does not.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
};

use crate::{
    event::{CaseSource, ClauseText, Event, Exchange},
    verdict::CaseVerdict,
};

/// The events of a whole record in the order in which it is kept: the start, the profile, clauses, sources, then case after case its
/// exchanges and its verdict, then where the run was resumed, what changed, and the end. Cases come in the order of their ids, and exchanges are
/// numbered anew in that order.
pub fn settled(events: Vec<Event>) -> Vec<Event> {
    let mut rest = Rest::default();
    let mut exchanges = HashMap::<String, Vec<Exchange>>::new();
    for event in events {
        if let Some(exchange) = rest.add(event) {
            exchanges.entry(exchange.case.clone()).or_default().push(exchange);
        }
    }
    let mut settled = Vec::new();
    let of = |case: &str| Ok::<_, Infallible>(exchanges.remove(case).unwrap_or_default());
    let told = rest.settle(of, |event| {
        settled.push(event);
        Ok(())
    });
    match told {
        Ok(()) => settled,
        Err(never) => match never {},
    }
}

/// The events of a record but for its exchanges.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    first: Vec<Event>,
    clauses: BTreeMap<String, ClauseText>,
    sources: BTreeMap<String, CaseSource>,
    /// The verdicts of each case that there is anything of.
    cases: BTreeMap<String, Vec<CaseVerdict>>,
    last: Vec<Event>,
}

impl Rest {
    /// Takes an event; an exchange is given back.
    pub(crate) fn add(&mut self, event: Event) -> Option<Exchange> {
        match event {
            Event::RunStarted(_) | Event::Profile(_) => self.first.push(event),
            Event::Clause(clause) => drop(self.clauses.insert(clause.id.clone(), clause)),
            Event::Source(source) => drop(self.sources.insert(source.file.clone(), source)),
            Event::Exchange(exchange) => {
                self.has(&exchange.case);
                return Some(exchange);
            }
            Event::Verdict(verdict) => self.cases.entry(verdict.case.clone()).or_default().push(verdict),
            Event::Resumed(_) | Event::Changes(_) | Event::RunFinished(_) => self.last.push(event),
        }
        None
    }

    /// There is something of this case.
    pub(crate) fn has(&mut self, case: &str) {
        if !self.cases.contains_key(case) {
            self.cases.insert(case.to_owned(), Vec::new());
        }
    }

    /// Takes an event that comes before the last one.
    pub(crate) fn add_before_end(&mut self, event: Event) {
        let end = self.last.len().saturating_sub(1);
        self.last.insert(end, event);
    }

    /// All events but exchanges, in the order of a record.
    pub(crate) fn events(&self) -> Vec<Event> {
        let verdicts = self.cases.values().flatten().cloned().map(Event::Verdict);
        let clauses = self.clauses.values().cloned().map(Event::Clause);
        let sources = self.sources.values().cloned().map(Event::Source);
        let first = self.first.iter().cloned().chain(clauses).chain(sources);
        first.chain(verdicts).chain(self.last.iter().cloned()).collect()
    }

    /// Tells every event in the order of a record that is kept, with the exchanges of each case.
    pub(crate) fn settle<E>(
        self,
        mut exchanges_of: impl FnMut(&str) -> Result<Vec<Exchange>, E>,
        mut tell: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        self.first.into_iter().try_for_each(&mut tell)?;
        self.clauses.into_values().map(Event::Clause).try_for_each(&mut tell)?;
        self.sources.into_values().map(Event::Source).try_for_each(&mut tell)?;
        let mut number = 0;
        for (case, verdicts) in self.cases {
            let mut exchanges = exchanges_of(&case)?;
            exchanges.sort_by_key(|exchange| exchange.number);
            let mut numbers = BTreeMap::new();
            for mut exchange in exchanges {
                number += 1;
                numbers.insert(std::mem::replace(&mut exchange.number, number), number);
                tell(Event::Exchange(exchange))?;
            }
            for mut verdict in verdicts {
                verdict.exchange = verdict.exchange.and_then(|old| numbers.get(&old).copied());
                tell(Event::Verdict(verdict))?;
            }
        }
        self.last.into_iter().try_for_each(tell)
    }
}
