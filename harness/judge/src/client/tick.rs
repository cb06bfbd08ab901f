//! Compares the plan with histories.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
};

use xs2aspec_record::{Level, Reason};

use crate::client::{
    plan::{Item, Part, Plan, ShownBy, Then},
    recorded::{Breaches, Broken, Recorded, Sighted, add},
    sequence::{Seen, Sequence},
    state::{Breach, State},
};

/// An item of the plan with its state.
#[derive(Debug, Clone)]
pub struct Ticked<'a> {
    /// The item.
    pub item: &'a Item,
    /// The state of the item.
    pub state: State,
    /// The history with the evidence, from 0.
    pub record: usize,
    /// Violations and warnings, for a `no-breach` item.
    pub broken: Vec<Broken>,
}

impl Ticked<'_> {
    /// Returns the history and the number of the exchange with the evidence, if there is one.
    pub const fn exchange(&self) -> Option<(usize, u64)> {
        match &self.state {
            State::Shown(number) | State::Broken(number, _) | State::NotShown { met: Some(number) } => {
                Some((self.record, *number))
            }
            State::NotShown { met: None } | State::Unknown | State::Skipped(_) => None,
        }
    }

    /// Returns true if the item is shown with a warning.
    pub fn is_warned(&self) -> bool {
        matches!(self.state, State::Shown(_)) && !self.broken.is_empty()
    }
}

/// Compares each item of the plan with histories of one client, each on its own. `absent` lists the parts of
/// the document that the client does not need.
pub fn tick<'a>(plan: &'a Plan, records: &[Recorded], absent: &[&Part]) -> Vec<Ticked<'a>> {
    let untold = |item| Ticked { item, state: State::NotShown { met: None }, record: 0, broken: Vec::new() };
    let mut all: Vec<Ticked<'a>> = plan.items.iter().map(untold).collect();
    for (record, recorded) in records.iter().enumerate() {
        let sequence = Sequence::new(&recorded.seen);
        for (ticked, sighted) in all.iter_mut().zip(&recorded.items) {
            let state = state(ticked.item, (&recorded.seen, &sequence), sighted);
            if state.rank() > ticked.state.rank() {
                (ticked.state, ticked.record) = (state, record);
            }
            let own = sighted.broken.values().map(|one| Broken { record, ..one.clone() });
            ticked.broken = merged(ticked.broken.drain(..).chain(own));
        }
    }
    skip(&mut all, absent);
    all
}

/// Returns the violations by the client, each once even if several items show it, sorted by level and then by
/// time.
pub fn broken(ticked: &[Ticked<'_>]) -> Vec<Broken> {
    merged(ticked.iter().flat_map(|ticked| ticked.broken.iter().cloned()))
}

fn merged(broken: impl Iterator<Item = Broken>) -> Vec<Broken> {
    let mut all = Breaches::new();
    broken.for_each(|one| add(&mut all, one));
    let mut all: Vec<Broken> = all.into_values().collect();
    all.sort_by_key(|one| (Reverse(one.finding.level), one.order()));
    all
}

/// Returns the state of an item according to one history.
fn state(item: &Item, (seen, sequence): (&[Seen], &Sequence<'_>), sighted: &Sighted) -> State {
    match &item.shown_by {
        ShownBy::Exchange(_) => first(sighted),
        ShownBy::After(_, then) => after(seen, sequence, *then, &sighted.after),
        ShownBy::Unique(name) => unique(name, sighted),
        ShownBy::NoBreach(_) => no_breach(sighted),
    }
}

fn first(sighted: &Sighted) -> State {
    match sighted.first {
        Some((_, number)) => State::Shown(number),
        None if sighted.is_unknown => State::Unknown,
        None => State::NotShown { met: None },
    }
}

fn after(seen: &[Seen], sequence: &Sequence<'_>, then: Then, is_so: &HashSet<u64>) -> State {
    let mut state = State::NotShown { met: None };
    for (index, _) in seen.iter().enumerate().filter(|(_, one)| is_so.contains(&one.number)) {
        let next = sequence.after(index, then, is_so);
        if next.rank() > state.rank() {
            state = next;
        }
        if matches!(state, State::Broken(..)) {
            break;
        }
    }
    state
}

fn unique(name: &str, sighted: &Sighted) -> State {
    if let Some(((_, later), first)) = sighted.twice {
        return State::Broken(later, Breach::SameValue { name: name.to_owned(), first, later });
    }
    // A single value proves nothing.
    let last = sighted.values.values().max().filter(|_| sighted.values.len() > 1);
    last.map_or(State::NotShown { met: None }, |(_, number)| State::Shown(*number))
}

/// Returns `Broken` if a request has a violation of level `deny`.
fn no_breach(sighted: &Sighted) -> State {
    let denied = sighted.broken.values().filter(|one| one.finding.level == Level::Deny);
    denied.min_by_key(|one| one.order()).map_or_else(
        || first(sighted),
        |one| State::Broken(one.exchange(), Breach::Clause(Box::new(one.finding.clone()))),
    )
}

/// Skips items of absent parts, and alternatives of shown items. An alternative that the client had the
/// opportunity to show is not skipped.
fn skip(all: &mut [Ticked<'_>], absent: &[&Part]) {
    let shown: BTreeMap<String, String> = all
        .iter()
        .filter(|one| matches!(one.state, State::Shown(_)))
        .filter_map(|one| Some((one.item.one_of.clone()?, one.item.id.clone())))
        .collect();
    for ticked in all {
        if !matches!(ticked.state, State::NotShown { met: None } | State::Unknown) {
            continue;
        }
        let part = absent.iter().find(|part| part.covers(ticked.item));
        let part = part.map(|part| Reason::NotNeeded { part: part.name.clone(), says: part.says.clone() });
        let other = || shown.get(ticked.item.one_of.as_ref()?).cloned();
        if let Some(reason) = part.or_else(|| other().map(|shown| Reason::OneEnough { shown })) {
            ticked.state = State::Skipped(reason);
        }
    }
}

#[cfg(test)]
mod tests;
