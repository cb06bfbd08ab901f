//! Rejections: an HTTP status and one `tppMessages` entry with the id of the rule.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The codes of a `TppMessage` that this bank uses. All are listed in the document (section Errors), except
/// `REFERENCE_MIX_INVALID`, which a rule of that section requires.
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

/// A rejected request: the rule, the place in the request, and the reason.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The status of the response.
    pub status: StatusCode,
    /// The code in its body.
    pub code: Code,
    /// The id of the violated rule, such as `ncbct.creditor-name.length`.
    pub rule: String,
    /// A JSON pointer into the body, or the name of a header or parameter.
    pub path: Option<String>,
    says: String,
}

impl Refusal {
    /// Rejects by this rule. `says` states what was expected and what was found.
    pub fn new(status: StatusCode, code: Code, rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self { status, code, rule: rule.into(), path: None, says: says.into() }
    }

    /// Rejects a value with an invalid format: 400 `FORMAT_ERROR`.
    pub fn format(rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::FormatError, rule, says)
    }

    /// Rejects a request without proof of its sender: 401. The document has no code for this, so the closest
    /// one is used, `FORBIDDEN`.
    pub fn unauthenticated(rule: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::Forbidden, rule, says)
    }

    /// Rejects a request that conflicts with the state of the bank: 409 `CONFLICT`.
    pub(crate) fn conflict(rule: &str, says: &str) -> Self {
        Self::new(StatusCode::CONFLICT, Code::Conflict, rule, says)
    }

    /// Rejects an unknown id in the path: 404 `RESOURCE_UNKNOWN`.
    pub(crate) fn unknown(rule: &str, path: &str, expected: &str) -> Self {
        let says = format!("expected {expected}, found an unknown id");
        Self::new(StatusCode::NOT_FOUND, Code::ResourceUnknown, rule, says).at(path)
    }

    /// Replaces the rule.
    #[must_use]
    pub fn by(mut self, rule: &str) -> Self {
        rule.clone_into(&mut self.rule);
        self
    }

    /// Sets the place in the request.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Returns true if a field of the body violates the rule.
    pub fn is_about_a_member(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.starts_with('/'))
    }

    /// Returns the rule and the reason, at most 512 characters (the document, section Resources > Shared
    /// types, `TppMessage`).
    pub fn text(&self) -> String {
        format!("{}: {}", self.rule, self.says).chars().take(512).collect()
    }

    /// Returns the error body.
    pub fn body(&self) -> Value {
        let mut message = json!({ "category": "ERROR", "code": self.code });
        if let Some(path) = &self.path {
            message["path"] = json!(path);
        }
        message["text"] = json!(self.text());
        json!({ "tppMessages": [message] })
    }
}

/// Formats a value for a rejection: quoted, escaped and at most 40 characters long.
pub fn excerpt(value: &str) -> String {
    shortened(value, 40)
}

/// Formats a value that is compared as a whole, such as a name, with at most 160 characters.
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
