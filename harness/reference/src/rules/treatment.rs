//! Faults that take one value of a request for another, or stumble over it. They act before the rules do, so
//! that one place serves whole families: a bank that accepts 71 characters reads them as 70, and one that
//! knows no `SALA` refuses it.

use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::rows::words;
use crate::header::fields::Fields;
use crate::operation::Operation;
use crate::refusal::{Code, Refusal};

/// A value that is treated in a way of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", bound(deserialize = "'de: 'static"))]
pub(crate) struct Treatment {
    /// The operation whose requests are treated so.
    pub(crate) operation: Operation,
    /// Where the value stands.
    pub(crate) place: Place,
    /// Which values are meant.
    pub(crate) when: When,
    /// What is done with them.
    pub(crate) then: Then,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// A header field, by its name in lower case.
    Header(&'static str),
    /// A query parameter.
    Query(&'static str),
    /// A member of the body, by its JSON pointer (RFC 6901).
    Body(&'static str),
}

impl Place {
    /// Whether a request has a value there.
    pub(super) fn has_value(self, fields: Fields<'_>, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Header(name) => fields.bytes(name).is_some(),
            Self::Query(name) => parameter(uri, name).is_some(),
            Self::Body(pointer) => body.pointer(pointer).is_some(),
        }
    }

    /// Whether a request has this text there.
    pub(super) fn has_text(self, text: &str, fields: Fields<'_>, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Header(name) => fields.bytes(name).is_some_and(|found| found == text.as_bytes()),
            Self::Query(name) => parameter(uri, name).is_some_and(|found| found == text),
            Self::Body(pointer) => body.pointer(pointer).and_then(Value::as_str) == Some(text),
        }
    }
}

/// Which values are meant.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum When {
    /// There is none.
    Absent,
    /// There is one, whatever it is.
    Present,
    /// `null`.
    Null,
    /// Not of this JSON type: `s` string, `o` object, `a` array, `i` integer.
    NotType(char),
    /// Of this JSON type: `n` number, `b` boolean, `s` string, `a` array, `o` object.
    Type(char),
    /// This string.
    Is(&'static str),
    /// One of these strings.
    Among(#[serde(deserialize_with = "words")] &'static [&'static str]),
    /// A string that is none of these, and like one of them in this way.
    #[serde(skip)]
    Like(Likeness, &'static [&'static str]),
    /// A string of exactly so many characters.
    Characters(usize),
    /// A string of so many characters, from the first number to the second.
    Between(usize, usize),
    /// A string of more characters.
    Longer(usize),
    /// A string of more characters, and of no more when they are counted so.
    Forgiven(Count, usize),
    /// A string of no more characters, and of more when they are counted so.
    Overcounted(Count, usize),
    /// A string that this says yes to.
    #[serde(skip)]
    Text(fn(&str) -> bool),
    /// A value that this says yes to.
    #[serde(skip)]
    Value(fn(&Value) -> bool),
    /// A list of so many items.
    Items(usize),
    /// A list that has this integer so many times.
    Has(i64, usize),
    /// There is none, and there is something at this other place of the body.
    AbsentWith(&'static str),
    /// Whatever it is, in a body that this says yes to.
    #[serde(skip)]
    Together(fn(&Map<String, Value>) -> bool),
    /// There is one, and this other header field.
    Beside(&'static str),
    /// There is one, and not this other header field.
    Without(&'static str),
    /// A string without this in it.
    Lacks(&'static str),
    /// A list with items that are no strings.
    OtherItems,
}

/// How a string is like one of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Likeness {
    /// In all but letter case.
    LetterCase,
    /// In all but blanks around it.
    Blanks,
    /// It begins so.
    Beginning,
    /// It ends so.
    End,
    /// It has that in it.
    Inside,
    /// It is the beginning of one, and not empty.
    Part,
    /// It is as long, and one letter is another.
    OneLetter,
}

impl Likeness {
    fn holds(self, text: &str, one: &str) -> bool {
        match self {
            Self::LetterCase => text.eq_ignore_ascii_case(one),
            Self::Blanks => text.trim() == one,
            Self::Beginning => text.starts_with(one),
            Self::End => text.ends_with(one),
            Self::Inside => text.contains(one),
            Self::Part => !text.is_empty() && one.starts_with(text),
            Self::OneLetter => {
                let others = text.bytes().zip(one.bytes()).filter(|(a, b)| a != b).count();
                text.len() == one.len() && others == 1
            }
        }
    }
}

/// Another way to count the characters of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Count {
    /// Without blanks around it.
    Trimmed,
    /// Those of ASCII.
    Ascii,
    /// Without marks that combine with the letter before them.
    WithoutMarks,
    /// Bytes of UTF-8.
    Bytes,
    /// Units of UTF-16.
    Units,
    /// Without blanks.
    WithoutBlanks,
    /// With several blanks as one.
    OneBlank,
    /// Those of its longest line.
    LongestLine,
    /// After it was written in capital letters, of which one letter may become several.
    Capitals,
}

impl Count {
    fn count(self, text: &str) -> usize {
        match self {
            Self::Trimmed => text.trim().chars().count(),
            Self::Ascii => text.chars().filter(char::is_ascii).count(),
            Self::WithoutMarks => {
                text.chars().filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}')).count()
            }
            Self::Bytes => text.len(),
            Self::Units => text.encode_utf16().count(),
            Self::WithoutBlanks => text.chars().filter(|letter| !letter.is_whitespace()).count(),
            Self::OneBlank => text.split_whitespace().collect::<Vec<_>>().join(" ").chars().count(),
            Self::LongestLine => text.lines().map(|line| line.chars().count()).max().unwrap_or_default(),
            Self::Capitals => text.to_uppercase().chars().count(),
        }
    }
}

/// What is done with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Then {
    /// It is taken for this JSON text.
    TakeFor(&'static str),
    /// It is cut to so many characters.
    Cut(usize),
    /// It is taken for absent.
    Drop,
    /// It is taken for the same in capital letters.
    Capitals,
    /// It is a list, and taken for its first item.
    First,
    /// The request is refused.
    Refuse,
    /// The bank fails.
    Fail,
}

impl Treatment {
    /// The header, or the operation with the parameter, or with the member of the body that it is or is in.
    pub(crate) fn subject(&self) -> String {
        match self.place {
            Place::Header(name) => name.to_owned(),
            Place::Query(name) => format!("{} {name}", self.operation),
            Place::Body(pointer) => {
                format!("{} {}", self.operation, pointer.split('/').nth(1).unwrap_or_default())
            }
        }
    }

    /// Treats header fields and query parameters.
    pub(crate) fn head(&self, operation: Operation, fields: Fields<'_>, uri: &Uri) -> Result<(), Refusal> {
        let found = match self.place {
            _ if operation != self.operation => return Ok(()),
            Place::Header(name) => {
                fields.bytes(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
            Place::Query(name) => parameter(uri, name),
            Place::Body(_) => return Ok(()),
        };
        let found = found.map(Value::from);
        let other = match self.when {
            When::Beside(other) => fields.bytes(other).is_some(),
            When::Without(other) => fields.bytes(other).is_none(),
            _ => false,
        };
        if self.is_meant(found.as_ref(), other) { self.refuse() } else { Ok(()) }
    }

    /// Treats a member of the body.
    pub(crate) fn body(&self, operation: Operation, members: &mut Map<String, Value>) -> Result<(), Refusal> {
        let Place::Body(pointer) = self.place else { return Ok(()) };
        if operation != self.operation {
            return Ok(());
        }
        let mut body = Value::Object(std::mem::take(members));
        let other = match self.when {
            When::AbsentWith(other) => body.pointer(other).is_some_and(|value| !value.is_null()),
            When::Together(says) => body.as_object().is_some_and(says),
            _ => false,
        };
        let mut outcome = Ok(());
        if self.is_meant(body.pointer(pointer), other) {
            outcome = match self.then {
                Then::Refuse | Then::Fail => self.refuse(),
                Then::Cut(limit) => {
                    let text = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    let cut: String = text.chars().take(limit).collect();
                    put(&mut body, pointer, cut.into());
                    Ok(())
                }
                Then::Drop => {
                    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
                    if let Some(Value::Object(members)) = body.pointer_mut(parent) {
                        members.remove(key);
                    }
                    Ok(())
                }
                Then::First => {
                    let first = body.pointer(pointer).and_then(|list| list.get(0)).cloned();
                    put(&mut body, pointer, first.unwrap_or_default());
                    Ok(())
                }
                Then::Capitals => {
                    let text = body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    let capitals = text.to_uppercase();
                    put(&mut body, pointer, capitals.into());
                    Ok(())
                }
                Then::TakeFor(json) => {
                    put(&mut body, pointer, serde_json::from_str(json).unwrap_or_default());
                    Ok(())
                }
            };
        }
        if let Value::Object(back) = body {
            *members = back;
        }
        outcome
    }

    fn is_meant(&self, found: Option<&Value>, other: bool) -> bool {
        let text = || found.and_then(Value::as_str);
        let items = || found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        match self.when {
            When::Absent => found.is_none(),
            When::AbsentWith(_) => found.is_none() && other,
            When::Together(_) => other,
            When::Beside(_) | When::Without(_) => found.is_some() && other,
            When::Present => found.is_some(),
            When::Null => found.is_some_and(Value::is_null),
            When::NotType(letter) => found.is_some_and(|value| !is_type(value, letter)),
            When::Type(letter) => found.is_some_and(|value| is_type(value, letter)),
            When::Is(wanted) => text() == Some(wanted),
            When::Like(likeness, list) => text().is_some_and(|text| {
                !list.contains(&text) && list.iter().any(|one| likeness.holds(text, one))
            }),
            When::Characters(count) => text().is_some_and(|text| text.chars().count() == count),
            When::Between(least, most) => {
                text().is_some_and(|text| (least..=most).contains(&text.chars().count()))
            }
            When::Among(list) => text().is_some_and(|text| list.contains(&text)),
            When::Items(count) => items().len() == count && found.is_some_and(Value::is_array),
            When::Has(number, times) => {
                items().iter().filter(|item| item.as_i64() == Some(number)).count() == times
            }
            When::Longer(count) => text().is_some_and(|text| text.chars().count() > count),
            When::Forgiven(count, most) => {
                text().is_some_and(|text| text.chars().count() > most && count.count(text) <= most)
            }
            When::Overcounted(count, most) => {
                text().is_some_and(|text| text.chars().count() <= most && count.count(text) > most)
            }
            When::Lacks(part) => text().is_some_and(|text| !text.contains(part)),
            When::OtherItems => items().iter().any(|item| !item.is_string()),
            When::Text(says) => text().is_some_and(says),
            When::Value(says) => found.is_some_and(says),
        }
    }

    fn refuse(&self) -> Result<(), Refusal> {
        let says = "expected another value, found one that this bank does not take";
        let refusal = match self.then {
            Then::Fail => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::SystemError,
                "system.failure",
                "the bank failed on this value",
            ),
            _ => Refusal::format("value.taken", says),
        };
        let (Place::Header(name) | Place::Query(name) | Place::Body(name)) = self.place;
        Err(refusal.at(name))
    }
}

fn is_type(value: &Value, letter: char) -> bool {
    match letter {
        's' => value.is_string(),
        'o' => value.is_object(),
        'a' => value.is_array(),
        'i' => value.is_i64() || value.is_u64(),
        'n' => value.is_number(),
        'b' => value.is_boolean(),
        _ => true,
    }
}

fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next_back()
}

/// Puts a value at a pointer whose parent is there.
fn put(body: &mut Value, pointer: &str, value: Value) {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return };
    match body.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.insert(key.to_owned(), value)),
        Some(Value::Array(items)) => {
            if let Some(slot) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                *slot = value;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use serde_json::json;

    use super::*;

    fn treated(when: When, then: Then, body: &Value) -> Result<Value, u16> {
        let treatment =
            Treatment { operation: Operation::Ncbct, place: Place::Body("/account/name"), when, then };
        let mut members = body.as_object().unwrap().clone();
        treatment
            .body(Operation::Ncbct, &mut members)
            .map(|()| members["account"].clone())
            .map_err(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn each_condition_means_its_values_and_no_others() {
        let bodies = [
            json!({ "account": {} }),
            json!({ "account": { "name": null } }),
            json!({ "account": { "name": 7 } }),
            json!({ "account": { "name": "abc" } }),
            json!({ "account": { "name": "abcd" }, "other": 1 }),
        ];
        let table: [(When, [bool; 5]); 20] = [
            (When::Absent, [true, false, false, false, false]),
            (When::Present, [false, true, true, true, true]),
            (When::Null, [false, true, false, false, false]),
            (When::NotType('s'), [false, true, true, false, false]),
            (When::Is("abc"), [false, false, false, true, false]),
            (When::Like(Likeness::LetterCase, &["ABC", "x"]), [false, false, false, true, false]),
            (When::Like(Likeness::Beginning, &["abc"]), [false, false, false, false, true]),
            (When::Like(Likeness::Blanks, &["abc"]), [false; 5]),
            (When::Like(Likeness::End, &["bcd"]), [false, false, false, false, true]),
            (When::Like(Likeness::Part, &["abcd"]), [false, false, false, true, false]),
            (When::Like(Likeness::OneLetter, &["abx"]), [false, false, false, true, false]),
            (When::Among(&["abc", "x"]), [false, false, false, true, false]),
            (When::Between(4, 9), [false, false, false, false, true]),
            (When::Type('n'), [false, false, true, false, false]),
            (When::Forgiven(Count::Trimmed, 3), [false; 5]),
            (When::Overcounted(Count::Bytes, 3), [false; 5]),
            (When::Characters(4), [false, false, false, false, true]),
            (When::Longer(3), [false, false, false, false, true]),
            (When::Text(|text| text.ends_with('c')), [false, false, false, true, false]),
            (When::Value(Value::is_number), [false, false, true, false, false]),
        ];
        for (when, expected) in table {
            let refused = bodies.each_ref().map(|body| treated(when, Then::Refuse, body) == Err(400));
            assert_eq!(refused, expected, "{when:?}");
        }
        assert_eq!(treated(When::AbsentWith("/other"), Then::Refuse, &bodies[0]).ok(), Some(json!({})));
        let with = json!({ "account": {}, "other": 1 });
        assert_eq!(treated(When::AbsentWith("/other"), Then::Refuse, &with), Err(400));
    }

    #[test]
    fn characters_are_counted_in_other_ways() {
        let body = |name: &str| json!({ "account": { "name": name } });
        let is_meant = |when, name| treated(when, Then::Refuse, &body(name)).is_err();
        for (count, forgiven, not) in [
            (Count::Trimmed, " abc", "abcd"),
            (Count::Ascii, "aåbå", "abcd"),
            (Count::WithoutMarks, "a\u{30a}bc", "abcd"),
            (Count::LongestLine, "abc\na", "a\nabcd"),
        ] {
            assert!(is_meant(When::Forgiven(count, 3), forgiven), "{count:?}");
            assert!(!is_meant(When::Forgiven(count, 3), not), "{count:?}");
        }
        for (count, too_many, not) in [(Count::Bytes, "abå", "abc"), (Count::Units, "ab\u{1f600}", "abå")] {
            assert!(is_meant(When::Overcounted(count, 3), too_many), "{count:?}");
            assert!(!is_meant(When::Overcounted(count, 3), not), "{count:?}");
        }
    }

    #[test]
    fn each_consequence_does_what_it_says() {
        let body = json!({ "account": { "name": "abcd" } });
        assert_eq!(treated(When::Present, Then::Fail, &body), Err(500));
        assert_eq!(treated(When::Present, Then::Cut(2), &body).unwrap(), json!({ "name": "ab" }));
        assert_eq!(treated(When::Present, Then::TakeFor("[1]"), &body).unwrap(), json!({ "name": [1] }));
        assert_eq!(treated(When::Present, Then::Capitals, &body).unwrap(), json!({ "name": "ABCD" }));
        let list = json!({ "account": { "name": ["abcd"] } });
        assert_eq!(treated(When::Items(1), Then::First, &list).unwrap(), json!({ "name": "abcd" }));
        let mut members = body.as_object().unwrap().clone();
        let (operation, place) = (Operation::Ncbct, Place::Body("/account/name"));
        let drops = Treatment { operation, place, when: When::Present, then: Then::Drop };
        assert!(drops.body(operation, &mut members).is_ok() && members["account"] == json!({}));
        let empty = json!({ "account": {} });
        assert_eq!(treated(When::Absent, Then::TakeFor("\"x\""), &empty).unwrap(), json!({ "name": "x" }));
    }

    #[test]
    fn headers_and_parameters_of_one_operation() {
        let head = |place, when, operation| {
            let treatment = Treatment { operation: Operation::Ncbct, place, when, then: Then::Refuse };
            let mut headers = HeaderMap::new();
            headers.insert("psu-context", "PRIVATE".parse().unwrap());
            let uri = "/v1?flag=true&flag=false".parse().unwrap();
            treatment.head(operation, Fields(&headers), &uri).is_err()
        };
        assert!(head(Place::Header("psu-context"), When::Is("PRIVATE"), Operation::Ncbct));
        assert!(!head(Place::Header("psu-context"), When::Is("PRIVATE"), Operation::Periodic));
        assert!(head(Place::Header("psu-device-id"), When::Absent, Operation::Ncbct));
        assert!(head(Place::Query("flag"), When::Is("false"), Operation::Ncbct));
        assert!(!head(Place::Query("flag"), When::Is("true"), Operation::Ncbct));
    }
}
