//! What of the plan a record shows.

use std::collections::{BTreeMap, HashSet};

use xs2aspec_record::{Exchange, Level};
use xs2aspec_spec::AnswerRules;

use crate::client::{
    condition::Holds,
    plan::{Item, Plan, ShownBy, Then},
    recorded::{Broken, Recorded, Sighted},
    sequence::{Seen, Sequence},
    state::State,
};

/// An item of the plan and what is to be said of it.
#[derive(Debug, Clone)]
pub struct Ticked<'a> {
    /// The item.
    pub item: &'a Item,
    /// What is to be said of it.
    pub state: State,
    /// What the client broke, of an item that no request breaks anything: denied and warned of.
    pub broken: Vec<Broken>,
}

impl Ticked<'_> {
    /// The number of the exchange that says so, if one does.
    pub const fn exchange(&self) -> Option<u64> {
        match &self.state {
            State::Shown(number) | State::Broken(number, _) => Some(*number),
            State::NotShown | State::Unknown => None,
        }
    }
}

/// Holds each item of the plan against what the record has.
pub fn tick<'a>(plan: &'a Plan, recorded: &Recorded) -> Vec<Ticked<'a>> {
    let sequence = Sequence::new(&recorded.seen);
    let ticked = |(item, sighted): (&'a Item, &Sighted)| {
        let mut broken = Vec::new();
        let state = match &item.shown_by {
            ShownBy::Exchange(_) => match sighted.first {
                Some((_, number)) => State::Shown(number),
                None if sighted.is_unknown => State::Unknown,
                None => State::NotShown,
            },
            ShownBy::After(_, then) => after(&recorded.seen, &sequence, *then, &sighted.after),
            ShownBy::Unique(name) => unique(name, sighted),
            ShownBy::NoBreach(_) => no_breach(sighted, &mut broken),
        };
        Ticked { item, state, broken }
    };
    plan.items.iter().zip(&recorded.items).map(ticked).collect()
}

/// What the client broke, each thing once however many items show it, in the order in which it was first
/// seen.
pub fn broken(ticked: &[Ticked<'_>]) -> Vec<Broken> {
    let mut all: BTreeMap<(&str, &str), Broken> = BTreeMap::new();
    for one in ticked.iter().flat_map(|ticked| &ticked.broken) {
        let key = (one.finding.clause.as_str(), one.finding.at.as_str());
        match all.get_mut(&key) {
            Some(known) => known.add(one),
            None => _ = all.insert(key, one.clone()),
        }
    }
    in_order(all.into_values())
}

fn in_order(broken: impl Iterator<Item = Broken>) -> Vec<Broken> {
    let mut broken: Vec<Broken> = broken.collect();
    broken.sort_by_key(|one| one.first);
    broken
}

/// The items that an exchange shows before it is masked, of those that cannot be seen afterwards.
pub fn shown_by_what_is_masked<'a>(
    plan: &'a Plan,
    exchange: &Exchange,
    rules: &AnswerRules,
    is_masked: &dyn Fn(&str) -> bool,
) -> Vec<&'a str> {
    let shows = |item: &&Item| match &item.shown_by {
        ShownBy::Exchange(condition) => {
            condition.looks_at_header(is_masked) && condition.holds(exchange, rules) == Holds::Yes
        }
        _ => false,
    };
    plan.items.iter().filter(shows).map(|item| item.id.as_str()).collect()
}

fn after(seen: &[Seen], sequence: &Sequence<'_>, then: Then, is_so: &HashSet<u64>) -> State {
    let mut state = State::NotShown;
    for (index, _) in seen.iter().enumerate().filter(|(_, one)| is_so.contains(&one.number)) {
        let next = match then {
            Then::GoesOn => sequence.goes_on(index, |number| is_so.contains(&number)),
            Then::AgainLater => sequence.again_later(index),
        };
        match next {
            State::Broken(..) => return next,
            State::Shown(_) if state == State::NotShown => state = next,
            _ => {}
        }
    }
    state
}

fn unique(name: &str, sighted: &Sighted) -> State {
    if let Some(((_, later), first)) = sighted.twice {
        return State::Broken(later, format!("exchanges {first} and {later} have the same {name}"));
    }
    // One alone is no sign of anything.
    let last = sighted.values.values().max().filter(|_| sighted.values.len() > 1);
    last.map_or(State::NotShown, |(_, number)| State::Shown(*number))
}

/// Whether a client broke something in a request for an operation; what it broke is added, each thing once.
fn no_breach(sighted: &Sighted, broken: &mut Vec<Broken>) -> State {
    *broken = in_order(sighted.broken.values().cloned());
    let denied = broken.iter().find(|one| one.finding.level == Level::Deny);
    if let Some(one) = denied {
        let words = format!("breaks {}: {}", one.finding.clause, one.finding.mismatch());
        return State::Broken(one.exchange(), words);
    }
    sighted.first.map_or(State::NotShown, |(_, number)| State::Shown(number))
}

#[cfg(test)]
mod tests;
