//! Forms of responses that the document leaves open: status codes, bodies of rejections, order and number of
//! fields, links, codings, headers, and latency.

use std::convert::Infallible;
use std::io::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use futures::stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use xs2aspec_bank::operation::Operation;
use xs2aspec_bank::refusal::{Code, Refusal};

use super::rows::milliseconds;

/// Rules whose rejections have a status in the document, and for one also a code (section Errors). The
/// document does not say where the code appears outside payment creation.
const GIVEN: [&str; 3] = ["basket.mix", "error.corporate-id-missing", "error.kid.status"];

/// The maximum number of chunks of equal size. The rest of the body is one more chunk. Sending a long list
/// byte by byte takes seconds, and shows no more than its first thousand bytes do.
const MOST_CHUNKS: usize = 1000;

/// The rule whose rejection has "an error message" (section Errors).
const WITH_A_MESSAGE: &str = "payment.deletion.pending";

/// The header in which the strict style names the rule that rejects a request.
pub const REASON: &str = "x-refused-by";

/// The rule that rejects a missing operation.
const ABSENT: &str = "service.sandbox";

/// A form of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// Creations have this status.
    Creates(u16),
    /// Reads have this status.
    Reads(u16),
    /// Rejections have this status, unless the document gives one.
    Refuses(u16),
    /// Rejections have this body, unless the document gives a code.
    Errors(ErrorBody),
    /// Rejections by this rule have this body.
    ErrorsOf(&'static str, ErrorBody),
    /// A payment whose body violates a rule is created with status RJCT.
    Rejects,
    /// 2xx responses have fields that the document does not list, at every depth.
    MoreMembers,
    /// Fields are in reverse order.
    Backwards,
    /// JSON is indented.
    Indented,
    /// Responses with this field have it twice, first with another value.
    Twice(&'static str),
    /// Links have scheme and host.
    AbsoluteLinks,
    /// Links have no verbs.
    NoVerbs,
    /// Responses have this additional header.
    Header(&'static str, &'static str),
    /// Responses have this Content-Type.
    ContentType(&'static str),
    /// Responses lack X-Request-ID.
    NoRequestId,
    /// The body is chunked, with this number of bytes in each chunk.
    Chunks(usize),
    /// The body is compressed.
    Coded(Coding),
    /// The interface has this path prefix.
    Below(&'static str),
    /// Baskets are created at this path.
    BasketAt(&'static str),
    /// The operations of the sandbox are missing, and get this status.
    NoSandbox(u16),
    /// The customer list is delayed by this time.
    Slow(#[serde(deserialize_with = "milliseconds")] Duration),
    /// Rejections name the rule in the header [`REASON`].
    Reason,
}

/// A body of rejections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ErrorBody {
    /// No body.
    Empty,
    /// The object of the document with an empty list of messages.
    NoMessages,
    /// Problem details (RFC 9457).
    Problem,
    /// The object of the document, nested in another one.
    Nested,
    /// An HTML page.
    Page,
    /// A line of text.
    Line,
    /// The list of messages alone.
    List,
    /// Two messages, and additional fields.
    More,
    /// Codes that the document does not list.
    OtherCodes,
    /// A message without path and text.
    Bare,
    /// A JSON string with code and text.
    Sentence,
}

/// A content coding (RFC 9110 section 8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

/// A response before it is serialized.
pub(crate) struct Plain {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// A body that is not JSON, instead of `body`.
    pub(crate) text: Option<&'static str>,
    pub(crate) content_type: &'static str,
    /// The rule to name in a header.
    pub(crate) reason: Option<String>,
}

impl Plain {
    pub(crate) fn new(status: StatusCode, body: Value) -> Self {
        Self { status, body, text: None, content_type: "application/json", reason: None }
    }
}

impl Form {
    /// Changes status or body of a successful response. `base` is the base URL of its links.
    pub(crate) fn accept(self, base: &str, answer: &mut Plain) {
        match self {
            Self::Creates(status) if answer.status == StatusCode::CREATED => answer.status = code(status),
            Self::Reads(status) if answer.status == StatusCode::OK => answer.status = code(status),
            Self::MoreMembers => more(&mut answer.body),
            Self::AbsoluteLinks => links(&mut answer.body, &|link| {
                if let Some(href) = link["href"].as_str() {
                    link["href"] = format!("{base}{href}").into();
                }
            }),
            Self::NoVerbs => links(&mut answer.body, &|link| link["verbs"] = json!([])),
            _ => {}
        }
    }

    /// Changes status or body of a rejection.
    pub(crate) fn refuse(self, operation: Option<Operation>, refusal: &Refusal, answer: &mut Plain) {
        let is_given = GIVEN.contains(&refusal.rule.as_str());
        match self {
            Self::ErrorsOf(rule, form) if refusal.rule == rule => form.write(answer),
            Self::Reason => answer.reason = Some(refusal.rule.clone()),
            Self::Errors(form) if refusal.rule == WITH_A_MESSAGE && !form.has_a_message() => {}
            Self::Errors(form) if !is_given || form.keeps_code() => form.write(answer),
            _ if is_given => {}
            // A rejected signature is expected to have one of these statuses. A missing operation keeps its
            // own status.
            Self::Refuses(_) if refusal.rule == ABSENT => {}
            Self::Refuses(status) if proves_nobody(refusal) && !matches!(status, 400 | 401 | 403) => {}
            Self::Refuses(status) => answer.status = code(status),
            Self::Rejects
                if operation.is_some_and(Operation::creates_payment) && refusal.is_about_a_member() =>
            {
                answer.status = StatusCode::CREATED;
                let messages = answer.body["tppMessages"].take();
                answer.body = json!({
                    "paymentId": "payment-never-made",
                    "transactionStatus": "RJCT",
                    "tppMessages": messages,
                    "_links": {}
                });
            }
            _ => {}
        }
    }

    /// Serializes JSON.
    pub(crate) fn write(self, body: &mut Value, text: &mut Option<String>) {
        match self {
            Self::Backwards => *body = backwards(std::mem::take(body)),
            Self::Indented => *text = serde_json::to_string_pretty(body).ok(),
            Self::Twice(name) if body.get(name).is_some() => {
                let member = format!("{}:", json!(name));
                *text = Some(body.to_string().replacen(&member, &format!("{member}0,{member}"), 1));
            }
            _ => {}
        }
    }

    /// Changes the headers of a response.
    pub(crate) fn send(self, response: &mut Response) {
        match self {
            Self::Header(name, value) => {
                response.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            Self::ContentType(value) if response.headers().contains_key(header::CONTENT_TYPE) => {
                response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(value));
            }
            Self::NoRequestId => drop(response.headers_mut().remove("x-request-id")),
            _ => {}
        }
    }

    /// Returns true if the form changes the bytes of the body.
    pub(crate) fn is_coding(self) -> bool {
        matches!(self, Self::Chunks(_) | Self::Coded(_))
    }

    /// Returns the body as sent, and adds the headers of its coding.
    pub(crate) fn code(self, bytes: Vec<u8>, headers: &mut HeaderMap) -> Body {
        let (name, coded) = match self {
            // A body without a length is chunked (RFC 9112 section 7.1).
            Self::Chunks(size) => {
                let (first, rest) = bytes.split_at(bytes.len().min(size * MOST_CHUNKS));
                let chunks = first.chunks(size).chain((!rest.is_empty()).then_some(rest));
                let chunks: Vec<_> = chunks.map(|chunk| Ok::<_, Infallible>(chunk.to_vec())).collect();
                return Body::from_stream(stream::iter(chunks));
            }
            Self::Coded(Coding::Gzip) => {
                let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
                ("gzip", coder.write_all(&bytes).and_then(|()| coder.finish()))
            }
            Self::Coded(Coding::Deflate) => {
                let mut coder = ZlibEncoder::new(Vec::new(), Compression::fast());
                ("deflate", coder.write_all(&bytes).and_then(|()| coder.finish()))
            }
            _ => return Body::from(bytes),
        };
        // Writing to memory cannot fail.
        coded.map_or_else(
            |_| Body::from(bytes),
            |coded| {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
                Body::from(coded)
            },
        )
    }

    /// Returns the changed route of an operation.
    pub(crate) fn route(self, operation: Operation) -> Option<&'static str> {
        if let (Self::BasketAt(path), Operation::Basket) = (self, operation) { Some(path) } else { None }
    }

    /// Returns the prefix of all paths.
    pub(crate) fn prefix(self) -> Option<&'static str> {
        if let Self::Below(prefix) = self { Some(prefix) } else { None }
    }

    /// Returns the rejection of a missing operation.
    pub(crate) fn absent(self, operation: Operation) -> Option<Refusal> {
        let is_of_sandbox = operation.route().starts_with("/v1/sandbox/");
        let (Self::NoSandbox(status), true) = (self, is_of_sandbox) else { return None };
        Some(Refusal::new(code(status), Code::NotFound, ABSENT, "expected a production operation"))
    }

    /// Returns a key for the subject of the form. Two forms with the same key contradict each other.
    pub(crate) fn subject(self) -> &'static str {
        match self {
            Self::Creates(_) => "status of what is created",
            Self::Reads(_) => "status of what is read",
            Self::Refuses(_) | Self::Errors(_) | Self::ErrorsOf(..) | Self::Rejects => "refusals",
            Self::MoreMembers => "more members",
            Self::Backwards => "order",
            Self::Indented | Self::Twice(_) => "lines",
            Self::AbsoluteLinks | Self::NoVerbs => "links",
            Self::Header(name, _) => name,
            Self::ContentType(_) => "content-type",
            Self::NoRequestId => "x-request-id",
            Self::Chunks(_) | Self::Coded(_) => "coding",
            Self::Below(_) => "prefix",
            Self::BasketAt(_) => "path of baskets",
            Self::NoSandbox(_) => "sandbox",
            Self::Slow(_) => "time",
            Self::Reason => REASON,
        }
    }

    /// Returns the delay of the response to a request of the operation.
    pub(crate) fn delay(self, operation: Operation) -> Option<Duration> {
        match (self, operation) {
            (Self::Slow(delay), Operation::Customers) => Some(delay),
            _ => None,
        }
    }
}

impl ErrorBody {
    /// Returns true if the body has the code of the rejection.
    fn keeps_code(self) -> bool {
        matches!(self, Self::Problem | Self::Nested | Self::List | Self::More | Self::Bare | Self::Sentence)
    }

    /// Returns true if the body has a text or a code.
    fn has_a_message(self) -> bool {
        !matches!(self, Self::Empty | Self::NoMessages)
    }

    fn write(self, answer: &mut Plain) {
        let messages = answer.body["tppMessages"].clone();
        match self {
            Self::Empty => answer.text = Some(""),
            Self::NoMessages => answer.body = json!({ "tppMessages": [] }),
            Self::Problem => {
                answer.body = json!({
                    "type": "about:blank",
                    "title": "Bad request",
                    "status": answer.status.as_u16(),
                    "detail": messages[0]["text"],
                    "errorCode": messages[0]["code"]
                });
                answer.content_type = "application/problem+json";
            }
            Self::Nested => answer.body = json!({ "error": { "tppMessages": messages } }),
            Self::Page => {
                answer.text = Some("<!DOCTYPE html><title>Error</title><p>The request was rejected.");
                answer.content_type = "text/html; charset=utf-8";
            }
            Self::Line => {
                answer.text = Some("The request was rejected.");
                answer.content_type = "text/plain";
            }
            Self::List => answer.body = messages,
            Self::More => {
                answer.body = json!({
                    "tppMessages": [messages[0], { "category": "WARNING", "code": "FORMAT_ERROR" }],
                    "transactionStatus": "RJCT",
                    "_links": { "help": { "href": "/help", "verbs": ["GET"] } },
                    "correlation": 17
                });
            }
            Self::OtherCodes => answer.body["tppMessages"][0]["code"] = "SYNTHETIC_CODE".into(),
            Self::Sentence => {
                let part = |name: &str| messages[0][name].as_str().unwrap_or_default().to_owned();
                answer.body = format!("{}: {}", part("code"), part("text")).into();
            }
            Self::Bare => {
                let code = messages[0]["code"].clone();
                answer.body = json!({ "tppMessages": [{ "category": "ERROR", "code": code }] });
            }
        }
    }
}

fn proves_nobody(refusal: &Refusal) -> bool {
    ["signature.", "certificate."].iter().any(|beginning| refusal.rule.starts_with(beginning))
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST)
}

/// Adds fields to every object, except to objects whose field names are data, such as links.
fn more(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if name != "_links" {
                    more(member);
                }
            }
            members.insert("syntheticText".to_owned(), "more".into());
            members.insert("syntheticObject".to_owned(), json!({ "a": [1, null, true] }));
        }
        Value::Array(items) => items.iter_mut().for_each(more),
        _ => {}
    }
}

/// Applies a change to each link.
fn links(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member {
                    Value::Object(known) if name == "_links" => known.values_mut().for_each(change),
                    other => links(other, change),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| links(item, change)),
        _ => {}
    }
}

fn backwards(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: Map<String, Value> =
                members.into_iter().rev().map(|(name, member)| (name, backwards(member))).collect();
            Value::Object(members)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(backwards).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(form: Form) -> (u16, Value) {
        let body = json!({ "a": [{ "_links": { "self": { "href": "/v1", "verbs": ["GET"] } } }] });
        let mut answer = Plain::new(StatusCode::CREATED, body);
        form.accept("http://bank", &mut answer);
        (answer.status.as_u16(), answer.body)
    }

    #[test]
    fn accepted_requests_get_their_form() {
        assert_eq!(accepted(Form::Creates(202)).0, 202);
        assert_eq!(accepted(Form::Reads(203)).0, 201);
        let link = |form| accepted(form).1["a"][0]["_links"]["self"].clone();
        assert_eq!(link(Form::AbsoluteLinks)["href"], "http://bank/v1");
        assert_eq!(link(Form::NoVerbs)["verbs"], json!([]));
        let (_, more) = accepted(Form::MoreMembers);
        assert!(more["syntheticText"].is_string() && more["a"][0]["syntheticText"].is_string());
        assert_eq!(more["a"][0]["_links"], json!({ "self": { "href": "/v1", "verbs": ["GET"] } }));
    }

    fn refused(form: Form, rule: &str, path: &str) -> Plain {
        let refusal = Refusal::format(rule, "expected another").at(path);
        let mut answer = Plain::new(refusal.status, refusal.body());
        form.refuse(Some(Operation::Ncbct), &refusal, &mut answer);
        answer
    }

    #[test]
    fn refusals_get_their_form_unless_the_document_gives_it() {
        assert_eq!(refused(Form::Refuses(422), "a.b", "/a").status.as_u16(), 422);
        assert_eq!(refused(Form::Refuses(422), "basket.mix", "/a").status.as_u16(), 400);
        let rejected = refused(Form::Rejects, "a.b", "/a");
        assert_eq!((rejected.status.as_u16(), &rejected.body["transactionStatus"]), (201, &json!("RJCT")));
        assert_eq!(refused(Form::Rejects, "a.b", "psu-id").status.as_u16(), 400);
        assert_eq!(refused(Form::Errors(ErrorBody::Empty), "a.b", "/a").text, Some(""));
        assert_eq!(
            refused(Form::Errors(ErrorBody::Problem), "a.b", "/a").content_type,
            "application/problem+json"
        );
        assert!(refused(Form::Errors(ErrorBody::List), "a.b", "/a").body.is_array());
        // The document gives the code, but not its place. The code is kept.
        for form in [ErrorBody::List, ErrorBody::Problem, ErrorBody::Nested, ErrorBody::Sentence] {
            let answer = refused(Form::Errors(form), "basket.mix", "/a");
            assert!(answer.body.to_string().contains("FORMAT_ERROR"), "{form:?}");
            assert!(answer.body["tppMessages"].is_null(), "{form:?}");
        }
        assert_eq!(refused(Form::Errors(ErrorBody::Empty), "basket.mix", "/a").text, None);
        assert!(refused(Form::Errors(ErrorBody::OtherCodes), "basket.mix", "/a").body.is_object());
    }

    #[test]
    fn members_come_backwards() {
        let (mut body, mut text) = (json!({ "a": 1, "b": { "c": 2, "d": 3 } }), None);
        Form::Backwards.write(&mut body, &mut text);
        assert_eq!(body.to_string(), r#"{"b":{"d":3,"c":2},"a":1}"#);
    }

    #[test]
    fn a_member_is_there_twice() {
        let written = |mut body: Value| {
            let mut text = None;
            Form::Twice("a").write(&mut body, &mut text);
            text
        };
        assert_eq!(written(json!({ "a": "x", "b": 1 })).as_deref(), Some(r#"{"a":0,"a":"x","b":1}"#));
        assert_eq!(written(json!({ "b": 1 })), None);
    }
}
