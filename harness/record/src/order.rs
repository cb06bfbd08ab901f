//! The order of a record that is kept. While a run goes on its events are written as they happen; which case ends first depends on
//! the target and on chance. Once it has come to its end the same events are put in an order that does not.

use std::collections::BTreeMap;

use crate::{
    event::{Event, Exchange},
    verdict::CaseVerdict,
};

/// The events of a whole record in the order in which it is kept: the start, the profile, clauses, sources, then case after case its
/// exchanges and its verdict, then where the run was resumed, what changed, and the end. Cases come in the order of their ids, and exchanges are
/// numbered anew in that order.
pub fn settled(events: Vec<Event>) -> Vec<Event> {
    let mut first = Vec::new();
    let (mut clauses, mut sources) = (BTreeMap::new(), BTreeMap::new());
    let mut cases = BTreeMap::<String, (Vec<Exchange>, Vec<CaseVerdict>)>::new();
    let mut last = Vec::new();
    for event in events {
        match event {
            Event::RunStarted(_) | Event::Profile(_) => first.push(event),
            Event::Clause(clause) => drop(clauses.insert(clause.id.clone(), clause)),
            Event::Source(source) => drop(sources.insert(source.file.clone(), source)),
            Event::Exchange(exchange) => {
                cases.entry(exchange.case.clone()).or_default().0.push(exchange);
            }
            Event::Verdict(verdict) => cases.entry(verdict.case.clone()).or_default().1.push(verdict),
            Event::Resumed(_) | Event::Changes(_) | Event::RunFinished(_) => last.push(event),
        }
    }
    first.extend(clauses.into_values().map(Event::Clause));
    first.extend(sources.into_values().map(Event::Source));
    let mut number = 0;
    for (mut exchanges, verdicts) in cases.into_values() {
        exchanges.sort_by_key(|exchange| exchange.number);
        let mut numbers = BTreeMap::new();
        for mut exchange in exchanges {
            number += 1;
            numbers.insert(std::mem::replace(&mut exchange.number, number), number);
            first.push(Event::Exchange(exchange));
        }
        for mut verdict in verdicts {
            verdict.exchange = verdict.exchange.and_then(|old| numbers.get(&old).copied());
            first.push(Event::Verdict(verdict));
        }
    }
    first.extend(last);
    first
}
