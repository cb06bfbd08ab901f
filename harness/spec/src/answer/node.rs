//! A node of a schema, together with the nodes that it references.

use serde_json::Value;

/// Depth limit for references. No reference is circular.
const DEPTH: usize = 8;

/// A node and those that it reaches by reference alone. Each is paired with the file that resolves its
/// references.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    layers: Vec<(&'a Value, &'a Value)>,
    types: &'a Value,
}

impl<'a> Node<'a> {
    /// Returns the node `at` of `file`.
    pub(super) fn new(at: &'a Value, file: &'a Value, types: &'a Value) -> Self {
        let mut layers = vec![(at, file)];
        while let Some((node, file)) = layers.last().copied().filter(|_| layers.len() < DEPTH) {
            let Some(reference) = node.get("$ref").and_then(Value::as_str) else { break };
            let (path, pointer) = reference.split_once('#').unwrap_or((reference, ""));
            let file = if path.is_empty() { file } else { types };
            let Some(next) = file.pointer(pointer) else { break };
            layers.push((next, file));
        }
        Self { layers, types }
    }

    /// Returns the value of a keyword at this node.
    pub(super) fn keyword(&self, name: &str) -> Option<&'a Value> {
        self.layers.iter().find_map(|(node, _)| node.get(name))
    }

    /// Returns the node of a field. It is empty if the schema does not define the field.
    pub(super) fn member(&self, name: &str) -> Self {
        let of = |node: &'a Value| node.get("properties")?.get(name);
        self.first(|node| of(node).or_else(|| node.get("additionalProperties")))
    }

    /// Returns the node of the elements of a list.
    pub(super) fn item(&self) -> Self {
        self.first(|node| node.get("items"))
    }

    fn first(&self, inner: impl Fn(&'a Value) -> Option<&'a Value>) -> Self {
        let found = self.layers.iter().find_map(|(node, file)| Some((inner(node)?, *file)));
        let (node, file) = found.unwrap_or((&Value::Null, &Value::Null));
        Self::new(node, file, self.types)
    }
}
