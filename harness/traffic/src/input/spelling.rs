//! Tries the spellings of JSON that serializers usually produce, because some recorders parse and rewrite a
//! body.

use serde::de::IgnoredAny;
use serde_json::Value;
use xs2aspec_signing::diagnosis::json;

/// Longest body for which other spellings are tried, in bytes.
const LONGEST: usize = 1 << 20;

/// Returns the spelling of the JSON for which `is_it` returns true.
pub(super) fn find(text: &str, is_it: &dyn Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    serde_json::from_str::<IgnoredAny>(text).ok().filter(|_| text.len() <= LONGEST)?;
    json::spellings(text).map(|(spelling, _)| spelling.into_bytes()).find(|spelling| is_it(spelling))
}

/// Returns true if a recorder may have rewritten the JSON: it is on several lines, or all its keys are
/// sorted.
pub(super) fn may_be_of_the_archive(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    text.trim().contains('\n') || sorted(&value).is_some_and(|keys| keys >= FEW)
}

/// Fewer keys than this may be sorted by chance.
const FEW: usize = 4;

/// Returns the number of keys if they are sorted in every object.
fn sorted(value: &Value) -> Option<usize> {
    match value {
        Value::Object(members) => {
            let own = members.keys().is_sorted().then_some(members.len())?;
            members.values().try_fold(own, |keys, member| Some(keys + sorted(member)?))
        }
        Value::Array(items) => items.iter().try_fold(0, |keys, item| Some(keys + sorted(item)?)),
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_text_is_found_in_each_usual_spelling() {
        let archived = "{\n  \"a\": \"å/<\u{1f600}\",\n  \"b\": [1, 2]\n}";
        for sent in [
            r#"{"a":"å/<😀","b":[1,2]}"#,
            r#"{"a": "å/<😀", "b": [1, 2]}"#,
            r#"{"a": "\u00e5/<\ud83d\ude00", "b": [1, 2]}"#,
            r#"{"a":"\u00E5/\u003C\uD83D\uDE00","b":[1,2]}"#,
            "{\"a\":\"å/\\u003c😀\",\"b\":[1,2]}\n",
            r#"{"a":"\u00e5\/<\ud83d\ude00","b":[1,2]}"#,
            "{\r\n    \"a\": \"å/<😀\",\r\n    \"b\": [\r\n        1,\r\n        2\r\n    ]\r\n}",
            "{\n\t\"a\": \"å/<😀\",\n\t\"b\": [\n\t\t1,\n\t\t2\n\t]\n}\n",
            archived,
        ] {
            let found = find(archived, &|body| body == sent.as_bytes());
            assert_eq!(found.as_deref(), Some(sent.as_bytes()), "{sent}");
        }
        for other in [r#"{"a":"å/<😀","b":[1,3]}"#, r#"{"b":[1,2],"a":"å/<😀"}"#, ""] {
            assert_eq!(find(archived, &|body| body == other.as_bytes()), None, "{other}");
        }
        assert_eq!(find("no JSON", &|_| true), None);
        for (text, expected) in [
            ("{\n \"b\": 1}", true),
            (r#"{"a":{"b":1,"c":[{"d":1}]}}"#, true),
            (r#"{"a":{"c":1,"b":[{"d":1}]}}"#, false),
            (r#"{"a":1,"b":2}"#, false),
            ("no\nJSON", false),
        ] {
            assert_eq!(may_be_of_the_archive(text), expected, "{text}");
        }
    }
}
