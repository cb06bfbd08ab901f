//! Generated sequences of requests. The state (what was created, by whom, and what happened to it) determines
//! the expected outcome of the last request.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use xs2aspec_spec::sequence::{ANOTHER, Act, Caller, Demand, Rule, SequenceRules};

/// A request of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// A caller creates a thing.
    Make {
        /// The kind of thing.
        kind: String,
        /// The number of the caller.
        caller: usize,
    },
    /// A caller does something with things.
    Act {
        /// The act.
        act: String,
        /// The number of the caller.
        caller: usize,
        /// The numbers of the moves that created the things.
        things: Vec<usize>,
    },
}

/// A series of requests. The last one is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The requests.
    pub moves: Vec<Move>,
}

/// A sequence as a case of a file, and its description.
#[derive(Debug, Clone)]
pub struct Written {
    /// The case, without its name.
    pub case: Map<String, Value>,
    /// The requests in words.
    pub says: Vec<String>,
    /// The number of the rule that judges the last request.
    pub rule: usize,
}

/// A thing and its state.
struct Thing<'a> {
    number: usize,
    kind: &'a str,
    maker: usize,
    marks: BTreeSet<&'a str>,
}

/// The state after some of the requests.
#[derive(Default)]
struct World<'a> {
    things: Vec<Thing<'a>>,
}

impl Sequence {
    /// Returns the sequence as an entry of a case file. Returns None if the document leaves the outcome of
    /// one of its requests open.
    pub fn written(&self, rules: &SequenceRules) -> Option<Written> {
        let (last, before) = self.moves.split_last()?;
        let mut world = World::default();
        let (mut steps, mut says) = (Vec::new(), Vec::new());
        for (number, one) in before.iter().enumerate() {
            steps.push(world.step(number, one, rules)?);
            says.push(says_move(one, number, rules));
        }
        says.push(says_move(last, before.len(), rules));
        let (request, change, caller, demand, number, names) = world.judged(last, rules)?;
        let mut case = Map::new();
        case.insert("clause".to_owned(), json!(demand.clause));
        case.insert("baseline".to_owned(), json!(request));
        let expect = filled(&demand.expect, &names);
        let mut change = change;
        change.splice(0..0, caller.change.iter().cloned());
        if demand.or_refused {
            let mut step = json!({ "name": "same", "baseline": request, "expect": "refusal-passes" });
            put(&mut step, "change", Value::from(change.clone()));
            put(&mut step, "signing", Value::Object(caller.signing.clone()));
            steps.push(step);
        }
        case.insert("before".to_owned(), Value::from(steps));
        for (name, value) in [("change", Value::from(change)), ("signing", caller.signing.clone().into())] {
            if value != json!([]) && value != json!({}) {
                case.insert(name.to_owned(), value);
            }
        }
        case.insert("control".to_owned(), json!(demand.control));
        if demand.control_is_open {
            case.insert("if-control-refused".to_owned(), json!("observed"));
        }
        case.insert("expect".to_owned(), expect);
        Some(Written { case, says, rule: number })
    }

    /// Returns true if another request can follow.
    pub fn can_go_on(&self, rules: &SequenceRules) -> bool {
        let mut world = World::default();
        self.moves.iter().enumerate().all(|(number, one)| world.step(number, one, rules).is_some())
    }

    /// Returns smaller sequences that may reveal the same violation, the smallest first: without one request
    /// and those that depend on it, or with fewer things.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller: Vec<Self> = (0..self.moves.len()).filter_map(|at| self.without(at)).collect();
        for (at, one) in self.moves.iter().enumerate() {
            let Move::Act { things, .. } = one else { continue };
            for left_out in 0..things.len() {
                let mut fewer = self.clone();
                if let Move::Act { things, .. } = &mut fewer.moves[at]
                    && things.len() > 1
                {
                    things.remove(left_out);
                    smaller.push(fewer);
                }
            }
        }
        smaller.sort_by_key(|one| one.moves.len());
        smaller
    }

    /// Returns the sequence without a request and without those that depend on it alone. Returns None if that
    /// removes the last request.
    fn without(&self, left_out: usize) -> Option<Self> {
        if left_out + 1 == self.moves.len() {
            return None;
        }
        let mut numbers = vec![None; self.moves.len()];
        let mut moves = Vec::new();
        for (at, one) in self.moves.iter().enumerate() {
            let kept = match one {
                _ if at == left_out => None,
                Move::Act { act, caller, things } => {
                    let things: Vec<usize> = things.iter().filter_map(|thing| numbers[*thing]).collect();
                    let is_left = !things.is_empty();
                    is_left.then(|| Move::Act { act: act.clone(), caller: *caller, things })
                }
                made @ Move::Make { .. } => Some(made.clone()),
            };
            if let Some(kept) = kept {
                numbers[at] = Some(moves.len());
                moves.push(kept);
            } else if at + 1 == self.moves.len() {
                return None;
            }
        }
        Some(Self { moves })
    }
}

/// The request to judge: its baseline, its changes, the caller, the expected outcome, the number of the rule,
/// and the names for its placeholders.
type Judged<'a> = (&'a str, Vec<Value>, &'a Caller, &'a Demand, usize, Names);

/// Names of steps that replace the placeholders of a request.
struct Names {
    /// The step that created the thing.
    thing: Option<String>,
    /// The steps that created all of the things.
    every: Vec<String>,
    /// The step that created something earlier.
    earlier: Option<String>,
}

impl<'a> World<'a> {
    /// Returns a request that others follow as a step of a case, and updates the state.
    fn step(&mut self, number: usize, one: &'a Move, rules: &'a SequenceRules) -> Option<Value> {
        let name = step_name(number);
        match one {
            Move::Make { kind, caller } => {
                let thing = rules.things.get(kind)?;
                let caller_of = rules.callers.get(*caller)?;
                let mut step = json!({ "name": name, "baseline": thing.request, "keep": thing.keep });
                put(&mut step, "change", Value::from(caller_of.change.clone()));
                put(&mut step, "signing", Value::Object(caller_of.signing.clone()));
                if let Some(outcome) = &thing.outcome {
                    step["expect"] = json!(outcome);
                }
                self.things.push(Thing { number, kind, maker: *caller, marks: BTreeSet::new() });
                Some(step)
            }
            Move::Act { act, caller, things } => {
                let (_, rule) = self.rule(act, *caller, things, rules)?;
                let before = rule.before.as_ref()?;
                let (request, mut change, names) = self.asked(act, things, rules)?;
                let caller = rules.callers.get(*caller)?;
                change.splice(0..0, caller.change.iter().cloned());
                let change: Vec<Value> = change.iter().map(|change| filled(change, &names)).collect();
                let mut step = json!({ "name": name, "baseline": request, "change": change });
                put(&mut step, "signing", Value::Object(caller.signing.clone()));
                if before != "accepted" {
                    step["expect"] = json!(before);
                }
                for thing in &mut self.things {
                    let mark = if things.contains(&thing.number) { &rule.marks } else { &rule.others };
                    thing.marks.extend(mark.as_deref());
                }
                Some(step)
            }
        }
    }

    fn judged(&self, one: &'a Move, rules: &'a SequenceRules) -> Option<Judged<'a>> {
        match one {
            Move::Make { kind, caller } => {
                let thing = rules.things.get(kind)?;
                let earlier = self.things.last()?;
                let names = Names { thing: None, every: vec![], earlier: Some(step_name(earlier.number)) };
                let demand = thing.again.as_ref()?;
                let at = rules.things.get_index_of(kind)?;
                Some((
                    &thing.request,
                    vec![],
                    rules.callers.get(*caller)?,
                    demand,
                    rules.rules.len() + at,
                    names,
                ))
            }
            Move::Act { act, caller, things } => {
                let (number, rule) = self.rule(act, *caller, things, rules)?;
                let (request, change, names) = self.asked(act, things, rules)?;
                let change = change.iter().map(|change| filled(change, &names)).collect();
                let caller = rules.callers.get(*caller)?;
                Some((request, change, caller, rule.demand.as_ref()?, number, names))
            }
        }
    }

    /// Returns the baseline, the changes and the names for an act on these things.
    fn asked(
        &self,
        act: &str,
        things: &[usize],
        rules: &'a SequenceRules,
    ) -> Option<(&'a str, Vec<Value>, Names)> {
        let first = self.thing(*things.first()?)?;
        let asked = rules.acts.get(act)?.of.get(first.kind)?;
        let names = Names {
            thing: Some(step_name(first.number)),
            every: things.iter().map(|thing| step_name(*thing)).collect(),
            earlier: None,
        };
        Some((&asked.request, asked.change.clone(), names))
    }

    /// Returns the rule for an act, with its number.
    fn rule(
        &self,
        act: &str,
        caller: usize,
        things: &[usize],
        rules: &'a SequenceRules,
    ) -> Option<(usize, &'a Rule)> {
        let Act { of, least, most } = rules.acts.get(act)?;
        let known: Vec<&Thing<'_>> = things.iter().map(|thing| self.thing(*thing)).collect::<Option<_>>()?;
        let can_be_asked =
            known.iter().all(|thing| of.contains_key(thing.kind)) && (*least..=*most).contains(&known.len());
        let name = rules.callers.get(caller)?.name.as_str();
        let is_foreign = known.iter().any(|thing| thing.maker != caller);
        let fits = |rule: &&Rule| {
            let by = rule.by.as_deref().is_none_or(|by| is_foreign && (by == ANOTHER || by == name));
            let is_of = |thing: &&Thing<'_>| rule.of.as_deref().is_none_or(|of| of == thing.kind);
            let has = |thing: &&Thing<'_>| rule.has.as_deref().is_none_or(|has| thing.marks.contains(has));
            rule.act == act && by && known.iter().any(|thing| is_of(thing) && has(thing))
        };
        let mut fitting = rules.rules.iter().enumerate().filter(|(_, rule)| fits(rule));
        let (number, first) = fitting.next().filter(|_| can_be_asked)?;
        let is_about_one = |rule: &Rule| rule.by.is_some() || rule.of.is_some() || rule.has.is_some();
        // Without a rule for foreign callers, the outcome is not defined.
        let is_left_out = is_foreign && first.by.is_none();
        let is_mixed = *most > 1 && is_about_one(first) && fitting.any(|(_, rule)| is_about_one(rule));
        (!is_left_out && !is_mixed).then_some((number, first))
    }

    fn thing(&self, number: usize) -> Option<&Thing<'a>> {
        self.things.iter().find(|thing| thing.number == number)
    }
}

fn step_name(number: usize) -> String {
    format!("step-{}", number + 1)
}

fn put(step: &mut Value, name: &str, value: Value) {
    if value != json!([]) && value != json!({}) {
        step[name] = value;
    }
}

/// Replaces `<KEY>`, `<every KEY>` and `<earlier.KEY>` by references to values that steps keep.
fn filled(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => {
            if let Some(key) = text.strip_prefix("<every ").and_then(|rest| rest.strip_suffix('>')) {
                let every = names.every.iter().map(|step| json!(format!("${{{step}.{key}}}")));
                return every.collect();
            }
            let Some((before, rest)) = text.split_once('<') else { return value.clone() };
            let Some((key, after)) = rest.split_once('>') else { return value.clone() };
            let (step, key) = match key.strip_prefix("earlier.") {
                Some(key) => (&names.earlier, key),
                None => (&names.thing, key),
            };
            step.as_ref()
                .map_or_else(|| value.clone(), |step| json!(format!("{before}${{{step}.{key}}}{after}")))
        }
        Value::Array(items) => items.iter().map(|item| filled(item, names)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), filled(value, names))).collect()
        }
        other => other.clone(),
    }
}

/// Describes one request of a sequence in words.
fn says_move(one: &Move, number: usize, rules: &SequenceRules) -> String {
    let caller = |at: &usize| rules.callers.get(*at).map_or("nobody", |caller| caller.name.as_str());
    match one {
        Move::Make { kind, caller: by } => format!("{}: make {kind} {}", caller(by), number + 1),
        Move::Act { act, caller: by, things } => {
            let things: Vec<String> = things.iter().map(|thing| (thing + 1).to_string()).collect();
            format!("{}: {act} {}", caller(by), things.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
