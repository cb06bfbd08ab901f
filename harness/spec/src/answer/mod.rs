//! What is wrong with an answer: a pure function of its operation, status and body, and of what the spec says
//! of them.
//!
//! Two kinds of rules: the JSON Schemas in `fixtures/schemas/`, which hold what a table of the document says
//! of one member, and the rules of `fixtures/spec/answers.yaml` that a schema cannot say (money, relations
//! between members). Each finding names the clause that is broken; what the document leaves open is an
//! [`Observation`].
//!
//! Of a 4xx body only the shape of its messages is checked, and only where it has them, or where their schema
//! says that a member must be there. Where the spec shows no shape even that is recorded and no more.

mod amount;
mod annotation;
mod body;
mod checked;
mod currency;
mod definition;
mod exercise;
mod forms;
mod lawful;
mod mutation;
mod node;
mod notes;
mod pointer;
mod rules;
mod schema;
pub mod show;
mod unlisted;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::{
    body::Read, currency::Currencies, definition::File, mutation::Source, notes::Notes, rules::Rule,
    schema::Schema,
};
pub use self::{
    checked::{Checked, Finding, Observation},
    definition::{FILE, Quota, SAMPLES},
    lawful::Said,
    mutation::Mutation,
};
use crate::{
    problem::{Problem, Problems},
    tree::Tree,
    yaml,
};
pub use body::{QUOTED, has_member_twice};

/// Every rule for answers, compiled once and shared by all cases.
#[derive(Debug)]
pub struct AnswerRules {
    shapes: BTreeMap<String, Shape>,
    /// Shapes of refusals, by name.
    refusals: BTreeMap<String, Schema>,
    /// Rules of every shape.
    everywhere: Vec<Rule>,
    currencies: Currencies,
    /// An answer of each shape with all its members, and a refusal, by the name of the shape.
    samples: BTreeMap<String, Value>,
    file: File,
}

/// A shape of a 2xx body.
#[derive(Debug)]
struct Shape {
    clause: String,
    schema: Schema,
    rules: Vec<Rule>,
}

impl AnswerRules {
    /// Reads the rules of a tree, and compiles its schemas.
    pub fn load(tree: &Tree) -> Result<Self, Problems> {
        Self::read(tree, Schema::compiled)
    }

    /// Reads the rules of a tree of which it is known that its schemas can be compiled: each is when it is
    /// first needed.
    pub fn load_known(tree: &Tree) -> Result<Self, Problems> {
        Self::read(tree, Ok)
    }

    fn read(tree: &Tree, finish: fn(Schema) -> Result<Schema, String>) -> Result<Self, Problems> {
        let text = tree.text(FILE).ok_or_else(|| Problem::of_file(FILE, "the spec has no such file"))?;
        let file: File = yaml::read(FILE, text)?;
        let mut problems = Vec::new();
        let types = schema::types(tree)?;
        let mut compile = |name: &str| match schema::load(tree, name, (&types, &file), finish) {
            Ok(schema) => Some(schema),
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        let shapes: Vec<_> =
            file.shapes.iter().filter_map(|(name, shape)| Some((name, shape, compile(name)?))).collect();
        let names: BTreeSet<&String> =
            file.operations.values().filter_map(|one| one.refusal.as_ref()).collect();
        let refusals: BTreeMap<String, Schema> =
            names.into_iter().filter_map(|name| Some((name.clone(), compile(name)?))).collect();
        let mut read = |rules: &[definition::Rule]| -> Vec<Rule> {
            let rules = rules.iter().map(|rule| Rule::new(rule, file.amount.as_ref()));
            let rules =
                rules.map(|rule| rule.map_err(|message| problems.push(Problem::of_file(FILE, message))));
            rules.filter_map(Result::ok).collect()
        };
        let everywhere = read(&file.everywhere);
        let shapes: BTreeMap<String, Shape> = shapes
            .into_iter()
            .map(|(name, shape, schema)| {
                let rules = read(&shape.rules);
                (name.clone(), Shape { clause: shape.clause.clone(), schema, rules })
            })
            .collect();
        for (name, operation) in &file.operations {
            if !file.shapes.contains_key(&operation.shape) {
                let message =
                    format!("operation `{name}` has shape `{}`, which does not exist", operation.shape);
                let known = file.shapes.keys().map(String::as_str);
                problems.push(Problem::of_file(FILE, message).nearest(&operation.shape, known));
            }
        }
        let currencies = Currencies::load(tree)?;
        let mut samples = BTreeMap::new();
        for name in shapes.keys().chain(refusals.keys()) {
            match schema::json_file(tree, &format!("{SAMPLES}/{name}.json")) {
                Ok(sample) => _ = samples.insert(name.clone(), sample),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        Ok(Self { shapes, refusals, everywhere, currencies, samples, file })
    }

    /// Names of the operations whose answers have a shape.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.file.operations.keys().map(String::as_str)
    }

    /// Whether the answers of an operation have a shape; the document only mentions the others.
    pub fn has(&self, operation: &str) -> bool {
        self.file.operations.contains_key(operation)
    }

    /// The ids of all clauses that a finding or an observation can name, sorted. Each has to be in the
    /// ledger.
    pub fn clauses(&self) -> BTreeSet<&str> {
        let schemas = self.shapes.values().map(|shape| &shape.schema).chain(self.refusals.values());
        let rules = self.shapes.values().flat_map(|shape| &shape.rules).chain(&self.everywhere);
        let own = [&self.file.content_type, &self.file.null, &self.file.refusal_body].map(String::as_str);
        let own = own.into_iter().chain(self.file.duplicate.as_deref());
        let shapes = self.shapes.values().map(|shape| shape.clause.as_str());
        let rules = rules.flat_map(Rule::clauses);
        schemas.flat_map(|schema| schema.tree().clauses()).chain(rules).chain(own).chain(shapes).collect()
    }

    /// The clauses that are checked on every answer, whatever a case is about.
    pub fn of_every_answer(&self) -> BTreeSet<&str> {
        self.clauses()
            .into_iter()
            .chain([self.server_error()])
            .chain(self.one_success_status())
            .chain(self.field_lines())
            .chain(self.success_statuses())
            .collect()
    }

    /// The clauses that a 2xx answer of this operation is held to, sorted; what is only observed is among
    /// them.
    pub fn clauses_of(&self, operation: &str) -> BTreeSet<&str> {
        let Some(shape) = self.shape(operation) else { return BTreeSet::new() };
        let mut clauses = shape.schema.tree().clauses();
        clauses.insert(&shape.clause);
        clauses.extend(self.rules(shape).flat_map(Rule::demanded));
        clauses
    }

    /// The clauses that the body of a refusal of this operation is held to, sorted.
    pub fn clauses_of_refusals(&self, operation: &str) -> BTreeSet<&str> {
        self.refusal(operation).map(|schema| schema.tree().clauses()).unwrap_or_default()
    }

    /// Those of [`Self::clauses_of`] that this body of a 2xx answer has a value for. Of the body of a
    /// refusal, those that its messages have to keep.
    pub fn exercised(&self, operation: &str, status: u16, document: &Value) -> BTreeSet<&str> {
        match (status, self.shape(operation), self.refusal(operation)) {
            (200..=299, Some(shape), _) => {
                let mut clauses = shape.schema.tree().exercised(document);
                clauses.insert(&shape.clause);
                let rules = self.rules(shape).filter(|rule| rule.is_exercised(document));
                clauses.extend(rules.flat_map(Rule::demanded));
                clauses
            }
            (400..=499, _, Some(schema)) => schema.tree().exercised(document),
            _ => BTreeSet::new(),
        }
    }

    /// Whether a body is that of the operation at all: of its kind, with every member that it must have.
    pub fn is_of(&self, operation: &str, document: Option<&Value>) -> bool {
        let shape = self.shape(operation);
        document.zip(shape).is_some_and(|(document, shape)| shape.schema.has_members(document))
    }

    /// The first member of a body that the document does not list, as a JSON pointer; nothing where it does
    /// not say what an answer of this operation has.
    pub fn unlisted(&self, operation: &str, document: &Value) -> Option<String> {
        unlisted::first(&self.shape(operation)?.schema.node(), document)
    }

    /// A body without the members that the document does not list; all of it where it does not say what an
    /// answer of this operation has.
    pub fn listed(&self, operation: &str, document: &Value) -> Value {
        let shape = self.shape(operation);
        shape.map_or_else(|| document.clone(), |shape| unlisted::without(&shape.schema.node(), document))
    }

    /// The clause of the exact status of acceptance, which is also the key of the choice.
    pub fn success_status(&self, operation: &str) -> Option<&str> {
        self.file.operations.get(operation)?.success_status.as_deref()
    }

    /// Every clause of an exact status.
    pub fn success_statuses(&self) -> impl Iterator<Item = &str> {
        self.file.operations.values().filter_map(|operation| operation.success_status.as_deref())
    }

    /// The clause by which an operation has one status for all its successes, where there is one.
    pub fn one_success_status(&self) -> Option<&str> {
        self.file.one_success_status.as_deref()
    }

    /// Returns the clause that each header line is well-formed, if there is one.
    pub fn field_lines(&self) -> Option<&str> {
        self.file.field_lines.as_deref()
    }

    /// The clause that a server never fails on a request.
    pub fn server_error(&self) -> &str {
        &self.file.server_error
    }

    /// The daily quota of calls, where the document has one.
    pub fn quota(&self) -> Option<&Quota> {
        self.file.quota.as_ref()
    }

    /// Whether the document shows where the codes of this operation's refusals stand.
    pub fn shows_codes(&self, operation: &str) -> bool {
        self.refusal(operation).is_some()
    }

    /// Where the codes of a refusal stand, where its shape is shown.
    pub fn place_of_codes(&self) -> String {
        format!("body/{}", self.file.codes.at)
    }

    /// The codes of the messages of a body.
    pub fn codes(&self, document: Option<&Value>) -> Vec<String> {
        let messages = document.and_then(|body| body.get(&self.file.codes.at)).and_then(Value::as_array);
        let codes = messages.into_iter().flatten();
        let codes = codes.filter_map(|message| message.get(&self.file.codes.member)?.as_str());
        codes.map(str::to_owned).collect()
    }

    /// The member that holds the status of a created resource, and its text in this body.
    pub fn status<'a>(&'a self, document: Option<&'a Value>) -> Option<(&'a str, &'a str)> {
        let member = &self.file.status.as_ref()?.at;
        Some((member, document?.get(member)?.as_str()?))
    }

    /// Whether this operation makes something, and this status says that it was rejected. What only reads the
    /// status of something has no status of its own.
    pub fn is_rejected(&self, operation: &str, status: &str) -> bool {
        self.success_status(operation).is_some()
            && self.file.status.as_ref().is_some_and(|known| known.rejected == status)
    }

    /// Whether this status says that a bank does not have an operation of which the document shows no path or
    /// payload: 501, by which a server says that it does not support what was asked for (RFC 9110, section
    /// 15.6.2).
    pub fn may_lack(&self, operation: &str, status: u16) -> bool {
        status == 501 && self.file.not_shown.iter().any(|one| one == operation)
    }

    /// The clause that holds in place of another one, where a request with these header fields does not name
    /// the change that the other one is about.
    pub fn otherwise(&self, clause: &str, header: impl Fn(&str) -> Option<String>) -> Option<&str> {
        let amount = self.file.amount.as_ref().filter(|amount| amount.fewer == clause)?;
        let otherwise = amount.fewer_otherwise.as_ref()?;
        let value = header(&otherwise.header).unwrap_or_default();
        let is_named = value.split(',').any(|name| name.trim() == otherwise.name);
        (!is_named).then_some(otherwise.clause.as_str())
    }

    /// Checks the answer that `operation` gave. An operation without a shape is asked for nothing.
    ///
    /// `content_type` is the value of the answer's `Content-Type`, if it has one; `body` is the content after
    /// any `Content-Encoding` was undone.
    pub fn check(&self, operation: &str, status: u16, content_type: Option<&str>, body: &[u8]) -> Checked {
        match (status, self.shape(operation)) {
            (200..=299, Some(shape)) => self.check_success((operation, shape), content_type, body),
            (400..=499, Some(_)) => self.check_refusal(operation, body),
            _ => Checked { document: body::read(body).document, ..Checked::default() },
        }
    }

    fn check_success(
        &self,
        (operation, shape): (&str, &Shape),
        content_type: Option<&str>,
        body: &[u8],
    ) -> Checked {
        let mut notes = Notes::default();
        body::content_type(operation, content_type, &self.file.content_type, &mut notes);
        let read = body::read(body);
        notes.checked();
        if let Some(problem) = &read.problem {
            notes.finding(&shape.clause, "body", body::EXPECTED, problem);
        }
        self.check_readings(&read, &mut notes, |document, notes| {
            shape.schema.check(document, notes);
            for rule in self.rules(shape) {
                rule.check(document, &self.currencies, notes);
            }
        });
        notes.into_checked(read.document)
    }

    fn check_refusal(&self, operation: &str, body: &[u8]) -> Checked {
        let read = body::read(body);
        let mut notes = Notes::default();
        // Where no shape is shown, that of the others is looked for and only recorded.
        let shown = self.refusal(operation);
        // A shape that has members which must be there is that of every refusal.
        let is_demanded = shown.is_some_and(Schema::requires_members);
        if let Some(problem) = read.problem.as_ref().filter(|_| is_demanded) {
            notes.checked();
            notes.finding(&self.file.refusal_body, "body", body::EXPECTED, problem);
        }
        if let Some(schema) = shown.or_else(|| self.refusals.values().next()) {
            self.check_readings(&read, &mut notes, |document, notes| {
                if is_demanded || document.get(&self.file.codes.at).is_some() {
                    schema.check(document, notes);
                }
            });
        }
        if shown.is_none() {
            notes.demand_nothing(&self.file.refusal_body);
        }
        notes.into_checked(read.document)
    }

    /// Checks a body as those see it who take the last of two members with one name. Where nothing is wrong
    /// with that one, it is checked once more with the first: which of them counts is the reader's (RFC 8259,
    /// section 4), so that the clause of such members says what comes of it.
    fn check_readings(&self, read: &Read, notes: &mut Notes, check: impl Fn(&Value, &mut Notes)) {
        let before = notes.broken();
        if let Some(document) = &read.document {
            check(document, notes);
        }
        if let Some(other) = read.other.as_ref().filter(|_| notes.broken() == before) {
            let mut first = Notes::default();
            check(other, &mut first);
            notes.add_first(first, self.file.duplicate.as_deref());
        }
    }

    /// Every mutation of the sample of an operation, and of that of its refusals, in the order of places.
    pub fn mutations(&self, operation: &str) -> Vec<Mutation> {
        let answer = self.shape(operation).zip(self.sample(operation, 200));
        let answer = answer.map(|(shape, sample)| Source {
            schema: &shape.schema,
            rules: self.rules(shape).collect(),
            sample,
            part: "answer",
            status: 200,
        });
        let refusal = self.refusal(operation).zip(self.sample(operation, 400));
        let refusal = refusal.map(|(schema, sample)| Source {
            schema,
            rules: Vec::new(),
            sample,
            part: "refusal",
            status: 400,
        });
        answer.into_iter().chain(refusal).flat_map(|source| source.mutations()).collect()
    }

    /// What is said of a mutation, and not of the sample itself.
    pub fn said_of(&self, operation: &str, mutation: &Mutation) -> Said<'_> {
        let checked = self.check(operation, mutation.status, mutation.content_type, &mutation.body);
        let usual = self.check_sample(operation, mutation.status).observations;
        lawful::said(checked, &usual, mutation, &self.file.lawful)
    }

    /// Samples that break a rule, answers of which nothing is decided, and reasons that none of them needs.
    pub fn problems(&self) -> Vec<Problem> {
        let broken = self.file.operations.iter().flat_map(|(operation, entry)| {
            let path = format!("{SAMPLES}/{}.json", entry.shape);
            let found = self.check_sample(operation, 200).findings.into_iter();
            found.map(move |Finding { clause, at, actual, .. }| {
                Problem::of_file(&path, format!("breaks `{clause}` at {at}: {actual}"))
            })
        });
        let of_operation = |operation| {
            let all = self.mutations(operation).into_iter();
            all.map(move |one| {
                let said = self.said_of(operation, &one);
                (operation, one, said)
            })
        };
        let all: Vec<_> = self.operations().flat_map(of_operation).collect();
        broken.chain(lawful::problems(&all, &self.file.lawful)).collect()
    }

    /// An answer of an operation with this status, and all members of its shape.
    fn sample(&self, operation: &str, status: u16) -> Option<&Value> {
        let entry = self.file.operations.get(operation)?;
        self.samples.get(if status < 300 { &entry.shape } else { entry.refusal.as_ref()? })
    }

    fn check_sample(&self, operation: &str, status: u16) -> Checked {
        let sample = self.sample(operation, status).map(Value::to_string).unwrap_or_default();
        self.check(operation, status, Some("application/json"), sample.as_bytes())
    }

    fn shape(&self, operation: &str) -> Option<&Shape> {
        self.shapes.get(&self.file.operations.get(operation)?.shape)
    }

    fn refusal(&self, operation: &str) -> Option<&Schema> {
        self.refusals.get(self.file.operations.get(operation)?.refusal.as_ref()?)
    }

    fn rules<'a>(&'a self, shape: &'a Shape) -> impl Iterator<Item = &'a Rule> {
        shape.rules.iter().chain(&self.everywhere)
    }
}
