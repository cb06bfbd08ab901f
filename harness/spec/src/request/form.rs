//! Forms: the allowed and invalid values that are tried at a place.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::parameters::{Parameters, is_for};
use crate::cell::shown;

/// A change to a baseline request. The rules decide what the response must be.
#[derive(Debug, Clone)]
pub struct Form {
    /// Name, unique within its operation: its place and its label.
    pub name: String,
    /// Label, unique at its place, which can be part of a case id.
    pub label: String,
    /// The block and name that define it. All items of its `each` and all places that have it share them.
    pub written: Arc<str>,
    /// The place that it changes.
    pub place: String,
    /// The clause that it tests.
    pub clause: String,
    /// The changes. Values may contain functions that [`super::draw`] evaluates.
    pub edits: Vec<Edit>,
    /// The way of signing, as in a case file.
    pub signing: Option<Map<String, Value>>,
    /// Requests that are sent before it.
    pub before: Vec<Before>,
    /// Capabilities that the target needs for it.
    pub needs: Vec<String>,
    /// Place and label of its valid twin. If `None`, the baseline request is the twin.
    pub twin: Option<(String, String)>,
    /// An explanation, if the form is not obvious.
    pub about: Option<String>,
    /// True if a case file tests it better, so that it needs no case of its own.
    pub is_written: bool,
    /// True if it is only tried at exhaustive depth.
    pub is_exhaustive: bool,
    /// The reason why it is never combined with other forms, if that is so.
    pub alone: Option<String>,
    /// Line of `requests.yaml` that defines its place, from 1.
    pub line: u32,
}

/// The context in which a form is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position<'a> {
    /// The block that defines it.
    pub(super) block: &'a str,
    /// The place for which it is read.
    pub(super) at: &'a str,
    /// Line of the row that defines the place.
    pub(super) line: u32,
    /// The valid value of the object around the place, if the baseline request lacks that object.
    pub(super) holder: Option<&'a Value>,
}

/// Label of the form that sends the valid value of the object around a place.
const WHOLE: &str = "whole";

impl Position<'_> {
    /// Returns the edit that sets or removes the value of the place, along with the object around it.
    fn edit(&self, value: Option<Value>) -> Edit {
        let (parent, member) = self.at.rsplit_once('/').unwrap_or(("", self.at));
        match (self.holder, value) {
            (None, None) => Edit::Remove(self.at.to_owned()),
            (None, Some(value)) => Edit::Set(self.at.to_owned(), value),
            (Some(whole), None) => {
                let mut whole = whole.clone();
                _ = whole.as_object_mut().and_then(|members| members.shift_remove(member));
                Edit::Set(parent.to_owned(), whole)
            }
            (Some(whole), Some(value)) => Edit::Set(
                parent.to_owned(),
                json!({"$with": {"of": whole, "member": member, "value": value}}),
            ),
        }
    }

    /// Returns the twin of the edit that [`Self::edit`] returns, if the form names none.
    fn twin(&self) -> Option<(String, String)> {
        let (parent, _) = self.at.rsplit_once('/')?;
        self.holder.map(|_| (parent.to_owned(), WHOLE.to_owned()))
    }
}

/// A form as one place has it.
#[derive(Debug)]
pub(super) struct Written {
    /// The block and name that define it, as in [`Form::written`].
    pub(super) key: Arc<str>,
    /// Its name, with `<item>` if it has an `each`.
    pub(super) name: String,
    /// The reason in its `else`.
    pub(super) reason: Option<String>,
    /// One form for each item. Empty if the form is not for this place.
    pub(super) forms: Vec<Form>,
}

/// One change of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Sets a place to a value.
    Set(String, Value),
    /// Sends a place a second time with this value.
    Repeat(String, Value),
    /// Removes a place.
    Remove(String),
    /// Sends this string as the body.
    Raw(Value),
    /// Sends the fields of the body in another order, selected by this number.
    MembersInAnotherOrder(u64),
    /// Sends one of the headers last, selected by this number.
    HeaderLast(u64),
    /// Sends one of the header names in another letter case, selected by this number.
    HeaderNameInAnotherCase(u64),
}

/// A request that is sent before another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Before {
    /// Name under which the form refers to what it created.
    pub name: String,
    /// Its baseline.
    pub baseline: String,
    /// The changes to its baseline.
    pub edits: Vec<Edit>,
    /// Number of times that it is sent.
    pub times: usize,
    /// Values kept from its response: key and place.
    pub keep: IndexMap<String, String>,
    /// True if a rejection is as good as acceptance.
    pub any: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeforeFile {
    name: String,
    baseline: String,
    #[serde(default)]
    change: Vec<ChangeFile>,
    #[serde(default = "once")]
    times: usize,
    #[serde(default)]
    keep: IndexMap<String, String>,
    #[serde(default)]
    any: bool,
}

fn once() -> usize {
    1
}

/// The requests sent before another one: operation and number of times, by the name under which the request
/// refers to them.
pub type Prepared = BTreeMap<String, (String, usize)>;

/// A form as written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormFile {
    /// A string, or an item of `each` that yields one.
    name: Value,
    clause: String,
    #[serde(default)]
    absent: bool,
    #[serde(default, deserialize_with = "there")]
    value: Option<Value>,
    #[serde(default, deserialize_with = "there")]
    repeat: Option<Value>,
    #[serde(default)]
    change: Vec<ChangeFile>,
    edit: Option<Whole>,
    signing: Option<Map<String, Value>>,
    #[serde(default)]
    before: Vec<BeforeFile>,
    #[serde(default)]
    needs: Vec<String>,
    twin: Option<Value>,
    about: Option<String>,
    #[serde(default)]
    written: bool,
    #[serde(default)]
    exhaustive: bool,
    alone: Option<String>,
}

/// Reads a value, which may be null.
fn there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeFile {
    set: Option<String>,
    remove: Option<String>,
    raw: Option<String>,
    #[serde(default, deserialize_with = "there")]
    to: Option<Value>,
}

/// A change to the request as a whole.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Whole {
    MembersInAnotherOrder,
    AHeaderLast,
    AHeaderNameInAnotherCase,
}

impl Edit {
    fn new(change: ChangeFile) -> Result<Self, &'static str> {
        match change {
            ChangeFile { set: Some(at), remove: None, raw: None, to: Some(to) } => Ok(Self::Set(at, to)),
            ChangeFile { set: None, remove: Some(at), raw: None, to: None } => Ok(Self::Remove(at)),
            ChangeFile { set: None, remove: None, raw: Some(_), to: Some(to) } => Ok(Self::Raw(to)),
            _ => Err("has an invalid change: expected `set` with `to`, `remove`, or `raw` with `to`"),
        }
    }
}

impl Form {
    /// Reads a form of a block for a place, once for each item of its `each`. Returns no forms if its `only`
    /// excludes the place. `items` expands an `each`, and `lists` expands the lists that a value names.
    pub(super) fn read(
        form: &Value,
        position: Position<'_>,
        of: &mut Parameters,
        items: &dyn Fn(&Value) -> Result<Vec<Value>, String>,
        lists: &dyn Fn(Value) -> Result<Value, String>,
    ) -> Result<Written, String> {
        let Value::Object(members) = form else {
            return Err(format!("`{form}` is not a form: expected a mapping"));
        };
        let mut members = members.clone();
        let name = members.get("name").map(shown).unwrap_or_default();
        let reason = match members.shift_remove("else") {
            None => None,
            Some(Value::String(reason)) => Some(reason),
            Some(other) => {
                return Err(format!("`else: {other}` of the form `{name}`: expected a reason as a string"));
            }
        };
        let mut written =
            Written { key: format!("{} {name}", position.block).into(), name, reason, forms: vec![] };
        if !is_for(members.shift_remove("only"), of)? {
            return Ok(written);
        }
        let each = match members.shift_remove("each") {
            None => vec![Value::Null],
            Some(each) => items(&of.fill(&each)?)?,
        };
        let members = Value::Object(members);
        for item in each {
            of.set("item", item);
            let filled = lists(of.fill(&members)?)?;
            let read: FormFile =
                serde_json::from_value(filled).map_err(|error| format!("`{form}`: {error}"))?;
            let read = Self::new(read, &written.key, position).map_err(|what| format!("`{form}` {what}"))?;
            written.forms.push(read);
        }
        Ok(written)
    }

    fn new(file: FormFile, written: &Arc<str>, position: Position<'_>) -> Result<Self, &'static str> {
        let Position { at, line, .. } = position;
        let mut edits = Vec::new();
        if file.absent {
            edits.push(position.edit(None));
        }
        edits.extend(file.value.map(|value| position.edit(Some(value))));
        let own_twin = if edits.is_empty() { None } else { position.twin() };
        edits.extend(file.repeat.map(|value| Edit::Repeat(at.to_owned(), value)));
        edits.extend(file.change.into_iter().map(Edit::new).collect::<Result<Vec<_>, _>>()?);
        edits.extend(file.edit.map(|whole| match whole {
            Whole::MembersInAnotherOrder => Edit::MembersInAnotherOrder(0),
            Whole::AHeaderLast => Edit::HeaderLast(0),
            Whole::AHeaderNameInAnotherCase => Edit::HeaderNameInAnotherCase(0),
        }));
        let before = file.before.into_iter().map(|step| {
            let BeforeFile { name, baseline, change, times, keep, any } = step;
            let edits = change.into_iter().map(Edit::new).collect::<Result<_, _>>()?;
            Ok(Before { name, baseline, edits, times, keep, any })
        });
        let before = before.collect::<Result<Vec<_>, &str>>()?;
        if edits.is_empty() && file.signing.is_none() && before.is_empty() {
            return Err("changes nothing");
        }
        Ok(Self {
            name: String::new(),
            label: label(&shown(&file.name)),
            written: Arc::clone(written),
            place: at.to_owned(),
            clause: file.clause,
            edits,
            signing: file.signing,
            before,
            needs: file.needs,
            twin: file.twin.map(|twin| (at.to_owned(), label(&shown(&twin)))).or(own_twin),
            about: file.about,
            is_written: file.written,
            is_exhaustive: file.exhaustive,
            alone: file.alone,
            line,
        })
    }

    /// Returns the parts of a request that the form touches: fields of the body, lowercase headers,
    /// `signing`, `before/NAME`. Two forms that touch the same part cannot be in one request.
    pub fn touches(&self) -> BTreeSet<String> {
        let of_edit = |edit: &Edit| match edit {
            Edit::Set(at, _) | Edit::Repeat(at, _) | Edit::Remove(at) => {
                match at.split('/').collect::<Vec<_>>().as_slice() {
                    ["body", member, ..] => format!("body/{member}"),
                    ["header", name] => format!("header/{}", name.to_lowercase()),
                    _ => at.clone(),
                }
            }
            Edit::Raw(_) => "body".to_owned(),
            Edit::MembersInAnotherOrder(_) => "order of members".to_owned(),
            Edit::HeaderLast(_) => "order of header fields".to_owned(),
            Edit::HeaderNameInAnotherCase(_) => "names of header fields".to_owned(),
        };
        let mut touched: BTreeSet<String> = self.edits.iter().map(of_edit).collect();
        touched.extend(self.signing.as_ref().map(|_| "signing".to_owned()));
        // Wrapping changes the whole header.
        let is_wrapped = self.signing.as_ref().is_some_and(|signing| signing.contains_key("wrap"));
        touched.extend(is_wrapped.then(|| "header/signature".to_owned()));
        touched.extend(self.before.iter().map(|step| format!("before/{}", step.name)));
        touched
    }
}

/// Names forms. Forms of one place with the same label get a number.
pub(super) fn name_apart(forms: &mut [Form]) {
    let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
    for form in forms {
        let count = times.entry((form.place.clone(), form.label.clone())).or_default();
        *count += 1;
        if *count > 1 {
            form.label = format!("{}.{count}", form.label);
        }
        form.name =
            if form.place.is_empty() { form.label.clone() } else { format!("{} {}", form.place, form.label) };
    }
}

/// Returns a string as part of an id. Characters that an id cannot have become `_`, and long strings are cut.
fn label(text: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.+".contains(letter) { letter } else { '_' }
    };
    text.chars().take(40).map(letter).collect()
}

/// Returns the items of an `each` that are listed or counted.
pub(super) fn counted(each: &Value) -> Option<Vec<Value>> {
    match each {
        Value::Array(items) => Some(items.clone()),
        counts => {
            let number = |name: &str| counts.get(name)?.as_i64();
            Some((number("from")?..=number("to")?).map(Value::from).collect())
        }
    }
}
