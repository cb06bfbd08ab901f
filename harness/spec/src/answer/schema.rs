//! The schemas of `fixtures/schemas/`, and the clauses of their keywords.
//!
//! `x-clause` next to a keyword names the clause: a string for the whole node, or an object from keywords to
//! clause ids. An error belongs to the nearest clause outward on its evaluation path, through references. A
//! missing field belongs to the clause of the field. `x-observed` lists keywords whose failure is only
//! recorded. `fixtures/schemas/README.md` has the rules.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use jsonschema::{
    PatternOptions, Registry, RegistryBuilder, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{annotation::Path, definition::File, exercise, node::Node, notes::Notes, pointer, show};
use crate::{date, problem::Problem, tree::Tree};

/// Folder of the schemas in a tree.
const FOLDER: &str = "fixtures/schemas";

/// Base URI of the schemas. Nothing is ever fetched from it.
const BASE: &str = "https://xs2aspec.invalid/schemas/";

/// Number of errors held back in case a more important one follows for the same value.
const RECENT: usize = 4;

/// Length of the longest list of allowed values that a finding spells out.
const LISTED: usize = 14;

/// A schema with the annotations that name its clauses.
#[derive(Debug)]
pub(super) struct Schema {
    validator: OnceLock<Validator>,
    root: Value,
    types: Arc<Value>,
    /// The clause for failures that no annotation covers.
    whole: String,
    /// The clause for null in an optional field.
    null: String,
    /// Names of fields whose strings are hidden.
    personal: Vec<String>,
}

/// Reads `types.json`, the types that all schemas share.
pub(super) fn types(tree: &Tree) -> Result<Arc<Value>, Problem> {
    parsed(tree, "types").map(Arc::new)
}

/// Reads the schema with this name. `finish` may compile it.
pub(super) fn load(
    tree: &Tree,
    name: &str,
    (types, file): (&Arc<Value>, &File),
    finish: impl Fn(Schema) -> Result<Schema, String>,
) -> Result<Schema, Problem> {
    let root = parsed(tree, name)?;
    let whole = file.shapes.get(name).map_or(&file.refusal_body, |shape| &shape.clause);
    finish(Schema::new(root, types, [whole, &file.null], &file.personal))
        .map_err(|message| Problem::of_file(&path(name), message))
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.json")
}

fn parsed(tree: &Tree, name: &str) -> Result<Value, Problem> {
    json_file(tree, &path(name))
}

/// Parses a JSON file.
pub(super) fn json_file(tree: &Tree, path: &str) -> Result<Value, Problem> {
    let text = tree
        .text(path)
        .ok_or_else(|| Problem::of_file(path, "the spec refers to this file, but it does not exist"))?;
    serde_json::from_str(text).map_err(|error| Problem {
        line: u32::try_from(error.line()).unwrap_or_default(),
        column: u32::try_from(error.column()).unwrap_or_default(),
        ..Problem::of_file(path, show::json_problem(&error))
    })
}

impl Schema {
    /// Returns the schema as a tree of annotated nodes.
    pub(super) fn tree(&self) -> exercise::Tree<'_> {
        exercise::Tree { root: &self.root, types: &self.types }
    }

    /// Returns the root node of the schema.
    pub(super) fn node(&self) -> Node<'_> {
        Node::new(&self.root, &self.root, &self.types)
    }

    fn new(root: Value, types: &Arc<Value>, [whole, null]: [&str; 2], personal: &[String]) -> Self {
        Self {
            validator: OnceLock::new(),
            root,
            types: Arc::clone(types),
            whole: whole.to_owned(),
            null: null.to_owned(),
            personal: personal.to_vec(),
        }
    }

    /// Compiles the schema. Returns a message if it is invalid.
    pub(super) fn compiled(self) -> Result<Self, String> {
        let validator = OnceLock::from(self.compile()?);
        Ok(Self { validator, ..self })
    }

    fn compile(&self) -> Result<Validator, String> {
        let outside = |_| format!("expected references into this file or into {BASE}types.json only");
        let registry = Registry::new()
            .add(format!("{BASE}types.json"), self.types.as_ref())
            .and_then(RegistryBuilder::prepare)
            .map_err(outside)?;
        jsonschema::draft202012::options()
            .with_registry(&registry)
            // Bodies are untrusted, so patterns must match in linear time.
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .with_format("date", date::is_calendar_date)
            .build(&self.root)
            .map_err(|error| {
                let at = error.instance_path().as_str();
                format!(
                    "not a valid JSON Schema (draft 2020-12), at `{at}`: {}",
                    show::shortened(&error.masked().to_string())
                )
            })
    }

    /// Returns true if a document is a list or an object like the schema's root, with all required fields.
    pub(super) fn has_members(&self, document: &Value) -> bool {
        if self.root["type"] == "array" {
            return document.is_array();
        }
        let mut required = self.root["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        document.is_object() && required.all(|name| document.get(name).is_some())
    }

    /// Returns true if the schema requires any field.
    pub(super) fn requires_members(&self) -> bool {
        self.root["required"].as_array().is_some_and(|names| !names.is_empty())
    }

    /// Records every difference between `document` and the schema, one per place.
    pub(super) fn check(&self, document: &Value, notes: &mut Notes) {
        notes.checked();
        let validator = self.validator.get_or_init(|| self.compile().expect("it was compiled before"));
        if validator.is_valid(document) {
            return;
        }
        // The last few errors, not yet recorded. Errors about one value follow each other.
        let mut recent: VecDeque<Found<'_>> = VecDeque::new();
        for error in validator.iter_errors(document) {
            let found = Found::of(error);
            // A value of the wrong type also fails its pattern and its list of values. That is one defect,
            // not three.
            match recent.iter_mut().find(|earlier| earlier.place == found.place) {
                Some(earlier) if found.rank() < earlier.rank() => *earlier = found,
                Some(_) => {}
                None => recent.push_back(found),
            }
            if recent.len() > RECENT
                && let Some(found) = recent.pop_front()
            {
                self.note(&found, notes);
            }
            if notes.is_full() {
                return;
            }
        }
        for found in recent {
            self.note(&found, notes);
        }
    }

    fn note(&self, found: &Found<'_>, notes: &mut Notes) {
        let path = Path::walk(found.error.evaluation_path().as_str(), &self.root, &self.types);
        let broken = path.clause(found.keyword(), found.missing.as_deref()).unwrap_or(&self.whole);
        let instance = found.error.instance().as_ref();
        if found.missing.is_none() && instance.is_null() && path.is_optional() {
            notes.observe(&self.null, &found.place, "null in an optional field");
        } else if let Some((free, why)) = path.observed(found.keyword(), instance) {
            notes.observe(
                free,
                &found.place,
                format!("{} {why}", show::value_at(&found.place, instance, &self.personal)),
            );
        } else {
            notes.finding(broken, &found.place, found.expected(), found.actual(&self.personal));
        }
    }
}

/// An error of the validator, with its place.
struct Found<'a> {
    error: ValidationError<'a>,
    /// The place (`body/…`). For a missing field, the place where it belongs.
    place: String,
    /// Name of a missing field.
    missing: Option<String>,
}

impl<'a> Found<'a> {
    fn of(error: ValidationError<'a>) -> Self {
        let missing = match error.kind() {
            Kind::Required { property } => property.as_str().map(str::to_owned),
            _ => None,
        };
        let mut place = pointer::printable(&format!("body{}", error.instance_path().as_str()));
        if let Some(member) = &missing {
            place.push('/');
            place.push_str(member);
        }
        Self { error, place, missing }
    }

    fn keyword(&self) -> &str {
        self.error.kind().keyword()
    }

    /// Returns the rank of an error. The lowest one at a place is reported.
    fn rank(&self) -> u8 {
        match self.keyword() {
            "type" => 0,
            "enum" => 2,
            _ => 1,
        }
    }

    fn expected(&self) -> String {
        match self.error.kind() {
            Kind::Required { .. } => "the field to be present".to_owned(),
            Kind::Type { kind: TypeKind::Single(kind) } => type_words(kind.as_str()),
            Kind::MaxLength { limit } => format!("at most {limit} characters"),
            Kind::MinLength { limit } => format!("at least {limit} characters"),
            Kind::Pattern { pattern } => format!("a string that matches {pattern}"),
            Kind::Format { .. } => "a calendar date that exists, as in 2024-02-29".to_owned(),
            Kind::Enum { options } => allowed(options),
            _ => show::shortened(&self.error.masked().to_string()),
        }
    }

    fn actual(&self, personal: &[String]) -> String {
        let instance = self.error.instance().as_ref();
        match (self.error.kind(), instance) {
            (Kind::Required { .. }, _) => "absent".to_owned(),
            (Kind::MaxLength { .. } | Kind::MinLength { .. }, Value::String(text)) => {
                let length = text.chars().count();
                show::cut(
                    format!("{length} characters: {}", show::value_at(&self.place, instance, personal)),
                    show::LONGEST,
                )
            }
            _ => show::value_at(&self.place, instance, personal),
        }
    }
}

fn type_words(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

fn allowed(options: &Value) -> String {
    let names: Vec<_> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if names.len() > LISTED {
        format!("one of the {} values of the document's list", names.len())
    } else {
        format!("one of {}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use serde_json::json;

    /// Returns the clauses that `value` violates as one of the shared types.
    fn found(definition: &str, value: &Value) -> Vec<String> {
        let types = types(&Tree::embedded()).unwrap();
        let root =
            json!({"$id": format!("{BASE}test.json"), "$ref": format!("types.json#/$defs/{definition}")});
        let mut notes = Notes::default();
        let schema = Schema::new(root, &types, ["json.null", "json.null"], &[]).compiled().unwrap();
        schema.check(value, &mut notes);
        notes.into_checked(None).findings.into_iter().map(|finding| finding.clause).collect()
    }

    #[test]
    fn types_of_requests_are_whole() {
        let (longest, longer) = ("ø".repeat(70), "x".repeat(71));
        let rows = [
            ("address", json!({"country": "NO"}), ""),
            (
                "address",
                json!({"country": "NO", "street": "x", "city": "y", "postalCode": "1", "more": 1}),
                "",
            ),
            ("address", json!({"street": "x"}), "address.country"),
            ("address", json!({"country": "NO", "street": longest}), ""),
            ("address", json!({"country": "NO", "street": longer}), "address.street.length"),
            ("address", json!({"country": "NO", "buildingNumber": 5}), "address.shape"),
            ("address", json!({"country": "XK"}), "country.listed"),
            ("country", json!("ZW"), ""),
            ("country", json!("no"), "country.listed"),
            ("country", json!(578), "country.listed"),
            ("purposeCode", json!("VATX"), ""),
            ("purposeCode", json!("ACCT"), "purpose-code.listed"),
        ];
        for (definition, value, clause) in rows {
            let expected = if clause.is_empty() { vec![] } else { vec![clause.to_owned()] };
            assert_eq!(found(definition, &value), expected, "{value}");
        }
    }

    #[test]
    fn the_closed_lists_are_those_of_the_document() {
        let document = Document::load(&Tree::embedded());
        let document = document.text();
        let types = types(&Tree::embedded()).unwrap();
        for (block, name, size) in [(1, "currency", 162), (3, "country", 249)] {
            let listed: Vec<_> = document.split("```").nth(block).unwrap().split_whitespace().collect();
            assert_eq!(types["$defs"][name]["enum"], json!(listed), "{name}");
            assert_eq!(listed.len(), size);
        }
    }

    #[test]
    fn the_codes_of_messages_are_those_of_the_document_and_the_one_of_the_mix_rule() {
        let document = Document::load(&Tree::embedded());
        let document = document.text();
        let line = document.lines().find(|line| line.starts_with("SYSTEM_ERROR, ")).unwrap();
        let mut codes: Vec<_> = line.trim_end_matches('.').split(", ").collect();
        codes.push("REFERENCE_MIX_INVALID");
        let types = types(&Tree::embedded()).unwrap();
        assert_eq!(types["$defs"]["tppMessage"]["properties"]["code"]["enum"], json!(codes));
        let line = document.lines().find(|line| line.starts_with("| PurposeCode |")).unwrap();
        let purposes = line.split("one of ").nth(1).unwrap().split(" (").next().unwrap();
        assert_eq!(types["$defs"]["purposeCode"]["enum"], json!(purposes.split(", ").collect::<Vec<_>>()));
    }

    #[test]
    fn no_reference_leads_outside_the_embedded_files() {
        for (_, text) in Tree::embedded().below("fixtures/schemas/", ".json") {
            for reference in text.split("\"$ref\": \"").skip(1) {
                let reference = reference.split('"').next().unwrap();
                assert!(
                    reference.starts_with("#/$defs/") || reference.starts_with("types.json#/$defs/"),
                    "{reference}"
                );
            }
        }
    }

    #[test]
    fn findings_say_what_was_expected_and_what_was_found() {
        let tree = Tree::embedded();
        let personal = vec![];
        let payment = Schema::new(
            parsed(&tree, "payment").unwrap(),
            &types(&tree).unwrap(),
            ["payment.response", "json.null"],
            &personal,
        )
        .compiled()
        .unwrap();
        let mut notes = Notes::default();
        let body = json!({
            "transactionStatus": "DONE",
            "psuMessage": "x".repeat(513),
            "transactionFees": {"amount": 5, "currency": "NOK"},
            "_links": {"a/b\u{1b}": {"href": "", "verbs": ["HEAD"]}}
        });
        payment.check(&body, &mut notes);
        let said: Vec<_> = notes
            .into_checked(None)
            .findings
            .into_iter()
            .map(|finding| format!("{}: expected {}, got {}", finding.at, finding.expected, finding.actual))
            .collect();
        let expected = [
            "body/paymentId: expected the field to be present, got absent",
            "body/transactionStatus: expected one of ACCP, ACSC, ACSP, ACTC, ACWC, ACWP, RCVD, PDNG, RJCT, CANC, PART, \
             got \"DONE\"",
            "body/psuMessage: expected at most 512 characters, got 513 characters: \"xxx",
            "body/transactionFees/amount: expected a string, got the number 5",
            "body/_links/a~1b\\u{1b}/verbs/0: expected one of GET, PUT, POST, DELETE, got \"HEAD\"",
        ];
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for line in expected {
            assert!(said.iter().any(|found| found.starts_with(line)), "{line}\n{said:#?}");
        }
    }
}
