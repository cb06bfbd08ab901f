//! Formats values of a body for findings: short, on one line, and without personal data.

use serde_json::Value;

/// Maximum length of a shown value, in characters.
pub(super) const LONGEST: usize = 120;

/// Formats a value, with its type if the text alone would be ambiguous.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Value::Object(members) => {
            let names: Vec<_> = members.keys().take(5).map(String::as_str).collect();
            shortened(&format!("an object with the fields {}", names.join(", ")))
        }
    }
}

/// Formats a value at this place (`body/…`). Strings in personal fields are replaced by their length.
pub(super) fn value_at(place: &str, shown: &Value, personal: &[String]) -> String {
    match shown {
        Value::String(text) if place.split('/').any(|token| personal.iter().any(|name| name == token)) => {
            format!("a string of {} characters", text.chars().count())
        }
        _ => value(shown),
    }
}

/// Formats a string in quotes, shortened, with unprintable characters escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened_to(text, LONGEST - 2))
}

/// Formats words on one line, shortened.
pub(super) fn shortened(words: &str) -> String {
    shortened_to(words, LONGEST)
}

/// Shortens words that are already escaped.
pub(super) fn cut(words: String, longest: usize) -> String {
    if words.chars().count() <= longest {
        return words;
    }
    words.chars().take(longest - 1).chain(['…']).collect()
}

fn shortened_to(text: &str, longest: usize) -> String {
    let mut out = String::new();
    // Escaping never shortens a string, so later characters would be cut anyway.
    for character in text.chars().take(longest + 1) {
        match character {
            '\'' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    cut(out, longest)
}

/// Describes why a text is not JSON, without the wording of the JSON library.
pub fn json_problem(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!("at line {}, column {}", error.line(), error.column());
    // The library has no other way to distinguish these errors. Half a surrogate pair violates no grammar
    // rule (RFC 8259 section 8.2).
    if said.starts_with("recursion limit exceeded") {
        format!("JSON nested too deeply {place}")
    } else if said.starts_with("number out of range") {
        format!("a number that is too large {place}")
    } else if ["lone leading surrogate", "unexpected end of hex"].iter().any(|begin| said.starts_with(begin))
    {
        format!("half of a surrogate pair, such as \"\\ud83d\" alone, {place}")
    } else if error.is_eof() {
        format!("truncated JSON {place}")
    } else {
        format!("invalid JSON {place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_texts_are_cut_and_control_characters_are_escaped() {
        let long = quoted(&"ø".repeat(500));
        assert_eq!(long.chars().count(), LONGEST);
        assert!(long.ends_with("…\""));
        assert_eq!(quoted("a\u{1b}[31m\n\"b"), "\"a\\u{1b}[31m\\n\\\"b\"");
        assert!(quoted(&"\u{1b}".repeat(500)).chars().count() <= LONGEST);
        assert!(!quoted(&"x".repeat(LONGEST - 2)).contains('…'));
        assert!(quoted(&"x".repeat(LONGEST - 1)).contains('…'));
    }

    #[test]
    fn what_is_no_error_of_syntax_is_named() {
        let deep = "[".repeat(200);
        for (text, expected) in [
            ("{\"a\": \"\\ud83d\"}", "half of a surrogate pair"),
            ("{\"a\": \"\\ud83dx\"}", "half of a surrogate pair"),
            ("{\"a\": \"\\ude00\"}", "half of a surrogate pair"),
            ("[1e999]", "a number that is too large at line 1"),
            (deep.as_str(), "JSON nested too deeply"),
            ("[1", "truncated JSON"),
            ("[1}", "invalid JSON at line 1, column 3"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert!(json_problem(&error).starts_with(expected), "{text}: {}", json_problem(&error));
        }
    }

    #[test]
    fn kinds_are_named() {
        let shown = [
            (json!(null), "null"),
            (json!(false), "the boolean false"),
            (json!(12.5), "the number 12.5"),
            (json!([1, 2]), "an array of 2"),
            (json!({}), "an empty object"),
            (json!({"a": 1, "b": 2}), "an object with the fields a, b"),
        ];
        for (given, expected) in shown {
            assert!(value(&given).starts_with(expected), "{given} shown as {}", value(&given));
        }
    }

    #[test]
    fn account_numbers_are_not_shown() {
        let personal = ["iban".to_owned()];
        let number = json!("NO93 8601 1117 947");
        let shown = value_at("body/transactionsDetails/creditorAccount/iban", &number, &personal);
        assert_eq!(shown, "a string of 18 characters");
        assert_eq!(value_at("body/psuMessage", &json!("hello"), &personal), "\"hello\"");
    }
}
