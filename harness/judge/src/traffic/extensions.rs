//! Recognizes strings that are JSON only with extensions of RFC 8259, as in JSON5 and many libraries.

use serde::de::IgnoredAny;

/// Returns true if a string is invalid JSON only because of these extensions of RFC 8259:
///
/// - trailing commas, comments, single quotes, unquoted names, control characters in strings, and unknown
///   escapes (sections 4, 5 and 7)
/// - other notations of numbers, and literals in other spellings (sections 3 and 6)
pub(crate) fn is_json_by_extensions(text: &[u8]) -> bool {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    std::str::from_utf8(text).is_ok_and(|text| !is_json(text) && is_json(&without(text)))
}

/// Returns the string with each extension replaced with valid JSON.
fn without(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' | '\'' => string(&mut plain, rest, first),
            '/' if rest.starts_with("/*") => after(rest, "*/"),
            '/' if rest.starts_with("//") => after(rest, "\n"),
            '}' | ']' => {
                let end = plain.trim_end();
                plain.truncate(end.strip_suffix(',').map_or(plain.len(), str::len));
                plain.push(first);
                &rest[1..]
            }
            _ if is_of_a_word(first) => {
                let (word, behind) = rest.split_at(rest.find(|c| !is_of_a_word(c)).unwrap_or(rest.len()));
                plain.push_str(&as_json(word, behind.trim_start().starts_with(':')));
                behind
            }
            _ => {
                plain.push(first);
                &rest[first.len_utf8()..]
            }
        };
    }
    plain
}

/// Returns the part after `end`, or an empty string if it does not occur.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, behind)| behind)
}

/// Writes the quoted string at the start of `rest` and returns the part after it.
fn string<'a>(plain: &mut String, rest: &'a str, quote: char) -> &'a str {
    plain.push('"');
    let mut letters = rest[1..].char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                plain.push('"');
                return &rest[at + 2..];
            }
            '\\' => match letters.next() {
                Some((_, escaped @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u'))) => {
                    plain.extend(['\\', escaped]);
                }
                Some((_, escaped)) if !escaped.is_control() => plain.push(escaped),
                _ => {}
            },
            '"' => plain.push_str("\\\""),
            '\0'..' ' => plain.push(' '),
            _ => plain.push(letter),
        }
    }
    // The closing quote is missing, so the output so far is not JSON either.
    ""
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '+' | '-' | '.')
}

/// Returns an unquoted word as JSON if it is a name, a number or a literal, otherwise unchanged.
fn as_json(word: &str, is_name: bool) -> String {
    const LITERALS: [&str; 5] = ["true", "false", "null", "none", "undefined"];
    let number = word.trim_start_matches(['+', '-']);
    let digits = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X"));
    let is_hexadecimal = digits.is_some_and(|digits| u128::from_str_radix(digits, 16).is_ok());
    if is_name {
        format!("\"{word}\"")
    } else if serde_json::from_str::<IgnoredAny>(word).is_ok() {
        word.to_owned()
    } else if is_hexadecimal || number.parse::<f64>().is_ok() {
        "0".to_owned()
    } else if LITERALS.iter().any(|literal| literal.eq_ignore_ascii_case(word)) {
        "null".to_owned()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_extension_is_told_from_other_mistakes() {
        for text in [
            r#"{"a": 1,}"#,
            "{\"a\": [1, 2 ,\n], \"b\": {},\t}",
            r#"{"a": ",}\\", "b": "\"",}"#,
            "{\"a\": 1 /* a comment, } */}",
            "{\"a\": 1, // a comment\n \"b\": 2}",
            "// a comment\n{\"a\": \"// none\"}",
            r#"{"a": 1, /* before the end */}"#,
            r"{'a': 'b'}",
            r#"{'a': 'a "word" and it\'s end'}"#,
            r"{a: 1, $b_2: {c: 2}}",
            "{\"a\": \"two\twords\"}",
            "{\"a\": \"two\nlines\"}",
            "{\"a\": \"two\\\nlines\"}",
            r#"{"a": "\x61"}"#,
            r#"{"a": NaN}"#,
            r#"{"a": [-Infinity, 007, +7, .5, 5., 0x1F]}"#,
            r#"{"a": True, "b": None}"#,
        ] {
            assert!(is_json_by_extensions(text.as_bytes()), "{text}");
        }
        for text in [
            r#"{"a": 1}"#,
            r#"{"a": ",}", "b": "/* */", "c": "it's", "d": 1e400, "e": "\u0061"}"#,
            r#"{"a": 1,"#,
            r#"{"a": 1,,}"#,
            r#"{"a" 1}"#,
            r#"{"a": 1"#,
            r#"{"a": "1}"#,
            r"{'a': 'b}",
            r#"{"a": 1 /* }"#,
            r#"{"a": word}"#,
            r#"{"a": 0xZZ}"#,
            r#"{"a": 6ba7b810-9dad-11d1-80b4-00c04fd430c8}"#,
            "{,}x",
            r#"{"a": 1,} x"#,
            r#"{"a": "\u00"}"#,
            ",",
            "",
            "amount=1",
            "\u{feff}{}",
        ] {
            assert!(!is_json_by_extensions(text.as_bytes()), "{text}");
        }
        assert!(!is_json_by_extensions(b"{'a': '\xe5'}"), "not UTF-8");
    }
}
