//! Generates every response that differs in one place from a sample of its shape. The schema and the kind of
//! a value decide which test values suit its place. Other modules decide what each difference means.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    forms::{self, Facts},
    node::Node,
    rules::Rule,
    schema::Schema,
};

/// A response that differs from the sample in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// The place, with `*` for the first element of a list and `1` for the second:
    /// `answer/tppMessages/*/code`.
    pub place: String,
    /// The place as a finding names it: `body/tppMessages/0/code`.
    pub at: String,
    /// The name of the difference: `null`, `one-more`.
    pub form: String,
    /// The status of the response.
    pub status: u16,
    /// Its media type, if it has one.
    pub content_type: Option<&'static str>,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// The media type of a sample.
const JSON: &str = "application/json";

/// Test values of `Content-Type`, each sent with the unchanged sample.
const CONTENT_TYPES: [(&str, Option<&str>); 7] = [
    ("absent", None),
    ("text", Some("text/plain; charset=utf-8")),
    ("page", Some("text/html")),
    ("bytes", Some("application/octet-stream")),
    ("near", Some("application/jsonx")),
    ("with-charset", Some("application/json; charset=utf-8")),
    ("capitals", Some("Application/JSON")),
];

/// A sample to mutate, with its schema and rules.
pub(super) struct Source<'a> {
    pub(super) schema: &'a Schema,
    pub(super) rules: Vec<&'a Rule>,
    pub(super) sample: &'a Value,
    /// The first segment of each place: `answer` or `refusal`.
    pub(super) part: &'static str,
    pub(super) status: u16,
}

/// A place in the sample.
#[derive(Clone)]
struct Spot {
    /// A JSON pointer.
    pointer: String,
    /// The pointer with `*` for the first element of a list.
    pattern: String,
    /// True in the second element of a list.
    in_second: bool,
    /// True for a field of an object, which can be absent or duplicated.
    is_member: bool,
}

impl Source<'_> {
    /// Returns every mutation, in the order of places.
    pub(super) fn mutations(&self) -> Vec<Mutation> {
        let mut found = self.of_the_whole();
        let whole =
            Spot { pointer: String::new(), pattern: String::new(), in_second: false, is_member: false };
        self.of_value(&self.schema.node(), self.sample, &whole, &mut found);
        found
    }

    fn mutation(&self, spot: &Spot, form: &str, body: Vec<u8>) -> Mutation {
        Mutation {
            place: format!("{}{}", self.part, spot.pattern),
            at: format!("body{}", spot.pointer),
            form: form.to_owned(),
            status: self.status,
            content_type: Some(JSON),
            body,
        }
    }

    /// Returns the mutations of the raw bytes and of `Content-Type`.
    fn of_the_whole(&self) -> Vec<Mutation> {
        let text = self.sample.to_string().into_bytes();
        let cut = text[..text.len() - 1].to_vec();
        let with = |before: &[u8], after: &[u8]| [before, &text, after].concat();
        let bytes = [
            ("no-body", vec![]),
            ("no-json", b"OK".to_vec()),
            ("cut", cut),
            ("more-after", with(b"", b"{}")),
            ("byte-order-mark", with(b"\xEF\xBB\xBF", b"")),
            ("not-utf-8", with(b"", b"\xE5")),
            ("blanks-around", with(b" \r\n", b"\n")),
        ];
        let whole =
            Spot { pointer: String::new(), pattern: String::new(), in_second: false, is_member: false };
        let bytes = bytes.map(|(form, body)| self.mutation(&whole, form, body));
        let header = CONTENT_TYPES.map(|(form, content_type)| Mutation {
            place: format!("{} header/content-type", self.part),
            at: "content-type".to_owned(),
            content_type,
            ..self.mutation(&whole, form, text.clone())
        });
        bytes.into_iter().chain(header).collect()
    }

    /// Adds the mutations of a value and of everything in it.
    fn of_value(&self, node: &Node<'_>, value: &Value, spot: &Spot, found: &mut Vec<Mutation>) {
        let outer = spot.pattern.rsplit_once('/').map_or("", |(outer, _)| outer);
        let name = spot.pattern.rsplit('/').next().unwrap_or_default();
        let is_amount = self.rules.iter().any(|rule| rule.is_number_of_amount(outer, name));
        let facts = Facts::new(node, value, is_amount);
        let mut known = BTreeSet::from([self.sample.to_string().into_bytes()]);
        let mut add = |form: &str, body: Option<Vec<u8>>| {
            let body = body.filter(|body| known.insert(body.clone()));
            found.extend(body.map(|body| self.mutation(spot, form, body)));
        };
        for (form, mutated) in facts.forms() {
            add(&form, self.with(&spot.pointer, mutated));
        }
        if spot.is_member {
            add("absent", self.without(&spot.pointer));
            let wrong = facts.of_another_type();
            add("twice-first-wrong", self.twice(&spot.pointer, [&wrong, value]));
            add("twice-last-wrong", self.twice(&spot.pointer, [value, &wrong]));
            add("twice-alike", self.twice(&spot.pointer, [value, value]));
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    let (pointer, pattern) =
                        (format!("{}/{name}", spot.pointer), format!("{}/{name}", spot.pattern));
                    let inner = Spot { pointer, pattern, is_member: true, ..*spot };
                    self.of_value(&node.member(name), value, &inner, found);
                }
            }
            Value::Array(items) => {
                let wanted = if spot.in_second { 1 } else { 2 };
                for (index, value) in items.iter().enumerate().take(wanted) {
                    let in_second = spot.in_second || index == 1;
                    let token = if index == 1 { "1" } else { "*" };
                    let (pointer, pattern) =
                        (format!("{}/{index}", spot.pointer), format!("{}/{token}", spot.pattern));
                    let inner = Spot { pointer, pattern, in_second, is_member: false };
                    self.of_value(&node.item(), value, &inner, found);
                }
            }
            _ => {}
        }
    }

    fn with(&self, pointer: &str, value: Value) -> Option<Vec<u8>> {
        let mut body = self.sample.clone();
        *body.pointer_mut(pointer)? = value;
        Some(body.to_string().into_bytes())
    }

    fn without(&self, pointer: &str) -> Option<Vec<u8>> {
        let mut body = self.sample.clone();
        let (outer, name) = pointer.rsplit_once('/')?;
        body.pointer_mut(outer)?.as_object_mut()?.shift_remove(name)?;
        Some(body.to_string().into_bytes())
    }

    /// Returns the sample with a duplicate field, which a [`Value`] cannot represent.
    fn twice(&self, pointer: &str, values: [&Value; 2]) -> Option<Vec<u8>> {
        const MARK: &str = "the place of a member that is there twice";
        let name = pointer.rsplit('/').next()?;
        let marked = String::from_utf8(self.with(pointer, json!(MARK))?).ok()?;
        let [first, second] = values;
        let name = json!(name);
        Some(marked.replace(&json!(MARK).to_string(), &format!("{first},{name}:{second}")).into_bytes())
    }
}

impl Facts<'_> {
    /// Returns the test values for this place, by name. Some may equal the sample.
    fn forms(&self) -> Vec<(String, Value)> {
        let mut all = forms::types(self);
        match self.value {
            Value::String(text) => all.extend(forms::texts(text, self)),
            Value::Number(_) => all.extend(forms::numbers()),
            Value::Array(items) => all.extend(forms::lists(items)),
            Value::Object(members) => all.extend(forms::objects(members)),
            _ => {}
        }
        all
    }
}
