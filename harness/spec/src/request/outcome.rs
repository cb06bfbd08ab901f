//! The outcomes of rules, and the response that they require together.

use serde_json::{Map, Value};

/// The response that a request requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// Acceptance: it meets every rule, and no rule leaves anything open.
    Accepted {
        /// Clauses that require this for some of its values. If empty, any clause about the request does.
        clauses: Vec<String>,
    },
    /// Rejection, because of the first of these clauses. The request violates all of them.
    Refused {
        /// The clauses.
        clauses: Vec<String>,
        /// The required rejection, as in a case file: `status`, `code`, `nothing-created`, ..
        conditions: Map<String, Value>,
        /// Reasons why the bank may reject it even without these violations.
        open: Vec<String>,
    },
    /// The bank chooses, and declares it in its profile.
    Choice {
        /// The clause that leaves the choice.
        clause: String,
        /// The expectation for each declaration, as in a case file.
        values: Map<String, Value>,
    },
    /// Acceptance or rejection, for this reason.
    Open(String),
}

/// Conditions of a rejection that give a bank more freedom. They also apply to a request that violates other
/// rules.
const ALLOWS: [&str; 2] = ["or-rejected", "quota"];

/// The decision of a rule about its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Keeps,
    Accepts(String),
    Breaks { clause: String, conditions: Map<String, Value> },
    Choice { clause: String, values: Map<String, Value> },
    Open(String),
}

/// The outcomes found in a request.
#[derive(Debug, Default)]
pub(super) struct Findings {
    broken: Vec<(String, Map<String, Value>)>,
    nothing_created: bool,
    accepted: Vec<String>,
    choices: Vec<Due>,
    open: Vec<String>,
}

impl Findings {
    pub(super) fn add(&mut self, outcome: Option<Outcome>, nothing_created: bool) {
        match outcome {
            None | Some(Outcome::Keeps) => {}
            Some(Outcome::Accepts(clause)) => self.accepted.push(clause),
            Some(Outcome::Breaks { clause, conditions }) => {
                self.nothing_created |= nothing_created;
                self.broken.push((clause, conditions));
            }
            Some(Outcome::Choice { clause, values }) => self.choices.push(Due::Choice { clause, values }),
            Some(Outcome::Open(why)) => self.open.push(why),
        }
    }

    /// Returns the response that the request requires. A bank may reject a value whose acceptance only the
    /// plain reading requires, which `is_expected` determines. Neither the status of such a rejection nor the
    /// choice that the bank made is then known.
    pub(super) fn due(self, is_expected: &dyn Fn(&str) -> bool) -> Due {
        let is_firm = !self.accepted.iter().any(|clause| is_expected(clause));
        if !self.broken.is_empty() {
            let (clauses, mut conditions): (Vec<String>, Vec<Map<String, Value>>) =
                self.broken.into_iter().unzip();
            // A bank may name any of several violated rules.
            let is_alone = clauses.len() == 1 && is_firm;
            let mut conditions = if is_alone {
                conditions.swap_remove(0)
            } else {
                let allowed = |(condition, _): &(String, Value)| ALLOWS.contains(&condition.as_str());
                conditions.into_iter().flatten().filter(allowed).collect()
            };
            if self.nothing_created {
                conditions.insert("nothing-created".to_owned(), true.into());
            }
            return Due::Refused { clauses, conditions, open: self.open };
        }
        let mut choices = self.choices.into_iter();
        match (self.open.into_iter().next(), choices.next(), choices.next()) {
            (Some(why), ..) => Due::Open(why),
            (None, None, _) => Due::Accepted { clauses: self.accepted },
            (None, Some(_), None) if !is_firm => Due::Open(
                "a choice of the bank along with a value that only the plain reading accepts".to_owned(),
            ),
            (None, Some(choice), None) => choice,
            (None, Some(_), Some(_)) => Due::Open("several choices of the bank".to_owned()),
        }
    }
}
