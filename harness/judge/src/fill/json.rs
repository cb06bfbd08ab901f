//! Writes JSON bodies.

use std::collections::BTreeMap;

use serde_json::Value;

/// Writes compact JSON. Appends the fields in `again` a second time at the end of their object.
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
    let parts: Vec<(Option<&String>, &Value, String)> = match value {
        Value::Object(members) => {
            let own = members.iter().map(|(key, member)| (Some(key), member, format!("{pointer}/{key}")));
            // The path `\0` matches no repetition, so the second occurrence is written unchanged.
            let twice = again.get(pointer).into_iter().flatten();
            own.chain(twice.map(|(key, member)| (Some(key), member, "\0".to_owned()))).collect()
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(at, item)| (None, item, format!("{pointer}/{at}"))).collect()
        }
        scalar => return out.extend_from_slice(scalar.to_string().as_bytes()),
    };
    let (open, close) = if value.is_array() { (b'[', b']') } else { (b'{', b'}') };
    out.push(open);
    for (index, (key, part, below)) in parts.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if let Some(key) = key {
            out.extend_from_slice(Value::from(key.as_str()).to_string().as_bytes());
            out.push(b':');
        }
        write_json(part, &below, again, out);
    }
    out.push(close);
}
