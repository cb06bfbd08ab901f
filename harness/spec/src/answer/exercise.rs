//! Which clauses an answer had to keep, and of which of them it had something to look at: a clause about an
//! optional member is kept by an answer without that member, but not exercised.

use std::collections::BTreeSet;

use serde_json::Value;

use super::annotation;

/// Longest way through references and members; schemas are no deeper, and none comes back to itself.
const DEPTH: usize = 32;

/// A schema with the shared types that its references lead into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    /// The schema.
    pub(super) root: &'a Value,
    /// The shared types.
    pub(super) types: &'a Value,
}

impl<'a> Tree<'a> {
    /// Every clause that the schema is annotated with, through references.
    pub(super) fn clauses(self) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        self.walk(self.root, self.root, None, DEPTH, &mut found);
        found
    }

    /// The clauses of those nodes that `document` has a value for, and of members that it must have.
    pub(super) fn exercised(self, document: &Value) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        self.walk(self.root, self.root, Some(document), DEPTH, &mut found);
        found
    }

    /// Walks a node of `file`; without a value, all of it.
    fn walk(
        self,
        node: &'a Value,
        file: &'a Value,
        value: Option<&Value>,
        depth: usize,
        found: &mut BTreeSet<&'a str>,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        found.extend(annotation::own(node));
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            let (path, pointer) = reference.split_once('#').unwrap_or((reference, ""));
            let file = if path.is_empty() { file } else { self.types };
            if let Some(node) = file.pointer(pointer) {
                self.walk(node, file, value, depth, found);
            }
        }
        let properties = node.get("properties").and_then(Value::as_object);
        for (name, member) in properties.into_iter().flatten() {
            match value.map(|value| value.get(name).filter(|value| !value.is_null())) {
                // All of the schema.
                None => self.walk(member, file, None, depth, found),
                Some(Some(value)) => self.walk(member, file, Some(value), depth, found),
                Some(None) => {
                    let required = node.get("required").and_then(Value::as_array).into_iter().flatten();
                    if required.into_iter().any(|required| required == name) {
                        found.extend(annotation::own(member));
                    }
                }
            }
        }
        for (keyword, elements) in [("items", true), ("additionalProperties", false)] {
            let Some(element) = node.get(keyword).filter(|element| element.is_object()) else { continue };
            match value {
                None => self.walk(element, file, None, depth, found),
                Some(Value::Array(values)) if elements => {
                    for value in values {
                        self.walk(element, file, Some(value), depth, found);
                    }
                }
                Some(Value::Object(members)) if !elements => {
                    for value in members.values() {
                        self.walk(element, file, Some(value), depth, found);
                    }
                }
                Some(_) => {}
            }
        }
    }
}
