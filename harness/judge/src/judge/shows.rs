//! Compares the body of a response with expected values.

use std::{
    cell::Cell,
    collections::{BTreeMap, VecDeque},
};

use serde_json::{Map, Value};

/// An expectation about one place of a body.
enum Demand<'a> {
    /// Equal to this value. Null means absent.
    Is(&'a Value),
    /// Equal to this value, or absent.
    OrNothing(&'a Value),
    /// Equal to one of these values.
    OneOf(&'a [Value]),
    /// Equal to this value, except for fields with these names at any depth. `More` says which lists may have
    /// more items.
    SameAs(&'a Value, &'a [Value], More),
    /// Absent, or different from the value that this body has at the same place.
    Unlike(&'a Value),
    /// A list with an item that has at least these fields. If a second value is given, the item must also
    /// have its fields, and the expectation applies only once such an item exists.
    Has(&'a Value, Option<&'a Value>),
    /// One of the values that may follow the first value, or any value if the second lists none for it.
    After(&'a Value, &'a Value),
    /// Equal to this value, but only once the body has these values by JSON pointer.
    Once(&'a Value, &'a Map<String, Value>),
}

/// The lists that may have more items than before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    /// None.
    Nowhere,
    /// Only the list itself.
    Itself,
    /// Every list, including those inside items.
    Everywhere,
}

impl<'a> Demand<'a> {
    /// Parses an expectation from a case file after its placeholders are filled.
    fn new(value: &'a Value) -> Self {
        let list = |name| value.get(name).and_then(Value::as_array).map(Vec::as_slice);
        let member = |name| value.get(name);
        if let Some(value) = member("or-nothing") {
            Self::OrNothing(value)
        } else if let Some(values) = list("one-of") {
            Self::OneOf(values)
        } else if let Some(value) = member("same-as") {
            let more = match member("and-more") {
                Some(Value::Bool(true)) => More::Itself,
                Some(Value::String(where_)) if where_ == "everywhere" => More::Everywhere,
                _ => More::Nowhere,
            };
            Self::SameAs(value, list("but").unwrap_or_default(), more)
        } else if let Some(earlier) = member("unlike") {
            Self::Unlike(earlier)
        } else if let Some(item) = member("has") {
            Self::Has(item, member("of"))
        } else if let (Some(value), Some(allowed)) = (member("after"), member("allowed")) {
            Self::After(value, allowed)
        } else if let (Some(value), Some(Value::Object(once))) = (member("is"), member("once")) {
            Self::Once(value, once)
        } else {
            Self::Is(value)
        }
    }

    /// Returns true if the body has reached the state in which the expectation applies.
    fn is_due(&self, pointer: &str, document: Option<&Value>) -> bool {
        let at = |pointer: &str| document.and_then(|body| body.pointer(pointer));
        match self {
            Self::Once(_, once) => once.iter().all(|(pointer, value)| at(pointer) == Some(value)),
            Self::Has(_, Some(of)) => items(at(pointer)).any(|found| has(found, of)),
            _ => true,
        }
    }

    fn is_met(&self, pointer: &str, found: Option<&Value>) -> bool {
        let found = found.filter(|found| !found.is_null());
        match self {
            Self::Is(value) | Self::Once(value, _) if value.is_null() => found.is_none(),
            Self::Is(value) | Self::Once(value, _) => found == Some(*value),
            Self::OrNothing(value) => found.is_none_or(|found| found == *value),
            Self::OneOf(values) => found.is_some_and(|found| values.contains(found)),
            Self::SameAs(Value::Array(items), but, more @ (More::Itself | More::Everywhere)) => {
                let found = found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                Sameness::new(but, *more == More::Everywhere).has_all(found, items)
            }
            Self::SameAs(value, but, more) => {
                let sameness = Sameness::new(but, *more == More::Everywhere);
                found.is_some_and(|found| sameness.is_same(found, value))
            }
            Self::Unlike(earlier) => found.is_none_or(|found| earlier.pointer(pointer) != Some(found)),
            Self::Has(item, of) => {
                items(found).any(|found| has(found, item) && of.is_none_or(|of| has(found, of)))
            }
            Self::After(..) => {
                self.followers().is_none_or(|values| found.is_some_and(|found| values.contains(found)))
            }
        }
    }

    /// Returns the values that may follow the earlier one.
    fn followers(&self) -> Option<&'a [Value]> {
        let Self::After(earlier, allowed) = self else { return None };
        allowed.get(earlier.as_str()?)?.as_array().map(Vec::as_slice)
    }

    fn says(&self) -> String {
        let listed = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
        match self {
            Self::Is(value) if value.is_null() => "nothing".to_owned(),
            Self::Is(value) => value.to_string(),
            Self::OrNothing(value) => format!("{value} or nothing"),
            Self::OneOf(values) => listed(values),
            Self::Once(value, once) => {
                let members = once.iter().map(|(pointer, value)| format!("{} {value}", &pointer[1..]));
                format!("{value}, with {}", members.collect::<Vec<_>>().join(" and "))
            }
            Self::SameAs(value, ..) => format!("the same as before: {}", shortened(&value.to_string())),
            Self::Unlike(_) => "a different value than before".to_owned(),
            Self::Has(item, None) => format!("an item with {item}"),
            Self::Has(item, Some(of)) => format!("{item} in an item with {of}"),
            Self::After(earlier, _) => {
                format!("{}, after {earlier}", listed(self.followers().unwrap_or_default()))
            }
        }
    }
}

/// Returns the items of a list, or none for any other value.
fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

/// Returns true if an item has these fields. A field given as `any-of` must be a list with one of those
/// values.
fn has(found: &Value, item: &Value) -> bool {
    let members = item.as_object().into_iter().flatten();
    members.into_iter().all(|(name, value)| match value.get("any-of").and_then(Value::as_array) {
        Some(values) => items(found.get(name)).any(|one| values.contains(one)),
        None => found.get(name) == Some(value),
    })
}

/// Maximum number of value comparisons between two bodies. The bank decides the size and depth of its lists,
/// so the work must be bounded. Bodies that need more count as different.
const COMPARISONS: usize = 5_000_000;

/// Compares a body with an earlier one. It ignores some field names, the order of lists and, with `and_more`,
/// additional list items. It also ignores timestamps (RFC 3339), because a response may contain its own time.
struct Sameness<'a> {
    but: &'a [Value],
    and_more: bool,
    left: Cell<usize>,
}

/// A place as a JSON pointer, its current value and its earlier value.
type Apart<'a> = (String, Option<&'a Value>, Option<&'a Value>);

impl<'a> Sameness<'a> {
    fn new(but: &'a [Value], and_more: bool) -> Self {
        Self { but, and_more, left: Cell::new(COMPARISONS) }
    }

    fn is_same(&self, found: &Value, earlier: &Value) -> bool {
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        match (found, earlier) {
            (Value::Object(a), Value::Object(b)) => {
                self.names(a, b).all(|name| match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => self.is_same(a, b),
                    _ => false,
                })
            }
            (Value::Array(a), Value::Array(b)) => (self.and_more || a.len() == b.len()) && self.has_all(a, b),
            (Value::String(a), Value::String(b)) => a == b || is_time(a) && is_time(b),
            _ => found == earlier,
        }
    }

    /// Returns true if a list contains all of these items, counting duplicates.
    fn has_all(&self, found: &[Value], items: &[Value]) -> bool {
        let mut rest: VecDeque<&Value> = found.iter().collect();
        items.iter().all(|item| {
            let at = rest.iter().position(|found| self.is_same(found, item));
            at.and_then(|at| rest.remove(at)).is_some()
        })
    }

    /// Returns the field names of both objects that are compared.
    fn names<'b>(
        &self,
        found: &'b Map<String, Value>,
        earlier: &'b Map<String, Value>,
    ) -> impl Iterator<Item = &'b String> {
        let names = earlier.keys().chain(found.keys().filter(|name| !earlier.contains_key(*name)));
        names.filter(|name| !self.but.iter().any(|left_out| left_out == *name))
    }

    /// Returns the first place at which two bodies differ.
    fn first_apart<'b>(&self, found: &'b Value, earlier: &'b Value) -> Option<Apart<'b>> {
        if self.is_same(found, earlier) {
            return None;
        }
        let inside = |name: &str, found, earlier| {
            let (at, found, earlier) = self.first_apart(found, earlier)?;
            Some((format!("/{name}{at}"), found, earlier))
        };
        match (found, earlier) {
            (Value::Object(a), Value::Object(b)) => {
                self.names(a, b).find_map(|name| match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => inside(name, a, b),
                    (a, b) => Some((format!("/{name}"), a, b)),
                })
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                a.iter().zip(b).enumerate().find_map(|(index, (a, b))| inside(&index.to_string(), a, b))
            }
            _ => Some((String::new(), Some(found), Some(earlier))),
        }
    }
}

fn is_time(text: &str) -> bool {
    chrono::DateTime::parse_from_rfc3339(text).is_ok()
}

/// Returns true if a body has these values or can no longer get them. A value that must stay the same does
/// not come back.
pub(super) fn is_final(values: &BTreeMap<String, Value>, document: Option<&Value>) -> bool {
    values.iter().all(|(pointer, value)| {
        let demand = Demand::new(value);
        let is_of_one_read = matches!(demand, Demand::Has(_, Some(_)));
        is_of_one_read
            || matches!(demand, Demand::SameAs(..) | Demand::After(..) | Demand::Unlike(_))
            || demand.is_due(pointer, document)
                && demand.is_met(pointer, document.and_then(|body| body.pointer(pointer)))
    })
}

/// Returns true if the body has not yet reached the state for one of these expectations.
pub(super) fn is_open(values: &BTreeMap<String, Value>, document: Option<&Value>) -> bool {
    values.iter().any(|(pointer, value)| !Demand::new(value).is_due(pointer, document))
}

/// Returns the differences between a body and these values: expected, found, and place. If the whole body
/// must be the same as before, only `listed` fields are compared, because others may be new each time.
pub(super) fn differences(
    values: &BTreeMap<String, Value>,
    document: Option<&Value>,
    listed: &dyn Fn(&Value) -> Value,
) -> Vec<(String, String, String)> {
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), |one| shortened(&one.to_string()));
    let difference = |(pointer, expected): (&String, &Value)| {
        let whole = |value: &Value| if pointer.is_empty() { listed(value) } else { value.clone() };
        let mut found = document.and_then(|body| body.pointer(pointer));
        let mut demand = Demand::new(expected);
        let (now, before);
        if let (Demand::SameAs(earlier, but, more), Some(body)) = (&demand, found) {
            (now, before) = (whole(body), whole(earlier));
            (found, demand) = (Some(&now), Demand::SameAs(&before, but, *more));
        }
        if !demand.is_due(pointer, document) || demand.is_met(pointer, found) {
            return None;
        }
        if let (Demand::SameAs(earlier, but, More::Nowhere), Some(found)) = (&demand, found)
            && let Some((at, now, before)) = Sameness::new(but, false).first_apart(found, earlier)
        {
            let expected = format!("the same as before: {}", shown(before));
            return Some((expected, shown(now), format!("body{pointer}{at}")));
        }
        Some((demand.says(), shown(found), format!("body{pointer}")))
    };
    values.iter().filter_map(difference).collect()
}

/// Returns the first characters of a string with special characters escaped.
pub(super) fn shortened(text: &str) -> String {
    let mut short = String::new();
    for character in text.chars().take(60) {
        match character {
            ' '..='~' => short.push(character),
            _ => short.extend(character.escape_default()),
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_demand_is_met_by_what_it_says_and_by_nothing_else() {
        let customers = |accounts: Value| json!([{ "id": "a", "accounts": accounts }]);
        let but = json!({ "same-as": customers(json!([])), "but": ["accounts"] });
        let after = |earlier| json!({ "after": earlier, "allowed": { "RJCT": ["RJCT"] } });
        let table = [
            (json!("x"), json!("x"), true),
            (json!("x"), json!("y"), false),
            (json!(null), json!("x"), false),
            (json!({ "or-nothing": "x" }), Value::Null, true),
            (json!({ "or-nothing": "x" }), json!("y"), false),
            (json!({ "one-of": ["x", "y"] }), json!("y"), true),
            (json!({ "one-of": ["x", "y"] }), json!("z"), false),
            (json!({ "one-of": ["x", "y"] }), Value::Null, false),
            (but.clone(), customers(json!(["1"])), true),
            (but.clone(), json!([{ "id": "a" }]), true),
            (but.clone(), json!([{ "id": "b", "accounts": [] }]), false),
            (but.clone(), json!([{ "id": "a", "more": 1 }]), false),
            (but, json!([]), false),
            (json!({ "same-as": [1, 2], "and-more": true }), json!([0, 1, 3, 2]), true),
            // The document does not order any list.
            (json!({ "same-as": [1, 2], "and-more": true }), json!([2, 1]), true),
            (json!({ "same-as": [1, 1], "and-more": true }), json!([1, 2]), false),
            (json!({ "same-as": [1, 2], "and-more": true }), json!([1]), false),
            (json!({ "same-as": [1, 2] }), json!([1, 2, 3]), false),
            (json!({ "same-as": [[1], 2], "and-more": true }), json!([[1, 3], 2]), false),
            (json!({ "same-as": [[1], 2], "and-more": "everywhere" }), json!([[1, 3], 2, 4]), true),
            (json!({ "same-as": [{ "a": [1] }], "and-more": "everywhere" }), json!([{ "a": [] }]), false),
            (json!({ "same-as": { "a": [1] }, "and-more": "everywhere" }), json!({ "a": [0, 1] }), true),
            (json!({ "has": { "a": 1 } }), json!([{ "a": 2 }, { "a": 1, "b": 2 }]), true),
            (json!({ "has": { "a": 1 } }), json!([{ "a": 2 }, 1]), false),
            (json!({ "has": { "a": 1 } }), json!({ "a": 1 }), false),
            (json!({ "same-as": { "a": 1 } }), json!({ "a": 1 }), true),
            (json!({ "same-as": { "a": 1 } }), json!({}), false),
            (
                json!({ "same-as": { "at": "2030-01-01T12:00:00Z" } }),
                json!({ "at": "2030-01-01T13:00:01.5+01:00" }),
                true,
            ),
            (json!({ "same-as": { "at": "2030-01-01" } }), json!({ "at": "2030-01-02" }), false),
            (json!({ "same-as": { "at": "2030-01-01T12:00:00Z" } }), json!({ "at": "2030-01-01" }), false),
            (after("RJCT"), json!("RJCT"), true),
            (after("RJCT"), json!("RCVD"), false),
            (after("RJCT"), Value::Null, false),
            (after("RCVD"), json!("RJCT"), true),
        ];
        for (demand, found, is_met) in table {
            assert_eq!(Demand::new(&demand).is_met("", Some(&found)), is_met, "{demand} {found}");
        }
        let once = BTreeMap::from([("/a".to_owned(), json!({ "is": false, "once": { "/b": "X" } }))]);
        for (body, is_open, is_final, differs) in [
            (json!({ "a": false, "b": "X" }), false, true, false),
            (json!({ "a": true, "b": "X" }), false, false, true),
            (json!({ "b": "X" }), false, false, true),
            (json!({ "a": true, "b": "Y" }), true, false, false),
            (json!({ "a": false }), true, false, false),
        ] {
            let found = (self::is_open(&once, Some(&body)), self::is_final(&once, Some(&body)));
            assert_eq!(found, (is_open, is_final), "{body}");
            assert_eq!(!differences(&once, Some(&body), &Value::clone).is_empty(), differs, "{body}");
        }
        let said = &differences(&once, Some(&json!({ "b": "X" })), &Value::clone)[0];
        assert_eq!((said.0.as_str(), said.1.as_str()), ("false, with b \"X\"", "nothing"));
        let named = json!({ "has": { "accounts": { "any-of": ["x", "y"] } }, "of": { "id": "a" } });
        let named = BTreeMap::from([(String::new(), named)]);
        for (body, is_open, differs) in [
            (json!([{ "id": "a", "accounts": ["z", "y"] }]), false, false),
            (json!([{ "id": "a", "accounts": ["z"] }]), false, true),
            (json!([{ "id": "a" }, { "id": "b", "accounts": ["x"] }]), false, true),
            (json!([{ "id": "b", "accounts": ["z"] }]), true, false),
            (json!({ "id": "a", "accounts": [] }), true, false),
        ] {
            assert_eq!(self::is_open(&named, Some(&body)), is_open, "{body}");
            assert_eq!(!differences(&named, Some(&body), &Value::clone).is_empty(), differs, "{body}");
        }
        let unlike = json!({ "unlike": { "id": "a" } });
        for (found, is_met) in [(json!("b"), true), (json!("a"), false), (Value::Null, true)] {
            assert_eq!(Demand::new(&unlike).is_met("/id", Some(&found)), is_met, "{found}");
        }
    }
}
