//! A request as it is drawn: a valid one, and what is done to it, move by move.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    model::Model,
    oracle::{self, Prepared, Verdict},
};
use crate::{
    baseline::Baseline,
    case::{Case, Preparation},
    definition::{Change, Signing, StepExpect},
    expectation::{Expectation, Refusal},
    location::Location,
    request::{self, RequestSpec},
    suite::Suite,
};

/// One change of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Sets a place to a value.
    Set(String, Value),
    /// Removes a place.
    Remove(String),
    /// Sends this text as the body.
    Raw(String),
    /// Writes a header's name in another letter case.
    Rename(String, String),
    /// Sends a header last.
    Last(String),
    /// Sends the members of the body in another order, by this number.
    Order(u64),
}

impl Edit {
    /// Sets a place to a value.
    pub(super) fn set(at: &str, to: Value) -> Self {
        Self::Set(at.to_owned(), to)
    }
}

/// Payments that are made before a basket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payments {
    /// Baseline of the payments.
    pub baseline: String,
    /// How many.
    pub times: usize,
    /// Whether a periodic payment is made as well.
    pub standing: bool,
}

/// What one class does to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Name of the class.
    pub class: String,
    /// The clause that it is about.
    pub clause: String,
    /// Rules of the document that it touches.
    pub rules: Vec<String>,
    /// What it changes.
    pub edits: Vec<Edit>,
    /// How the request is signed.
    pub signing: Option<Signing>,
    /// What is made before it.
    pub payments: Option<Payments>,
}

/// A request as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The operation.
    pub operation: String,
    /// What is done to its plain request.
    pub moves: Vec<Move>,
}

impl Draft {
    /// The plain request of an operation.
    pub fn plain(operation: &str) -> Self {
        Self { operation: operation.to_owned(), moves: Vec::new() }
    }

    /// Adds a move, if it touches no rule that another one touches.
    pub fn add(&mut self, one: Move) -> bool {
        let fits = self.moves.iter().all(|other| other.rules.iter().all(|rule| !one.rules.contains(rule)));
        // What replaces the body leaves nothing of what was done to its members.
        let is_whole = |one: &Move| one.rules.iter().any(|rule| rule == "body");
        let in_body = |one: &Move| {
            one.edits.iter().any(|edit| {
                matches!(edit, Edit::Set(at, _) | Edit::Remove(at) if at.starts_with("body/"))
                    || matches!(edit, Edit::Order(_))
            })
        };
        let clash = self
            .moves
            .iter()
            .any(|other| is_whole(other) && in_body(&one) || is_whole(&one) && in_body(other));
        if fits && !clash {
            self.moves.push(one);
        }
        fits && !clash
    }

    /// The request with what must become of it, as a case that can be run. `None` if its moves do not go
    /// together.
    pub fn case(&self, suite: &Suite, model: &Model) -> Option<(Case, Verdict)> {
        let baseline = suite.baselines().get(&self.operation)?;
        let mut request = baseline.request.clone();
        for change in self.changes(&baseline.request)? {
            request.apply(&change).ok()?;
        }
        if let Some(signing) = self.moves.iter().find_map(|one| one.signing.clone()) {
            request.signing = signing;
        }
        let (before, prepared) = self.before(suite, baseline)?;
        let verdict = oracle::judge(model, &request, &baseline.request, &prepared);
        let case = self.as_case(request, before, baseline, &verdict);
        Some((case, verdict))
    }

    fn as_case(
        &self,
        request: RequestSpec,
        before: Vec<Preparation>,
        baseline: &Baseline,
        verdict: &Verdict,
    ) -> Case {
        // What must be refused names the clause that it breaks, and what must be accepted the one that the
        // last move is about.
        let last = self.moves.last().map(|one| one.clause.clone());
        let plain = if self.operation == "basket" {
            "basket.body".to_owned()
        } else {
            format!("{}.path", self.operation)
        };
        let clause = match verdict {
            Verdict::Refused { clauses, .. } => clauses.first().cloned(),
            Verdict::Choice(clause) => Some((*clause).to_owned()),
            _ => last,
        };
        let expect = match verdict {
            Verdict::Accepted => Expectation::Accepted,
            Verdict::Refused { nothing_created, status, code, .. } => Expectation::Refused(Refusal {
                nothing_created: *nothing_created,
                status: *status,
                code: code.map(str::to_owned),
                ..Refusal::default()
            }),
            Verdict::Choice(_) => Expectation::Choice(
                [
                    ("accept".to_owned(), Expectation::Accepted),
                    ("refuse".to_owned(), Expectation::Refused(Refusal::default())),
                ]
                .into(),
            ),
            Verdict::Open(_) => Expectation::Observed,
        };
        let uses = |text: &str| self.moves.iter().any(|one| format!("{:?}", one.edits).contains(text));
        let mut needs = baseline.needs.clone();
        if uses("corporate") && !needs.iter().any(|need| need == "corporate") {
            needs.push("corporate".to_owned());
        }
        let clause = clause.unwrap_or(plain);
        Case {
            changes: self.says(&baseline.request),
            before,
            expect,
            needs,
            ..Case::unwritten(self.name(), clause, &self.operation, request)
        }
    }

    /// The classes of its moves: what tells it from others.
    pub fn name(&self) -> String {
        let classes: Vec<&str> = self.moves.iter().map(|one| one.class.as_str()).collect();
        format!(
            "{}: {}",
            self.operation,
            if classes.is_empty() { "plain".to_owned() } else { classes.join(" + ") }
        )
    }

    /// What is different from the plain request, a line for each change.
    pub fn says(&self, plain: &RequestSpec) -> Vec<String> {
        let changes = self.changes(plain).unwrap_or_default();
        let mut said: Vec<String> = changes.iter().map(request::describe).collect();
        said.extend(self.moves.iter().filter_map(|one| one.signing.as_ref()).flat_map(Signing::describe));
        said.extend(self.moves.iter().filter_map(|one| one.payments.as_ref()).map(|payments| {
            let more = if payments.standing { " and a periodic one" } else { "" };
            format!("{} payments are made before{more}", payments.times)
        }));
        said
    }

    /// Its moves as changes of a case file. `None` if they cannot be made.
    pub fn changes(&self, plain: &RequestSpec) -> Option<Vec<Change>> {
        let none = Change { set: None, remove: None, repeat: None, rename: None, raw: None, to: None };
        let mut request = plain.clone();
        let mut changes = Vec::new();
        let mut late = Vec::new();
        for edit in self.moves.iter().flat_map(|one| &one.edits) {
            let made = match edit {
                Edit::Set(at, to) => {
                    vec![Change { set: Some(at.clone()), to: Some(to.clone()), ..none.clone() }]
                }
                Edit::Remove(at) => vec![Change { remove: Some(at.clone()), ..none.clone() }],
                Edit::Raw(text) => {
                    vec![Change { raw: Some("body".to_owned()), to: Some(json!(text)), ..none.clone() }]
                }
                // What is done to the whole request is done to what the other moves leave of it.
                Edit::Rename(..) | Edit::Last(_) | Edit::Order(_) => {
                    late.push(edit);
                    continue;
                }
            };
            for change in made {
                request.apply(&change).ok()?;
                changes.push(change);
            }
        }
        late.sort_by_key(|edit| matches!(edit, Edit::Rename(..)));
        for edit in late {
            let made = match edit {
                Edit::Last(name) => {
                    let Some(value) = request.header(name).cloned() else { continue };
                    let place = format!("header/{name}");
                    vec![
                        Change { remove: Some(place.clone()), ..none.clone() },
                        Change { set: Some(place), to: Some(value), ..none.clone() },
                    ]
                }
                Edit::Rename(name, to) => {
                    if request.header(name).is_none() {
                        continue;
                    }
                    vec![Change {
                        rename: Some(format!("header/{name}")),
                        to: Some(json!(to)),
                        ..none.clone()
                    }]
                }
                Edit::Order(number) => {
                    let Some(members) = request.members() else { continue };
                    vec![Change {
                        set: Some("body".to_owned()),
                        to: Some(Value::Object(turned(members, *number))),
                        ..none.clone()
                    }]
                }
                _ => continue,
            };
            for change in made {
                // The same order is no change.
                if request.apply(&change).is_ok() {
                    changes.push(change);
                }
            }
        }
        Some(changes)
    }

    fn before(&self, suite: &Suite, baseline: &Baseline) -> Option<(Vec<Preparation>, Prepared)> {
        let asked = self.moves.iter().find_map(|one| one.payments.clone());
        let mut wanted: Vec<(String, String, usize)> =
            baseline.before.iter().map(|step| (step.name.clone(), step.baseline.clone(), 1)).collect();
        if let Some(Payments { baseline, times, standing }) = asked {
            wanted = vec![("payment".to_owned(), baseline, times)];
            if standing {
                wanted.push(("standing".to_owned(), "periodic".to_owned(), 1));
            }
        }
        let mut prepared = BTreeMap::new();
        let mut before = Vec::new();
        for (name, baseline, times) in wanted {
            let request = suite.baselines().get(&baseline)?.request.clone();
            prepared.insert(name.clone(), (request.operation.clone(), times));
            before.push(Preparation {
                name,
                baseline,
                request,
                keep: vec![("id".to_owned(), Location::Body("/paymentId".to_owned()))],
                times: (times > 1).then_some(times),
                expect: StepExpect::Accepted,
            });
        }
        Some((before, prepared))
    }

    /// Smaller drafts that may show the same, the smallest first: without half of the moves, without one, and
    /// with shorter texts.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller = Vec::new();
        let count = self.moves.len();
        let with = |keep: &dyn Fn(usize) -> bool| Self {
            operation: self.operation.clone(),
            moves: self
                .moves
                .iter()
                .enumerate()
                .filter(|(at, _)| keep(*at))
                .map(|(_, one)| one.clone())
                .collect(),
        };
        if count > 3 {
            smaller.push(with(&|at| at >= count / 2));
            smaller.push(with(&|at| at < count / 2));
        }
        for gone in 0..count {
            smaller.push(with(&|at| at != gone));
        }
        for (at, one) in self.moves.iter().enumerate() {
            for (edit, kept) in one.edits.iter().enumerate() {
                let Edit::Set(place, value) = kept else { continue };
                for value in simpler(value) {
                    let mut draft = self.clone();
                    draft.moves[at].edits[edit] = Edit::Set(place.clone(), value);
                    smaller.push(draft);
                }
            }
        }
        smaller
    }
}

/// Simpler values than this one: shorter, of one letter, with fewer items or members.
fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) if !text.contains("${") && text.chars().count() > 1 => {
            let length = text.chars().count();
            let plain = "A".repeat(length);
            let shorter = |count: usize| json!(text.chars().take(count).collect::<String>());
            let mut values = vec![shorter(length / 2), shorter(length - 1)];
            if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) && *text != plain && length > 3 {
                values.push(json!(plain));
            }
            values
        }
        Value::Array(items) if items.len() > 1 => (0..items.len())
            .map(|gone| {
                items.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, item)| item.clone()).collect()
            })
            .collect(),
        Value::Object(members) if members.len() > 1 => members
            .keys()
            .map(|gone| {
                let kept = members.iter().filter(|(name, _)| *name != gone);
                Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
            })
            .collect(),
        _ => vec![],
    }
}

/// The same members in another order.
fn turned(members: &Map<String, Value>, number: u64) -> Map<String, Value> {
    let mut rest: Vec<(&String, &Value)> = members.iter().collect();
    let mut number = number;
    let mut turned = Map::new();
    while !rest.is_empty() {
        let count = rest.len() as u64;
        let (name, value) = rest.remove(usize::try_from(number % count).unwrap_or(0));
        number = (number / count) ^ number.rotate_left(17);
        turned.insert(name.clone(), value.clone());
    }
    turned
}
