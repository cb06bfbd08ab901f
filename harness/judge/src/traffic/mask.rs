//! Masks traffic before it is recorded. The secrets of others are unknown, so everything is masked that may
//! be one: values that the document does not define, that have the name of a secret, or that identify a
//! person.

use std::cell::RefCell;

use xs2aspec_record::{Body, CaseVerdict, Header, MALFORMED, Request, Response};
use xs2aspec_spec::masks::{Privacy, is_secret};
use xs2aspec_suite::MaskSpec;

use super::{
    known::Known,
    message::{Payload, Traffic},
    url,
    verdict::Judged,
};
use crate::{
    Judge,
    mask::{Field, Learned, Masker},
};

/// Kind in the pseudonym of an identifier.
const ID: &str = "id";

/// Kind in the pseudonym of a field that the document does not define.
const UNKNOWN: &str = "field";

/// A masker of traffic.
#[derive(Debug)]
pub struct TrafficMasker<'a> {
    masker: &'a Masker,
    spec: &'a MaskSpec,
    known: Known,
}

/// The recorded form of an exchange.
#[derive(Debug)]
pub struct Masked {
    /// The request.
    pub request: Request,
    /// The response, if there was one.
    pub response: Option<Response>,
    /// The reason why there is no complete response.
    pub failure: Option<String>,
}

/// Number of body characters that a finding quotes.
const QUOTED: usize = xs2aspec_spec::answer::QUOTED;

/// Headers and body of a request or response.
#[derive(Clone, Copy)]
struct Message<'a> {
    headers: &'a [(String, String)],
    body: &'a Payload,
}

/// Values of an exchange with the kinds for their pseudonyms.
#[derive(Debug, Default)]
struct Values {
    /// Values that are masked wherever they appear.
    secret: Vec<(String, String)>,
    /// Values that are masked at their places.
    other: Vec<(String, String)>,
}

impl Values {
    /// Adds a value of an undefined field. A value with a digit counts as secret.
    fn add_unknown(&mut self, kind: &str, text: &str) {
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let list = if has_digit { &mut self.secret } else { &mut self.other };
        list.push((kind.to_owned(), text.to_owned()));
    }
}

impl<'a> TrafficMasker<'a> {
    /// Returns a masker for the document and the profile of a judge.
    pub fn new(judge: &'a Judge) -> Self {
        let known = Known::new(judge.suite(), judge.profile());
        Self { masker: judge.masker(), spec: &judge.suite().spec().masks, known }
    }

    /// Returns an exchange with secrets and personal values masked, and masks its verdict.
    pub fn masked(&self, traffic: &Traffic, judged: &Judged, verdict: &mut CaseVerdict) -> Masked {
        let sent = Message { headers: &traffic.request.headers, body: &traffic.request.body };
        let received =
            traffic.answer.as_ref().map(|answer| Message { headers: &answer.headers, body: &answer.body });
        let mut values = Values::default();
        // A product name is also a part of the path.
        let ids = judged.ids.iter().filter(|id| !self.known.shows_segment(id));
        values.secret.extend(ids.map(|id| (ID.to_owned(), id.clone())));
        self.learn_url(&traffic.request.url, &mut values);
        for message in [Some(sent), received].into_iter().flatten() {
            self.learn(message, &mut values);
        }
        let mut learned = Learned::default();
        self.masker.learn_values(values.secret, values.other, &mut learned);
        let text = |text: &str| self.masker.text_with(text, &learned);
        let (headers, body) = self.message(sent, &learned);
        let url = self.url(&traffic.request.url, &learned);
        let request = Request { method: traffic.request.method.clone(), url, headers, body };
        let response = traffic.answer.as_ref().zip(received).map(|(answer, message)| {
            let (headers, body) = self.message(message, &learned);
            Response { status: answer.status, headers, body }
        });
        for finding in &mut verdict.findings {
            let at = finding.at.clone();
            self.masker.finding(finding, &learned, &|name| self.privacy_at(&at, name));
        }
        let told = verdict.observations.iter_mut().chain(&mut verdict.codes).chain(&mut verdict.changes);
        told.for_each(|said| *said = text(said));
        verdict.seen.iter_mut().for_each(|seen| *seen = seen.with_texts(&text));
        verdict.reason = verdict.reason.as_ref().map(|reason| reason.with_texts(&text));
        Masked { request, response, failure: traffic.failure.as_deref().map(text) }
    }

    /// Returns the privacy of a field. Fields that the document does not define are private.
    fn privacy(&self, name: &str) -> Privacy {
        match self.spec.privacy(name) {
            Privacy::Plain => Privacy::Plain,
            // An identifier has the same pseudonym as in a path, where it has no name.
            _ if is_id(name) => Privacy::Personal(ID.to_owned()),
            Privacy::Inherited if !self.known.has_field(name) => Privacy::Personal(UNKNOWN.to_owned()),
            other => other,
        }
    }

    /// Returns the privacy of the value at a place of a finding.
    fn privacy_at(&self, at: &str, name: &str) -> Privacy {
        let is_hidden = match at.trim_start_matches("request/").split('/').next() {
            Some("header") => self.hides_header(name),
            Some("query") => !self.known.shows_parameter(name),
            _ => return self.privacy(name),
        };
        if is_hidden { Privacy::Personal(name.to_lowercase()) } else { Privacy::Inherited }
    }

    fn hides_header(&self, name: &str) -> bool {
        // Malformed lines are listed without values.
        name != MALFORMED
            && !name.starts_with(':')
            && (self.spec.is_personal_header(name) || !self.known.shows_header(name))
    }

    /// Learns the values of a message that must be masked.
    fn learn(&self, message: Message<'_>, values: &mut Values) {
        let bytes = message.body.bytes().unwrap_or_default();
        for (field, text) in Masker::values(bytes, &|name| self.privacy(name)) {
            match field.personal {
                Some(kind) if kind == UNKNOWN => values.add_unknown(&kind, &text),
                Some(kind) => values.secret.push((kind, text)),
                None => self.learn_url(&text, values),
            }
        }
        let text = String::from_utf8_lossy(bytes);
        values.secret.extend(Masker::numbers(&text));
        if !Masker::is_json(&text) {
            // A finding quotes the start of a body that is not JSON.
            values.secret.push(("body".to_owned(), text.chars().take(QUOTED).collect()));
        }
        if is_form(message) {
            self.learn_url(&format!("?{}", String::from_utf8_lossy(bytes)), values);
        }
        for (name, value) in message.headers {
            let kind = name.to_ascii_lowercase();
            if self.spec.is_personal_header(name) || is_secret(name) {
                let parts = Masker::parts(value).into_iter();
                values.secret.extend(parts.map(|text| (kind.clone(), text)));
            } else if self.hides_header(name) && !self.spec.hides_header(name) {
                values.add_unknown(&kind, value);
            } else {
                self.learn_url(value, values);
            }
        }
    }

    fn learn_url(&self, text: &str, values: &mut Values) {
        if !url::is_one(text) {
            return;
        }
        let found = RefCell::new(Vec::new());
        url::masked(text, &self.known, &|kind, text| {
            found.borrow_mut().push((kind.to_owned(), text.to_owned()));
            String::new()
        });
        for (kind, text) in found.into_inner() {
            if kind == ID || is_secret(&kind) || kind == url::USER || kind == "code" {
                values.secret.push((kind, text));
            } else {
                values.add_unknown(&kind, &text);
            }
        }
    }

    fn message(&self, message: Message<'_>, learned: &Learned) -> (Vec<Header>, Option<Body>) {
        let bytes = message.body.bytes().unwrap_or_default();
        let body = self.body(message, bytes, learned);
        let is_masked = body != Body::of(bytes);
        let headers = message.headers.iter().map(|(name, value)| {
            let of_key = self.masker.of_key(name, value, message.headers);
            let hidden = || self.hides_header(name).then(|| self.masker.credentials(name, value));
            let digest = || self.masker.digest(name, value, is_masked);
            let shown = || {
                if url::is_one(value) {
                    self.url(value, learned)
                } else {
                    self.masker.header(name, value, learned)
                }
            };
            Header(name.clone(), of_key.or_else(hidden).or_else(digest).unwrap_or_else(shown))
        });
        (headers.collect(), body)
    }

    fn body(&self, message: Message<'_>, bytes: &[u8], learned: &Learned) -> Option<Body> {
        let text = String::from_utf8_lossy(bytes);
        if is_form(message) && !bytes.is_empty() {
            let masked = self.url(&format!("?{text}"), learned);
            return Some(Body::Text(masked.trim_start_matches('?').to_owned()));
        }
        if bytes.is_empty() || Masker::is_json(&text) {
            return self.masker.body_by(bytes, &|name| self.privacy(name), &|text: &str, field: &Field| {
                let is_shown = field.personal.is_none() && url::is_one(text);
                if is_shown { self.url(text, learned) } else { self.masker.masked(text, field, learned) }
            });
        }
        // The document defines only JSON bodies.
        Some(Body::Text(self.masker.whole("body", &text, learned)))
    }

    fn url(&self, text: &str, learned: &Learned) -> String {
        url::masked(text, &self.known, &|kind, text| self.masker.whole(kind, text, learned))
    }
}

/// Returns true for the name of an identifier.
fn is_id(name: &str) -> bool {
    let ends = ["Id", "ID", "Ids", "IDs", "-id", "_id", "-ids", "_ids"];
    ["id", "ids"].contains(&name) || ends.iter().any(|end| name.ends_with(end))
}

/// Returns true if a body is that of an HTML form.
fn is_form(message: Message<'_>) -> bool {
    let is_content_type = |name: &str| name.eq_ignore_ascii_case("content-type");
    let mut types = message.headers.iter().filter(|(name, _)| is_content_type(name));
    types.any(|(_, value)| value.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded"))
}
