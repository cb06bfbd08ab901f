//! Rejections for the process that runs the bank, with the rule of each. Clients do not see them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::mpsc::Sender;

use axum::http::request::Parts;
use xs2aspec_bank::refusal::Refusal;

/// A request that the bank rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The key of the request, from [`request_key`].
    pub request: u64,
    /// The status.
    pub status: u16,
    /// The rule.
    pub rule: String,
    /// The place: a JSON pointer into the body, or the name of a header or query parameter.
    pub path: Option<String>,
}

/// Returns a key that identifies a request by method, headers and the last part of its path. A prefix of the
/// path is not included, because routers may strip it.
pub fn request_key<'a>(method: &str, target: &str, headers: impl Iterator<Item = (&'a str, String)>) -> u64 {
    let mut fields: Vec<(String, String)> =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    fields.sort();
    let mut hasher = DefaultHasher::new();
    (method, target.rsplit('/').next(), fields).hash(&mut hasher);
    hasher.finish()
}

/// Sends a rejection to its receiver. A missing receiver is ignored, so that the bank keeps serving.
pub(crate) fn tell(to: Option<&Sender<Rejected>>, parts: &Parts, refusal: &Refusal) {
    let Some(to) = to else { return };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes())));
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let request = request_key(parts.method.as_str(), target, headers);
    let Refusal { status, rule, path, .. } = refusal;
    let rejected = Rejected { request, status: status.as_u16(), rule: rule.clone(), path: path.clone() };
    drop(to.send(rejected));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_one_key_however_its_fields_are_written() {
        let key = |method: &str, target: &str, fields: &[(&'static str, &str)]| {
            request_key(method, target, fields.iter().map(|(name, value)| (*name, (*value).to_owned())))
        };
        let own = key("GET", "/a/v1/b?c", &[("X-Request-ID", "1"), ("Host", "h")]);
        assert_eq!(own, key("GET", "/v1/b?c", &[("host", " h"), ("x-request-id", "1 ")]));
        for (method, target, id) in
            [("PUT", "/v1/b?c", "1"), ("GET", "/v1/d?c", "1"), ("GET", "/v1/b?c", "2")]
        {
            assert_ne!(own, key(method, target, &[("host", "h"), ("x-request-id", id)]));
        }
    }
}
