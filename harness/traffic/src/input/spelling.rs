//! JSON in the spellings that serializers usually choose. Some recorders parse a body and write it anew.

use std::{fmt::Write, io};

use serde::Serialize;
use serde_json::{
    Serializer, Value,
    ser::{CompactFormatter, Formatter, PrettyFormatter},
};

/// A longer body is compared as it is.
const LONGEST: usize = 1 << 20;

/// Characters beside those outside of ASCII that serializers escape, and whether they escape those, too.
const ESCAPES: [(&str, bool, bool); 5] = [
    ("", false, false),
    ("", true, false),
    ("", true, true),
    ("<>&\u{2028}\u{2029}", false, false),
    ("<>&'+`", true, true),
];

/// Returns the spelling of a JSON text that `is_it`.
pub(super) fn find(text: &str, is_it: &dyn Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_str(text).ok().filter(|_| text.len() <= LONGEST)?;
    let mut layouts =
        vec![text.trim().replace("\r\n", "\n"), written(&value, CompactFormatter), written(&value, Spaced)];
    layouts.extend(
        ["  ", "    ", "\t", "   "]
            .map(|indent| written(&value, PrettyFormatter::with_indent(indent.as_bytes()))),
    );
    for layout in layouts {
        for escaped in ESCAPES.map(|escapes| escaped(&layout, escapes)) {
            for slashes in [escaped.replace('/', "\\/"), escaped] {
                for lines in [slashes.replace('\n', "\r\n"), slashes] {
                    for end in ["", "\n", "\r\n"] {
                        let spelling = format!("{lines}{end}").into_bytes();
                        if is_it(&spelling) {
                            return Some(spelling);
                        }
                    }
                }
            }
        }
    }
    None
}

fn written(value: &Value, formatter: impl Formatter) -> String {
    let mut out = Vec::new();
    let done = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    done.ok().and_then(|()| String::from_utf8(out).ok()).unwrap_or_default()
}

/// A space behind each comma and colon, as Python writes it.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        if is_first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.begin_array_value(out, is_first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

fn escaped(text: &str, (also, beyond_ascii, uppercase): (&str, bool, bool)) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if !also.contains(character) && (character.is_ascii() || !beyond_ascii) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to memory does not fail.
            _ = if uppercase { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
        }
    }
    out
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
    }
}
