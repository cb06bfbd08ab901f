//! Checks a response: a pure function of its operation, status and body, and of the spec.
//!
//! There are two kinds of rules. The JSON Schemas in `fixtures/schemas/` express what a table of the document
//! says about one field. The rules of `fixtures/spec/answers.yaml` express the rest: money, and relations
//! between fields. Each finding names the violated clause. Where the document leaves a freedom, its use
//! becomes an [`Observation`].
//!
//! For a 4xx body, only the shape of its messages is checked, and only if it has messages or its schema
//! requires them. If the document shows no shape for an operation's rejections, deviations are only recorded.

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

/// Every rule for responses, compiled once and shared by all cases.
#[derive(Debug)]
pub struct AnswerRules {
    shapes: BTreeMap<String, Shape>,
    /// Shapes of rejections, by name.
    refusals: BTreeMap<String, Schema>,
    /// Rules that apply to every shape.
    everywhere: Vec<Rule>,
    currencies: Currencies,
    /// Sample responses and rejections with all their fields, by name of the shape.
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
    /// Reads the rules of a tree and compiles its schemas.
    pub fn load(tree: &Tree) -> Result<Self, Problems> {
        Self::read(tree, Schema::compiled)
    }

    /// Reads the rules of a tree whose schemas are known to compile. Each schema is compiled on first use.
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

    /// Returns the names of the operations whose responses have a shape.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.file.operations.keys().map(String::as_str)
    }

    /// Returns true if the responses of an operation have a shape. The document only mentions the other
    /// operations.
    pub fn has(&self, operation: &str) -> bool {
        self.file.operations.contains_key(operation)
    }

    /// Returns the sorted ids of all clauses that a finding or an observation can name. A rule file must
    /// declare each of them.
    pub fn clauses(&self) -> BTreeSet<&str> {
        let schemas = self.shapes.values().map(|shape| &shape.schema).chain(self.refusals.values());
        let rules = self.shapes.values().flat_map(|shape| &shape.rules).chain(&self.everywhere);
        let own = [&self.file.content_type, &self.file.null, &self.file.refusal_body].map(String::as_str);
        let own = own.into_iter().chain(self.file.duplicate.as_deref());
        let shapes = self.shapes.values().map(|shape| shape.clause.as_str());
        let rules = rules.flat_map(Rule::clauses);
        schemas.flat_map(|schema| schema.tree().clauses()).chain(rules).chain(own).chain(shapes).collect()
    }

    /// Returns the clauses that are checked on every response, whatever its case is about.
    pub fn of_every_answer(&self) -> BTreeSet<&str> {
        self.clauses()
            .into_iter()
            .chain([self.server_error()])
            .chain(self.one_success_status())
            .chain(self.field_lines())
            .chain(self.success_statuses())
            .collect()
    }

    /// Returns the sorted clauses that apply to a 2xx response of this operation, including those that are
    /// only observed.
    pub fn clauses_of(&self, operation: &str) -> BTreeSet<&str> {
        let Some(shape) = self.shape(operation) else { return BTreeSet::new() };
        let mut clauses = shape.schema.tree().clauses();
        clauses.insert(&shape.clause);
        clauses.extend(self.rules(shape).flat_map(Rule::demanded));
        clauses
    }

    /// Returns the sorted clauses that apply to the body of a rejection of this operation.
    pub fn clauses_of_refusals(&self, operation: &str) -> BTreeSet<&str> {
        self.refusal(operation).map(|schema| schema.tree().clauses()).unwrap_or_default()
    }

    /// Returns those of [`Self::clauses_of`] for which a 2xx body has a value. For the body of a rejection,
    /// returns the clauses that its messages must meet.
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

    /// Returns true if a body has the JSON type and all required fields of the operation's response.
    pub fn is_of(&self, operation: &str, document: Option<&Value>) -> bool {
        let shape = self.shape(operation);
        document.zip(shape).is_some_and(|(document, shape)| shape.schema.has_members(document))
    }

    /// Returns the first field of a body that the document does not list, as a JSON pointer. Returns None if
    /// the document does not define the response of this operation.
    pub fn unlisted(&self, operation: &str, document: &Value) -> Option<String> {
        unlisted::first(&self.shape(operation)?.schema.node(), document)
    }

    /// Returns a body without the fields that the document does not list. Returns all of it if the document
    /// does not define the response of this operation.
    pub fn listed(&self, operation: &str, document: &Value) -> Value {
        let shape = self.shape(operation);
        shape.map_or_else(|| document.clone(), |shape| unlisted::without(&shape.schema.node(), document))
    }

    /// Returns the clause of the exact success status, which is also the key of the choice.
    pub fn success_status(&self, operation: &str) -> Option<&str> {
        self.file.operations.get(operation)?.success_status.as_deref()
    }

    /// Returns the clauses of all exact success statuses.
    pub fn success_statuses(&self) -> impl Iterator<Item = &str> {
        self.file.operations.values().filter_map(|operation| operation.success_status.as_deref())
    }

    /// Returns the clause that an operation has one status for all its successes, if there is one.
    pub fn one_success_status(&self) -> Option<&str> {
        self.file.one_success_status.as_deref()
    }

    /// Returns the clause that each header line is well-formed, if there is one.
    pub fn field_lines(&self) -> Option<&str> {
        self.file.field_lines.as_deref()
    }

    /// Returns the clause that a server never fails on a request.
    pub fn server_error(&self) -> &str {
        &self.file.server_error
    }

    /// Returns the daily quota of calls, if the document has one.
    pub fn quota(&self) -> Option<&Quota> {
        self.file.quota.as_ref()
    }

    /// Returns true if the document shows where the codes are in rejections of this operation.
    pub fn shows_codes(&self, operation: &str) -> bool {
        self.refusal(operation).is_some()
    }

    /// Returns the place of the codes in a rejection.
    pub fn place_of_codes(&self) -> String {
        format!("body/{}", self.file.codes.at)
    }

    /// Returns the codes in the messages of a body.
    pub fn codes(&self, document: Option<&Value>) -> Vec<String> {
        let messages = document.and_then(|body| body.get(&self.file.codes.at)).and_then(Value::as_array);
        let codes = messages.into_iter().flatten();
        let codes = codes.filter_map(|message| message.get(&self.file.codes.member)?.as_str());
        codes.map(str::to_owned).collect()
    }

    /// Returns the name and the value of the field with the status of a created resource.
    pub fn status<'a>(&'a self, document: Option<&'a Value>) -> Option<(&'a str, &'a str)> {
        let member = &self.file.status.as_ref()?.at;
        Some((member, document?.get(member)?.as_str()?))
    }

    /// Returns true if this operation creates something and this status says that it was rejected. An
    /// operation that only reads a status creates nothing.
    pub fn is_rejected(&self, operation: &str, status: &str) -> bool {
        self.success_status(operation).is_some()
            && self.file.status.as_ref().is_some_and(|known| known.rejected == status)
    }

    /// Returns true if this status says that a bank lacks an operation whose path or payload the document
    /// does not show. With 501, a server says that it does not support the request (RFC 9110, section
    /// 15.6.2).
    pub fn may_lack(&self, operation: &str, status: u16) -> bool {
        status == 501 && self.file.not_shown.iter().any(|one| one == operation)
    }

    /// Returns the clause that replaces `clause` for a request whose headers do not announce the change that
    /// `clause` is about.
    pub fn otherwise(&self, clause: &str, header: impl Fn(&str) -> Option<String>) -> Option<&str> {
        let amount = self.file.amount.as_ref().filter(|amount| amount.fewer == clause)?;
        let otherwise = amount.fewer_otherwise.as_ref()?;
        let value = header(&otherwise.header).unwrap_or_default();
        let is_named = value.split(',').any(|name| name.trim() == otherwise.name);
        (!is_named).then_some(otherwise.clause.as_str())
    }

    /// Checks a response of `operation`. Nothing is required of an operation without a shape.
    ///
    /// `content_type` is the value of the response's `Content-Type`, if it has one. `body` is the content
    /// with any `Content-Encoding` decoded.
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
        // If the document shows no shape, deviations from another operation's shape are only recorded.
        let shown = self.refusal(operation);
        // A shape with required fields applies to every rejection.
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

    /// Checks a body with the last of duplicate fields. If that shows no violation, checks it again with the
    /// first. RFC 8259, section 4, leaves open which one counts, so the clause about duplicates decides.
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

    /// Returns every mutation of an operation's sample response and sample rejection, in the order of places.
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

    /// Classifies a mutation by what the rules say of it and not of the sample itself.
    pub fn said_of(&self, operation: &str, mutation: &Mutation) -> Said<'_> {
        let checked = self.check(operation, mutation.status, mutation.content_type, &mutation.body);
        let usual = self.check_sample(operation, mutation.status).observations;
        lawful::said(checked, &usual, mutation, &self.file.lawful)
    }

    /// Returns a problem for each sample that violates a rule, undecided mutation and unused reason.
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

    /// Returns the sample response of an operation with this status, with all fields of its shape.
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
