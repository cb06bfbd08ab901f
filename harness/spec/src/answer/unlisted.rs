//! Finds and removes fields of a response that the document does not list.

use serde_json::Value;

use super::node::Node;

/// Depth limit for nested values.
const DEPTH: usize = 32;

/// Returns the first field that a schema does not list, as a JSON pointer. A node that lists no fields allows
/// all.
pub(super) fn first(node: &Node<'_>, value: &Value) -> Option<String> {
    within(node, value, DEPTH)
}

/// Returns a value without the fields that a schema does not list.
pub(super) fn without(node: &Node<'_>, value: &Value) -> Value {
    let mut left = value.clone();
    take_out(node, &mut left, DEPTH);
    left
}

fn take_out(node: &Node<'_>, value: &mut Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            members.retain(|name, _| is_listed(node, name));
            members.iter_mut().for_each(|(name, value)| take_out(&node.member(name), value, depth));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| take_out(&node.item(), item, depth)),
        _ => {}
    }
}

fn is_listed(node: &Node<'_>, name: &str) -> bool {
    let listed = node.keyword("properties").and_then(Value::as_object);
    let is_free = node.keyword("additionalProperties").is_some_and(Value::is_object);
    listed.is_none_or(|listed| listed.contains_key(name)) || is_free
}

fn within(node: &Node<'_>, value: &Value, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            if !is_listed(node, name) {
                return Some(format!("/{name}"));
            }
            within(&node.member(name), value, depth).map(|inside| format!("/{name}{inside}"))
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(number, item)| {
            within(&node.item(), item, depth).map(|inside| format!("/{number}{inside}"))
        }),
        _ => None,
    }
}
