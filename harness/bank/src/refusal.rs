//! How the bank says no: an HTTP status and one `tppMessages` entry that names the rule.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Codes of a `TppMessage`: those of the document, section Errors, that this bank uses, and
/// `REFERENCE_MIX_INVALID`, which the same section demands without listing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "each is the code of that name")]
pub enum Code {
    AccessExceeded,
    BadRequest,
    Conflict,
    ConsentExpired,
    Forbidden,
    FormatError,
    HttpHeaderRequired,
    NotFound,
    PaymentFailed,
    PsuCredentialsInvalid,
    ReferenceMixInvalid,
    ResourceUnknown,
    SystemError,
}

/// A refused request: which rule, where in the request, and what is wrong with the value.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The status of the answer.
    pub status: StatusCode,
    /// The code in its body.
    pub code: Code,
    /// The id of the rule that was broken, such as `ncbct.creditor-name.length`.
    pub rule: String,
    /// A JSON pointer into the body, or the name of a header or query parameter.
    pub path: Option<String>,
    says: String,
}

impl Refusal {
    /// A refusal by this rule, with what was expected and what was found.
    pub fn new(status: StatusCode, code: Code, rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self { status, code, rule: rule.into(), path: None, says: says.into() }
    }

    /// A value that does not have the form its rule asks for: 400 `FORMAT_ERROR`.
    pub fn format(rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::FormatError, rule, says)
    }

    /// A request that does not prove who sent it: 401. The document has no code for it; `FORBIDDEN` is the
    /// nearest.
    pub fn unauthenticated(rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::Forbidden, rule, says)
    }

    /// A request that does not fit what the bank has: 409 `CONFLICT`.
    pub(crate) fn conflict(rule: &str, says: &str) -> Self {
        Self::new(StatusCode::CONFLICT, Code::Conflict, rule, says)
    }

    /// An id in the path that nothing of this bank has: 404 `RESOURCE_UNKNOWN`.
    pub(crate) fn unknown(rule: &str, path: &str, expected: &str) -> Self {
        let says = format!("expected {expected}, found an unknown id");
        Self::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, rule, says).at(path)
    }

    /// Names this rule in place of the one that it has.
    #[must_use]
    pub fn by(mut self, rule: &str) -> Self {
        rule.clone_into(&mut self.rule);
        self
    }

    /// Points at the part of the request that is meant.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Whether a member of the body is what breaks the rule.
    pub fn is_about_a_member(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.starts_with('/'))
    }

    /// The rule and the problem, at most 512 characters (the document, section Resources > Shared types,
    /// `TppMessage`).
    pub fn text(&self) -> String {
        format!("{}: {}", self.rule, self.says).chars().take(512).collect()
    }

    /// The error body.
    pub fn body(&self) -> Value {
        let mut message = json!({ "category": "ERROR", "code": self.code });
        if let Some(path) = &self.path {
            message["path"] = json!(path);
        }
        message["text"] = json!(self.text());
        json!({ "tppMessages": [message] })
    }
}

/// A value as it may stand in a refusal: quoted, escaped and at most 40 characters long.
pub fn excerpt(value: &str) -> String {
    shortened(value, 40)
}

/// The same of a value that is compared as a whole, such as a name: at most 160 characters long.
pub(crate) fn long_excerpt(value: &str) -> String {
    shortened(value, 160)
}

fn shortened(value: &str, most: usize) -> String {
    if value.chars().count() <= most {
        return format!("{value:?}");
    }
    let start: String = value.chars().take(most).collect();
    format!("{start:?}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_rule_and_stays_within_512_characters() {
        let short = Refusal::format("country.listed", "expected a listed code, found \"XX\"").at("/a/b");
        assert_eq!(short.text(), "country.listed: expected a listed code, found \"XX\"");
        assert_eq!(short.body()["tppMessages"][0]["path"], "/a/b");
        assert_eq!(short.body()["tppMessages"][0]["category"], "ERROR");
        let long = Refusal::format("a.b", "å".repeat(600));
        assert_eq!(long.text().chars().count(), 512);
    }

    #[test]
    fn excerpts_are_short_and_escaped() {
        assert_eq!(excerpt("a\nb"), r#""a\nb""#);
        assert_eq!(excerpt(&"x".repeat(41)), format!("\"{}\"...", "x".repeat(40)));
    }
}
