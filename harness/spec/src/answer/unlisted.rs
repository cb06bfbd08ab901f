//! Members of an answer that the document does not list.

use serde_json::Value;

use super::node::Node;

/// Longest way into a document.
const DEPTH: usize = 32;

/// The first member that a schema does not list, as a JSON pointer. A node that lists no members says nothing
/// of them.
pub(super) fn first(node: &Node<'_>, value: &Value) -> Option<String> {
    within(node, value, DEPTH)
}

fn within(node: &Node<'_>, value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(members) => {
            let listed = node.keyword("properties").and_then(Value::as_object);
            let is_free = node.keyword("additionalProperties").is_some_and(Value::is_object);
            members.iter().find_map(|(name, value)| {
                let is_listed = listed.is_none_or(|listed| listed.contains_key(name)) || is_free;
                if !is_listed {
                    return Some(format!("/{name}"));
                }
                within(&node.member(name), value, depth).map(|inside| format!("/{name}{inside}"))
            })
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(number, item)| {
            within(&node.item(), item, depth).map(|inside| format!("/{number}{inside}"))
        }),
        _ => None,
    }
}
