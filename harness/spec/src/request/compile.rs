//! Compiles the file into places. Each place gets the rules and forms of its own row, of its kind, and of
//! every place like it, with their parameters filled in.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    condition::{Cells, WordList, Words},
    definition::{FILE, File, Header, List},
    form::{self, Form, Position, Written},
    left_out::{LeftOut, left_out},
    operation::{Operation, Place},
    parameters::Parameters,
    rule::Rule,
    signing::Signing,
    view::{Parts, Payload, View},
};
use crate::{
    cell::{self, shown},
    document::Document,
    problem::Problem,
    signing::SigningSpec,
    tree::Tree,
    yaml,
    yaml::At,
};

/// Path of the table of headers in a tree.
pub const HEADERS: &str = "fixtures/tables/headers.csv";

/// Keys of a place or kind that are not parameters.
const STRUCTURE: [&str; 8] = ["at", "kind", "first", "rules", "forms", "members", "with", "unsent"];

type Block = Map<String, Value>;

/// The inputs and caches for compiling places.
struct Compiler<'a> {
    tree: &'a Tree,
    file: &'a File,
    document: Document,
    lists: RefCell<BTreeMap<String, Vec<String>>>,
    words: RefCell<BTreeMap<String, WordList>>,
    cells: RefCell<BTreeMap<String, Cells>>,
    /// Compiled regular expressions, which many places share.
    patterns: RefCell<BTreeMap<String, Regex>>,
    /// Parameters that some rule or form uses.
    asked: RefCell<BTreeSet<String>>,
}

/// A place to compile.
struct Spot<'a> {
    at: String,
    /// Names of its own block and of the block for every place like it.
    blocks: (String, &'static str),
    /// The row that defines it.
    row: &'a At<Block>,
    own: &'a Block,
    /// The block for every place like it.
    every: &'a Block,
    /// Parameters of the enclosing place.
    inherited: Block,
}

/// The result so far.
#[derive(Default)]
struct Made {
    places: Vec<Place>,
    forms: Vec<Form>,
    left_out: Vec<LeftOut>,
}

/// Reads the file, and its rules for signing.
pub(super) fn read(tree: &Tree, text: &str) -> Result<(File, Signing), Problem> {
    let file: File = yaml::read(FILE, text)?;
    let signing = Signing::new(&file.signing, SigningSpec::load(tree)?);
    Ok((file, signing))
}

/// Compiles the operations of the file.
pub(super) fn operations(
    tree: &Tree,
    file: &File,
    signing: &Signing,
    plain: &BTreeMap<String, View<'_>>,
) -> Result<BTreeMap<String, Operation>, Problem> {
    let headers: Vec<Header> = match tree.text(HEADERS) {
        None => vec![],
        Some(text) => {
            let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
            rows.map_err(|error| Problem::of_file(HEADERS, format!("not a valid table: {error}")))?
        }
    };
    let compiler = Compiler {
        tree,
        file,
        document: Document::load(tree),
        lists: RefCell::default(),
        words: RefCell::default(),
        cells: RefCell::default(),
        patterns: RefCell::default(),
        asked: RefCell::default(),
    };
    let mut operations = BTreeMap::new();
    for name in file.operations.keys() {
        let Some(plain) = plain.get(name) else {
            let problem = Problem::of_file(FILE, format!("operation `{name}` has no baseline"));
            return Err(problem.nearest(name, plain.keys().map(String::as_str)));
        };
        let rows = headers.iter().filter(|header| header.operation == *name);
        operations.insert(name.clone(), compiler.operation(name, plain, rows, signing)?);
    }
    compiler.every_parameter_is_asked()?;
    Ok(operations)
}

impl Made {
    /// Adds the forms of a place, and the forms that it lacks.
    fn add(&mut self, at: &str, written: Vec<Written>) -> Result<(), String> {
        self.left_out.extend(left_out(at, &written)?);
        self.forms.extend(written.into_iter().flat_map(|one| one.forms));
        Ok(())
    }
}

impl Compiler<'_> {
    fn operation<'a>(
        &self,
        name: &str,
        plain: &View<'_>,
        headers: impl Iterator<Item = &'a Header>,
        signing: &Signing,
    ) -> Result<Operation, Problem> {
        let file = &self.file.operations[name];
        let mut common = file.with.clone();
        common.insert("operation".to_owned(), name.into());
        common.insert("plain".to_owned(), file.plain.clone().into());
        common.insert("signed".to_owned(), signing.signed(plain).into());
        let mut made = Made::default();
        for header in headers {
            let own = self.file.headers.get(&header.header).unwrap_or(&self.file.other_headers);
            let mut parameters = common.clone();
            for (name, value) in [
                ("header", &header.header),
                ("name", &header.name),
                ("presence", &header.presence),
                ("group", &header.group),
                ("sample", &header.sample),
            ] {
                parameters.insert(name.to_owned(), value.as_str().into());
            }
            let at = format!("header/{}", header.header);
            let every = &self.file.every_header.value;
            let blocks = (at.clone(), "every-header");
            self.place(
                Spot { at, blocks, row: own, own: &own.value, every, inherited: parameters },
                plain,
                &mut made,
            )?;
        }
        let places = [
            ("query", "every-query", &file.queries, &self.file.every_query.value),
            ("body", "every-member", &file.members, &self.file.every_member.value),
        ];
        for (part, block, rows, every) in places {
            for row in rows {
                let at = format!("{part}/{}", name_of(row, &row.value)?);
                let blocks = (at.clone(), block);
                let mut inherited = common.clone();
                inherited.insert("nested".to_owned(), false.into());
                self.place(Spot { at, blocks, row, own: &row.value, every, inherited }, plain, &mut made)?;
            }
        }
        let mut parameters = Parameters::new(common);
        let mut rules = Vec::new();
        let every = &self.file.every_request;
        for (row, rule) in file.rules.iter().map(|rule| (rule, Value::Object(rule.value.clone()))) {
            rules.extend(self.rule(row, &rule, &parameters)?);
        }
        for rule in list(&every.value, "rules") {
            rules.extend(self.rule(every, rule, &parameters)?);
        }
        let mut written = Vec::new();
        for form in &file.forms {
            let value = Value::Object(form.value.clone());
            written.push(self.form(form, &value, (("whole", ""), None), &mut parameters)?);
        }
        for form in list(&every.value, "forms") {
            written.push(self.form(every, form, (("every-request", ""), None), &mut parameters)?);
        }
        made.add("", written).map_err(|message| every.problem(FILE, message))?;
        self.note(&parameters);
        if file.signed {
            made.forms.extend(signing.forms(plain));
        }
        form::name_apart(&mut made.forms);
        let mut operation = Operation {
            plain: file.plain.clone(),
            column: file.column.clone(),
            is_signed: file.signed,
            places: made.places,
            parts: Parts::default(),
            rules,
            forms: made.forms,
            left_out: made.left_out,
        };
        operation.watch(plain);
        Ok(operation)
    }

    /// Adds a place and everything below it.
    fn place(&self, spot: Spot<'_>, plain: &View<'_>, made: &mut Made) -> Result<(), Problem> {
        let Spot { at, blocks: (block, every_block), row, own, every, inherited } = spot;
        let sent = is_sent(plain, &at);
        let nothing = Block::new();
        let kind = match own.get("kind").and_then(Value::as_str) {
            None => &nothing,
            Some(kind) => self.kind(kind, &at, row)?,
        };
        let (parent, member) = at.rsplit_once('/').unwrap_or(("", &at));
        let is_there = !parent.contains('/') || is_sent(plain, parent);
        let holder = inherited.get("whole").filter(|_| !is_there).cloned();
        let mut parameters = Parameters::new(inherited);
        parameters.set("at", at.as_str().into());
        parameters.set("parent", parent.into());
        parameters.set("member", member.into());
        parameters.set("there", is_there.into());
        parameters.set("sent", sent.into());
        for (name, value) in own.iter().filter(|(name, _)| !STRUCTURE.contains(&name.as_str())) {
            let filled = parameters.fill(value).map_err(|message| row.problem(FILE, message))?;
            parameters.set(name, filled);
        }
        // The clause without its first part, as it appears in the names of cases.
        let clause = parameters.get("clause");
        let short = clause.as_ref().and_then(|clause| Some(clause.as_str()?.split_once('.')?.1));
        parameters.set("short", short.into());
        // The words of a list that are tried by name.
        if let Some(words) = parameters.get("list") {
            let words = self.list(&shown(&words)).map_err(|message| row.problem(FILE, message))?;
            parameters.set_default("first", words.first().map(String::as_str).into());
            parameters.set_default("last", words.last().map(String::as_str).into());
        }
        let mut defaults = Block::new();
        for block in [kind.get("with"), kind.get("unsent").filter(|_| !sent)].into_iter().flatten() {
            defaults.extend(
                block.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())),
            );
        }
        for (name, value) in defaults {
            let filled = parameters.fill(&value).map_err(|message| row.problem(FILE, message))?;
            parameters.set_default(&name, filled);
        }
        let mut rules = Vec::new();
        let own_rules = |name: &'static str| list(own, name).chain(list(kind, name));
        let first = list(every, "first").chain(own_rules("first"));
        for rule in first.chain(list(every, "rules")).chain(own_rules("rules")) {
            rules.extend(self.rule(row, rule, &parameters)?);
        }
        let mut said = parameters.values().clone();
        said.extend(own.get("kind").map(|kind| ("kind".to_owned(), kind.clone())));
        made.places.push(Place::new(at.clone(), rules, said));
        let kind_block = own.get("kind").and_then(Value::as_str).unwrap_or_default();
        let mut written = Vec::new();
        for (name, block) in [(every_block, every), (&block, own), (kind_block, kind)] {
            for form in list(block, "forms") {
                written.push(self.form(row, form, ((name, &at), holder.as_ref()), &mut parameters)?);
            }
        }
        made.add(&at, written).map_err(|message| row.problem(FILE, message))?;
        for member in own_rules("members") {
            let Some(below) = member.as_object() else {
                return Err(row.problem(FILE, format!("`{member}` is not a field: expected a mapping")));
            };
            let name = name_of(row, below)?;
            let holder = if kind_block.is_empty() { &block } else { kind_block };
            let blocks = (format!("{holder}/{name}"), every_block);
            let at = format!("{at}/{name}");
            let mut inherited = parameters.values().clone();
            // These describe the enclosing value, so its fields do not inherit them.
            for own in ["json", "type-clause", "lawful"] {
                inherited.shift_remove(own);
            }
            inherited.insert("nested".to_owned(), true.into());
            inherited.insert("required".to_owned(), false.into());
            self.place(Spot { at, blocks, row, own: below, every, inherited }, plain, made)?;
        }
        self.note(&parameters);
        Ok(())
    }

    fn kind(&self, name: &str, at: &str, row: &At<Block>) -> Result<&Block, Problem> {
        let known = self.file.kinds.get(name).map(|kind| &kind.value);
        known.ok_or_else(|| {
            let problem = row.problem(FILE, format!("`{at}` is of kind `{name}`, which does not exist"));
            problem.nearest(name, self.file.kinds.keys().map(String::as_str))
        })
    }

    fn rule(&self, row: &At<Block>, rule: &Value, of: &Parameters) -> Result<Option<Rule>, Problem> {
        let list = |name: &str| self.words(name);
        let cells = |table: &str, column: &str| self.cells(table, column);
        let words = Words { list: &list, cells: &cells, patterns: &self.patterns };
        Rule::read(rule, of, &words).map_err(|message| row.problem(FILE, message))
    }

    fn form(
        &self,
        row: &At<Block>,
        form: &Value,
        ((block, at), holder): ((&str, &str), Option<&Value>),
        of: &mut Parameters,
    ) -> Result<Written, Problem> {
        let lists = |value: Value| self.with_lists(value);
        let items = |each: &Value| self.items(each);
        let position = Position { block, at, line: row.line, holder };
        Form::read(form, position, of, &items, &lists).map_err(|message| row.problem(FILE, message))
    }

    /// Returns the items of an `each`.
    fn items(&self, each: &Value) -> Result<Vec<Value>, String> {
        let of = |name: &str| each.get(name).and_then(Value::as_str);
        if let Some(name) = of("list") {
            return Ok(self.list(name)?.into_iter().map(Value::from).collect());
        }
        let Some(table) = of("table") else {
            return form::counted(each).ok_or_else(|| {
                format!("`each: {each}`: expected a list, `list`, `table`, or `from` and `to`")
            });
        };
        let wanted = each.get("where").and_then(Value::as_object).cloned().unwrap_or_default();
        let rows = self.rows(table)?.into_iter().filter(|row| is_wanted(row, &wanted));
        Ok(rows.map(|row| row.into_iter().map(|(name, cell)| (name, Value::from(cell))).collect()).collect())
    }

    /// Replaces each `{ list: NAME }` in a value with the words of that list.
    fn with_lists(&self, value: Value) -> Result<Value, String> {
        Ok(match value {
            Value::Object(members) if members.len() == 1 && members.contains_key("list") => {
                let name = members.get("list").map(shown).unwrap_or_default();
                self.list(&name)?.into_iter().map(Value::from).collect()
            }
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, member)| Ok((name, self.with_lists(member)?)));
                Value::Object(members.collect::<Result<_, String>>()?)
            }
            Value::Array(items) => {
                items.into_iter().map(|item| self.with_lists(item)).collect::<Result<_, _>>()?
            }
            other => other,
        })
    }

    /// Returns the words of a list as a set.
    fn words(&self, name: &str) -> Result<WordList, String> {
        if let Some(known) = self.words.borrow().get(name) {
            return Ok(Arc::clone(known));
        }
        let words = Arc::new(self.list(name)?.into_iter().collect::<BTreeSet<_>>());
        self.words.borrow_mut().insert(name.to_owned(), Arc::clone(&words));
        Ok(words)
    }

    /// Returns the words of a list.
    fn list(&self, name: &str) -> Result<Vec<String>, String> {
        if let Some(known) = self.lists.borrow().get(name) {
            return Ok(known.clone());
        }
        let Some(list) = self.file.lists.get(name) else {
            return Err(format!("there is no list `{name}`"));
        };
        let List { words, after, table, column, r#where } = &list.value;
        let words = match (after, table, column) {
            (Some(line), None, None) => {
                self.document.list_after(line).into_iter().map(str::to_owned).collect()
            }
            (None, Some(table), Some(column)) => {
                let rows = self.rows(table)?.into_iter().filter(|row| is_wanted(row, r#where));
                rows.filter_map(|mut row| row.remove(column)).collect()
            }
            _ => words.clone(),
        };
        if words.is_empty() {
            return Err(format!("list `{name}` has no words"));
        }
        self.lists.borrow_mut().insert(name.to_owned(), words.clone());
        Ok(words)
    }

    /// Returns a column of a table, keyed by the first column.
    fn cells(&self, table: &str, column: &str) -> Result<Cells, String> {
        let key = format!("{table} {column}");
        if let Some(known) = self.cells.borrow().get(&key) {
            return Ok(Arc::clone(known));
        }
        let rows = self.rows(table)?;
        if rows.iter().any(|row| !row.contains_key(column)) {
            return Err(format!("table `{table}` has no column `{column}`"));
        }
        let first = self.columns(table)?.into_iter().next().unwrap_or_default();
        let cells = rows.into_iter().filter_map(|mut row| Some((row.remove(&first)?, row.remove(column)?)));
        let cells = Arc::new(cells.collect());
        self.cells.borrow_mut().insert(key, Arc::clone(&cells));
        Ok(cells)
    }

    fn columns(&self, table: &str) -> Result<Vec<String>, String> {
        let mut reader = csv::Reader::from_reader(self.table(table)?.as_bytes());
        let columns = reader.headers().map_err(|error| format!("table `{table}` is not valid: {error}"))?;
        Ok(columns.iter().map(str::to_owned).collect())
    }

    fn rows(&self, table: &str) -> Result<Vec<BTreeMap<String, String>>, String> {
        let rows = csv::Reader::from_reader(self.table(table)?.as_bytes()).into_deserialize();
        rows.collect::<Result<_, _>>()
            .map_err(|error: csv::Error| format!("table `{table}` is not valid: {error}"))
    }

    fn table(&self, name: &str) -> Result<&str, String> {
        let text = self.tree.text(&format!("fixtures/tables/{name}.csv"));
        text.ok_or_else(|| format!("there is no table `{name}` in fixtures/tables"))
    }

    fn note(&self, parameters: &Parameters) {
        self.asked.borrow_mut().extend(parameters.asked());
    }

    /// Rejects a parameter that no rule or form uses, which is probably misspelled.
    fn every_parameter_is_asked(&self) -> Result<(), Problem> {
        let asked = self.asked.borrow();
        let rows = self.file.operations.values().flat_map(|operation| &operation.members);
        for row in rows.chain(self.file.headers.values()).chain(self.file.kinds.values()) {
            let mut own = row.value.keys().filter(|name| !STRUCTURE.contains(&name.as_str()));
            if let Some(name) = own.find(|name| !asked.contains(*name)) {
                let problem = row.problem(FILE, format!("no rule or form uses `{name}`"));
                return Err(problem.nearest(name, asked.iter().map(String::as_str)));
            }
        }
        Ok(())
    }
}

fn list<'a>(block: &'a Block, name: &str) -> impl Iterator<Item = &'a Value> {
    block.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn name_of<'a>(row: &At<Block>, block: &'a Block) -> Result<&'a str, Problem> {
    let name = block.get("at").and_then(Value::as_str);
    name.ok_or_else(|| row.problem(FILE, "a field or parameter needs its name in `at`"))
}

/// Returns true if the baseline request has a value at a place.
fn is_sent(plain: &View<'_>, at: &str) -> bool {
    match (at.split_once('/'), plain.payload) {
        (Some(("header", name)), _) => plain.header(name).is_some(),
        (Some(("query", name)), _) => plain.query.iter().any(|(known, _)| known == name),
        (Some(("body", path)), Payload::Json(body, _)) => body.pointer(&format!("/{path}")).is_some(),
        _ => false,
    }
}

/// Returns true if a row of a table has these cells. A list matches any of its items.
fn is_wanted(row: &BTreeMap<String, String>, wanted: &Block) -> bool {
    wanted.iter().all(|(column, wanted)| cell::has(row.get(column).map_or("", String::as_str), wanted))
}
