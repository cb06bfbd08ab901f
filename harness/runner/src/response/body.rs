//! From bytes to a JSON value, with the reason where that does not go.

use std::fmt::Display;

use serde_json::Value;

use super::{Operation, clause::CONTENT_TYPE, notes::Notes, words};

/// What a 2xx body has to be before anything else can be said of it.
pub(super) const EXPECTED: &str = "a JSON document in UTF-8 without a byte order mark";

/// The UTF-8 encoded byte order mark; RFC 8259 section 8.1 forbids it at the start of a JSON text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A body, as far as it could be read.
#[derive(Debug)]
pub(super) struct Read {
    /// The value, if there is one.
    pub(super) document: Option<Value>,
    /// What is wrong with the bytes. A byte order mark alone does not keep the rest from being read.
    pub(super) problem: Option<String>,
}

/// Reads a body. `serde_json` gives up at 128 levels and at numbers beyond a double; both are reported, neither panics.
pub(super) fn read(bytes: &[u8]) -> Read {
    if bytes.is_empty() {
        return Read::broken("an empty body");
    }
    let (text, problem) = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest, Some("a byte order mark at the start".to_owned())),
        None => (bytes, None),
    };
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            return Read::broken(format!(
                "bytes that are not UTF-8, first at offset {}",
                error.valid_up_to()
            ));
        }
    };
    match serde_json::from_str(text) {
        Ok(document) => Read { document: Some(document), problem },
        Err(error) => {
            let start = words::quoted(&text.chars().take(40).collect::<String>());
            Read::broken(words::cut(format!("{error}, in a body that starts with {start}"), words::LONGEST))
        }
    }
}

/// Records a `Content-Type` that is not JSON; the document says nothing about it (readings, row 83).
pub(super) fn content_type(operation: Operation, value: Option<&str>, notes: &mut Notes) {
    match value {
        Some(value) if is_json(value) => {}
        Some(value) => {
            let text = format!("{} on a {operation} response", words::quoted(value));
            notes.observe(CONTENT_TYPE, "content-type", text);
        }
        None => notes.observe(CONTENT_TYPE, "content-type", "absent"),
    }
}

/// `application/json`, or a type with the suffix `+json` (RFC 6839 section 3.1); parameters do not matter.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.contains('/') && essence.ends_with("+json"))
}

impl Read {
    fn broken(problem: impl Display) -> Self {
        Self { document: None, problem: Some(problem.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(bytes: &[u8]) -> String {
        read(bytes).problem.unwrap_or_default()
    }

    #[test]
    fn what_is_not_json_is_told_in_words() {
        assert_eq!(problem(b""), "an empty body");
        assert_eq!(problem(b"\"\xC3\x28\""), "bytes that are not UTF-8, first at offset 1");
        assert_eq!(problem(b"\xFF\xFE{\0}\0"), "bytes that are not UTF-8, first at offset 0");
        assert!(problem(b"<html>\r\n").starts_with("expected value at line 1 column 1"));
        assert!(problem(b"{} {}").starts_with("trailing characters"));
        assert!(problem(b"{\"a\": NaN}").starts_with("expected value"));
        assert_eq!(problem(b" {}\r\n"), "");
    }

    #[test]
    fn a_byte_order_mark_is_told_and_the_rest_is_read() {
        let read = read(b"\xEF\xBB\xBF{\"a\": 1}");
        assert_eq!(read.problem.as_deref(), Some("a byte order mark at the start"));
        assert_eq!(read.document, Some(serde_json::json!({"a": 1})));
    }

    #[test]
    fn a_deep_body_and_a_huge_number_are_survived() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(problem(deep.as_bytes()).starts_with("recursion limit exceeded"));
        assert!(problem("{\"a\":".repeat(100_000).as_bytes()).starts_with("recursion limit exceeded"));
        assert!(problem(b"1e400").starts_with("number out of range"));
        assert_eq!(problem(&b"9".repeat(300)), "");
        assert!(problem(&b"9".repeat(100_000)).starts_with("number out of range"));
    }

    #[test]
    fn json_media_types_are_known_by_their_essence() {
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"] {
            assert!(is_json(json), "{json}");
        }
        for other in ["", "text/html", "application/jsonx", "text/json", "+json"] {
            assert!(!is_json(other), "{other}");
        }
    }
}
