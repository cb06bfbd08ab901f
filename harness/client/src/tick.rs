//! What of the plan a record shows.

use std::collections::HashMap;

use xs2aspec_record::{End, Exchange, Finding, Level};
use xs2aspec_spec::AnswerRules;

use crate::{
    condition::{Condition, Holds, header},
    plan::{Item, Plan, ShownBy, Then},
    recorded::Recorded,
    sequence::Sequence,
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
    pub findings: Vec<Finding>,
}

/// Holds each item of the plan against what the record has.
pub fn tick<'a>(plan: &'a Plan, recorded: &Recorded, rules: &AnswerRules) -> Vec<Ticked<'a>> {
    let sequence = Sequence::new(&recorded.exchanges, &plan.fresh);
    let ticked = |item: &'a Item| {
        let mut findings = Vec::new();
        let state = match &item.shown_by {
            ShownBy::Exchange(condition) => shown(item, condition, recorded, rules),
            ShownBy::After(condition, then) => after(&recorded.exchanges, &sequence, *then, |exchange| {
                condition.holds(exchange, rules) == Holds::Yes
            }),
            ShownBy::Unique(name) => unique(name, &recorded.exchanges),
            ShownBy::NoBreach(operation) => no_breach(operation, recorded, &mut findings),
        };
        Ticked { item, state, findings }
    };
    plan.items.iter().map(ticked).collect()
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

fn shown(item: &Item, condition: &Condition, recorded: &Recorded, rules: &AnswerRules) -> State {
    let mut state = State::NotShown;
    for exchange in &recorded.exchanges {
        match condition.holds(exchange, rules) {
            Holds::Yes => return State::Shown(exchange.number),
            Holds::Unknown => match recorded.says_shown(exchange, &item.id) {
                Some(true) => return State::Shown(exchange.number),
                Some(false) => {}
                None => state = State::Unknown,
            },
            Holds::No => {}
        }
    }
    state
}

fn after(
    exchanges: &[Exchange],
    sequence: &Sequence,
    then: Then,
    is_so: impl Fn(&Exchange) -> bool,
) -> State {
    let mut state = State::NotShown;
    for (index, _) in exchanges.iter().enumerate().filter(|(_, exchange)| is_so(exchange)) {
        let next = match then {
            Then::GoesOn => sequence.goes_on(exchanges, index, &is_so),
            Then::AgainLater => sequence.again_later(exchanges, index),
        };
        match next {
            State::Broken(..) => return next,
            State::Shown(_) if state == State::NotShown => state = next,
            _ => {}
        }
    }
    state
}

fn unique(name: &str, exchanges: &[Exchange]) -> State {
    let mut known: HashMap<&str, u64> = HashMap::new();
    for exchange in exchanges {
        let Some(value) = header(&exchange.request.headers, name) else { continue };
        if let Some(first) = known.insert(value, exchange.number) {
            let words = format!("exchanges {first} and {} have the same {name}", exchange.number);
            return State::Broken(exchange.number, words);
        }
    }
    // One alone is no sign of anything.
    let last = known.values().max().copied().filter(|_| known.len() > 1);
    last.map_or(State::NotShown, State::Shown)
}

/// Whether a client broke something in a request for this operation; what it broke is added, each thing once.
fn no_breach(operation: &str, recorded: &Recorded, findings: &mut Vec<Finding>) -> State {
    let mut state = State::NotShown;
    for exchange in recorded.exchanges.iter().filter(|one| one.operation.as_deref() == Some(operation)) {
        if state == State::NotShown {
            state = State::Shown(exchange.number);
        }
        let verdict = recorded.verdicts.get(&exchange.number);
        let all = verdict.into_iter().flat_map(|verdict| &verdict.findings);
        for finding in all.filter(|finding| finding.end == End::Client && finding.level != Level::Note) {
            if findings.iter().any(|known| known.clause == finding.clause && known.at == finding.at) {
                continue;
            }
            findings.push(finding.clone());
            if finding.level == Level::Deny && !matches!(state, State::Broken(..)) {
                let words = format!("breaks {}: {}", finding.clause, finding.mismatch());
                state = State::Broken(exchange.number, words);
            }
        }
    }
    state
}

#[cfg(test)]
mod tests;
