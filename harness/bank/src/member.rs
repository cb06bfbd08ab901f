//! Members of a request body: each knows where it stands and which clauses speak of it.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use crate::date;
use crate::json::kind;
use crate::refusal::{Refusal, excerpt};

/// A JSON object of a body.
pub(crate) struct Object<'a> {
    members: &'a Map<String, Value>,
    /// JSON pointer (RFC 6901) of this object; empty for the body itself.
    path: String,
    /// The first part of the clause ids of its members: an operation, or a shared type such as `address`.
    subject: &'static str,
}

impl<'a> Object<'a> {
    /// The body itself.
    pub(crate) fn root(members: &'a Map<String, Value>, subject: &'static str) -> Self {
        Self { members, path: String::new(), subject }
    }

    /// A member that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<Member<'a>, Refusal> {
        self.optional(name).ok_or_else(|| {
            let rule = format!("{}.{}.required", self.subject, kebab_case(name));
            Refusal::format(rule, format!("expected the member {name}, found none")).at(self.pointer(name))
        })
    }

    /// A member that need not be there. `null` is a value, not an absence.
    pub(crate) fn optional(&self, name: &str) -> Option<Member<'a>> {
        let value = self.members.get(name)?;
        let clause = format!("{}.{}", self.subject, kebab_case(name));
        Some(Member { value, path: self.pointer(name), clause })
    }

    /// Checks a member that need not be there.
    pub(crate) fn check<T>(
        &self,
        name: &str,
        check: impl FnOnce(&Member<'a>) -> Result<T, Refusal>,
    ) -> Result<(), Refusal> {
        self.optional(name).map_or(Ok(()), |member| check(&member).map(drop))
    }

    /// JSON pointer of this object.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn pointer(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }
}

/// A value of a body.
pub(crate) struct Member<'a> {
    value: &'a Value,
    path: String,
    /// The clause ids of this member without their last part.
    clause: String,
}

impl<'a> Member<'a> {
    /// JSON pointer of this value.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether this is the same value.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.value == other.value
    }

    /// A refusal of this value by the clause `<member>.<aspect>`.
    pub(crate) fn refuse(&self, aspect: &str, says: impl Into<String>) -> Refusal {
        Refusal::format(format!("{}.{aspect}", self.clause), says).at(&self.path)
    }

    /// Any string.
    pub(crate) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// A string of at least one character, as a required member must have to be there at all.
    pub(crate) fn non_empty_text(&self) -> Result<&'a str, Refusal> {
        let text = self.text()?;
        if text.is_empty() {
            return Err(self.refuse("empty", "expected a text, found an empty one"));
        }
        Ok(text)
    }

    /// Refuses a text of more than `limit` characters, counted in Unicode code points.
    pub(crate) fn at_most(&self, limit: usize, text: &str) -> Result<(), Refusal> {
        let found = text.chars().count();
        if found > limit {
            return Err(self.refuse("length", format!("expected at most {limit} characters, found {found}")));
        }
        Ok(())
    }

    /// One string of a closed list.
    pub(crate) fn listed(&self, rule: &str, list: &[&str]) -> Result<&'a str, Refusal> {
        let text = self.text()?;
        if !list.contains(&text) {
            let says = format!("expected one of {}, found {}", list.join(" "), excerpt(text));
            return Err(Refusal::format(rule, says).at(&self.path));
        }
        Ok(text)
    }

    /// A date (ISO 8601 calendar date).
    pub(crate) fn date(&self) -> Result<NaiveDate, Refusal> {
        let text = self.text()?;
        date::parse(text).map_err(|error| self.refuse("date", format!("{error}, found {}", excerpt(text))))
    }

    /// A date that is past by so many days at most.
    pub(crate) fn date_ahead(&self, today: NaiveDate, past: i64) -> Result<NaiveDate, Refusal> {
        let day = self.date()?;
        if (today - day).num_days() > past {
            return Err(self.refuse("past", format!("expected a day from {today} on, found {day}")));
        }
        Ok(day)
    }

    /// An object, whose members' clauses begin with `subject`.
    pub(crate) fn object(&self, subject: &'static str) -> Result<Object<'a>, Refusal> {
        let members = self.value.as_object().ok_or_else(|| self.wrong_type("an object"))?;
        Ok(Object { members, path: self.path.clone(), subject })
    }

    /// The items of an array.
    pub(crate) fn items(&self) -> Result<Vec<Member<'a>>, Refusal> {
        let items = self.value.as_array().ok_or_else(|| self.wrong_type("an array"))?;
        let item = |(index, value)| Member {
            value,
            path: format!("{}/{index}", self.path),
            clause: self.clause.clone(),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// An integer. A number with a point or exponent is none, even where its value is whole.
    pub(crate) fn integer(&self) -> Result<i64, Refusal> {
        match self.value {
            // An integer beyond i64 is still one; it is outside every range that the document gives.
            Value::Number(number) if !number.is_f64() => Ok(number.as_i64().unwrap_or(i64::MAX)),
            _ => Err(self.wrong_type("an integer")),
        }
    }

    fn wrong_type(&self, expected: &str) -> Refusal {
        self.refuse("type", format!("expected {expected}, found {}", kind(self.value)))
    }
}

/// `creditorName` as clause ids write it: `creditor-name`.
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
