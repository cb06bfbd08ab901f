//! Reads properties of values, independent of any rule.

use rust_decimal::Decimal;
use serde_json::Value;

/// Returns true if two of the values are equal.
pub(super) fn has_one_twice(values: &[&Value]) -> bool {
    values.iter().enumerate().any(|(at, value)| values[..at].contains(value))
}

/// Returns true if a value has this JSON type.
pub(super) fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Returns the number in a JSON number or a string. Returns None for more digits than `Decimal` holds.
pub(super) fn number(value: &Value) -> Option<Decimal> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        // `Decimal` skips underscores, which no amount has.
        Value::String(text) if !text.contains('_') => text.clone(),
        _ => return None,
    };
    Decimal::from_str_exact(&text).or_else(|_| Decimal::from_scientific(&text)).ok()
}

/// Returns the number of workdays between the clock and a date that is written as a placeholder.
pub(super) fn workdays(value: &Value) -> Option<u32> {
    value.as_str()?.strip_prefix("${workday+")?.strip_suffix('}')?.parse().ok()
}

/// Returns the number of days between the clock and a date that is written as a placeholder.
pub(super) fn days(value: &Value) -> Option<i64> {
    let name = value.as_str()?.strip_prefix("${")?.strip_suffix('}')?;
    name.strip_prefix("day+").or_else(|| name.strip_prefix("workday+"))?.parse().ok()
}

/// Returns the number of digits after the point.
pub(super) fn fraction(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}
