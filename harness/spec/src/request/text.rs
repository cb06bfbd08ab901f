//! Values as texts.

use serde_json::Value;

/// A value as it stands in a message or a name: texts without quotation marks.
pub(super) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
