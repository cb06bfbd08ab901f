//! Finds error codes in rejections: in the messages if the document defines them there and the response has
//! some, otherwise anywhere in the body.

use serde_json::Value;
use xs2aspec_spec::AnswerRules;

/// The strings of a response that may be error codes.
pub(crate) struct Codes {
    texts: Vec<String>,
    /// True if each string is a code. Otherwise a string may contain one.
    is_exact: bool,
    /// The place that was searched.
    pub(crate) place: String,
}

impl Codes {
    /// Returns the codes in the response's messages if the document defines them for this operation and there
    /// are some. Otherwise returns all strings of the body.
    pub(crate) fn new(rules: &AnswerRules, operation: &str, document: Option<&Value>, body: &[u8]) -> Self {
        if !rules.shows_codes(operation) {
            return Self::anywhere(document, body);
        }
        let (codes, place) = (rules.codes(document), rules.place_of_codes());
        if codes.is_empty() {
            return Self { place, ..Self::anywhere(document, body) };
        }
        Self { texts: codes, is_exact: true, place }
    }

    /// Returns all strings of a body.
    pub(crate) fn anywhere(document: Option<&Value>, body: &[u8]) -> Self {
        Self { texts: texts(document, body), is_exact: false, place: "body".to_owned() }
    }

    /// Returns true if a code is among them.
    pub(crate) fn have(&self, code: &str) -> bool {
        self.texts.iter().any(|text| if self.is_exact { text == code } else { has_word(text, code) })
    }

    /// Returns the strings that look like a code: only uppercase letters and underscores. Echoed values
    /// usually contain digits.
    pub(crate) fn alike(self) -> Vec<String> {
        let is_code = |text: &String| {
            text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        self.texts.into_iter().filter(is_code).collect()
    }
}

/// Returns true if a string contains a code as a whole word.
fn has_word(text: &str, code: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(code).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + code.len()..].chars().next().is_some_and(is_part)
    })
}

/// Returns all strings in a value, without field names.
pub(crate) fn texts_in(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(members) => members.values().flat_map(texts_in).collect(),
        _ => vec![],
    }
}

/// Returns the strings of a body: its values and field names, or the whole body if it is not JSON.
fn texts(document: Option<&Value>, body: &[u8]) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(members) => members.iter().for_each(|(name, member)| {
                collect(member, texts);
                texts.push(name.clone());
            }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    match document {
        Some(document) => collect(document, &mut found),
        None if body.is_empty() => {}
        None => found.push(String::from_utf8_lossy(body).into_owned()),
    }
    found
}

#[cfg(test)]
mod tests {
    use xs2aspec_spec::Tree;

    use super::*;

    #[test]
    fn a_code_stands_where_the_document_shows_it_and_elsewhere_anywhere() {
        let mix = r#"{"tppMessages":[{"category":"ERROR","code":"REFERENCE_MIX_INVALID"}]}"#;
        let rules = AnswerRules::load(&Tree::embedded()).unwrap();
        let has = |operation: &str, body: &str| {
            let document = serde_json::from_str(body).ok();
            let codes = Codes::new(&rules, operation, document.as_ref(), body.as_bytes());
            codes.have("REFERENCE_MIX_INVALID")
        };
        for (body, is_said) in [
            (mix, true),
            (r#"{"code":"REFERENCE_MIX_INVALID"}"#, true),
            (r#"{"errors":[{"detail":"REFERENCE_MIX_INVALID: a periodic payment"}]}"#, true),
            (r#"[{"REFERENCE_MIX_INVALID":"a periodic payment"}]"#, true),
            ("REFERENCE_MIX_INVALID", true),
            ("<p>Error (REFERENCE_MIX_INVALID)</p>", true),
            (r#"{"code":"reference_mix_invalid"}"#, false),
            (r#"{"code":"NO_REFERENCE_MIX_INVALID"}"#, false),
            (r#"{"code":"REFERENCE_MIX_INVALID2"}"#, false),
            ("{}", false),
            ("", false),
        ] {
            assert_eq!(has("basket", body), is_said, "{body}");
            // `Errors` makes messages optional.
            assert_eq!(has("ncbct", body), is_said, "{body}");
        }
        let beside =
            r#"{"tppMessages":[{"category":"ERROR","code":"FORBIDDEN"}],"code":"REFERENCE_MIX_INVALID"}"#;
        assert!(!has("ncbct", beside) && has("basket", beside));
    }
}
