//! Conditions on an exchange.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use xs2aspec_record::{Body, Exchange, Header, Request, Response};
use xs2aspec_spec::{AnswerRules, masks::is_pseudonym};

/// A condition on an exchange. All its parts must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Condition {
    /// Operation of the request, one of these.
    operation: Words,
    /// Status, one of these, such as `429` or `4xx`.
    status: Words,
    /// Statuses that the response must not have.
    not_status: Words,
    /// Request headers. Names are compared case-insensitively.
    header: BTreeMap<String, Test>,
    /// Query parameters of the request.
    query: BTreeMap<String, Test>,
    /// Fields of the request body, by JSON pointer without the leading slash.
    body: BTreeMap<String, Test>,
    /// Response headers.
    answer_header: BTreeMap<String, Test>,
    /// Fields of the response body, by JSON pointer without the leading slash.
    answer_body: BTreeMap<String, Test>,
    /// Requires a response field that the document does not list.
    answer_unlisted: bool,
    /// Alternatives. One must hold.
    any: Vec<Condition>,
}

/// One word or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
enum Words {
    #[default]
    None,
    One(String),
    Some(Vec<String>),
}

impl Words {
    fn is_there(&self) -> bool {
        !matches!(self, Self::None)
    }

    fn any(&self, is: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::None => false,
            Self::One(word) => is(word),
            Self::Some(words) => words.iter().any(|word| is(word)),
        }
    }
}

/// A test of one value.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Test {
    /// Present.
    Present,
    /// Absent.
    Absent,
    /// Equal to this value.
    Is(Value),
    /// A string that starts with one of these, case-insensitively.
    Starts(Vec<String>),
    /// A string that starts with none of these, case-insensitively.
    StartsNot(Vec<String>),
    /// A list with at least this many items.
    Items(usize),
}

/// The result of evaluating a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// The condition does not hold.
    No,
    /// The evidence is masked, truncated or missing.
    Unknown,
    /// The condition holds.
    Yes,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl Condition {
    /// Evaluates the condition for an exchange.
    pub fn holds(&self, exchange: &Exchange, rules: &AnswerRules) -> Holds {
        let operation = exchange.operation.as_deref().unwrap_or_default();
        if self.operation.is_there() && !self.operation.any(|known| known == operation) {
            return Holds::No;
        }
        let status =
            exchange.response.as_ref().filter(|_| exchange.failure.is_none()).map(|answer| answer.status);
        let has = |words: &Words| status.is_some_and(|status| words.any(|word| is_status(word, status)));
        if self.status.is_there() && !has(&self.status) || has(&self.not_status) {
            return Holds::No;
        }
        let request = self.request(&exchange.request);
        let answer =
            exchange.response.as_ref().map_or(Holds::Yes, |answer| self.answer(operation, answer, rules));
        let any = self.any.iter().map(|one| one.holds(exchange, rules)).max().unwrap_or(Holds::Yes);
        request.min(answer).min(any)
    }

    /// Returns true if the condition tests a request header that `is` accepts.
    pub fn looks_at_header(&self, is: &dyn Fn(&str) -> bool) -> bool {
        self.header.keys().any(|name| is(name)) || self.any.iter().any(|one| one.looks_at_header(is))
    }

    fn request(&self, request: &Request) -> Holds {
        let headers = all(&self.header, |name| header(&request.headers, name).map(Value::from));
        let query = all(&self.query, |name| parameter(&request.url, name));
        let document = document(request.body.as_ref());
        let body = all(&self.body, |pointer| member(document.as_ref(), pointer));
        headers.min(query).min(body)
    }

    fn answer(&self, operation: &str, answer: &Response, rules: &AnswerRules) -> Holds {
        let headers = all(&self.answer_header, |name| header(&answer.headers, name).map(Value::from));
        if self.answer_body.is_empty() && !self.answer_unlisted {
            return headers;
        }
        let document = document(answer.body.as_ref());
        let body = all(&self.answer_body, |pointer| member(document.as_ref(), pointer));
        let unlisted =
            || document.as_ref().is_some_and(|document| rules.unlisted(operation, document).is_some());
        headers.min(body).min((!self.answer_unlisted || unlisted()).into())
    }
}

fn is_status(word: &str, status: u16) -> bool {
    let digits = status.to_string();
    word == digits
        || word.strip_suffix("xx").is_some_and(|first| digits.len() == 3 && digits.starts_with(first))
}

fn all(tests: &BTreeMap<String, Test>, find: impl Fn(&str) -> Option<Value>) -> Holds {
    tests.iter().map(|(name, test)| test.holds(find(name).as_ref())).min().unwrap_or(Holds::Yes)
}

impl Test {
    fn holds(&self, value: Option<&Value>) -> Holds {
        let begins = |words: &[String]| {
            let text = value.and_then(Value::as_str);
            text.is_some_and(|text| {
                words
                    .iter()
                    .any(|word| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
            })
        };
        let is_masked = value.and_then(Value::as_str).is_some_and(is_pseudonym);
        match self {
            Self::Present => value.is_some().into(),
            Self::Absent => value.is_none().into(),
            Self::Items(least) => {
                value.and_then(Value::as_array).is_some_and(|items| items.len() >= *least).into()
            }
            Self::Is(_) | Self::Starts(_) | Self::StartsNot(_) if is_masked => Holds::Unknown,
            Self::Is(wanted) => (value == Some(wanted)).into(),
            Self::Starts(words) => begins(words).into(),
            Self::StartsNot(words) => (value.is_some() && !begins(words)).into(),
        }
    }
}

/// Returns the first value of a header.
pub(crate) fn header<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    let mut own = headers.iter().filter(|field| field.0.eq_ignore_ascii_case(name));
    own.next().map(|field| field.1.as_str())
}

/// Returns the first value of a query parameter, without decoding it.
fn parameter(url: &str, name: &str) -> Option<Value> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value.into())
}

fn document(body: Option<&Body>) -> Option<Value> {
    match body? {
        Body::Text(text) => serde_json::from_str(text).ok(),
        Body::Base64(_) => None,
    }
}

fn member(document: Option<&Value>, pointer: &str) -> Option<Value> {
    document?.pointer(&format!("/{pointer}")).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use xs2aspec_spec::Tree;

    use super::*;

    fn exchange() -> Exchange {
        serde_json::from_value(json!({
            "number": 1, "case": "a", "step": "request", "operation": "ncbct", "micros": 1,
            "request": {
                "method": "POST", "url": "http://127.0.0.1/v1/a?x=true&y",
                "headers": [["dIgest", "sha-256=abc"], ["Signature", "signature~0a1b2c3d4e5f6071"]],
                "body": {"text": "{\"ids\":[1,2],\"a\":{\"b\":\"c\"}}"}
            },
            "response": {"status": 201, "headers": [["Retry-After", "3"]], "body": {"text": "{\"paymentId\":\"a\",\"transactionStatus\":\"RCVD\"}"}}
        }))
        .unwrap()
    }

    fn holds(condition: Value) -> Holds {
        let rules = AnswerRules::load(&Tree::embedded()).unwrap();
        let condition: Condition = serde_json::from_value(condition).unwrap();
        condition.holds(&exchange(), &rules)
    }

    #[test]
    fn what_holds_and_what_does_not() {
        for (condition, expected) in [
            (json!({}), Holds::Yes),
            (json!({"operation": "ncbct"}), Holds::Yes),
            (json!({"operation": ["basket", "periodic"]}), Holds::No),
            (json!({"status": "2xx"}), Holds::Yes),
            (json!({"status": ["200", "4xx"]}), Holds::No),
            (json!({"status": "2xx", "not-status": "201"}), Holds::No),
            (json!({"header": {"DIGEST": {"starts": ["SHA-512=", "SHA-256="]}}}), Holds::Yes),
            (json!({"header": {"Digest": {"starts-not": ["SHA-256="]}}}), Holds::No),
            (json!({"header": {"Date": "absent", "Digest": "present"}}), Holds::Yes),
            (json!({"header": {"Signature": {"starts": ["=?"]}}}), Holds::Unknown),
            (json!({"header": {"Signature": "present"}}), Holds::Yes),
            (json!({"header": {"Signature": {"starts": ["=?"]}, "Date": "present"}}), Holds::No),
            (json!({"any": [{"header": {"Signature": {"starts": ["=?"]}}}, {"status": "201"}]}), Holds::Yes),
            (json!({"query": {"x": {"is": "true"}, "y": "present", "z": "absent"}}), Holds::Yes),
            (json!({"body": {"ids": {"items": 2}, "a/b": {"is": "c"}}}), Holds::Yes),
            (json!({"body": {"ids": {"items": 3}}}), Holds::No),
            (json!({"answer-header": {"retry-after": "present"}}), Holds::Yes),
            (json!({"answer-body": {"transactionStatus": {"is": "RJCT"}}}), Holds::No),
            (json!({"answer-unlisted": true}), Holds::No),
        ] {
            assert_eq!(holds(condition.clone()), expected, "{condition}");
        }
    }
}
