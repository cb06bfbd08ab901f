//! The request of a case: a baseline with changes. The only placeholders in it are those that are filled in
//! when it is sent.

use std::sync::Arc;

use serde_json::{Map, Value};
use xs2aspec_spec::request::{Payload, View};

use crate::{
    definition::{Change, Signing},
    location::Location,
    template,
};

/// A request to fill in, digest, sign and send.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSpec {
    /// Operation id.
    pub operation: String,
    /// HTTP method.
    pub method: String,
    /// Path below the base URL.
    pub path: String,
    /// Query parameters in order.
    pub query: Vec<(String, Value)>,
    /// Headers in the order of the wire. Requests that have them from one baseline share them.
    pub headers: Arc<Vec<(String, Value)>>,
    /// Body.
    pub body: BodySpec,
    /// Deviation from the signing in the document.
    pub signing: Signing,
    /// True if the exact bytes of the header section matter (letter case, repetition), so that no HTTP client
    /// may change them.
    pub exact: bool,
    /// Names of headers that are sent as written here. All others are sent in title case.
    pub spelled: Vec<String>,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum BodySpec {
    /// No body.
    None,
    /// A JSON value, written compactly, with fields that are sent a second time: JSON pointer and value.
    /// Requests that have the value from one baseline share it.
    Json(Arc<Value>, Vec<(String, Value)>),
    /// These characters, or a function that returns them, even if they are not JSON.
    Raw(Value),
}

/// The reason why a change is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// No verb, or more than one.
    #[error("a change needs exactly one of `set`, `remove`, `repeat`, `rename` and `raw`")]
    Verb,
    /// A missing or unexpected value.
    #[error("`{0}` takes {1}")]
    To(&'static str, &'static str),
    /// The verb does not apply to the place.
    #[error("`{0}` does not apply to `{1}`")]
    Place(&'static str, String),
    /// There is nothing to change, so the case would equal its baseline.
    #[error("`{0}` is not in the request, so `{1}` would change nothing")]
    Missing(String, &'static str),
    /// Not a location.
    #[error(transparent)]
    Location(#[from] crate::location::NoLocation),
    /// A path that would lead out of the base URL of a profile.
    #[error("expected a path that starts with one `/` and has no dot segment, found `{0}`")]
    Path(String),
    /// A placeholder or function in a raw body.
    #[error(transparent)]
    Expand(#[from] template::ExpandError),
    /// The place already has this value.
    #[error("`{0}` already has this value, so `set` would change nothing")]
    Same(String),
}

/// Returns the path of a request if it stays below the base URL of any profile. It is either a single
/// placeholder for a link, or a path that [`is_path`] accepts.
pub(crate) fn checked_path(path: String) -> Result<String, ChangeError> {
    let name = path.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
    let is_link = name.is_some_and(|name| !name.contains(['$', '{', '}']));
    if is_link || is_path(&path) { Ok(path) } else { Err(ChangeError::Path(path)) }
}

/// Returns true if a path starts with one slash and has no segment `.` or `..`, percent-encoded or not (RFC
/// 3986 section 5.2.4). Appended to a base URL, it then stays below it.
pub fn is_path(path: &str) -> bool {
    let segments = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let segments = segments.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    path.starts_with('/')
        && !segments.starts_with("//")
        && !path.contains('\\')
        && !path.chars().any(|character| character.is_control() || character.is_whitespace())
        && !segments.split('/').any(|segment| [".", ".."].contains(&segment))
}

impl RequestSpec {
    /// Applies a change whose placeholders for axes are filled in.
    pub fn apply(&mut self, change: &Change) -> Result<(), ChangeError> {
        match change {
            Change { set: Some(at), remove: None, repeat: None, rename: None, raw: None, to } => {
                self.set(&at.parse()?, to.clone().ok_or(ChangeError::To("set", "a value in `to`"))?)
            }
            Change { set: None, remove: Some(at), repeat: None, rename: None, raw: None, to: None } => {
                self.remove(&at.parse()?)
            }
            Change { set: None, remove: None, repeat: Some(at), rename: None, raw: None, to } => {
                self.repeat(&at.parse()?, to.clone().ok_or(ChangeError::To("repeat", "a value in `to`"))?)
            }
            Change {
                set: None,
                remove: None,
                repeat: None,
                rename: Some(at),
                raw: None,
                to: Some(Value::String(to)),
            } => self.rename(&at.parse()?, to),
            Change {
                set: None,
                remove: None,
                repeat: None,
                rename: None,
                raw: Some(at),
                to: Some(to @ (Value::String(_) | Value::Object(_))),
            } => self.raw(&at.parse()?, to),
            Change { rename: Some(_), .. } => {
                Err(ChangeError::To("rename", "the new name in `to`, and no other verb"))
            }
            Change { raw: Some(_), .. } => Err(ChangeError::To("raw", "a string in `to`, and no other verb")),
            Change { remove: Some(_), to: Some(_), .. } => Err(ChangeError::To("remove", "no `to`")),
            _ => Err(ChangeError::Verb),
        }
    }

    /// Returns the first value of a header, by its name in any letter case.
    pub fn header(&self, name: &str) -> Option<&Value> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns every placeholder that is filled in when the request is sent.
    pub fn placeholders(&self) -> Vec<String> {
        let mut names = template::names(&Value::String(self.path.clone()));
        for (_, value) in self.query.iter().chain(self.headers.iter()) {
            names.extend(template::names(value));
        }
        match &self.body {
            BodySpec::None => {}
            BodySpec::Raw(text) => names.extend(template::names(text)),
            BodySpec::Json(value, repeats) => {
                names.extend(template::names(value));
                names.extend(repeats.iter().flat_map(|(_, value)| template::names(value)));
            }
        }
        names.extend(self.signing.differing().values().flat_map(template::names));
        names
    }

    /// Returns the request as the rules of the spec see it. `signing` is the result of
    /// [`Signing::differing`].
    pub fn view<'a>(&'a self, signing: &'a Map<String, Value>) -> View<'a> {
        View {
            operation: &self.operation,
            path: &self.path,
            query: &self.query,
            headers: &self.headers,
            payload: match &self.body {
                BodySpec::None => Payload::None,
                BodySpec::Json(value, repeats) => Payload::Json(value, !repeats.is_empty()),
                BodySpec::Raw(_) => Payload::Raw,
            },
            signing,
        }
    }

    /// Returns the fields of a body that is a JSON object.
    pub fn members(&self) -> Option<&Map<String, Value>> {
        match &self.body {
            BodySpec::Json(value, _) => value.as_object(),
            BodySpec::None | BodySpec::Raw(_) => None,
        }
    }

    /// Returns the fields of a JSON body that are sent a second time: JSON pointer and value.
    pub fn repeats(&self) -> &[(String, Value)] {
        match &self.body {
            BodySpec::Json(_, repeats) => repeats,
            BodySpec::None | BodySpec::Raw(_) => &[],
        }
    }

    fn set(&mut self, at: &Location, to: Value) -> Result<(), ChangeError> {
        let slot = match at {
            Location::Path => {
                let Value::String(path) = to else { return Err(ChangeError::To("set", "a string in `to`")) };
                if self.path == path {
                    return Err(ChangeError::Same(at.to_string()));
                }
                self.path = checked_path(path)?;
                return Ok(());
            }
            Location::Header(name) => field(Arc::make_mut(&mut self.headers), name, true),
            Location::Query(name) => field(&mut self.query, name, false),
            Location::Sent(_) => return Err(ChangeError::Place("set", at.to_string())),
            Location::Body(pointer) if pointer.is_empty() => {
                self.body = BodySpec::Json(to.into(), Vec::new());
                return Ok(());
            }
            Location::Body(pointer) => {
                let parent = parent(&mut self.body, pointer);
                let (parent, key) = parent.ok_or_else(|| ChangeError::Missing(at.to_string(), "set"))?;
                match parent {
                    Value::Object(members) => members.entry(key).or_insert(UNSET),
                    Value::Array(items) => {
                        let slot = key.parse::<usize>().ok().and_then(|index| items.get_mut(index));
                        slot.ok_or_else(|| ChangeError::Missing(at.to_string(), "set"))?
                    }
                    _ => return Err(ChangeError::Place("set", at.to_string())),
                }
            }
        };
        // A new field starts as null, and setting it to null is still a change.
        if *slot == to && !to.is_null() {
            return Err(ChangeError::Same(at.to_string()));
        }
        *slot = to;
        Ok(())
    }

    fn remove(&mut self, at: &Location) -> Result<(), ChangeError> {
        let missing = || ChangeError::Missing(at.to_string(), "remove");
        match at {
            Location::Path | Location::Sent(_) => Err(ChangeError::Place("remove", at.to_string())),
            Location::Header(name) => {
                let before = self.headers.len();
                Arc::make_mut(&mut self.headers).retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                if self.headers.len() == before { Err(missing()) } else { Ok(()) }
            }
            Location::Query(name) => {
                let before = self.query.len();
                self.query.retain(|(known, _)| known != name);
                if self.query.len() == before { Err(missing()) } else { Ok(()) }
            }
            Location::Body(pointer) if pointer.is_empty() => {
                self.body = BodySpec::None;
                Ok(())
            }
            Location::Body(pointer) => match parent(&mut self.body, pointer).ok_or_else(missing)? {
                (Value::Object(members), key) => members.shift_remove(&key).map(drop).ok_or_else(missing),
                (Value::Array(items), key) => {
                    let index =
                        key.parse::<usize>().ok().filter(|index| *index < items.len()).ok_or_else(missing)?;
                    items.remove(index);
                    Ok(())
                }
                _ => Err(missing()),
            },
        }
    }

    fn repeat(&mut self, at: &Location, to: Value) -> Result<(), ChangeError> {
        let missing = || ChangeError::Missing(at.to_string(), "repeat");
        match at {
            Location::Header(name) => {
                let place = self.headers.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(name));
                let place = place.ok_or_else(missing)?;
                let name = self.headers[place].0.clone();
                Arc::make_mut(&mut self.headers).insert(place + 1, (name, to));
                self.exact = true;
                Ok(())
            }
            Location::Body(pointer) if !pointer.is_empty() => match &mut self.body {
                BodySpec::Json(value, repeats) => {
                    value.pointer(pointer).ok_or_else(missing)?;
                    repeats.push((pointer.clone(), to));
                    Ok(())
                }
                _ => Err(missing()),
            },
            _ => Err(ChangeError::Place("repeat", at.to_string())),
        }
    }

    /// Sets a raw body. `${body}` is the JSON text of the body so far, in which placeholders are strings in
    /// quotation marks.
    fn raw(&mut self, at: &Location, to: &Value) -> Result<(), ChangeError> {
        match at {
            Location::Body(pointer) if pointer.is_empty() => {}
            other => return Err(ChangeError::Place("raw", other.to_string())),
        }
        let body = match &self.body {
            BodySpec::Json(value, repeats) if repeats.is_empty() => Some(Value::String(value.to_string())),
            _ => None,
        };
        if body.is_none() && template::names(to).iter().any(|name| name == "body") {
            return Err(ChangeError::Missing("body".to_owned(), "raw"));
        }
        let filled = template::expand(to, &|name| body.clone().filter(|_| name == "body"));
        self.body = BodySpec::Raw(filled?);
        Ok(())
    }

    fn rename(&mut self, at: &Location, to: &str) -> Result<(), ChangeError> {
        let Location::Header(name) = at else { return Err(ChangeError::Place("rename", at.to_string())) };
        let header =
            Arc::make_mut(&mut self.headers).iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let header = header.ok_or_else(|| ChangeError::Missing(at.to_string(), "rename"))?;
        to.clone_into(&mut header.0);
        self.spelled.push(to.to_owned());
        self.exact = true;
        Ok(())
    }
}

/// Describes a change in one line: `header/PSU-ID removed`, `body/monthsOfExecution = [3,3]`. Cuts long
/// values.
pub fn describe(change: &Change) -> String {
    let value = || {
        if let Some(Value::String(text)) = &change.to
            && let Some((end, _)) = text.char_indices().nth(60)
        {
            let start: String = Value::from(&text[..end]).to_string().chars().take(40).collect();
            return format!("{start}.. ({} characters)", text.chars().count());
        }
        let text = change.to.as_ref().map(ToString::to_string).unwrap_or_default();
        if text.chars().count() <= 60 {
            return text;
        }
        let start: String = text.chars().take(40).collect();
        format!("{start}.. ({} characters)", text.chars().count().saturating_sub(2))
    };
    match change {
        Change { set: Some(at), .. } => format!("{at} = {}", value()),
        Change { remove: Some(at), .. } => format!("{at} removed"),
        Change { repeat: Some(at), .. } => format!("{at} sent again as {}", value()),
        Change { rename: Some(at), .. } => format!("{at} written as {}", value()),
        Change { raw: Some(at), .. } => format!("{at} = the bytes {}", value()),
        _ => String::new(),
    }
}

const UNSET: Value = Value::Null;

/// Returns the value of a header or parameter, which is added with null if it is missing.
fn field<'a>(fields: &'a mut Vec<(String, Value)>, name: &str, any_case: bool) -> &'a mut Value {
    let same = |known: &str| if any_case { known.eq_ignore_ascii_case(name) } else { known == name };
    let index = fields.iter().position(|(known, _)| same(known)).unwrap_or_else(|| {
        fields.push((name.to_owned(), UNSET));
        fields.len() - 1
    });
    &mut fields[index].1
}

/// Returns the container of the field that a pointer names, and the field's key or index (RFC 6901 section
/// 4).
fn parent<'a>(body: &'a mut BodySpec, pointer: &str) -> Option<(&'a mut Value, String)> {
    let BodySpec::Json(value, _) = body else { return None };
    let (above, key) = pointer.rsplit_once('/')?;
    Some((Arc::make_mut(value).pointer_mut(above)?, key.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> RequestSpec {
        RequestSpec {
            operation: "ncbct".into(),
            method: "POST".into(),
            path: "/v1".into(),
            query: vec![],
            headers: vec![("PSU-ID".into(), json!("a"))].into(),
            body: BodySpec::Json(json!({"account": {"iban": "x"}, "months": [1, 2]}).into(), vec![]),
            signing: Signing::default(),
            exact: false,
            spelled: Vec::new(),
        }
    }

    fn changed(change: Value) -> Result<RequestSpec, ChangeError> {
        let mut spec = spec();
        spec.apply(&serde_json::from_value(change).unwrap())?;
        Ok(spec)
    }

    #[test]
    fn a_path_begins_with_one_slash_and_stays_below_it() {
        let fits = ["/v1", "/v1/a!b?c=../d", "/v1/${target.a}/b", "/v1/a..b/...", "/", "${payment.link}"];
        for path in fits {
            assert!(checked_path(path.to_owned()).is_ok(), "{path}");
        }
        for path in [
            "",
            "v1",
            "@other.example/v1",
            ":81/v1",
            ".other.example/v1",
            "//other.example/v1",
            "/\\other.example/v1",
            "\\v1",
            "/%2fother.example/v1",
            "/v1/../admin",
            "/v1/./a",
            "/v1/%2e%2E/admin",
            "/v1/..%2fadmin",
            "/v1/a\r\nHost: other.example",
            "/v1/a b",
            " /v1",
            "http://other.example/v1",
            "${a}${b}",
            "${a}.other.example/v1",
        ] {
            assert!(matches!(checked_path(path.to_owned()), Err(ChangeError::Path(_))), "{path}");
        }
    }

    #[test]
    fn each_verb_does_what_it_says() {
        assert_eq!(
            changed(json!({"set": "header/psu-id", "to": "b"})).unwrap().headers,
            vec![("PSU-ID".into(), json!("b"))].into()
        );
        assert_eq!(changed(json!({"set": "query/x", "to": "1"})).unwrap().query, [("x".into(), json!("1"))]);
        assert_eq!(changed(json!({"remove": "header/psu-id"})).unwrap().headers, vec![].into());
        let body = |change| match changed(change).unwrap().body {
            BodySpec::Json(value, repeats) => (value, repeats),
            other => panic!("{other:?}"),
        };
        assert_eq!(body(json!({"set": "body/account/iban", "to": null})).0["account"], json!({"iban": null}));
        assert_eq!(body(json!({"set": "body/months/1", "to": 3})).0["months"], json!([1, 3]));
        assert_eq!(body(json!({"remove": "body/account/iban"})).0["account"], json!({}));
        assert_eq!(body(json!({"set": "body", "to": []})).0, json!([]).into());
        assert_eq!(body(json!({"repeat": "body/months", "to": 1})).1, [("/months".into(), json!(1))]);
        let twice = changed(json!({"repeat": "header/PSU-ID", "to": "b"})).unwrap();
        assert_eq!((twice.headers.len(), twice.exact), (2, true));
        let renamed = changed(json!({"rename": "header/psu-id", "to": "pSu-Id"})).unwrap();
        assert_eq!((renamed.headers[0].0.as_str(), renamed.exact), ("pSu-Id", true));
        assert_eq!(changed(json!({"raw": "body", "to": "{"})).unwrap().body, BodySpec::Raw(json!("{")));
        let text = r#"{"account":{"iban":"x"},"months":[1,2]}"#;
        let raw = |to| changed(json!({"raw": "body", "to": to})).unwrap().body;
        assert_eq!(raw(json!("${body},")), BodySpec::Raw(format!("{text},").into()));
        assert_eq!(raw(json!({"$bytes": ["${body}", 255]})), BodySpec::Raw(json!({"$bytes": [text, 255]})));
    }

    #[test]
    fn the_body_so_far_needs_a_body_of_json() {
        let mut spec = spec();
        spec.body = BodySpec::None;
        let change = serde_json::from_value(json!({"raw": "body", "to": "${body}"})).unwrap();
        assert_eq!(spec.apply(&change), Err(ChangeError::Missing("body".into(), "raw")));
    }

    #[test]
    fn placeholders_of_signing_are_those_of_the_request() {
        let mut spec = spec();
        spec.signing.key_id = Some(json!({"$lower": "${certificate.serial}"}));
        assert_eq!(spec.placeholders(), ["certificate.serial"]);
    }

    #[test]
    fn a_change_that_changes_nothing_or_makes_no_sense_is_an_error() {
        for change in [
            json!({"remove": "header/X"}),
            json!({"remove": "body/none"}),
            json!({"remove": "query/x"}),
            json!({"rename": "header/X", "to": "Y"}),
            json!({"rename": "body/account", "to": "Y"}),
            json!({"repeat": "header/X", "to": "Y"}),
            json!({"repeat": "body/none", "to": "Y"}),
            json!({"repeat": "query/x", "to": "Y"}),
            json!({"set": "header/PSU-ID", "to": "a"}),
            json!({"set": "body/none/iban", "to": "a"}),
            json!({"set": "body/months/7", "to": 1}),
            json!({"set": "header/PSU-ID"}),
            json!({"set": "cookie/a", "to": 1}),
            json!({"set": "header/A", "remove": "header/PSU-ID", "to": 1}),
            json!({"remove": "header/PSU-ID", "to": 1}),
            json!({"raw": "header/PSU-ID", "to": "a"}),
            json!({"raw": "body/months", "to": "a"}),
            json!({"raw": "body", "to": 1}),
            json!({}),
        ] {
            assert!(changed(change.clone()).is_err(), "{change}");
        }
    }
}
