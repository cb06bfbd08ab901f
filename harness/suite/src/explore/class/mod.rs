//! Classes of what can be done to a valid request: for each member, header, parameter and way of signing the
//! values that keep the rules, those that break one, and those of which the document says nothing. A class
//! draws a value of its own each time.

mod headers;
mod members;
mod money;
mod signing;

use std::{collections::BTreeSet, ops::RangeInclusive};

use proptest::{
    collection::vec, prelude::Strategy, sample::select, strategy::ValueTree, test_runner::TestRunner,
};
use serde_json::{Value, json};

use super::{
    draft::{Edit, Move, Payments},
    model::Model,
};
use crate::{blend, definition::Signing, request::RequestSpec};

/// What a class is made for. What a request must come to is judged from the whole request all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// Keeps every rule.
    Valid,
    /// Breaks one.
    Broken,
    /// Neither: a server does not fail on it.
    Open,
}

type Draw = Box<dyn Fn(&mut TestRunner) -> Parts + Send + Sync>;

/// What a class does to a request.
#[derive(Debug, Clone, Default)]
struct Parts {
    edits: Vec<Edit>,
    signing: Option<Signing>,
    payments: Option<Payments>,
}

/// A class.
pub struct Class {
    /// Name, unique within its operation.
    pub name: String,
    /// The clause that it is about.
    pub clause: String,
    /// What it is made for.
    pub aim: Aim,
    /// Rules of the document that it touches ([`blend::rule`]): two classes that share one are not in one
    /// request.
    pub rules: Vec<String>,
    draw: Draw,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:?}, {})", self.name, self.aim, self.clause)
    }
}

impl Class {
    /// Draws what it does this time.
    pub fn draw(&self, runner: &mut TestRunner) -> Move {
        let Parts { edits, signing, payments } = (self.draw)(runner);
        Move {
            class: self.name.clone(),
            clause: self.clause.clone(),
            rules: self.rules.clone(),
            edits,
            signing,
            payments,
        }
    }
}

/// A value of a strategy.
pub(super) fn drawn<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    match strategy.new_tree(runner) {
        Ok(tree) => tree.current(),
        Err(reason) => unreachable!("a strategy without filters draws: {reason}"),
    }
}

/// Classes of one operation as they are collected.
struct Collector<'a> {
    model: &'a Model,
    plain: &'a RequestSpec,
    operation: String,
    classes: Vec<Class>,
}

/// Every class of an operation. `plain` is its baseline.
pub fn of(model: &Model, operation: &str, plain: &RequestSpec) -> Vec<Class> {
    let mut collector = Collector { model, plain, operation: operation.to_owned(), classes: Vec::new() };
    let Some(shape) = model.operations.get(operation) else { return Vec::new() };
    collector.headers(operation, shape);
    for query in &shape.queries {
        for word in &query.words {
            let at = format!("query/{}", query.at);
            collector.fixed(&format!("{}={word}", query.at), &query.clause, Aim::Valid, &at, json!(word));
        }
    }
    for member in &shape.members {
        collector.member(operation, member);
    }
    if !shape.members.is_empty() {
        collector.bodies(operation);
    }
    collector.signing(operation);
    collector.wire(operation);
    // Two lists may come to the same value.
    let mut names = BTreeSet::new();
    collector.classes.retain(|class| names.insert(class.name.clone()));
    collector.classes
}

impl Collector<'_> {
    fn add(
        &mut self,
        name: &str,
        clause: &str,
        aim: Aim,
        rules: &[&str],
        draw: impl Fn(&mut TestRunner) -> Parts + Send + Sync + 'static,
    ) {
        // Who the PSU is stands in several headers; what members mean for each other is for the oracle.
        let rule = |place: &&str| {
            if place.starts_with("header/") { blend::rule(place).to_owned() } else { (*place).to_owned() }
        };
        let rules = rules.iter().map(rule).collect();
        let (name, clause) = (name.to_owned(), clause.to_owned());
        self.classes.push(Class { name, clause, aim, rules, draw: Box::new(draw) });
    }

    fn fixed(&mut self, name: &str, clause: &str, aim: Aim, at: &str, value: Value) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |_| edits([Edit::set(&place, value.clone())]));
    }

    fn removed(&mut self, name: &str, clause: &str, aim: Aim, at: &str) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |_| edits([Edit::Remove(place.clone())]));
    }

    fn letters(&mut self, name: &str, clause: &str, aim: Aim, at: &str, length: RangeInclusive<usize>) {
        let place = at.to_owned();
        self.add(name, clause, aim, &[&member_of(at)], move |runner| {
            edits([Edit::set(&place, json!(drawn(&letters(length.clone()), runner)))])
        });
    }

    fn is_plain(&self, at: &str, value: &Value) -> bool {
        match &self.plain.body {
            crate::request::BodySpec::Json(body, _) => {
                body.pointer(at.trim_start_matches("body")) == Some(value)
            }
            _ => false,
        }
    }
}

fn edits(edits: impl IntoIterator<Item = Edit>) -> Parts {
    Parts { edits: edits.into_iter().collect(), ..Parts::default() }
}

/// Letters and digits, so many.
fn letters(length: RangeInclusive<usize>) -> impl Strategy<Value = String> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    vec(select(letters), length).prop_map(|letters| letters.into_iter().collect())
}

/// The member of the body that a place belongs to; other places as they are, header names in small letters.
fn member_of(at: &str) -> String {
    match at.split('/').collect::<Vec<_>>().as_slice() {
        ["body", member, ..] => format!("body/{member}"),
        ["header", name] => format!("header/{}", name.to_lowercase()),
        _ => at.to_owned(),
    }
}
