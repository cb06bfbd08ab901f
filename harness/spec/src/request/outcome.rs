//! What rules decide, and what a request comes to by all of them.

use serde_json::{Map, Value};

/// What a request must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// It is accepted: it keeps every rule, and no rule leaves anything open.
    Accepted {
        /// Clauses that say so of some of its values. Without them any that speaks of the request says so.
        clauses: Vec<String>,
    },
    /// It is refused, because of the first of these clauses; it breaks all of them.
    Refused {
        /// The clauses.
        clauses: Vec<String>,
        /// What the refusal must be, as a case file says it: `status`, `code`, `nothing-created`, ..
        conditions: Map<String, Value>,
        /// Why it might be refused even if it broke none of them.
        open: Vec<String>,
    },
    /// The bank chooses, and its profile says what.
    Choice {
        /// The clause that leaves it the choice.
        clause: String,
        /// What is expected by what the profile says, as a case file says it.
        values: Map<String, Value>,
    },
    /// Both answers are right, for this reason.
    Open(String),
}

/// Conditions of a refusal that allow a bank more, beside those that demand something of it. They hold for a
/// request that breaks other rules as well.
const ALLOWS: [&str; 2] = ["or-rejected", "quota"];

/// What a rule decides of the place where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Keeps,
    Accepts(String),
    Breaks { clause: String, conditions: Map<String, Value> },
    Choice { clause: String, values: Map<String, Value> },
    Open(String),
}

/// What is found in a request.
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

    /// What the request must come to. A bank may refuse what only a reading accepts, which `is_expected` says
    /// of the clause that accepts it; which status that has, and whether a choice was made, is then not to be
    /// told.
    pub(super) fn due(self, is_expected: &dyn Fn(&str) -> bool) -> Due {
        let is_firm = !self.accepted.iter().any(|clause| is_expected(clause));
        if !self.broken.is_empty() {
            let (clauses, mut conditions): (Vec<String>, Vec<Map<String, Value>>) =
                self.broken.into_iter().unzip();
            // Which of several rules a bank names is its own.
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
            (None, Some(_), None) if !is_firm => {
                Due::Open("a choice of the bank beside what only a reading accepts".to_owned())
            }
            (None, Some(choice), None) => choice,
            (None, Some(_), Some(_)) => Due::Open("several choices of the bank".to_owned()),
        }
    }
}
