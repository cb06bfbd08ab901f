//! A place in a schema: the node itself and those that it refers to.

use serde_json::Value;

/// Longest way through references; none comes back to itself.
const DEPTH: usize = 8;

/// A node with those that it reaches by reference alone. Each stands beside the file that its own references
/// lead into.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    layers: Vec<(&'a Value, &'a Value)>,
    types: &'a Value,
}

impl<'a> Node<'a> {
    /// The node `at` of `file`.
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

    /// What a keyword says here.
    pub(super) fn keyword(&self, name: &str) -> Option<&'a Value> {
        self.layers.iter().find_map(|(node, _)| node.get(name))
    }

    /// The node of a member; one that says nothing where none is named.
    pub(super) fn member(&self, name: &str) -> Self {
        let of = |node: &'a Value| node.get("properties")?.get(name);
        self.first(|node| of(node).or_else(|| node.get("additionalProperties")))
    }

    /// The node of the elements of a list.
    pub(super) fn item(&self) -> Self {
        self.first(|node| node.get("items"))
    }

    fn first(&self, inner: impl Fn(&'a Value) -> Option<&'a Value>) -> Self {
        let found = self.layers.iter().find_map(|(node, file)| Some((inner(node)?, *file)));
        let (node, file) = found.unwrap_or((&Value::Null, &Value::Null));
        Self::new(node, file, self.types)
    }
}
