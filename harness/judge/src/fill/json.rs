//! JSON as it is sent.

use std::collections::BTreeMap;

use serde_json::Value;

/// Compact JSON, with members that are written a second time at the end of their object.
pub(super) fn write_json(
    value: &Value,
    pointer: &str,
    again: &BTreeMap<&str, Vec<(String, Value)>>,
    out: &mut Vec<u8>,
) {
    if again.is_empty() {
        out.extend_from_slice(value.to_string().as_bytes());
        return;
    }
    match value {
        Value::Object(members) => {
            let twice = again.get(pointer).into_iter().flatten();
            let all = members
                .iter()
                .map(|member| (member, true))
                .chain(twice.map(|(key, value)| ((key, value), false)));
            out.push(b'{');
            for (index, ((key, member), first)) in all.enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(Value::String(key.clone()).to_string().as_bytes());
                out.push(b':');
                // What is written a second time is written whole.
                let below = if first { format!("{pointer}/{key}") } else { "\0".to_owned() };
                write_json(member, &below, again, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_json(item, &format!("{pointer}/{index}"), again, out);
            }
            out.push(b']');
        }
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}
