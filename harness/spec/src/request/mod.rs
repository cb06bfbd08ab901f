//! What the document says of requests, as data: `fixtures/spec/requests.yaml` and the table of header fields.
//! A request is judged as a whole by the rules of its places; forms are values that keep or break them.
//!
//! Nothing here names a member, a header field or a clause, and nothing knows how a request was made.

mod compile;
mod condition;
mod definition;
mod draw;
mod form;
mod parameters;
mod rule;
mod scope;
mod signing;

mod view;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use self::{
    compile::Plain,
    draw::draw,
    form::{Before, Edit, Form, Prepared},
    parameters::computed,
    view::{Payload, View},
};
use self::{rule::Rule, scope::Scope, signing::Signing};
use crate::{problem::Problem, tree::Tree};

/// Where it stands in a tree.
pub const FILE: &str = "fixtures/spec/requests.yaml";

/// What is known of the requests of every operation.
#[derive(Debug, Default)]
pub struct RequestRules {
    operations: BTreeMap<String, Operation>,
    /// Parts of a request in which a broken rule means that nothing is made: `header`, `signing`.
    nothing_created: Vec<String>,
    signing: Signing,
}

/// The requests of one operation.
#[derive(Debug)]
struct Operation {
    /// The clause of its plain request.
    plain: String,
    /// Whether the document says how its requests are signed.
    is_signed: bool,
    places: Vec<Place>,
    /// Rules that no single place has.
    rules: Vec<Rule>,
    forms: Vec<Form>,
}

/// A place of a request.
#[derive(Debug)]
struct Place {
    /// `body/a/b`, `header/NAME`, `query/NAME`.
    at: String,
    rules: Vec<Rule>,
    /// What its row says of it, by name: `operation`, `at`, `kind`, `clause`, and what the kind has besides.
    row: Map<String, Value>,
}

/// What a request must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// It is accepted: it keeps every rule, and no rule leaves anything open.
    Accepted,
    /// It is refused, because of the first of these clauses; it breaks all of them.
    Refused {
        /// The clauses.
        clauses: Vec<String>,
        /// What the refusal must be, as a case file says it: `status`, `code`, `nothing-created`, ..
        conditions: Map<String, Value>,
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

/// What a rule decides of the place where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Keeps,
    Breaks { clause: String, conditions: Map<String, Value> },
    Choice { clause: String, values: Map<String, Value> },
    Open(String),
}

/// What is found in a request.
#[derive(Debug, Default)]
struct Findings {
    broken: Vec<(String, Map<String, Value>)>,
    nothing_created: bool,
    choices: Vec<Due>,
    open: Vec<String>,
}

impl RequestRules {
    /// Reads the rules of a tree; `plain` gives the plain requests of its operations. Without such a file there
    /// are none.
    pub fn load(tree: &Tree, plain: &BTreeMap<String, Plain<'_>>) -> Result<Self, Problem> {
        tree.text(FILE).map_or_else(|| Ok(Self::default()), |text| compile::compile(tree, text, plain, false))
    }

    /// The same without rules and forms: what is known of each place, which case files quantify over.
    pub fn load_places(tree: &Tree, plain: &BTreeMap<String, Plain<'_>>) -> Result<Self, Problem> {
        tree.text(FILE).map_or_else(|| Ok(Self::default()), |text| compile::compile(tree, text, plain, true))
    }

    /// Names of the operations.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(String::as_str)
    }

    /// The clause of an operation's plain request.
    pub fn plain_clause(&self, operation: &str) -> Option<&str> {
        self.operations.get(operation).map(|operation| operation.plain.as_str())
    }

    /// What is known of each place of each operation, by name: `operation`, `at`, `kind`, `clause`, and what the
    /// kind has besides.
    pub fn places(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.operations.values().flat_map(|operation| &operation.places).map(|place| &place.row)
    }

    /// What is tried in requests of an operation.
    pub fn forms(&self, operation: &str) -> &[Form] {
        self.operations.get(operation).map_or(&[], |operation| &operation.forms)
    }

    /// Every clause that a rule or a form names.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        self.operations
            .values()
            .flat_map(|operation| {
                let rules = operation.places.iter().flat_map(|place| &place.rules).chain(&operation.rules);
                let forms = operation.forms.iter().map(|form| form.clause.as_str());
                rules.filter_map(Rule::clause).chain(forms).chain([operation.plain.as_str()])
            })
            .chain(self.signing.clauses())
    }

    /// What a request must come to. `plain` is the plain request of its operation, and `prepared` what is made
    /// before it.
    pub fn judge(&self, request: &View<'_>, plain: &View<'_>, prepared: &Prepared) -> Due {
        let Some(operation) = self.operations.get(request.operation) else {
            return Due::Open("an operation without rules".to_owned());
        };
        let mut findings = Findings::default();
        let scope = Scope::new(operation, request, plain, prepared);
        for place in operation.places.iter().filter(|place| scope.has_parent(&place.at)) {
            let outcome = place.rules.iter().find_map(|rule| rule.applied(&scope, &place.at));
            findings.add(outcome, self.makes_nothing(&place.at));
        }
        findings.add(self.signing.judge(request, operation.is_signed), self.makes_nothing("signing"));
        for rule in &operation.rules {
            let outcome = rule.applied(&scope, "");
            let is_last = outcome.is_some();
            findings.add(outcome, false);
            if is_last {
                break;
            }
        }
        findings.due()
    }

    fn makes_nothing(&self, at: &str) -> bool {
        let part = at.split('/').next().unwrap_or(at);
        self.nothing_created.iter().any(|known| known == part)
    }
}

impl Operation {
    /// Names of what stands below a place: members, header fields, parameters.
    fn below<'a>(&'a self, at: &'a str) -> impl Iterator<Item = &'a str> {
        self.places.iter().filter_map(move |place| {
            place.at.strip_prefix(at)?.strip_prefix('/').filter(|rest| !rest.contains('/'))
        })
    }
}

impl Findings {
    fn add(&mut self, outcome: Option<Outcome>, nothing_created: bool) {
        match outcome {
            None | Some(Outcome::Keeps) => {}
            Some(Outcome::Breaks { clause, conditions }) => {
                self.nothing_created |= nothing_created;
                self.broken.push((clause, conditions));
            }
            Some(Outcome::Choice { clause, values }) => self.choices.push(Due::Choice { clause, values }),
            Some(Outcome::Open(why)) => self.open.push(why),
        }
    }

    fn due(self) -> Due {
        if !self.broken.is_empty() {
            let (clauses, mut conditions): (Vec<String>, Vec<Map<String, Value>>) =
                self.broken.into_iter().unzip();
            // Which of several rules a bank names is its own.
            let mut conditions = if clauses.len() == 1 { conditions.swap_remove(0) } else { Map::new() };
            if self.nothing_created {
                conditions.insert("nothing-created".to_owned(), true.into());
            }
            return Due::Refused { clauses, conditions };
        }
        let mut choices = self.choices.into_iter();
        match (self.open.into_iter().next(), choices.next(), choices.next()) {
            (Some(why), ..) => Due::Open(why),
            (None, None, _) => Due::Accepted,
            (None, Some(choice), None) => choice,
            (None, Some(_), Some(_)) => Due::Open("several choices of the bank".to_owned()),
        }
    }
}

/// A value as it stands in a message or a name: texts without quotation marks.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
