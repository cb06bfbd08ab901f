//! Splits JSON into its parts, even if it is truncated or invalid, because the history shows exactly what was
//! sent.

use std::{borrow::Cow, ops::Range};

use xs2aspec_spec::masks::Privacy;

/// A field name or scalar in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Its range, without the quotation marks of a string.
    pub(super) at: Range<usize>,
    pub(super) form: Form,
    /// The string with its escapes resolved.
    pub(super) text: Cow<'a, str>,
    /// The field that contains it.
    pub(super) field: Field,
}

/// The form of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Name,
    String,
    /// A number, a literal, or invalid JSON.
    Bare,
}

/// The properties of a field that masking needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// Name. Items of a list have the name of the list.
    pub name: String,
    /// The kind of a personal value.
    pub personal: Option<String>,
    /// True if a value is masked only if it is distinctive.
    pub is_plain: bool,
}

impl Field {
    fn below(&self, name: &str, privacy: Privacy) -> Self {
        let (personal, is_plain) = match privacy {
            Privacy::Personal(kind) => (Some(kind), false),
            Privacy::Plain => (None, true),
            Privacy::Inherited => (self.personal.clone(), false),
        };
        Self { name: name.to_owned(), personal, is_plain }
    }
}

/// Returns true if a string starts like JSON.
pub(super) fn is_begun(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with(['{', '[', '"'])
}

/// Returns the pieces of a string in their order. `privacy` maps the name of a field to its privacy.
pub(super) fn pieces<'a>(text: &'a str, privacy: &dyn Fn(&str) -> Privacy) -> Vec<Piece<'a>> {
    let (mut pieces, mut around, mut field) = (Vec::new(), Vec::<Field>::new(), Field::default());
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let start = at;
        match letter {
            '{' | '[' => around.push(field.clone()),
            '}' | ']' => drop(around.pop()),
            '"' => {
                let end = start + 1 + closing(&text[start + 1..]);
                let after = text.get(end + 1..).unwrap_or_default();
                let content = unescaped(&text[start + 1..end]);
                let is_name = after.trim_start().starts_with(':');
                if is_name {
                    field = around.last().cloned().unwrap_or_default().below(&content, privacy(&content));
                }
                let form = if is_name { Form::Name } else { Form::String };
                pieces.push(Piece { at: start + 1..end, form, text: content, field: field.clone() });
                at = (end + 1).min(text.len());
                continue;
            }
            ' ' | '\t' | '\r' | '\n' | ':' => {}
            ',' => field = around.last().cloned().unwrap_or_default(),
            _ => {
                let ends = |letter: char| {
                    matches!(letter, '{' | '}' | '[' | ']' | ',' | '"') || letter.is_whitespace()
                };
                let end =
                    start + text[start..].find(ends).unwrap_or(text.len() - start).max(letter.len_utf8());
                let content = Cow::Borrowed(&text[start..end]);
                pieces.push(Piece { at: start..end, form: Form::Bare, text: content, field: field.clone() });
                at = end;
                continue;
            }
        }
        at += letter.len_utf8();
        if matches!(letter, '}' | ']') {
            field = around.last().cloned().unwrap_or_default();
        }
    }
    pieces
}

/// Returns the end of a JSON string: its quotation mark, or the end of truncated input.
fn closing(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|letter| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    });
    end.unwrap_or(text.len())
}

fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    serde_json::from_str(&format!("\"{raw}\"")).map_or(Cow::Borrowed(raw), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn privacy(name: &str) -> Privacy {
        match name {
            "person" => Privacy::Personal("person".to_owned()),
            "code" => Privacy::Plain,
            _ => Privacy::Inherited,
        }
    }

    fn personal(text: &str) -> Vec<String> {
        let pieces = pieces(text, &privacy).into_iter();
        let personal = pieces.filter(|piece| piece.form != Form::Name && piece.field.personal.is_some());
        personal.map(|piece| piece.text.into_owned()).collect()
    }

    #[test]
    fn a_value_belongs_to_its_field() {
        for (text, expected) in [
            (r#"{"person":"a","x":"b"}"#, vec!["a"]),
            (r#"{"person":{"x":"a","code":"b","y":[1,{"code":2}]},"x":"c"}"#, vec!["a", "1"]),
            (r#"[{"person":["a",["b"]]},"c"]"#, vec!["a", "b"]),
            (r#"{"person" : "K\u00e5re \"K\"" , "x" : 1}"#, vec!["Kåre \"K\""]),
            (r#"{"code":{"person":"a"},"person":null}"#, vec!["a", "null"]),
            // Truncated, with duplicate fields, and invalid JSON.
            (r#"{"x":"b","person":"Kå"#, vec!["Kå"]),
            (r#"{"person":"a","person":"b",}}} "c""#, vec!["a", "b"]),
            (r#"{"person":NO93 86,"x":1}"#, vec!["NO93", "86"]),
            (r#"{"person":"a\"#, vec!["a\\"]),
            ("", vec![]),
        ] {
            assert_eq!(personal(text), expected, "{text}");
        }
    }

    #[test]
    fn the_place_of_a_piece_is_that_of_its_text() {
        let text = r#" {"a":["b", 12]} "#;
        let found: Vec<&str> = pieces(text, &privacy).into_iter().map(|piece| &text[piece.at]).collect();
        assert_eq!(found, ["a", "b", "12"]);
        assert!(is_begun(text) && is_begun("\u{feff}[") && !is_begun("<html>") && !is_begun(""));
    }
}
