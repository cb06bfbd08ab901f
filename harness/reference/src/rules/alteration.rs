//! Alterations of responses: a field of a 2xx body is missing or violates the document.

use serde::Deserialize;
use serde_json::Value;
use xs2aspec_bank::operation::Operation;

/// An alteration of the 2xx responses of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Alteration {
    /// The operation.
    pub(crate) operation: Operation,
    /// The JSON pointer (RFC 6901) of the field, empty for the whole body. `*` in it means each item of an
    /// array.
    pub(crate) pointer: &'static str,
    /// The change of the field.
    pub(crate) change: Change,
}

impl PartialEq for Change {
    /// Compares two changes. Functions cannot be compared, so two `Write` changes are unequal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Remove, Self::Remove) => true,
            (Self::Set(one) | Self::Replace(one), Self::Set(two) | Self::Replace(two))
            | (Self::Add(one), Self::Add(two))
            | (Self::Rename(one), Self::Rename(two)) => one == two,
            (Self::Exchange(one, other), Self::Exchange(two, another)) => (one, other) == (two, another),
            (Self::Characters(one), Self::Characters(two)) => one == two,
            _ => false,
        }
    }
}

/// A change of a field.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Change {
    /// Removes it.
    Remove,
    /// Replaces or adds it, with this JSON text.
    Set(&'static str),
    /// Replaces it if it is present.
    Replace(&'static str),
    /// Adds it if it is missing.
    Add(&'static str),
    /// Replaces the first string with the second.
    Exchange(&'static str, &'static str),
    /// Replaces it with a string of this length.
    Characters(usize),
    /// Renames it.
    Rename(&'static str),
    /// Rewrites its string.
    #[serde(skip)]
    Write(fn(&str) -> String),
}

impl Alteration {
    /// Alters a response of the operation, if the parent of the field exists.
    pub(crate) fn apply(&self, operation: Operation, answer: &mut Value) {
        if operation == self.operation {
            self.apply_at(self.pointer, answer);
        }
    }

    fn apply_at(&self, pointer: &str, answer: &mut Value) {
        if let Some((list, rest)) = pointer.split_once("/*") {
            let count = answer.pointer(list).and_then(Value::as_array).map_or(0, Vec::len);
            (0..count).for_each(|index| self.apply_at(&format!("{list}/{index}{rest}"), answer));
            return;
        }
        let found = answer.pointer(pointer);
        let value = match self.change {
            Change::Remove => None,
            Change::Rename(name) => {
                if let Some((value, (parent, _))) = found.cloned().zip(pointer.rsplit_once('/'))
                    && let Some(Value::Object(members)) = answer.pointer_mut(parent)
                {
                    members.insert(name.to_owned(), value);
                }
                None
            }
            Change::Write(write) => match found.and_then(Value::as_str) {
                Some(text) => Some(Value::from(write(text))),
                None => return,
            },
            Change::Exchange(one, other) if found.is_some_and(|found| found == one) => Some(other.into()),
            Change::Exchange(..) => return,
            Change::Replace(_) if found.is_none() => return,
            Change::Add(_) if found.is_some() => return,
            Change::Set(json) | Change::Replace(json) | Change::Add(json) => {
                Some(serde_json::from_str(json).unwrap_or_default())
            }
            Change::Characters(count) => Some(Value::from("x".repeat(count))),
        };
        let Some((parent, key)) = pointer.rsplit_once('/') else {
            *answer = value.unwrap_or_default();
            return;
        };
        match (answer.pointer_mut(parent), value) {
            (Some(Value::Object(members)), Some(value)) => drop(members.insert(key.to_owned(), value)),
            (Some(Value::Object(members)), None) => drop(members.remove(key)),
            (Some(Value::Array(items)), None) => {
                if let Some(at) = key.parse::<usize>().ok().filter(|at| *at < items.len()) {
                    items.remove(at);
                }
            }
            (Some(Value::Array(items)), Some(value)) => {
                if let Some(slot) = key.parse::<usize>().ok().and_then(|index| items.get_mut(index)) {
                    *slot = value;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn altered(pointer: &'static str, change: Change) -> Value {
        let mut answer = json!({ "list": [{ "a": 1 }], "b": "x" });
        Alteration { operation: Operation::Ncbct, pointer, change }.apply(Operation::Ncbct, &mut answer);
        answer
    }

    #[test]
    fn members_are_left_out_replaced_and_added() {
        assert_eq!(altered("/b", Change::Remove), json!({ "list": [{ "a": 1 }] }));
        assert_eq!(altered("/list/0/a", Change::Set("\"y\""))["list"], json!([{ "a": "y" }]));
        assert_eq!(altered("/list/0/c", Change::Characters(2))["list"], json!([{ "a": 1, "c": "xx" }]));
        assert_eq!(altered("/none/c", Change::Set("1")), json!({ "list": [{ "a": 1 }], "b": "x" }));
        assert_eq!(altered("/b", Change::Rename("B")), json!({ "list": [{ "a": 1 }], "B": "x" }));
        assert_eq!(altered("/b", Change::Write(str::to_uppercase))["b"], "X");
        assert_eq!(altered("/list/0", Change::Remove)["list"], json!([]));
        assert_eq!(altered("", Change::Set("[]")), json!([]));
        assert_eq!(altered("/list/*/a", Change::Add("2"))["list"], json!([{ "a": 1 }]));
        assert_eq!(altered("/list/*/c", Change::Add("2"))["list"], json!([{ "a": 1, "c": 2 }]));
        assert_eq!(altered("/b", Change::Exchange("x", "y"))["b"], "y");
        assert_eq!(altered("/b", Change::Exchange("y", "z"))["b"], "x");
        let mut other = json!({ "b": 1 });
        Alteration { operation: Operation::Ncbct, pointer: "/b", change: Change::Remove }
            .apply(Operation::Periodic, &mut other);
        assert_eq!(other, json!({ "b": 1 }), "another operation");
    }
}
