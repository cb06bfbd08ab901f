//! Names that the document uses. All other names in recorded traffic are masked.

use std::collections::HashSet;

use serde_json::Value;
use xs2aspec_spec::masks::{is_secret, normalized};
use xs2aspec_suite::{BodySpec, Suite};

use crate::Profile;

/// Headers for framing, negotiation and caching (RFC 9110, RFC 9111, RFC 9112). They identify nobody.
const OF_HTTP: [&str; 34] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "age",
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expect",
    "expires",
    "host",
    "keep-alive",
    "last-modified",
    "location",
    "pragma",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "vary",
    "x-content-type-options",
];

/// Folder with the schemas of responses.
const SCHEMAS: &str = "fixtures/schemas";

/// Maximum length of a path segment that counts as a word.
const LONGEST_WORD: usize = 48;

/// Names that the document uses.
#[derive(Debug, Default)]
pub(crate) struct Known {
    headers: HashSet<String>,
    parameters: HashSet<String>,
    fields: HashSet<String>,
    segments: HashSet<String>,
}

impl Known {
    pub(crate) fn new(suite: &Suite, profile: &Profile) -> Self {
        let mut known = Self::default();
        known.headers.extend(OF_HTTP.map(str::to_owned));
        for place in suite.requests().places() {
            known.place(place.get("at").and_then(Value::as_str).unwrap_or_default());
        }
        for baseline in suite.baselines().values() {
            let request = &baseline.request;
            for (name, _) in request.headers.iter() {
                known.place(&format!("header/{name}"));
            }
            for (name, _) in &request.query {
                known.place(&format!("query/{name}"));
            }
            if let BodySpec::Json(value, _) = &request.body {
                known.fields(value);
            }
            known.segments(&request.path);
        }
        profile.paths.values().for_each(|path| known.segments(path));
        for (_, text) in suite.tree().below(SCHEMAS, ".json") {
            known.schema(&serde_json::from_str(text).unwrap_or_default());
        }
        known
    }

    /// Returns true if the history may show a header with this name.
    pub(crate) fn shows_header(&self, name: &str) -> bool {
        self.headers.contains(&name.to_ascii_lowercase()) && !is_secret(name)
    }

    /// Returns true if the history may show a query parameter with this name.
    pub(crate) fn shows_parameter(&self, name: &str) -> bool {
        self.parameters.contains(name) && !is_secret(name)
    }

    /// Returns true if the document has a field with this name.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.fields.contains(&normalized(name))
    }

    /// Returns true if the history may show a path segment: a lowercase word, a version, or a segment of the
    /// document in any case. The `path` of an error message contains field names.
    pub(crate) fn shows_segment(&self, segment: &str) -> bool {
        let is_word = segment.len() <= LONGEST_WORD
            && segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'.');
        let version = segment.strip_prefix(['v', 'V']).unwrap_or_default();
        let is_version =
            (1..=2).contains(&version.len()) && version.bytes().all(|byte| byte.is_ascii_digit());
        is_word || is_version || self.segments.contains(&segment.to_lowercase()) || self.has_field(segment)
    }

    fn place(&mut self, at: &str) {
        match at.split_once('/') {
            Some(("header", name)) => drop(self.headers.insert(name.to_ascii_lowercase())),
            Some(("query", name)) => drop(self.parameters.insert(name.to_owned())),
            Some(("body", pointer)) => self.fields.extend(pointer.split('/').map(normalized)),
            _ => {}
        }
    }

    fn fields(&mut self, value: &Value) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                self.fields.insert(normalized(name));
                self.fields(value);
            }),
            Value::Array(items) => items.iter().for_each(|item| self.fields(item)),
            _ => {}
        }
    }

    fn segments(&mut self, path: &str) {
        let fixed = path.split('/').filter(|segment| !segment.contains("${"));
        self.segments.extend(fixed.map(str::to_lowercase));
    }

    fn schema(&mut self, schema: &Value) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    self.fields.extend(properties.keys().map(|name| normalized(name)));
                }
                members.values().for_each(|value| self.schema(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.schema(item)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_suite::{ProfileSpec, Tree};

    use super::*;

    #[test]
    fn the_document_decides_what_is_known() {
        let suite = Suite::load(Tree::embedded()).unwrap();
        let profile = Profile::of_url("http://127.0.0.1", ProfileSpec::embedded()).unwrap();
        let known = Known::new(&suite, &profile);
        for (name, expected) in [
            ("X-Request-ID", true),
            ("Content-Type", true),
            ("PSU-Context", true),
            ("TPP-Session-ID", false),
            ("X-Api-Key", false),
            ("User-Agent", false),
        ] {
            assert_eq!(known.shows_header(name), expected, "{name}");
        }
        assert!(known.shows_parameter("allowLogicalDuplicate") && !known.shows_parameter("access_token"));
        for (name, expected) in [
            ("transactionStatus", true),
            ("instructedAmount", true),
            ("customerType", true),
            ("refresh_token", false),
        ] {
            assert_eq!(known.has_field(name), expected, "{name}");
        }
        for (segment, expected) in [
            ("payments", true),
            ("Payments", true),
            ("norwegian-cross-border-credit-transfers", true),
            ("v2", true),
            ("cards", true),
            ("a1", false),
            ("CANARY", false),
            ("vCANARY", false),
            ("%7Bid%7D", false),
        ] {
            assert_eq!(known.shows_segment(segment), expected, "{segment}");
        }
    }
}
