//! Converts a sent request into the form that the request rules evaluate: rules apply to requests whose
//! runtime values are still placeholders. The placeholder behind a value is found by filling those of the
//! baseline request and the rules at its place, and comparing.

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use xs2aspec_record::{Changed, Untold};
use xs2aspec_spec::{
    ClientRules,
    answer::has_member_twice,
    masks::holds_pseudonym,
    request::{Breach, Payload as Shown, Prepared, View},
};
use xs2aspec_suite::{RequestSpec, template};

use super::{
    extensions::is_json_by_extensions,
    memory::{Memory, hash},
    message::{Payload, Sent},
    routes::{Found, Route},
    signature,
    values::{Digested, begins_with_json, date, digested, is_of_transport, is_own_host, is_uuid},
    vocabulary::{Vocabulary, written},
};
use crate::{Profile, answer::MALFORMED};

/// The placeholder for a masked value.
const HIDDEN: &str = "${target.hidden}";

/// Placeholders for a body that is JSON with trailing data, for one that is JSON only by extensions, and for
/// one that is not UTF-8.
const TRAILING: &str = "${body.trailing}";
const BY_EXTENSIONS: &str = "${body.json-by-extensions}";
const NOT_UTF_8: &str = "${body.not-utf-8}";

/// A request in the form that the rules evaluate.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    operation: String,
    path: String,
    query: Vec<(String, Value)>,
    headers: Vec<(String, Value)>,
    body: Option<Value>,
    has_member_twice: bool,
    is_raw: bool,
    /// The reason why the body may differ from the bytes that were sent.
    changed: Option<Changed>,
    /// Hash of the caller.
    who: u64,
    /// Hash of the amounts.
    amounts: u64,
    pub(crate) signing: Map<String, Value>,
    pub(crate) prepared: Prepared,
    /// Places that cannot be evaluated, with the reason.
    pub(crate) hidden: Vec<(String, Untold)>,
    /// Reasons why the bank might reject it although it follows every rule.
    pub(crate) unsure: Vec<Untold>,
}

/// The inputs of a reading.
pub(crate) struct Reader<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) memory: &'a Memory,
    pub(crate) profile: &'a Profile,
    pub(crate) client: &'a ClientRules,
    /// The baseline request of the operation.
    pub(crate) plain: &'a RequestSpec,
    pub(crate) now: DateTime<Utc>,
}

impl Reader<'_> {
    /// Returns the places of the body where the baseline request has a unique number.
    fn amounts(&self) -> Vec<String> {
        let own = written(self.plain).into_iter();
        let own = own
            .filter(|(_, value)| template::names(value).iter().any(|name| template::head(name) == "number"));
        own.filter_map(|(at, _)| Some(at.strip_prefix("body")?.to_owned())).collect()
    }
}

fn shown_at(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).map(ToString::to_string).unwrap_or_default()
}

impl Reading {
    /// Reads a request. `signature` is the result of examining its signature.
    pub(crate) fn new(
        sent: &Sent,
        found: &Found<'_>,
        signature: &signature::Found,
        reader: &Reader<'_>,
    ) -> Self {
        let is_masked = sent.body.bytes().is_some_and(holds_pseudonym);
        let changed = sent.changed.or(is_masked.then_some(Changed::Masked));
        let mut reading = Self { operation: found.operation.to_owned(), changed, ..Self::default() };
        reading.signing.clone_from(&signature.signing);
        reading.hidden.clone_from(&signature.hidden);
        reading.unsure.clone_from(&signature.unsure);
        reading.path(found, reader);
        let parameters = sent.parameters().into_iter();
        reading.query = parameters.map(|(name, value)| (name, value.into())).collect();
        reading.fields(sent, &signature.stands_for, reader);
        reading.date(sent, reader);
        reading.media_type(sent, reader);
        if reader.memory.was_sent(sent) {
            reading.unsure.push(Untold::IdTwice);
        }
        reading.read_body(sent, reader);
        for (name, times) in reader.memory.sent_before(found.operation, sent, reader.now.date_naive()) {
            reading.prepared.insert(name, (found.operation.to_owned(), times));
        }
        reading
    }

    /// Returns a hash of the request's amounts, or 0 if it has none. Valid requests of a suite differ in
    /// them, and a bank may treat requests with equal amounts as duplicates.
    pub(crate) fn amounts(&self) -> u64 {
        self.amounts
    }

    /// Returns the request in the form that the rules evaluate.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            operation: &self.operation,
            path: &self.path,
            query: &self.query,
            headers: &self.headers,
            payload: match &self.body {
                _ if self.is_raw => Shown::Raw,
                Some(body) => Shown::Json(body, self.has_member_twice),
                None => Shown::None,
            },
            signing: &self.signing,
        }
    }

    /// Returns the reason why none of these violations can be confirmed, because all their places are hidden.
    /// Returns None if a place is known.
    pub(crate) fn hides_all<'a>(&self, breaches: impl Iterator<Item = &'a Breach>) -> Option<Untold> {
        let mut why = None;
        for breach in breaches {
            let (at, reason) = self.hidden.iter().find(|(at, _)| at.eq_ignore_ascii_case(&breach.at))?;
            why = Some(Untold::At { at: at.clone(), why: Box::new(reason.clone()) });
        }
        why
    }

    /// Sets the path of the valid request for the same resource, or else of the baseline request.
    fn path(&mut self, found: &Found<'_>, reader: &Reader<'_>) {
        let is_same = |name: &str, value: &str| match name.strip_prefix("target.") {
            Some(name) => reader.profile.values.get(name).is_some_and(|known| known == value),
            None => reader.memory.made_by(value).is_some(),
        };
        let same =
            found.fitting.iter().find(|(_, values)| values.iter().all(|(name, value)| is_same(name, value)));
        self.path.clone_from(same.map_or(&reader.plain.path, |(route, _)| &route.path));
        let is_untouched = |value: &String| {
            reader.memory.made_by(value).is_none() || reader.memory.is_untouched(value, self.who)
        };
        // Some valid requests for other resources than the baseline's are expected to be rejected.
        let is_plain = |(route, values): &(&Route, Vec<(&str, String)>)| {
            route.path == reader.plain.path && values.iter().all(|(_, value)| is_untouched(value))
        };
        if !same.is_some_and(is_plain) {
            self.unsure.push(Untold::Resource);
        }
        for (name, value) in same.map(|(_, values)| values).into_iter().flatten() {
            if let (Some((step, _)), Some(made_by)) = (name.split_once('.'), reader.memory.made_by(value)) {
                self.prepared.insert(step.to_owned(), (made_by.to_owned(), 1));
            }
        }
    }

    fn fields(&mut self, sent: &Sent, stands_for: &[(String, Value)], reader: &Reader<'_>) {
        let body = sent.body.bytes();
        for (name, text) in &sent.headers {
            let small = name.to_ascii_lowercase();
            let is_expected = reader.plain.header(name).is_some();
            if name.starts_with(':')
                || name == MALFORMED
                || (!is_expected && is_of_transport(&small))
                || is_own_host(&small, text, sent)
            {
                continue;
            }
            let text = text.trim_matches([' ', '\t']);
            let at = format!("header/{small}");
            let value = match stands_for.iter().find(|(known, _)| *known == small) {
                Some((_, value)) => value.clone(),
                None if signature::is_masked(text) => {
                    let words = reader.vocabulary.operations.get(&self.operation);
                    let is_of_body = words.is_some_and(|words| words.of_body.contains_key(&at));
                    let of_body = Untold::NotCompared { body: Changed::Masked };
                    self.hide(&at, if is_of_body { of_body } else { Untold::Masked });
                    // The value is masked, so the baseline's own value or another profile value is as good as
                    // any.
                    let known = || reader.vocabulary.operations.get(&self.operation)?.of_target(&at);
                    reader.plain.header(name).cloned().or_else(known).unwrap_or_else(|| Value::from(HIDDEN))
                }
                None if reader.client.is_usual(&at, text) => {
                    let usual = reader.plain.header(name).cloned();
                    usual.unwrap_or_else(|| self.word(&at, &Value::from(text), body, reader))
                }
                None => self.word(&at, &Value::from(text), body, reader),
            };
            self.headers.push((name.clone(), value));
        }
    }

    /// Notes a Date that is far from the clock. The document does not say how a bank must treat it (RFC 9110
    /// section 6.6.1).
    fn date(&mut self, sent: &Sent, reader: &Reader<'_>) {
        const NEAR: i64 = 300;
        if reader.plain.header("date").is_none() {
            return;
        }
        let date = sent.header("date").and_then(|text| DateTime::parse_from_rfc2822(text.trim()).ok());
        let is_near = date.is_some_and(|date| (reader.now - date.to_utc()).num_seconds().abs() <= NEAR);
        if !is_near {
            self.unsure.push(Untold::FarDate);
        }
    }

    /// Notes a media type that differs from the baseline request. The document does not say how a bank must
    /// treat it.
    fn media_type(&mut self, sent: &Sent, reader: &Reader<'_>) {
        const NAME: &str = "content-type";
        let said = sent.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(NAME));
        let said: Vec<&str> = said.map(|(_, value)| value.as_str()).collect();
        let usual: Vec<&str> = reader.plain.header(NAME).and_then(Value::as_str).into_iter().collect();
        if said != usual {
            self.unsure.push(Untold::MediaType);
        }
    }

    fn hide(&mut self, at: &str, why: Untold) {
        self.hidden.push((at.to_owned(), why));
    }

    /// Replaces a body that cannot be evaluated with that of the baseline request.
    fn hide_body(&mut self, why: Untold, reader: &Reader<'_>) {
        self.hide("body", why);
        self.body = reader.plain.members().map(|members| Value::Object(members.clone()));
    }

    fn read_body(&mut self, sent: &Sent, reader: &Reader<'_>) {
        let bytes = match &sent.body {
            Payload::Bytes(bytes) => bytes,
            Payload::Unknown(why) => {
                self.hide_body(why.clone(), reader);
                return;
            }
        };
        if bytes.is_empty() {
            return;
        }
        let coding =
            sent.header("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"));
        if coding.is_some() {
            self.hide_body(Untold::Coded, reader);
            return;
        }
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => {
                let amounts: Vec<String> = reader.amounts().iter().map(|at| shown_at(&value, at)).collect();
                self.amounts = if amounts.is_empty() { 0 } else { hash(&amounts) };
                self.has_member_twice = has_member_twice(bytes);
                self.body = Some(self.member("body", "body", value, bytes, reader));
            }
            Err(_) if std::str::from_utf8(bytes).is_err() => self.body = Some(Value::from(NOT_UTF_8)),
            // This is JSON all the same: RFC 8259 section 6 leaves the limits of numbers to the parser.
            Err(_) if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                self.hide_body(Untold::LargeNumber, reader);
            }
            Err(_) if begins_with_json(bytes) => self.body = Some(Value::from(TRAILING)),
            Err(_) if is_json_by_extensions(bytes) => self.body = Some(Value::from(BY_EXTENSIONS)),
            Err(_) => self.is_raw = true,
        }
    }

    /// Returns a value of the body with its parts replaced with placeholders. `at` is its place, `like` the
    /// same with every item number as 0.
    fn member(&mut self, at: &str, like: &str, value: Value, bytes: &[u8], reader: &Reader<'_>) -> Value {
        match value {
            Value::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|(name, value)| {
                        let (at, like) = (format!("{at}/{name}"), format!("{like}/{name}"));
                        let value = self.member(&at, &like, value, bytes, reader);
                        (name, value)
                    })
                    .collect(),
            ),
            Value::Array(items) => {
                let items = items.into_iter().enumerate().map(|(number, item)| {
                    self.member(&format!("{at}/{number}"), &format!("{like}/0"), item, bytes, reader)
                });
                Value::Array(items.collect())
            }
            Value::String(text) if holds_pseudonym(text.as_bytes()) => {
                self.hide(at, Untold::Masked);
                Value::from(HIDDEN)
            }
            other => self.word(like, &other, Some(bytes), reader),
        }
    }

    /// Returns the placeholder behind the value at a place, or the value itself if there is none.
    fn word(&mut self, at: &str, value: &Value, body: Option<&[u8]>, reader: &Reader<'_>) -> Value {
        let Some(words) = reader.vocabulary.operations.get(&self.operation) else { return value.clone() };
        let fixed = words.fixed.get(at).into_iter().flatten();
        if let Some((_, written)) = fixed.into_iter().find(|(filled, _)| filled == value) {
            return written.clone();
        }
        let Some(text) = value.as_str() else { return value.clone() };
        if let Some(written) = words.fresh.get(at).filter(|_| is_uuid(text)) {
            return written.clone();
        }
        if let Some(templates) = words.of_body.get(at) {
            let stands_for = body.map(|body| digested(text, templates, body));
            let usual = || templates.first().cloned().unwrap_or_else(|| value.clone());
            return match stands_for {
                Some(Digested::Open(written, why)) => {
                    self.hide(at, why);
                    written
                }
                Some(Digested::Known(written))
                    if self.changed.is_none() || !template::names(&written).is_empty() =>
                {
                    written
                }
                told => {
                    let changed = self.changed.filter(|_| told.is_some());
                    self.hide(at, Untold::NotCompared { body: changed.unwrap_or(Changed::Unknown) });
                    usual()
                }
            };
        }
        if at.starts_with("body/")
            && let Some(made_by) = reader.memory.made_by(text)
        {
            if !reader.memory.is_untouched(text, self.who) {
                self.unsure.push(Untold::Resource);
            }
            // Each id has its own name, so that the rules can detect duplicates.
            let name = format!("made-{text}");
            self.prepared.insert(name.clone(), (made_by.to_owned(), 1));
            return Value::from(format!("${{{name}.id}}"));
        }
        if words.dates.iter().any(|known| known == at) {
            return date(text, reader.now.date_naive()).unwrap_or_else(|| value.clone());
        }
        value.clone()
    }
}
