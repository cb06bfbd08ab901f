//! Sequences of requests, and the required response to the last one, as data: a small model of the state of a
//! server.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{problem::Problem, tree::Tree, yaml};

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/sequences.yaml";

/// A small model of the state of a server. Empty if a document has none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceRules {
    /// The clients that send requests. The first one creates the things that no other caller creates.
    pub callers: Vec<Caller>,
    /// Things that can be created.
    pub things: IndexMap<String, Thing>,
    /// Acts that are possible with these things.
    pub acts: IndexMap<String, Act>,
    /// The required results of acts. The first rule that matches decides.
    pub rules: Vec<Rule>,
}

/// A client that sends requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// Name.
    pub name: String,
    /// The changes to the requests of this caller, as in a case file.
    #[serde(default)]
    pub change: Vec<Value>,
    /// The deviation from the signing in the document.
    #[serde(default)]
    pub signing: Map<String, Value>,
}

/// A thing that can be created.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// The valid request that creates it.
    pub request: String,
    /// Callers that create it.
    pub by: Vec<String>,
    /// The outcome, as in a step of a case. The default is acceptance.
    pub outcome: Option<String>,
    /// Values kept from the response: key and place.
    pub keep: IndexMap<String, String>,
    /// The required response if another thing was created before it. `<earlier.KEY>` is a value kept from
    /// that thing.
    pub again: Option<Demand>,
}

/// An act that is possible with things.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The request, by the kind of thing.
    pub of: IndexMap<String, Asked>,
    /// Minimum number of things in one request.
    #[serde(default = "one")]
    pub least: usize,
    /// Maximum number of things in one request. A rule may be about only one of them.
    #[serde(default = "one")]
    pub most: usize,
}

/// A request for an act.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The valid request.
    pub request: String,
    /// The changes that name the thing in it. `<KEY>` is a value kept from the thing, and `<every KEY>` is
    /// the list of those values for all things.
    pub change: Vec<Value>,
}

/// The required result of an act.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// The act.
    pub act: String,
    /// Matches if this caller requests something that another caller created. `another` matches any caller.
    pub by: Option<String>,
    /// Matches a thing of this kind.
    pub of: Option<String>,
    /// Matches a thing with this mark.
    pub has: Option<String>,
    /// The required response, if the act is the last request. Without it, the document leaves the response
    /// open.
    pub demand: Option<Demand>,
    /// The outcome if the act is an earlier step, as in a case file. Without it, the act is never an earlier
    /// step.
    pub before: Option<String>,
    /// The mark that each of the things then gets.
    pub marks: Option<String>,
    /// The mark that all other things then get.
    pub others: Option<String>,
}

/// The required response to the last request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Demand {
    /// The clause to test.
    pub clause: String,
    /// The case that is the control.
    pub control: String,
    /// True if the control need not be accepted.
    #[serde(default)]
    pub control_is_open: bool,
    /// True if a rejection also meets the clause.
    #[serde(default)]
    pub or_refused: bool,
    /// The expected response, as in a case file. `<KEY>` is a value kept from the thing.
    pub expect: Value,
}

fn one() -> usize {
    1
}

impl SequenceRules {
    /// Reads the model of a tree. Returns an empty one if the tree has no such file.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(Self::default()) };
        let read: Self = yaml::read(FILE, text)?;
        read.problem().map_or(Ok(read), |message| Err(Problem::of_file(FILE, message)))
    }

    /// Returns all required responses.
    pub fn demands(&self) -> impl Iterator<Item = &Demand> {
        let again = self.things.values().filter_map(|thing| thing.again.as_ref());
        self.rules.iter().filter_map(|rule| rule.demand.as_ref()).chain(again)
    }

    /// Returns a message about a name that does not exist, if there is one.
    fn problem(&self) -> Option<String> {
        let is_caller = |name: &str| self.callers.iter().any(|caller| caller.name == name);
        if self.callers.is_empty() {
            return Some("expected at least one caller".to_owned());
        }
        for (name, thing) in &self.things {
            if thing.by.is_empty() || !thing.by.iter().all(|by| is_caller(by)) {
                return Some(format!("thing `{name}`: expected callers in `by`, found {:?}", thing.by));
            }
        }
        for (name, act) in &self.acts {
            if let Some(kind) = act.of.keys().find(|kind| !self.things.contains_key(*kind)) {
                return Some(format!("act `{name}`: there is no thing `{kind}`"));
            }
        }
        for Rule { act, by, of, .. } in &self.rules {
            if !self.acts.contains_key(act) {
                return Some(format!("a rule of `{act}`: there is no such act"));
            }
            if let Some(by) = by.as_ref().filter(|by| *by != ANOTHER && !is_caller(by)) {
                return Some(format!("a rule of `{act}`: there is no caller `{by}`"));
            }
            if let Some(of) = of.as_ref().filter(|of| !self.things.contains_key(*of)) {
                return Some(format!("a rule of `{act}`: there is no thing `{of}`"));
            }
        }
        None
    }
}

/// Any caller except the one that created a thing.
pub const ANOTHER: &str = "another";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nothing_has_are_problems() {
        let whole = "callers: [{ name: a }]\nthings: { t: { request: r, by: [a], keep: {} } }\nacts: { x: { of: { t: { request: r, change: [] } } } }\nrules: [{ act: x }]\n";
        let load =
            |text: &str| SequenceRules::load(&Tree::of(&[(FILE, text)])).map(|rules| rules.rules.len());
        assert_eq!(load(whole).ok(), Some(1));
        for (from, to, says) in [
            ("[{ name: a }]", "[]", "at least one caller"),
            ("by: [a]", "by: [b]", "expected callers in `by`"),
            ("of: { t:", "of: { u:", "no thing `u`"),
            ("act: x", "act: y", "no such act"),
            ("act: x", "act: x, by: b", "no caller `b`"),
            ("act: x", "act: x, of: u", "no thing `u`"),
            ("act: x", "acts: x", "unknown field `acts`"),
        ] {
            let message = load(&whole.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
}
