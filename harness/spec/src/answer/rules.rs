//! Rules for 2xx bodies that JSON Schema cannot express: money, fields that depend on each other, and
//! observations.
//!
//! Values of the wrong type are skipped here, since the schema reports them.

use regex::Regex;
use serde_json::Value;

use super::{
    amount,
    currency::Currencies,
    definition::{self, Amount, Condition, Note},
    notes::Notes,
    pointer::{self, At},
    show,
};
use crate::{iban::is_iban, masks::is_pseudonym};

/// A rule, ready to apply.
#[derive(Debug)]
pub(super) struct Rule {
    paths: Vec<Vec<String>>,
    when: Option<Condition>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Amount(Box<Amount>),
    PresentIff { clause: String, condition: Condition },
    Note { clause: String, says: String, test: Test },
}

#[derive(Debug)]
enum Test {
    Absent,
    Present,
    Empty,
    Below(i64),
    NoIban,
    Matches { pattern: Regex, unless: Option<Regex> },
    NoneOf(Vec<String>),
    OtherThan(Vec<String>),
}

impl Rule {
    /// Reads a rule. Returns a message if it is invalid.
    pub(super) fn new(rule: &definition::Rule, amount: Option<&Amount>) -> Result<Self, String> {
        let paths: Vec<Vec<String>> =
            rule.at.iter().map(|path| path.split('/').map(str::to_owned).collect()).collect();
        let named = |what: &str, text: &Option<String>| {
            text.clone().ok_or_else(|| format!("the rule at `{}` has no `{what}`", rule.at.join(", ")))
        };
        let kind = match (rule.amount, &rule.present_iff, &rule.note) {
            (true, None, None) => {
                let amount =
                    amount.ok_or("a rule has `amount`, but the file defines no clauses for amounts")?;
                Kind::Amount(Box::new(amount.clone()))
            }
            (false, Some(condition), None) => {
                if paths.iter().flatten().any(|token| token.contains('*')) {
                    return Err("`present-iff` needs the path of one field, without `*`".to_owned());
                }
                Kind::PresentIff { clause: named("clause", &rule.clause)?, condition: condition.clone() }
            }
            (false, None, Some(note)) => Kind::Note {
                clause: named("clause", &rule.clause)?,
                says: named("says", &rule.says)?,
                test: Test::new(note)?,
            },
            _ => {
                return Err(format!(
                    "the rule at `{}` needs exactly one of `amount: true`, `present-iff` and `note`",
                    rule.at.join(", ")
                ));
            }
        };
        Ok(Self { paths, when: rule.when.clone(), kind })
    }

    /// Returns every clause that this rule can report.
    pub(super) fn clauses(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Amount(amount) => amount.clauses().collect(),
            Kind::PresentIff { clause, .. } | Kind::Note { clause, .. } => vec![clause],
        }
    }

    /// Returns the clauses that this rule requires.
    pub(super) fn demanded(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Amount(amount) => amount.demanded().to_vec(),
            Kind::PresentIff { clause, .. } => vec![clause],
            Kind::Note { .. } => vec![],
        }
    }

    /// Returns true if the rule is about amounts and this field of a place (`/a/*/b`) is the number of one.
    pub(super) fn is_number_of_amount(&self, place: &str, member: &str) -> bool {
        let Kind::Amount(amount) = &self.kind else { return false };
        let place: Vec<&str> = place.split('/').skip(1).collect();
        amount.number_member == member && self.paths.iter().any(|path| pointer::is_at(path, &place))
    }

    /// Returns true if this body has a value that the rule judges.
    pub(super) fn is_exercised(&self, body: &Value) -> bool {
        let mut is_there = false;
        let mut look =
            |path: &[String]| walk(body, At::Body, path, &mut |_, value| is_there |= !value.is_null());
        for path in &self.paths {
            look(path);
        }
        if let Kind::PresentIff { condition, .. } = &self.kind {
            look(&condition.at.split('/').map(str::to_owned).collect::<Vec<_>>());
        }
        is_there
    }

    /// Applies the rule to a body.
    pub(super) fn check(&self, body: &Value, currencies: &Currencies, notes: &mut Notes) {
        if self.when.as_ref().is_some_and(|when| member(body, &when.at) != Some(&when.is)) {
            return;
        }
        for path in &self.paths {
            match &self.kind {
                Kind::Amount(clauses) => walk(body, At::Body, path, &mut |at, value| {
                    amount::check(value, at, currencies, clauses, notes);
                }),
                Kind::PresentIff { clause, condition } => {
                    present_iff(body, &path.join("/"), condition, clause, notes);
                }
                Kind::Note { clause, says, test: Test::Absent } => absent(body, At::Body, path, &mut |at| {
                    notes.observe(clause, at, says);
                }),
                Kind::Note { clause, says, test } => {
                    let (name, outer) =
                        path.split_last().map_or(("", &path[..]), |(name, outer)| (name, outer));
                    walk(body, At::Body, outer, &mut |at, holder| {
                        each(holder, at, name, &mut |at, value| {
                            notes.checked();
                            if test.is_met(value, holder) {
                                notes.observe(clause, at, says.replace("{value}", &show::value(value)));
                            }
                        });
                    });
                }
            }
        }
    }
}

impl Test {
    fn new(note: &Note) -> Result<Self, String> {
        let pattern = |text: &String| {
            Regex::new(text).map_err(|_| format!("`{text}` is not a valid regular expression"))
        };
        Ok(match note {
            Note::Absent => Self::Absent,
            Note::Present => Self::Present,
            Note::Empty => Self::Empty,
            Note::Below(least) => Self::Below(*least),
            Note::NoIban => Self::NoIban,
            Note::Matches { pattern: text, unless } => {
                Self::Matches { pattern: pattern(text)?, unless: unless.as_ref().map(pattern).transpose()? }
            }
            Note::NoneOf(names) => Self::NoneOf(names.clone()),
            Note::OtherThan(names) => Self::OtherThan(names.clone()),
        })
    }

    /// Returns true if the test matches a value, which is a field of `holder`.
    fn is_met(&self, value: &Value, holder: &Value) -> bool {
        let has = |value: &Value, name: &String| value.get(name).is_some_and(|value| !value.is_null());
        match self {
            Self::Absent => false,
            Self::Present => !value.is_null(),
            Self::Empty => value.as_array().is_some_and(Vec::is_empty),
            Self::Below(least) => value.as_i64().is_some_and(|number| number < *least),
            // A pseudonym hides the original value, so it is not judged.
            Self::NoIban => value.as_str().is_some_and(|text| !is_iban(text) && !is_pseudonym(text)),
            Self::Matches { pattern, unless } => value.as_str().is_some_and(|text| {
                pattern.is_match(text) && unless.as_ref().is_none_or(|unless| !unless.is_match(text))
            }),
            Self::NoneOf(names) => value.is_object() && !names.iter().any(|name| has(value, name)),
            Self::OtherThan(names) => {
                let others: Option<Vec<&str>> =
                    names.iter().map(|name| holder.get(name).and_then(Value::as_str)).collect();
                value.as_str().zip(others).is_some_and(|(text, others)| !others.contains(&text))
            }
        }
    }
}

/// Checks that a field is present if and only if another one has a certain value.
fn present_iff(body: &Value, path: &str, condition: &Condition, clause: &str, notes: &mut Notes) {
    let Some((outer, name)) = path.rsplit_once('/').or(Some(("", path))) else { return };
    let Some(holder) = member(body, outer).filter(|holder| holder.is_object()) else { return };
    let found = holder.get(name).filter(|value| !value.is_null());
    let other = member(body, &condition.at).filter(|value| !value.is_null());
    // The schema reports values of another type.
    if other.is_some_and(|other| std::mem::discriminant(other) != std::mem::discriminant(&condition.is)) {
        return;
    }
    let word = other.map_or_else(|| "absent".to_owned(), Value::to_string);
    let beside = condition.at.rsplit('/').next().unwrap_or_default();
    notes.checked();
    let at = || format!("{}/{path}", At::Body);
    match (other == Some(&condition.is), found) {
        (true, None) => {
            notes.finding(clause, at(), format!("the field, because {beside} is {word}"), "absent");
        }
        (false, Some(found)) => {
            notes.finding(clause, at(), format!("absent, because {beside} is {word}"), show::value(found));
        }
        (true, Some(_)) | (false, None) => {}
    }
}

/// Returns the field at a path without `*`, or the body itself for an empty path.
fn member<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(body, |value, name| value.get(name))
}

/// Calls `found` for every value at a path. `*` matches one field or element, `**` any number of them.
fn walk(value: &Value, at: At<'_>, path: &[String], found: &mut impl FnMut(At<'_>, &Value)) {
    let Some((name, rest)) = path.split_first() else { return found(at, value) };
    if name == "**" {
        walk(value, at, rest, found);
        each(value, at, "*", &mut |at, value| walk(value, at, path, found));
    } else {
        each(value, at, name, &mut |at, value| walk(value, at, rest, found));
    }
}

/// Calls `found` for a field, or for each field or element if the name is `*`.
fn each(value: &Value, at: At<'_>, name: &str, found: &mut dyn FnMut(At<'_>, &Value)) {
    match value {
        Value::Object(members) if name == "*" => {
            members.iter().for_each(|(name, value)| found(at.member(name), value));
        }
        Value::Array(items) if name == "*" => {
            items.iter().enumerate().for_each(|(index, value)| found(at.element(index), value));
        }
        Value::Object(members) => {
            if let Some(value) = members.get(name) {
                found(at.member(name), value);
            }
        }
        _ => {}
    }
}

/// Calls `found` for every object at a path that lacks its last field.
fn absent(body: &Value, at: At<'_>, path: &[String], found: &mut dyn FnMut(At<'_>)) {
    let Some((name, outer)) = path.split_last() else { return };
    walk(body, at, outer, &mut |at, holder| {
        if holder.as_object().is_some_and(|members| !members.contains_key(name)) {
            found(at.member(name));
        }
    });
}
