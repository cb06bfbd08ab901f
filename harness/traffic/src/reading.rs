//! A request that was sent, as the rules for requests look at one: they are written over requests whose
//! run-time values are not filled yet. What a value stands for is found by filling what the plain request and
//! the rules have at its place, and comparing.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, NaiveDate, Utc, Weekday};
use serde_json::{Map, Value};
use xs2aspec_runner::{Profile, request_signer::RequestSigner};
use xs2aspec_spec::{
    masks::is_pseudonym,
    request::{Payload as Shown, Prepared, View},
};
use xs2aspec_suite::{RequestSpec, Suite, template};

use crate::{
    json::has_member_twice,
    memory::{Memory, hash},
    routes::{Found, Route, decoded},
    signature,
    traffic::{Payload, Sent},
};

/// The kind of places that hold a date.
const DATE: &str = "date";

/// What stands for a value that a record does not show.
const HIDDEN: &str = "${target.hidden}";

/// What stands for a body that is a JSON text with more behind it, and for one that is not UTF-8.
const TRAILING: &str = "${body.trailing}";
const NOT_UTF_8: &str = "${body.not-utf-8}";

/// Why a request for a resource may be refused.
const RESOURCE: &str = "whether the bank has such a resource for this PSU";

/// What the values of the requests of an operation may stand for, by place.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    operations: BTreeMap<String, Words>,
}

#[derive(Debug, Default)]
struct Words {
    /// Values that the target profile alone decides, each with what stands for it.
    fixed: BTreeMap<String, Vec<(Value, Value)>>,
    /// Values that depend on the body.
    of_body: BTreeMap<String, Vec<Value>>,
    /// Places that hold a date.
    dates: Vec<String>,
    /// Places whose value is fresh in each valid request, each with what stands for it.
    fresh: BTreeMap<String, Value>,
}

impl Vocabulary {
    pub(crate) fn new(suite: &Suite, profile: &Profile) -> Self {
        let requests = suite.requests();
        let mut operations: BTreeMap<String, Words> = BTreeMap::new();
        for operation in requests.operations() {
            let words = operations.entry(operation.to_owned()).or_default();
            let plain = suite.baselines().get(operation).map(|plain| written(&plain.request));
            for (at, value) in plain.into_iter().flatten() {
                if template::names(&value).iter().all(|name| template::head(name) == "fresh") {
                    words.fresh.insert(key(&at), value.clone());
                }
                words.add(&at, &value, profile);
            }
            for (at, value) in requests.written(operation) {
                words.add(&at, &value, profile);
            }
        }
        for place in requests.places() {
            let text = |name: &str| place.get(name).and_then(Value::as_str);
            if let (Some(operation), Some(at), Some(DATE)) = (text("operation"), text("at"), text("kind")) {
                operations.entry(operation.to_owned()).or_default().dates.push(at.to_owned());
            }
        }
        Self { operations }
    }
}

impl Words {
    fn add(&mut self, at: &str, value: &Value, profile: &Profile) {
        let at = key(at);
        let heads: Vec<String> =
            template::names(value).iter().map(|name| template::head(name).to_owned()).collect();
        if heads.iter().all(|head| head == "target") {
            let lookup = |name: &str| profile.value(name.strip_prefix("target.")?);
            if let Some(filled) = filled(value, &lookup) {
                self.fixed.entry(at).or_default().push((filled, value.clone()));
            }
        } else if heads.iter().all(|head| head == "digest") {
            self.of_body.entry(at).or_default().push(value.clone());
        }
    }
}

/// A value with its placeholders filled and its functions computed; `None` if something is not known.
fn filled(value: &Value, lookup: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    let filled = template::expand(value, lookup).and_then(template::compute).ok()?;
    template::names(&filled).is_empty().then_some(filled)
}

/// The values with placeholders of a request, each with its place.
fn written(request: &RequestSpec) -> Vec<(String, Value)> {
    let fields = request.headers.iter().map(|(name, value)| (format!("header/{name}"), value.clone()));
    let mut found: Vec<(String, Value)> = fields.collect();
    if let Some(members) = request.members() {
        leaves(&Value::Object(members.clone()), "body", &mut found);
    }
    found.retain(|(_, value)| !template::names(value).is_empty());
    found
}

fn leaves(value: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => items.iter().for_each(|item| leaves(item, &format!("{at}/0"), found)),
        other => found.push((at.to_owned(), other.clone())),
    }
}

/// A place as it is looked up: header fields are the same in any letter case.
fn key(at: &str) -> String {
    if at.starts_with("header/") { at.to_ascii_lowercase() } else { at.to_owned() }
}

/// A request as the rules look at it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    operation: String,
    path: String,
    query: Vec<(String, Value)>,
    headers: Vec<(String, Value)>,
    body: Option<Value>,
    has_member_twice: bool,
    is_raw: bool,
    /// Whether something of it was masked, and put back.
    is_restored: bool,
    /// Who asks, as a number.
    who: u64,
    /// What it asks for, as a number.
    amounts: u64,
    pub(crate) signing: Map<String, Value>,
    pub(crate) prepared: Prepared,
    /// What could not be looked at, each place with the reason.
    pub(crate) hidden: Vec<(String, String)>,
    /// Why its bank might refuse it though it keeps every rule.
    pub(crate) unsure: Vec<String>,
}

/// What a reading leans on.
pub(crate) struct Reader<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) memory: &'a Memory,
    pub(crate) profile: &'a Profile,
    /// The plain request of the operation.
    pub(crate) plain: &'a RequestSpec,
    pub(crate) now: DateTime<Utc>,
}

impl Reader<'_> {
    /// Places of the body that the plain request has a number at that no other has.
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
    /// Reads a request. `signature` is what was found of its signature.
    pub(crate) fn new(
        sent: &Sent,
        found: &Found<'_>,
        signature: signature::Found,
        reader: &Reader<'_>,
    ) -> Self {
        let mut reading =
            Self { operation: found.operation.to_owned(), is_restored: sent.is_restored, ..Self::default() };
        reading.signing = signature.signing;
        reading.hidden = signature.hidden;
        reading.unsure = signature.unsure;
        reading.path(found, reader);
        let (_, query) = sent.target();
        let parts = query.into_iter().flat_map(|query| query.split('&')).filter(|part| !part.is_empty());
        reading.query = parts
            .map(|part| part.split_once('=').unwrap_or((part, "")))
            .map(|(name, value)| (decoded(name), Value::from(decoded(&value.replace('+', " ")))))
            .collect();
        reading.fields(sent, &signature.stands_for, reader);
        reading.date(sent, reader);
        reading.media_type(sent, reader);
        if reader.memory.was_sent(sent) {
            reading.unsure.push("whether an identifier may come twice is the bank's choice".to_owned());
        }
        reading.read_body(sent, reader);
        for (name, times) in reader.memory.sent_before(found.operation, sent, reader.now.date_naive()) {
            reading.prepared.insert(name, (found.operation.to_owned(), times));
        }
        reading
    }

    /// What it asks for, as far as no two valid requests of a suite ask for the same: its amounts. A bank may take
    /// one with the same for a duplicate. 0 where it asks for none.
    pub(crate) fn amounts(&self) -> u64 {
        self.amounts
    }

    /// The request as the rules look at it.
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

    /// The path of the valid request that asks for the same resource, or else of the plain one.
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
        // Valid requests for other resources than the plain one are made to be refused, some of them.
        let is_plain = |(route, values): &(&Route, Vec<(&str, String)>)| {
            route.path == reader.plain.path && values.iter().all(|(_, value)| is_untouched(value))
        };
        if !same.is_some_and(is_plain) {
            self.unsure.push(RESOURCE.to_owned());
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
                    self.hide(&at, "is masked");
                    // The plain request's own value is as good as any that is not shown.
                    reader.plain.header(name).cloned().unwrap_or_else(|| Value::from(HIDDEN))
                }
                None => self.word(&at, &Value::from(text), body, reader),
            };
            self.headers.push((name.clone(), value));
        }
    }

    /// Whether a Date is near the clock: what becomes of another one is open (RFC 9110, section 6.6.1).
    fn date(&mut self, sent: &Sent, reader: &Reader<'_>) {
        const NEAR: i64 = 300;
        if reader.plain.header("date").is_none() {
            return;
        }
        let date = sent.header("date").and_then(|text| DateTime::parse_from_rfc2822(text.trim()).ok());
        let is_near = date.is_some_and(|date| (reader.now - date.to_utc()).num_seconds().abs() <= NEAR);
        if !is_near {
            self.unsure.push("whether a Date so far from its clock is taken is the bank's choice".to_owned());
        }
    }

    /// Whether the media type of the body is said as the plain request says it: what becomes of another is open.
    fn media_type(&mut self, sent: &Sent, reader: &Reader<'_>) {
        const NAME: &str = "content-type";
        let said = sent.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(NAME));
        let said: Vec<&str> = said.map(|(_, value)| value.as_str()).collect();
        let usual: Vec<&str> = reader.plain.header(NAME).and_then(Value::as_str).into_iter().collect();
        if said != usual {
            self.unsure.push("which media types it takes is the bank's choice".to_owned());
        }
    }

    fn hide(&mut self, at: &str, why: &str) {
        self.hidden.push((at.to_owned(), why.to_owned()));
    }

    fn read_body(&mut self, sent: &Sent, reader: &Reader<'_>) {
        let bytes = match &sent.body {
            Payload::Bytes(bytes) => bytes,
            Payload::Unknown(why) => {
                self.hide("body", why);
                self.body = reader.plain.members().map(|members| Value::Object(members.clone()));
                return;
            }
        };
        if bytes.is_empty() {
            return;
        }
        let coding =
            sent.header("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity"));
        if coding.is_some() {
            self.hide("body", "is in a content coding, of which the document does not speak");
            self.body = reader.plain.members().map(|members| Value::Object(members.clone()));
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
            Err(_) if begins_with_json(bytes) => self.body = Some(Value::from(TRAILING)),
            Err(_) => self.is_raw = true,
        }
    }

    /// A value of the body, in which everything stands that it stands for. `at` is its place, `like` the same
    /// with 0 for the number of any item.
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
            Value::String(text) if is_pseudonym(&text) => {
                self.hide(at, "is masked");
                Value::from(HIDDEN)
            }
            other => self.word(like, &other, Some(bytes), reader),
        }
    }

    /// What a value at a place stands for; the value itself where that is nothing.
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
                Some(Digested::Open(written)) => {
                    self.hide(at, "is filled up in another way than base64 usually is");
                    written
                }
                Some(Digested::Known(written))
                    if !self.is_restored || !template::names(&written).is_empty() =>
                {
                    written
                }
                Some(Digested::Known(_)) => {
                    self.hide(at, "cannot be compared with a body of which something was masked");
                    usual()
                }
                None => {
                    self.hide(at, "cannot be compared with a body that is not known");
                    usual()
                }
            };
        }
        if at.starts_with("body/")
            && let Some(made_by) = reader.memory.made_by(text)
        {
            if !reader.memory.is_untouched(text, self.who) {
                self.unsure.push(RESOURCE.to_owned());
            }
            // One name for each of them: the rules see whether one is there twice.
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

/// What a digest of the body stands for; one with something around it stands for that with the same around it.
fn digested(text: &str, templates: &[Value], body: &[u8]) -> Digested {
    let lookup = |name: &str| RequestSigner::digest(name.strip_prefix("digest.")?, body).map(Value::from);
    let same = templates
        .iter()
        .find(|written| filled(written, &lookup).as_ref().and_then(Value::as_str) == Some(text));
    if let Some(written) = same {
        return Digested::Known(written.clone());
    }
    let bare = |text: &str| text.trim_end_matches('=').to_owned();
    let padded = templates.iter().find(|written| {
        let filled = filled(written, &lookup);
        filled
            .as_ref()
            .and_then(Value::as_str)
            .is_some_and(|right| text.contains('=') && bare(right) == bare(text))
    });
    if let Some(written) = padded {
        return Digested::Open(written.clone());
    }
    let mut names: Vec<String> = templates.iter().flat_map(template::names).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let inside = names.iter().fold(text.to_owned(), |text, name| match lookup(name) {
        Some(Value::String(value)) => text.replace(&value, &format!("${{{name}}}")),
        _ => text,
    });
    Digested::Known(Value::from(inside))
}

/// What a digest stands for.
enum Digested {
    Known(Value),
    /// It is right but for how its base64 is filled up, of which nothing is said.
    Open(Value),
}

/// Whether an object is there, with more behind it.
fn begins_with_json(bytes: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    values.next().is_some_and(|first| first.is_ok_and(|first| first.is_object()))
}

/// A date as days from today; with what ISO 8601 may write behind it.
fn date(text: &str, today: NaiveDate) -> Option<Value> {
    let begin = text.len() - text.trim_start().len();
    let (day, rest) = text.get(begin..begin + 10).zip(text.get(begin + 10..))?;
    let is_form = rest.is_empty() || rest == "Z" || rest.starts_with('T') || rest.trim().is_empty();
    let is_date = day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    if !is_form || !is_date {
        return None;
    }
    let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
    let ahead = (day - today).num_days();
    let word = if ahead >= 0 && is_workday(day) { "workday" } else { "day" };
    if (begin > 0 || !rest.is_empty()) && (ahead < 0 || word == "day") {
        // The rules know such forms of a workday alone.
        return Some(Value::from(format!("{}${{workday+{}}}{rest}", &text[..begin], ahead.abs())));
    }
    Some(Value::from(format!("{}${{{word}+{ahead}}}{rest}", &text[..begin])))
}

/// Whether a text is an identifier such as valid requests have where one is fresh (RFC 9562, section 4).
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a day is a workday by every calendar of bank holidays: no weekend, no holiday with a fixed date, and
/// none that moves with Easter.
fn is_workday(day: NaiveDate) -> bool {
    const FIXED: [(u32, u32); 8] = [(1, 1), (5, 1), (5, 17), (6, 23), (12, 24), (12, 25), (12, 26), (12, 31)];
    // From the earliest Maundy Thursday to the latest Whit Monday, Tuesdays and Wednesdays are workdays.
    let may_move = (318..=614).contains(&(day.month() * 100 + day.day()));
    match day.weekday() {
        Weekday::Sat | Weekday::Sun => false,
        _ if FIXED.contains(&(day.month(), day.day())) => false,
        Weekday::Mon | Weekday::Thu | Weekday::Fri => !may_move,
        Weekday::Tue | Weekday::Wed => true,
    }
}

/// Header fields that say how a message travels, or what a browser or tool adds to all of its requests
/// (RFC 9110, RFC 9112, RFC 9113, the Fetch standard): no operation speaks of them.
fn is_of_transport(name: &str) -> bool {
    const NAMES: [&str; 24] = [
        "cache-control",
        "connection",
        "content-length",
        "dnt",
        "expect",
        "forwarded",
        "keep-alive",
        "origin",
        "postman-token",
        "pragma",
        "priority",
        "proxy-connection",
        "referer",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
        "x-forwarded-for",
        "x-forwarded-proto",
    ];
    NAMES.contains(&name) || name.starts_with("sec-")
}

/// Whether a field names the host of the URL, in whatever writing (RFC 9110, sections 4.2.3 and 7.2).
fn is_own_host(name: &str, text: &str, sent: &Sent) -> bool {
    if name != "host" {
        return false;
    }
    let plain = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let default = if sent.url.starts_with("https:") { ":443" } else { ":80" };
        text.strip_suffix(default).map_or(text.clone(), str::to_owned)
    };
    sent.authority().is_none_or(|authority| plain(authority) == plain(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_days_from_today() {
        let today = NaiveDate::from_ymd_opt(2026, 1, 5).unwrap();
        for (text, expected) in [
            ("2026-01-07", Some("${workday+2}")),
            ("2026-01-10", Some("${day+5}")),
            ("2026-01-04", Some("${day+-1}")),
            ("2026-01-07T00:00:00Z", Some("${workday+2}T00:00:00Z")),
            (" 2026-01-07", Some(" ${workday+2}")),
            ("2026-01-07\n", Some("${workday+2}\n")),
            ("2026-01-10Z", Some("${workday+5}Z")),
            ("2026-01-07x", None),
            ("2026-02-30", None),
            ("2026-1-7", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(date(text, today), expected.map(Value::from), "{text}");
        }
    }

    #[test]
    fn holidays_are_no_workdays() {
        let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap();
        for (month, number, expected) in [
            (1, 1, false),
            (1, 2, true),
            (4, 3, false),
            (4, 7, true),
            (5, 14, false),
            (8, 1, false),
            (8, 3, true),
        ] {
            assert_eq!(is_workday(day(month, number)), expected, "{month}-{number}");
        }
    }
}
