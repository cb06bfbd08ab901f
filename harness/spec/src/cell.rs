//! Values as the cells of a table have them: texts.

use serde_json::Value;

/// A value as it stands in a cell, in a message or in a name: texts without quotation marks.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a cell has the wanted value, or one of a list; `0` and `"0"` are equal, since cells are texts.
pub fn has(cell: &str, wanted: &Value) -> bool {
    match wanted {
        Value::Array(any) => any.iter().any(|one| shown(one) == cell),
        one => shown(one) == cell,
    }
}
