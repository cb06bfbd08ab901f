//! Determines which clauses apply to a response, and which of them it exercises.
//!
//! A response without an optional field meets the clauses about that field, but does not exercise them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::annotation;

/// Depth limit for references and fields. Schemas are shallower, and no reference is circular.
const DEPTH: usize = 32;

/// A schema and the shared types that its references point to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    /// The schema.
    pub(super) root: &'a Value,
    /// The shared types.
    pub(super) types: &'a Value,
}

impl<'a> Tree<'a> {
    /// Returns every clause in the annotations of the schema, following references.
    pub(super) fn clauses(self) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        self.walk(self.root, self.root, None, DEPTH, &mut found);
        found
    }

    /// Returns the clauses of required fields, and of the nodes that have a value in `document`.
    pub(super) fn exercised(self, document: &Value) -> BTreeSet<&'a str> {
        let mut found = BTreeSet::new();
        self.walk(self.root, self.root, Some(document), DEPTH, &mut found);
        found
    }

    /// Collects the clauses of a node of `file`. Without a value, collects those of everything below it.
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
                // Without a value, the whole schema counts.
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
