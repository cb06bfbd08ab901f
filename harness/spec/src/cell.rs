//! Values as table cells have them: strings.

use serde_json::Value;

/// Formats a value for a cell, a message or a name, without quotation marks around strings.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns true if a cell has the wanted value, or one of a list of values. `0` and `"0"` are equal, since
/// cells are strings.
pub fn has(cell: &str, wanted: &Value) -> bool {
    match wanted {
        Value::Array(any) => any.iter().any(|one| shown(one) == cell),
        one => shown(one) == cell,
    }
}
