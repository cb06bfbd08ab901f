//! Other forms of answers, all of them ones that the document leaves open: status codes, bodies of refusals,
//! the order and number of members, links, codings, headers, and how long it takes.

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

/// Rules to whose refusals the document gives the status, and to one the code (section Errors). Where a code
/// stands, outside payment creation, it does not show.
const GIVEN: [&str; 3] = ["basket.mix", "error.corporate-id-missing", "error.kid.status"];

/// The chunks of one size that a body goes out in; the rest is one more. A long list a byte at a time takes
/// seconds on a busy machine, and shows nothing that its first thousand bytes do not.
const MOST_CHUNKS: usize = 1000;

/// The refusal that the document wants to come "with an error message" (section Errors).
const WITH_A_MESSAGE: &str = "payment.deletion.pending";

/// The header in which the strict style names the rule that a refused request breaks.
pub const REASON: &str = "x-refused-by";

/// The rule by which an operation is not there.
const ABSENT: &str = "service.sandbox";

/// Another form of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// What is created is answered with this status.
    Creates(u16),
    /// What is read is answered with this status.
    Reads(u16),
    /// Refusals have this status, where the document gives none.
    Refuses(u16),
    /// Refusals have this body, where the document gives no code.
    Errors(ErrorBody),
    /// Refusals by this rule have this body.
    ErrorsOf(&'static str, ErrorBody),
    /// A payment whose body breaks a rule is created and rejected.
    Rejects,
    /// 2xx answers have members that the document does not list, at every depth.
    MoreMembers,
    /// Members come in the opposite order.
    Backwards,
    /// JSON is written on many lines.
    Indented,
    /// Answers that have this member have it twice, first with another value.
    Twice(&'static str),
    /// Links have scheme and host.
    AbsoluteLinks,
    /// Links allow nothing.
    NoVerbs,
    /// Answers have this header besides.
    Header(&'static str, &'static str),
    /// Answers say this of their body.
    ContentType(&'static str),
    /// Answers do not repeat X-Request-ID.
    NoRequestId,
    /// The body comes in chunks, each of so many bytes.
    Chunks(usize),
    /// The body is compressed.
    Coded(Coding),
    /// The interface is below this path.
    Below(&'static str),
    /// Baskets are made at this path.
    BasketAt(&'static str),
    /// The endpoints for test data are not there, and answered with this status.
    NoSandbox(u16),
    /// The customer list takes so much longer.
    Slow(#[serde(deserialize_with = "milliseconds")] Duration),
    /// Refusals name the rule in the header [`REASON`].
    Reason,
}

/// Another body of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ErrorBody {
    /// None.
    Empty,
    /// The object of the document without a message in its list.
    NoMessages,
    /// Problem details (RFC 9457).
    Problem,
    /// The messages of the document, in an object.
    Nested,
    /// A page for people.
    Page,
    /// A line for people.
    Line,
    /// The messages alone.
    List,
    /// Two messages, and members besides.
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

/// An answer before it is written.
pub(crate) struct Plain {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    /// A body that is no JSON, in place of the other.
    pub(crate) text: Option<&'static str>,
    pub(crate) content_type: &'static str,
    /// The rule that it names in a header.
    pub(crate) reason: Option<String>,
}

impl Plain {
    pub(crate) fn new(status: StatusCode, body: Value) -> Self {
        Self { status, body, text: None, content_type: "application/json", reason: None }
    }
}

impl Form {
    /// Gives the answer of an operation another status or body. `base` is what its links are relative to.
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

    /// Gives a refusal another status or body.
    pub(crate) fn refuse(self, operation: Option<Operation>, refusal: &Refusal, answer: &mut Plain) {
        let is_given = GIVEN.contains(&refusal.rule.as_str());
        match self {
            Self::ErrorsOf(rule, form) if refusal.rule == rule => form.write(answer),
            Self::Reason => answer.reason = Some(refusal.rule.clone()),
            Self::Errors(form) if refusal.rule == WITH_A_MESSAGE && !form.has_a_message() => {}
            Self::Errors(form) if !is_given || form.keeps_code() => form.write(answer),
            _ if is_given => {}
            // What a signature is refused with is expected to be one of these.
            // An operation that is not there refuses nothing.
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

    /// Writes JSON.
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

    /// Changes what surrounds the body.
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

    /// Whether the body goes out in other bytes.
    pub(crate) fn is_coding(self) -> bool {
        matches!(self, Self::Chunks(_) | Self::Coded(_))
    }

    /// The body as it goes out, and the headers that say so.
    pub(crate) fn code(self, bytes: Vec<u8>, headers: &mut HeaderMap) -> Body {
        let (name, coded) = match self {
            // A body that does not say how long it is goes out in chunks (RFC 9112 section 7.1).
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

    /// Another route of an operation.
    pub(crate) fn route(self, operation: Operation) -> Option<&'static str> {
        if let (Self::BasketAt(path), Operation::Basket) = (self, operation) { Some(path) } else { None }
    }

    /// The path that all routes are below.
    pub(crate) fn prefix(self) -> Option<&'static str> {
        if let Self::Below(prefix) = self { Some(prefix) } else { None }
    }

    /// The refusal of an operation that is not there.
    pub(crate) fn absent(self, operation: Operation) -> Option<Refusal> {
        let is_of_sandbox = operation.route().starts_with("/v1/sandbox/");
        let (Self::NoSandbox(status), true) = (self, is_of_sandbox) else { return None };
        Some(Refusal::new(code(status), Code::NotFound, ABSENT, "expected a production operation"))
    }

    /// What it decides: two forms with one word contradict each other.
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

    /// Returns how much longer the response to a request of the operation takes.
    pub(crate) fn delay(self, operation: Operation) -> Option<Duration> {
        match (self, operation) {
            (Self::Slow(delay), Operation::Customers) => Some(delay),
            _ => None,
        }
    }
}

impl ErrorBody {
    /// Whether the code of the refusal is in it.
    fn keeps_code(self) -> bool {
        matches!(self, Self::Problem | Self::Nested | Self::List | Self::More | Self::Bare | Self::Sentence)
    }

    /// Whether it says anything: a text or a code.
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
                answer.text = Some("<!DOCTYPE html><title>Error</title><p>The request was refused.");
                answer.content_type = "text/html; charset=utf-8";
            }
            Self::Line => {
                answer.text = Some("The request was refused.");
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

/// Adds members to every object but those whose names are data: links by their names.
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

/// Does something to each link.
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
        // Where the document gives the code, its place is free, and the code is kept.
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
