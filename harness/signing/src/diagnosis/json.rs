//! The same JSON in the formats of other serializers, for clients that hash one serialization and send
//! another.

use std::fmt::Write;

/// Layouts of JSON: the text after a comma, after a colon, and the indent per level.
const LAYOUTS: [(&str, &str, Option<&str>, &str); 6] = [
    (",", ":", None, "compact"),
    (", ", ": ", None, "with spaces after commas and colons, as Python writes it"),
    (",", ": ", Some("  "), "indented by two spaces"),
    (",", ": ", Some("    "), "indented by four spaces"),
    (",", ": ", Some("\t"), "indented by tabs"),
    (",", ": ", Some("   "), "indented by three spaces"),
];

/// Characters that are escaped in strings: those listed, true for those beyond ASCII, and true for uppercase
/// digits.
const ESCAPES: [(&str, bool, bool, &str); 5] = [
    ("", false, false, ""),
    ("", true, false, ", with \\u for characters beyond ASCII"),
    ("<>&'+`", true, true, ", with uppercase \\u for characters beyond ASCII and for HTML characters"),
    ("<>&\u{2028}\u{2029}", false, false, ", with \\u for HTML characters"),
    ("", true, true, ", with uppercase \\u for characters beyond ASCII"),
];

/// Returns the same JSON in the formats that serializers usually choose, each with its name. Those with the
/// original layout come last.
pub fn spellings(json: &str) -> impl Iterator<Item = (String, String)> {
    let (tokens, own) = (tokens(json), json.trim().replace("\r\n", "\n"));
    let layouts =
        LAYOUTS.into_iter().map(|(comma, colon, indent, name)| (Some((comma, colon, indent)), name));
    let layouts =
        layouts.chain([(None, "in its own layout")]).take(if tokens.is_empty() { 0 } else { usize::MAX });
    let escapes = || ESCAPES.into_iter().flat_map(|escapes| [(escapes, false), (escapes, true)]);
    let each = layouts.flat_map(move |layout| escapes().map(move |escapes| (layout, escapes)));
    each.flat_map(
        move |((layout, layout_name), ((listed, beyond_ascii, uppercase, letters), with_slashes))| {
            let escape = |text: &str| {
                let text = escaped(text, (listed, beyond_ascii, uppercase));
                if with_slashes { text.replace('/', "\\/") } else { text }
            };
            let text = layout.map_or_else(|| escape(&own), |layout| written(&tokens, layout, &escape));
            let slashes = match (with_slashes, letters) {
                (false, _) => "",
                (true, "") => ", with \\/ for slashes",
                (true, _) => " and \\/ for slashes",
            };
            let crlf = text.contains('\n').then(|| (text.replace('\n', "\r\n"), ", in lines with CRLF"));
            let texts = [Some((text, "")), crlf].into_iter().flatten();
            let named = texts.flat_map(|(text, lines)| {
                ["", "\n", "\r\n"].map(|end| {
                    let line_end = if end.is_empty() { "" } else { ", followed by a line end" };
                    (format!("{text}{end}"), format!("{layout_name}{letters}{slashes}{lines}{line_end}"))
                })
            });
            named.collect::<Vec<_>>()
        },
    )
}

/// Splits JSON into tokens. Strings keep their quotation marks and lose escapes that are optional.
fn tokens(json: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = json.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_text(rest),
            '{' | '}' | '[' | ']' | ':' | ',' => 1,
            _ => rest
                .find(|letter: char| "{}[]:,\"".contains(letter) || letter.is_ascii_whitespace())
                .unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(end.max(1));
        tokens.push(if first == '"' { plain(token) } else { token.to_owned() });
        rest = behind.trim_start();
    }
    tokens
}

fn end_of_text(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// Replaces `\\u` escapes by characters where JSON allows that (RFC 8259, section 7).
fn plain(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let unit = rest.strip_prefix("\\u").and_then(|rest| u16::from_str_radix(rest.get(..4)?, 16).ok());
        let length = match unit {
            Some(unit) if unit >= 0x20 && unit != 0x22 && unit != 0x5C => {
                units.push(unit);
                6
            }
            _ if rest.starts_with("\\/") => {
                units.push(u16::from(b'/'));
                2
            }
            _ => {
                let length = if letter == '\\' {
                    rest.chars().take(2).map(char::len_utf8).sum()
                } else {
                    letter.len_utf8()
                };
                units.extend(rest[..length].encode_utf16());
                length
            }
        };
        rest = &rest[length..];
    }
    String::from_utf16_lossy(&units)
}

fn escaped(text: &str, (listed, beyond_ascii, uppercase): (&str, bool, bool)) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if !listed.contains(character) && (character.is_ascii() || !beyond_ascii) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            _ = if uppercase { write!(escaped, "\\u{unit:04X}") } else { write!(escaped, "\\u{unit:04x}") };
        }
    }
    escaped
}

fn written(
    tokens: &[String],
    (comma, colon, indent): (&str, &str, Option<&str>),
    escape: &dyn Fn(&str) -> String,
) -> String {
    let mut written = String::new();
    let mut depth = 0_usize;
    let line = |written: &mut String, depth: usize| {
        if let Some(indent) = indent {
            written.push('\n');
            (0..depth).for_each(|_| written.push_str(indent));
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map(String::as_str);
        match token.as_str() {
            "{" | "[" => {
                written.push_str(token);
                depth += 1;
                if !matches!(next, Some("}" | "]")) {
                    line(&mut written, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                if !at.checked_sub(1).is_some_and(|before| matches!(tokens[before].as_str(), "{" | "[")) {
                    line(&mut written, depth);
                }
                written.push_str(token);
            }
            "," => {
                written.push_str(comma);
                line(&mut written, depth);
            }
            ":" => written.push_str(colon),
            text if text.starts_with('"') => written.push_str(&escape(text)),
            other => written.push_str(other),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_other_programs_are_found() {
        let sent = "{\"a\":[1,{\"å\":\"x/<y>\\n\\\"\"}],\"e\":{},\"f\":1.50}";
        for written in [
            "{\"a\": [1, {\"å\": \"x/<y>\\n\\\"\"}], \"e\": {}, \"f\": 1.50}",
            "{\"a\": [1, {\"\\u00e5\": \"x/<y>\\n\\\"\"}], \"e\": {}, \"f\": 1.50}",
            "{\"a\":[1,{\"\\u00E5\":\"x/\\u003Cy\\u003E\\n\\\"\"}],\"e\":{},\"f\":1.50}",
            "{\"a\":[1,{\"å\":\"x/\\u003cy\\u003e\\n\\\"\"}],\"e\":{},\"f\":1.50}\n",
            "{\"a\":[1,{\"\\u00e5\":\"x\\/<y>\\n\\\"\"}],\"e\":{},\"f\":1.50}",
            "{\n  \"a\": [\n    1,\n    {\n      \"å\": \"x/<y>\\n\\\"\"\n    }\n  ],\n  \"e\": {},\n  \"f\": 1.50\n}",
        ] {
            // Each format is found from each of the others.
            for from in [sent, written, &format!(" {written}\r\n")] {
                let all: Vec<String> = spellings(from).map(|(text, _)| text).collect();
                assert!(all.iter().any(|text| text == written), "{from}\n{written}");
                assert!(all.iter().any(|text| text == sent), "{from}");
            }
        }
        assert_eq!(plain("\"\\ud83d\\ude00\\u0022\\u000a\\\\\\/\""), "\"😀\\u0022\\u000a\\\\/\"");
        for odd in ["", "\"", "{\"a", "\\", "\"\\", "å", "[[[[", "}}"] {
            assert!(spellings(odd).count() > 0 || odd.is_empty(), "{odd}");
        }
    }
}
