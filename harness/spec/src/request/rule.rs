//! A rule of a place: tests, and a decision if all of them pass.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    condition::{Condition, ConditionFile, Words},
    outcome::Outcome,
    parameters::{Parameters, is_for},
    scope::Scope,
};

/// A rule, ready to apply.
#[derive(Debug)]
pub(super) struct Rule {
    condition: Condition,
    outcome: Outcome,
}

/// The decision of a rule, as written next to its tests.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Decision {
    keeps: bool,
    accepts: Option<String>,
    breaks: Option<String>,
    choice: Option<String>,
    open: Option<String>,
    /// The required rejection, as in a case file.
    refused: Map<String, Value>,
    /// The expectation for each declaration of a choice in the profile.
    values: Option<Map<String, Value>>,
}

/// The keys of a decision. Every other key of a rule is a test.
const DECISION: [&str; 7] = ["keeps", "accepts", "breaks", "choice", "open", "refused", "values"];

impl Rule {
    /// Reads a rule for a place. Returns `None` if its `only` excludes the place.
    pub(super) fn read(rule: &Value, of: &Parameters, words: &Words<'_>) -> Result<Option<Self>, String> {
        let Value::Object(members) = rule else {
            return Err(format!("`{rule}` is not a rule: expected a mapping"));
        };
        let mut members = members.clone();
        if !is_for(members.shift_remove("only"), of)? {
            return Ok(None);
        }
        let Value::Object(filled) = of.fill(&Value::Object(members))? else { return Ok(None) };
        let (decision, tests): (Map<_, _>, Map<_, _>) =
            filled.into_iter().partition(|(name, _)| DECISION.contains(&name.as_str()));
        let wrong = |error: serde_json::Error| format!("`{rule}`: {error}");
        let tests: ConditionFile = serde_json::from_value(Value::Object(tests)).map_err(wrong)?;
        let Decision { keeps, accepts, breaks, choice, open, refused: conditions, values } =
            serde_json::from_value(Value::Object(decision)).map_err(wrong)?;
        let outcome = match (keeps, accepts, breaks, choice, open) {
            (true, None, None, None, None) => Outcome::Keeps,
            (false, Some(clause), None, None, None) => Outcome::Accepts(clause),
            (false, None, Some(clause), None, None) => Outcome::Breaks { clause, conditions },
            (false, None, None, Some(clause), None) => {
                let usual = [("accept", "accepted"), ("refuse", "refused")];
                let usual = usual.map(|(name, due)| (name.to_owned(), due.into()));
                Outcome::Choice { clause, values: values.unwrap_or_else(|| Map::from_iter(usual)) }
            }
            (false, None, None, None, Some(why)) => Outcome::Open(why),
            _ => {
                return Err(format!(
                    "`{rule}` needs exactly one of `keeps`, `accepts`, `breaks`, `choice` and `open`"
                ));
            }
        };
        let condition = Condition::new(tests, words).map_err(|message| format!("`{rule}`: {message}"))?;
        Ok(Some(Self { condition, outcome }))
    }

    /// Returns the clause that it names.
    pub(super) fn clause(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Breaks { clause, .. } | Outcome::Choice { clause, .. } | Outcome::Accepts(clause) => {
                Some(clause)
            }
            Outcome::Keeps | Outcome::Open(_) => None,
        }
    }

    /// Adds the parts of a request, other than the place itself, that it depends on.
    pub(super) fn watches(&self, parts: &mut BTreeSet<String>) {
        self.condition.watches(parts);
    }

    /// Adds the values with placeholders that it names, each with its place.
    pub(super) fn written(&self, at: &str, found: &mut Vec<(String, Value)>) {
        self.condition.written(at, found);
    }

    /// Adds the names of earlier requests whose number it depends on.
    pub(super) fn repeats(&self, found: &mut Vec<String>) {
        self.condition.repeats(found);
    }

    /// Returns its decision about a place if its tests pass.
    pub(super) fn applied(&self, scope: &Scope<'_>, at: &str) -> Option<Outcome> {
        self.condition.holds(scope, at).then(|| self.outcome.clone())
    }
}
