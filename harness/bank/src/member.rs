//! Fields of a request body. Each knows its JSON pointer and the clause ids that apply to it.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use crate::date;
use crate::json::kind;
use crate::refusal::{Refusal, excerpt};

/// A JSON object of a body.
pub(crate) struct Object<'a> {
    members: &'a Map<String, Value>,
    /// The JSON pointer (RFC 6901) of this object, empty for the body itself.
    path: String,
    /// The first part of the clause ids of its fields: an operation, or a shared type such as `address`.
    subject: &'static str,
}

impl<'a> Object<'a> {
    /// Returns the body itself.
    pub(crate) fn root(members: &'a Map<String, Value>, subject: &'static str) -> Self {
        Self { members, path: String::new(), subject }
    }

    /// Returns a required field.
    pub(crate) fn required(&self, name: &str) -> Result<Member<'a>, Refusal> {
        self.optional(name).ok_or_else(|| {
            let rule = format!("{}.{}.required", self.subject, kebab_case(name));
            Refusal::format(rule, format!("expected the field {name}, found none")).at(self.pointer(name))
        })
    }

    /// Returns an optional field. `null` is a value, not an absence.
    pub(crate) fn optional(&self, name: &str) -> Option<Member<'a>> {
        let value = self.members.get(name)?;
        let clause = format!("{}.{}", self.subject, kebab_case(name));
        Some(Member { value, path: self.pointer(name), clause })
    }

    /// Checks an optional field if it is present.
    pub(crate) fn check<T>(
        &self,
        name: &str,
        check: impl FnOnce(&Member<'a>) -> Result<T, Refusal>,
    ) -> Result<(), Refusal> {
        self.optional(name).map_or(Ok(()), |member| check(&member).map(drop))
    }

    /// Returns the JSON pointer of this object.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn pointer(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }
}

/// A field of a body, or an item of an array.
pub(crate) struct Member<'a> {
    value: &'a Value,
    path: String,
    /// The clause ids of this field without their last part.
    clause: String,
}

impl<'a> Member<'a> {
    /// Returns the JSON pointer of this value.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if both values are equal.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.value == other.value
    }

    /// Rejects this value by the clause `<field>.<aspect>`.
    pub(crate) fn refuse(&self, aspect: &str, says: impl Into<String>) -> Refusal {
        Refusal::format(format!("{}.{aspect}", self.clause), says).at(&self.path)
    }

    /// Returns a string.
    pub(crate) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// Returns a string with at least one character. An empty string does not satisfy a required field.
    pub(crate) fn non_empty_text(&self) -> Result<&'a str, Refusal> {
        let text = self.text()?;
        if text.is_empty() {
            return Err(self.refuse("empty", "expected a non-empty string, found an empty one"));
        }
        Ok(text)
    }

    /// Checks that a string has at most `limit` characters, counted in Unicode code points.
    pub(crate) fn at_most(&self, limit: usize, text: &str) -> Result<(), Refusal> {
        let found = text.chars().count();
        if found > limit {
            return Err(self.refuse("length", format!("expected at most {limit} characters, found {found}")));
        }
        Ok(())
    }

    /// Returns a string of a closed list.
    pub(crate) fn listed(&self, rule: &str, list: &[&str]) -> Result<&'a str, Refusal> {
        let text = self.text()?;
        if !list.contains(&text) {
            let says = format!("expected one of {}, found {}", list.join(" "), excerpt(text));
            return Err(Refusal::format(rule, says).at(&self.path));
        }
        Ok(text)
    }

    /// Returns a date (ISO 8601 calendar date).
    pub(crate) fn date(&self) -> Result<NaiveDate, Refusal> {
        let text = self.text()?;
        date::parse(text).map_err(|error| self.refuse("date", format!("{error}, found {}", excerpt(text))))
    }

    /// Returns a date that is at most `past` days before today.
    pub(crate) fn date_ahead(&self, today: NaiveDate, past: i64) -> Result<NaiveDate, Refusal> {
        let day = self.date()?;
        if (today - day).num_days() > past {
            return Err(self.refuse("past", format!("expected {today} or later, found {day}")));
        }
        Ok(day)
    }

    /// Returns an object. The clause ids of its fields start with `subject`.
    pub(crate) fn object(&self, subject: &'static str) -> Result<Object<'a>, Refusal> {
        let members = self.value.as_object().ok_or_else(|| self.wrong_type("an object"))?;
        Ok(Object { members, path: self.path.clone(), subject })
    }

    /// Returns the items of an array.
    pub(crate) fn items(&self) -> Result<Vec<Member<'a>>, Refusal> {
        let items = self.value.as_array().ok_or_else(|| self.wrong_type("an array"))?;
        let item = |(index, value)| Member {
            value,
            path: format!("{}/{index}", self.path),
            clause: self.clause.clone(),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Returns an integer. A number with a decimal point or an exponent is not an integer, even if its value
    /// is whole.
    pub(crate) fn integer(&self) -> Result<i64, Refusal> {
        match self.value {
            // An integer beyond i64 is outside every range that the document gives.
            Value::Number(number) if !number.is_f64() => Ok(number.as_i64().unwrap_or(i64::MAX)),
            _ => Err(self.wrong_type("an integer")),
        }
    }

    fn wrong_type(&self, expected: &str) -> Refusal {
        self.refuse("type", format!("expected {expected}, found {}", kind(self.value)))
    }
}

/// Converts `creditorName` to `creditor-name`, as in clause ids.
pub fn kebab_case(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_name_the_clause_and_the_place() {
        let body = json!({ "address": { "streetName": 7 }, "list": [1, 2.5] });
        let root = Object::root(body.as_object().unwrap(), "ncbct");
        let address = root.required("address").unwrap().object("address").unwrap();
        let refusal = address.required("streetName").unwrap().text().unwrap_err();
        assert_eq!(refusal.rule, "address.street-name.type");
        assert_eq!(refusal.body()["tppMessages"][0]["path"], "/address/streetName");
        assert_eq!(refusal.text(), "address.street-name.type: expected a string, found a number");
        let missing = root.required("creditorName").map(|_| ()).unwrap_err();
        assert_eq!(missing.rule, "ncbct.creditor-name.required");
        let items = root.required("list").unwrap().items().unwrap();
        assert_eq!(items[0].integer().unwrap(), 1);
        assert_eq!(items[1].integer().unwrap_err().body()["tppMessages"][0]["path"], "/list/1");
    }

    #[test]
    fn lengths_are_counted_in_code_points() {
        let body = json!({ "name": "x" });
        let member = Object::root(body.as_object().unwrap(), "periodic").required("name").unwrap();
        assert!(member.at_most(3, "æøå").is_ok());
        assert!(member.at_most(1, "\u{1F600}").is_ok());
        assert_eq!(member.at_most(3, "abcd").unwrap_err().rule, "periodic.name.length");
    }
}
