//! What may be asked one after the other, and what must then become of the last request: a small model of
//! what a server remembers, as data.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{problem::Problem, tree::Tree, yaml};

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/sequences.yaml";

/// A small model of what a server remembers; nothing where a document has none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceRules {
    /// Those who ask. The first one makes what nobody else makes.
    pub callers: Vec<Caller>,
    /// What can be made.
    pub things: IndexMap<String, Thing>,
    /// What can be done with it.
    pub acts: IndexMap<String, Act>,
    /// What must become of each act: the first rule that fits.
    pub rules: Vec<Rule>,
}

/// Somebody who asks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// Name.
    pub name: String,
    /// What is different in the requests of this one, as a case file has it.
    #[serde(default)]
    pub change: Vec<Value>,
    /// How they are signed, where not as the document says.
    #[serde(default)]
    pub signing: Map<String, Value>,
}

/// Something that can be made.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// The valid request that makes it.
    pub request: String,
    /// Callers that make it.
    pub by: Vec<String>,
    /// What it comes to, as a step of a case has it; it is accepted where nothing is said.
    pub outcome: Option<String>,
    /// What is kept of the answer: key and place.
    pub keep: IndexMap<String, String>,
    /// What must become of the request where another thing was made before it. `<earlier.KEY>` is what was
    /// kept of that.
    pub again: Option<Demand>,
}

/// Something that can be done with things.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// How it is asked, by what it is done with.
    pub of: IndexMap<String, Asked>,
    /// With how many things at least it is done at once.
    #[serde(default = "one")]
    pub least: usize,
    /// With how many things at most it is done at once. Of several only one may be what a rule is about.
    #[serde(default = "one")]
    pub most: usize,
}

/// How an act is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The valid request.
    pub request: String,
    /// What names the thing in it: `<KEY>` is what was kept of it, and `<every KEY>` the list of that of all
    /// things.
    pub change: Vec<Value>,
}

/// What must become of an act.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// The act.
    pub act: String,
    /// Holds where this caller, or with `another` any caller, asks for what somebody else made.
    pub by: Option<String>,
    /// Holds for a thing of this kind.
    pub of: Option<String>,
    /// Holds for a thing to which this has happened.
    pub has: Option<String>,
    /// What must become of it as the last request; nothing where the document leaves it open.
    pub demand: Option<Demand>,
    /// What a step before others comes to, as a case file has it; it is none where nothing is said.
    pub before: Option<String>,
    /// What has then happened to each of the things.
    pub marks: Option<String>,
    /// What has then happened to all other things.
    pub others: Option<String>,
}

/// What must become of the last request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Demand {
    /// The clause.
    pub clause: String,
    /// The case that is the control.
    pub control: String,
    /// Whether the control need not be accepted.
    #[serde(default)]
    pub control_is_open: bool,
    /// Whether a refusal keeps the clause as well.
    #[serde(default)]
    pub or_refused: bool,
    /// What must come back, as a case file has it; `<KEY>` is what was kept of the thing.
    pub expect: Value,
}

fn one() -> usize {
    1
}

impl SequenceRules {
    /// Reads it from a tree; nothing where the tree has no such file.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let Some(text) = tree.text(FILE) else { return Ok(Self::default()) };
        let read: Self = yaml::read(FILE, text)?;
        read.problem().map_or(Ok(read), |message| Err(Problem::of_file(FILE, message)))
    }

    /// Everything that is demanded.
    pub fn demands(&self) -> impl Iterator<Item = &Demand> {
        let again = self.things.values().filter_map(|thing| thing.again.as_ref());
        self.rules.iter().filter_map(|rule| rule.demand.as_ref()).chain(again)
    }

    /// A name that nothing has.
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

/// Any caller but the one that made a thing.
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
