//! The expected response to the request of a case.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::template::{self, ExpandError};

/// The expected response to the request of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expectation {
    /// A 2xx response that does not report a rejection.
    Accepted,
    /// A 2xx response whose body has these values, by JSON pointer. It may report a rejection. Null means
    /// that the field is absent. The request is repeated as long as the values may still appear.
    Shows(BTreeMap<String, Value>),
    /// A rejection.
    Refused(Refusal),
    /// Any response below 500, since the clause itself says that the server does not fail.
    Answered,
    /// Any response, provided that the server does not fail.
    Observed,
    /// The expectation for what the profile declares for the clause's choice. Without a declaration, it is
    /// observed.
    Choice(BTreeMap<String, Expectation>),
}

/// The required details of a rejection.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of a case file")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Allowed statuses, if the document gives them. Empty allows any.
    pub statuses: Vec<u16>,
    /// Codes, if the document gives some. A message must have one of them.
    pub codes: Vec<String>,
    /// True if a resource that is created and rejected is not a rejection, since nothing may be created.
    pub nothing_created: bool,
    /// True if a resource that is created and rejected is a rejection because the document says so, whatever
    /// the profile says.
    pub or_rejected: bool,
    /// True if its body must have a text or a code.
    pub text: bool,
    /// True if a 429 is the rejection itself, and not the sign of a busy target.
    pub quota: bool,
}

impl Refusal {
    /// Returns `status 400 or 401`, or `None` if any status is allowed.
    pub fn said_statuses(&self) -> Option<String> {
        let statuses: Vec<String> = self.statuses.iter().map(u16::to_string).collect();
        (!statuses.is_empty()).then(|| format!("status {}", statuses.join(" or ")))
    }

    /// Returns `code BAD_REQUEST or FORBIDDEN`, or `None` if any code is allowed.
    pub fn said_codes(&self) -> Option<String> {
        (!self.codes.is_empty()).then(|| format!("code {}", self.codes.join(" or ")))
    }
}

impl Expectation {
    /// Reads the value of `expect`. The error says what was expected.
    pub fn parse(value: &Value) -> Result<Self, String> {
        const WANTED: &str = "expected `accepted`, `refused`, `answered`, `observed`, `refused: {..}`, `body: {..}` or `choice: {..}`";
        match value {
            Value::String(word) => match word.as_str() {
                "accepted" => Ok(Self::Accepted),
                "refused" => Ok(Self::Refused(Refusal::default())),
                "answered" => Ok(Self::Answered),
                "observed" => Ok(Self::Observed),
                other => Err(format!("{WANTED}, found `{other}`")),
            },
            Value::Object(members) if members.len() == 1 => match members.iter().next() {
                Some((key, Value::Object(conditions))) if key == "refused" => {
                    refusal(conditions).map(Self::Refused)
                }
                Some((key, Value::Object(values))) if key == "body" => shows(values),
                Some((key, Value::Object(values))) if key == "choice" => values
                    .iter()
                    .map(|(choice, expectation)| Ok((choice.clone(), Self::parse(expectation)?)))
                    .collect::<Result<_, String>>()
                    .map(Self::Choice),
                _ => Err(WANTED.to_owned()),
            },
            _ => Err(WANTED.to_owned()),
        }
    }

    /// Returns the placeholders in the values that a body must have. They are filled in from the bank profile
    /// or from the requests that prepare the case.
    pub fn placeholders(&self) -> Vec<String> {
        match self {
            Self::Shows(values) => values.values().flat_map(template::names).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the expectation with its placeholders filled in.
    pub fn filled(&self, fill: &dyn Fn(&str) -> Option<Value>) -> Result<Cow<'_, Self>, ExpandError> {
        match self {
            Self::Shows(values) if !self.placeholders().is_empty() => {
                let filled =
                    values.iter().map(|(at, value)| Ok((at.clone(), template::expand(value, fill)?)));
                Ok(Cow::Owned(Self::Shows(filled.collect::<Result<_, _>>()?)))
            }
            _ => Ok(Cow::Borrowed(self)),
        }
    }

    /// Returns true if a case with this expectation can serve as a control.
    pub fn is_accepted(&self) -> bool {
        *self == Self::Accepted
    }
}

fn shows(values: &serde_json::Map<String, Value>) -> Result<Expectation, String> {
    if values.is_empty() {
        return Err("`body` needs at least one JSON pointer with its value".to_owned());
    }
    // Placeholders in a pointer are not filled in, so it would name an absent field.
    if let Some(pointer) = values.keys().find(|pointer| pointer.contains("${")) {
        return Err(format!("`body` needs JSON pointers without placeholders, found `{pointer}`"));
    }
    match values.keys().find(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
        Some(pointer) => Err(format!("`body` needs JSON pointers (`/field`), found `{pointer}`")),
        None => Ok(Expectation::Shows(
            values.iter().map(|(pointer, value)| (pointer.clone(), value.clone())).collect(),
        )),
    }
}

fn refusal(conditions: &serde_json::Map<String, Value>) -> Result<Refusal, String> {
    let mut refusal = Refusal::default();
    for (key, value) in conditions {
        match (key.as_str(), value) {
            ("status", status) => {
                let listed = status.as_array().cloned().unwrap_or_else(|| vec![status.clone()]);
                let number = |status: &Value| {
                    let status = u16::try_from(status.as_u64()?).ok()?;
                    (400..500).contains(&status).then_some(status)
                };
                let statuses = listed.iter().map(number).collect::<Option<Vec<u16>>>();
                let statuses = statuses.filter(|statuses| !statuses.is_empty());
                refusal.statuses =
                    statuses.ok_or("`status` must be a number from 400 to 499, or a list of them")?;
            }
            ("code", code) => {
                let listed = code.as_array().cloned().unwrap_or_else(|| vec![code.clone()]);
                let text = |code: &Value| code.as_str().map(str::to_owned);
                let codes = listed.iter().map(text).collect::<Option<Vec<String>>>();
                let codes = codes.filter(|codes| !codes.is_empty());
                refusal.codes = codes.ok_or("`code` must be a string, or a list of strings")?;
            }
            ("nothing-created", Value::Bool(nothing)) => refusal.nothing_created = *nothing,
            ("or-rejected", Value::Bool(rejected)) => refusal.or_rejected = *rejected,
            ("text", Value::Bool(text)) => refusal.text = *text,
            ("quota", Value::Bool(quota)) => refusal.quota = *quota,
            _ => {
                return Err(format!(
                    "`refused` accepts only status, code, nothing-created, or-rejected, text and quota, found `{key}: {value}`"
                ));
            }
        }
    }
    Ok(refusal)
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted => f.write_str("accepted"),
            Self::Shows(values) => {
                let values = values.iter().map(|(pointer, value)| match value.get("same-as") {
                    // The kept value may be a whole body.
                    Some(_) => format!("body{pointer} as it was"),
                    None => format!("body{pointer} = {value}"),
                });
                write!(f, "responded with {}", values.collect::<Vec<_>>().join(" and "))
            }
            Self::Answered => f.write_str("answered below 500"),
            Self::Observed => f.write_str("observed"),
            Self::Choice(_) => f.write_str("as the target profile chooses"),
            Self::Refused(refusal) => {
                f.write_str("refused")?;
                if let Some(statuses) = refusal.said_statuses() {
                    write!(f, " with {statuses}")?;
                }
                if let Some(codes) = refusal.said_codes() {
                    let word = if refusal.statuses.is_empty() { "with" } else { "and" };
                    write!(f, " {word} {codes}")?;
                }
                if refusal.text {
                    f.write_str(", with a message")?;
                }
                if refusal.nothing_created {
                    f.write_str(", nothing created")?;
                }
                if refusal.or_rejected {
                    f.write_str(", or created and rejected")?;
                }
                if refusal.quota { f.write_str(", possibly with status 429") } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_body_must_have_is_filled_when_it_is_known() {
        let expect = Expectation::parse(&json!({"body": {"/id": "${made.id}", "/state": "new"}})).unwrap();
        assert_eq!(expect.placeholders(), ["made.id"]);
        let filled = expect.filled(&|name| (name == "made.id").then(|| json!(7))).unwrap();
        assert_eq!(filled.to_string(), r#"responded with body/id = 7 and body/state = "new""#);
        assert!(matches!(Expectation::Accepted.filled(&|_| None), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn each_form_is_read_and_shown() {
        let shown = |value: Value| Expectation::parse(&value).map(|expectation| expectation.to_string());
        assert_eq!(shown(json!("accepted")).unwrap(), "accepted");
        assert_eq!(shown(json!("answered")).unwrap(), "answered below 500");
        assert_eq!(
            shown(json!({"refused": {"status": 400, "code": "A"}})).unwrap(),
            "refused with status 400 and code A"
        );
        assert_eq!(shown(json!({"refused": {"code": ["A", "B"]}})).unwrap(), "refused with code A or B");
        assert_eq!(shown(json!({"refused": {"nothing-created": true}})).unwrap(), "refused, nothing created");
        assert_eq!(
            shown(json!({"refused": {"or-rejected": true}})).unwrap(),
            "refused, or created and rejected"
        );
        assert_eq!(shown(json!({"refused": {"quota": true}})).unwrap(), "refused, possibly with status 429");
        assert_eq!(
            shown(json!({"body": {"/a": "x", "/b/0": false}})).unwrap(),
            r#"responded with body/a = "x" and body/b/0 = false"#
        );
        assert_eq!(shown(json!({"choice": {"a": "refused"}})).unwrap(), "as the target profile chooses");
        for wrong in [
            json!("accept"),
            json!(3),
            json!({"refused": {"status": 500}}),
            json!({"refused": {"stat": 400}}),
            json!({"refused": {"code": []}}),
            json!({"refused": {"code": ["A", 1]}}),
            json!({"refused": {"quota": 429}}),
            json!({"refused": "x"}),
            json!({"body": {}}),
            json!({"body": {"a": 1}}),
            json!({"body": {"/a/${b}": 1}}),
            json!({"body": "x"}),
            json!({"choice": {"a": "b"}}),
            json!({"accepted": {}, "refused": {}}),
        ] {
            assert!(shown(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
