//! Conditions on the value of a place.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use indexmap::IndexMap;
use regex::Regex;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;

use super::{
    reading::{days, fraction, has_one_twice, is_of_type, number, workdays},
    scope::{Scope, made_as, with_digits},
    view::{BEFORE, Payload, part},
};
use crate::{date, iban};

/// The words of a list.
pub(super) type WordList = Arc<BTreeSet<String>>;

/// A column of a table, keyed by its first column.
pub(super) type Cells = Arc<BTreeMap<String, String>>;

/// The lists and tables of the file.
pub(super) struct Words<'a> {
    pub(super) list: &'a dyn Fn(&str) -> Result<WordList, String>,
    /// A column of a table, keyed by its first column.
    pub(super) cells: &'a dyn Fn(&str, &str) -> Result<Cells, String>,
    /// Compiled regular expressions, which many places share.
    pub(super) patterns: &'a RefCell<BTreeMap<String, Regex>>,
}

/// Conditions as written in the file. All of them must hold.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct ConditionFile {
    /// `true`: the place is absent. `false`: it is present.
    absent: Option<bool>,
    /// The place is present, possibly null.
    present: bool,
    /// The place is absent or null.
    missing: bool,
    /// JSON types. `integer` is a number without a fraction.
    r#type: Option<OneOrMany<String>>,
    /// Equals this value, or one of this list.
    is: Option<Value>,
    /// Equals the value in the baseline request.
    plain: bool,
    matches: Option<String>,
    unmatched: Option<String>,
    /// A word of a list. The next three match it in any letter case, within spaces, or as a number.
    r#in: Option<String>,
    in_any_case: Option<String>,
    in_spaces: Option<String>,
    digits_in: Option<String>,
    /// More characters than this. The next one counts bytes.
    longer: Option<usize>,
    more_bytes: Option<usize>,
    ascii: Option<bool>,
    /// A number, or a string with one, above this limit. The next one is for a number below it.
    over: Option<i64>,
    under: Option<i64>,
    /// A decimal with more fraction digits than a cell of a table says. The next two are for fewer fraction
    /// digits, and for more digits before the point than the number in a cell has.
    fraction_over: Option<CellFile>,
    fraction_under: Option<CellFile>,
    whole_over: Option<CellFile>,
    /// A date more than this many workdays ahead. The next one is for fewer workdays.
    workdays_over: Option<u32>,
    workdays_under: Option<u32>,
    date: Option<DateForm>,
    /// A date before that of another place.
    before: Option<String>,
    /// A value that only the profile or the signing knows, as part of the string or all of it.
    placeholder: Option<Placeholder>,
    /// `true`: an IBAN with correct check digits. `false`: any other string.
    is_iban: Option<bool>,
    /// A number with a fraction.
    fraction: bool,
    items_over: Option<usize>,
    /// A list with the same item twice.
    repeated: bool,
    /// A list in which two items have the same value in this field.
    repeated_member: Option<String>,
    some_item: Option<Box<ConditionFile>>,
    /// The id of something that a request of this operation created. `nobody` matches an unknown id.
    made_by: Option<String>,
    /// A request with this name is sent before, at least this often.
    sent_before: Option<SentBefore>,
    /// A header is sent more often than this.
    times_over: Option<usize>,
    /// A field of the body is sent twice.
    member_twice: bool,
    /// The request has a part that the operation does not list.
    unlisted: Option<Unlisted>,
    not: Option<Box<ConditionFile>>,
    /// Conditions on other places.
    r#where: IndexMap<String, ConditionFile>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SentBefore {
    name: String,
    times: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CellFile {
    table: String,
    /// The place with the value of the row's first cell.
    key: String,
    column: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DateForm {
    Extended,
    Basic,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Unlisted {
    Member,
    Header,
    Query,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Placeholder {
    /// Part of a string.
    Within,
    /// The whole string.
    Alone,
}

/// Conditions, ready to evaluate.
#[derive(Debug)]
pub(super) struct Condition {
    asked: Vec<Asked>,
    elsewhere: Vec<(String, Condition)>,
}

/// A single condition on a value.
#[derive(Debug)]
enum Asked {
    Absent(bool),
    Missing,
    Type(Vec<String>),
    Is(Vec<Value>),
    Plain,
    Matches(Regex, bool),
    In(WordList),
    InAnyCase(WordList),
    InSpaces(WordList),
    DigitsIn(WordList),
    Longer(usize),
    MoreBytes(usize),
    Ascii(bool),
    Over(Decimal),
    Under(Decimal),
    FractionOver(Cell),
    FractionUnder(Cell),
    WholeOver(Cell),
    WorkdaysOver(u32),
    WorkdaysUnder(u32),
    Date(DateForm),
    Before(String),
    Placeholder(Placeholder),
    IsIban(bool),
    Fraction,
    ItemsOver(usize),
    Repeated,
    RepeatedMember(String),
    SomeItem(Box<Condition>),
    MadeBy(String),
    SentBefore(SentBefore),
    TimesOver(usize),
    MemberTwice,
    Unlisted(Unlisted),
    Not(Box<Condition>),
}

#[derive(Debug)]
struct Cell {
    key: String,
    cells: Cells,
}

impl Condition {
    pub(super) fn new(file: ConditionFile, words: &Words<'_>) -> Result<Self, String> {
        let pattern = |text: String| {
            let mut patterns = words.patterns.borrow_mut();
            if let Some(known) = patterns.get(&text) {
                return Ok(known.clone());
            }
            let pattern =
                Regex::new(&text).map_err(|_| format!("`{text}` is not a valid regular expression"))?;
            patterns.insert(text, pattern.clone());
            Ok::<_, String>(pattern)
        };
        let cell = |cell: CellFile| {
            Ok::<_, String>(Cell { cells: (words.cells)(&cell.table, &cell.column)?, key: cell.key })
        };
        let mut asked = Vec::new();
        asked.extend(file.absent.map(Asked::Absent));
        asked.extend(file.present.then_some(Asked::Absent(false)));
        asked.extend(file.missing.then_some(Asked::Missing));
        asked.extend(file.r#type.map(|kinds| match kinds {
            OneOrMany::One(kind) => Asked::Type(vec![kind]),
            OneOrMany::Many(kinds) => Asked::Type(kinds),
        }));
        asked.extend(file.is.map(|is| match is {
            Value::Array(any) => Asked::Is(any),
            one => Asked::Is(vec![one]),
        }));
        asked.extend(file.plain.then_some(Asked::Plain));
        if let Some(text) = file.matches {
            asked.push(Asked::Matches(pattern(text)?, true));
        }
        if let Some(text) = file.unmatched {
            asked.push(Asked::Matches(pattern(text)?, false));
        }
        if let Some(name) = file.r#in {
            asked.push(Asked::In((words.list)(&name)?));
        }
        if let Some(name) = file.in_any_case {
            asked.push(Asked::InAnyCase((words.list)(&name)?));
        }
        if let Some(name) = file.in_spaces {
            asked.push(Asked::InSpaces((words.list)(&name)?));
        }
        if let Some(name) = file.digits_in {
            asked.push(Asked::DigitsIn((words.list)(&name)?));
        }
        asked.extend(file.longer.map(Asked::Longer));
        asked.extend(file.more_bytes.map(Asked::MoreBytes));
        asked.extend(file.ascii.map(Asked::Ascii));
        asked.extend(file.over.map(|limit| Asked::Over(limit.into())));
        asked.extend(file.under.map(|limit| Asked::Under(limit.into())));
        for (file, kind) in [
            (file.fraction_over, Asked::FractionOver as fn(Cell) -> Asked),
            (file.fraction_under, Asked::FractionUnder),
            (file.whole_over, Asked::WholeOver),
        ] {
            if let Some(file) = file {
                asked.push(kind(cell(file)?));
            }
        }
        asked.extend(file.workdays_over.map(Asked::WorkdaysOver));
        asked.extend(file.workdays_under.map(Asked::WorkdaysUnder));
        asked.extend(file.date.map(Asked::Date));
        asked.extend(file.before.map(Asked::Before));
        asked.extend(file.placeholder.map(Asked::Placeholder));
        asked.extend(file.is_iban.map(Asked::IsIban));
        asked.extend(file.fraction.then_some(Asked::Fraction));
        asked.extend(file.items_over.map(Asked::ItemsOver));
        asked.extend(file.repeated.then_some(Asked::Repeated));
        asked.extend(file.repeated_member.map(Asked::RepeatedMember));
        if let Some(item) = file.some_item {
            asked.push(Asked::SomeItem(Box::new(Self::new(*item, words)?)));
        }
        asked.extend(file.made_by.map(Asked::MadeBy));
        asked.extend(file.sent_before.map(Asked::SentBefore));
        asked.extend(file.times_over.map(Asked::TimesOver));
        asked.extend(file.member_twice.then_some(Asked::MemberTwice));
        asked.extend(file.unlisted.map(Asked::Unlisted));
        if let Some(not) = file.not {
            asked.push(Asked::Not(Box::new(Self::new(*not, words)?)));
        }
        let elsewhere = file.r#where.into_iter();
        let elsewhere = elsewhere
            .map(|(at, condition)| Ok((at, Self::new(condition, words)?)))
            .collect::<Result<_, String>>()?;
        Ok(Self { asked, elsewhere })
    }

    /// Returns true if all conditions hold at a place.
    pub(super) fn holds(&self, scope: &Scope<'_>, at: &str) -> bool {
        let holds_here = self.asked.is_empty() || {
            let value = scope.value(at);
            self.asked.iter().all(|asked| asked.holds(scope, at, value.as_deref()))
        };
        holds_here && self.elsewhere.iter().all(|(other, test)| test.holds(scope, &Scope::beside(at, other)))
    }

    /// Adds the parts of a request, other than the place itself, that the result depends on
    /// ([`super::view::part`]).
    pub(super) fn watches(&self, parts: &mut BTreeSet<String>) {
        for asked in &self.asked {
            match asked {
                Asked::FractionOver(cell) | Asked::FractionUnder(cell) | Asked::WholeOver(cell) => {
                    parts.insert(part(&cell.key));
                }
                Asked::Before(other) => _ = parts.insert(part(other)),
                Asked::MadeBy(_) | Asked::SentBefore(_) => _ = parts.insert(BEFORE.to_owned()),
                Asked::SomeItem(inner) | Asked::Not(inner) => inner.watches(parts),
                _ => {}
            }
        }
        for (at, condition) in &self.elsewhere {
            parts.insert(part(at));
            condition.watches(parts);
        }
    }

    /// Adds the values with placeholders that the conditions name, each with its place.
    pub(super) fn written(&self, at: &str, found: &mut Vec<(String, Value)>) {
        for asked in &self.asked {
            match asked {
                Asked::Is(values) => {
                    let written = values.iter().filter(|value| value.to_string().contains("${"));
                    found.extend(written.map(|value| (at.to_owned(), value.clone())));
                }
                Asked::SomeItem(inner) => inner.written(&format!("{at}/0"), found),
                Asked::Not(inner) => inner.written(at, found),
                _ => {}
            }
        }
        for (other, condition) in &self.elsewhere {
            condition.written(&Scope::beside(at, other), found);
        }
    }

    /// Adds the names of earlier requests whose number the conditions depend on.
    pub(super) fn repeats(&self, found: &mut Vec<String>) {
        for asked in &self.asked {
            match asked {
                Asked::SentBefore(SentBefore { name, .. }) => found.push(name.clone()),
                Asked::SomeItem(inner) | Asked::Not(inner) => inner.repeats(found),
                _ => {}
            }
        }
        self.elsewhere.iter().for_each(|(_, condition)| condition.repeats(found));
    }

    fn holds_of(&self, scope: &Scope<'_>, at: &str, value: &Value) -> bool {
        self.asked.iter().all(|asked| asked.holds(scope, at, Some(value)))
    }
}

impl Asked {
    fn holds(&self, scope: &Scope<'_>, at: &str, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Absent(absent), value) => value.is_none() == *absent,
            (Self::Missing, value) => value.is_none_or(Value::is_null),
            (Self::Not(test), value) => !test.asked.iter().all(|asked| asked.holds(scope, at, value)),
            (Self::Unlisted(Unlisted::Header), _) => {
                let is_listed = |name: &str| {
                    scope.below("header").any(|known| known.eq_ignore_ascii_case(name))
                        || scope.plain.header(name).is_some()
                };
                scope.request.headers.iter().any(|(name, _)| !is_listed(name))
            }
            (Self::Unlisted(Unlisted::Query), _) => {
                scope.request.query.iter().any(|(name, _)| !scope.below("query").any(|known| known == name))
            }
            (Self::MemberTwice, _) => matches!(scope.request.payload, Payload::Json(_, true)),
            (Self::SentBefore(SentBefore { name, times: least }), _) => {
                scope.prepared.get(name).is_some_and(|(_, times)| times >= least)
            }
            (_, None) => false,
            (Self::Unlisted(Unlisted::Member), Some(value)) => value.as_object().is_some_and(|members| {
                members.keys().any(|name| !scope.below(at).any(|known| known == name))
            }),
            (Self::Plain, Some(value)) => scope.plain_value(at) == Some(value),
            (Self::TimesOver(most), _) => {
                let name = at.trim_start_matches("header/");
                let times = scope
                    .request
                    .headers
                    .iter()
                    .filter(|(known, _)| known.eq_ignore_ascii_case(name))
                    .count();
                times > *most
            }
            (Self::FractionOver(cell), Some(value)) => {
                compared(scope, cell, value, |text, digits| Some(fraction(text) > digits.parse().ok()?))
            }
            (Self::FractionUnder(cell), Some(value)) => {
                compared(scope, cell, value, |text, digits| Some(fraction(text) < digits.parse().ok()?))
            }
            (Self::WholeOver(cell), Some(value)) => compared(scope, cell, value, |text, known| {
                let whole = text.split('.').next().unwrap_or(text);
                Some(whole.len() > with_digits(known).len())
            }),
            (Self::Before(other), Some(value)) => {
                let other = scope.value(&Scope::beside(at, other));
                other.and_then(|other| Some(days(value)? < days(&other)?)).unwrap_or(false)
            }
            (Self::SomeItem(test), Some(value)) => {
                value.as_array().is_some_and(|items| items.iter().any(|item| test.holds_of(scope, at, item)))
            }
            (Self::MadeBy(whom), Some(value)) => {
                let known = value.as_str().and_then(|text| scope.prepared.get(made_as(text)?));
                if whom == "nobody" {
                    known.is_none()
                } else {
                    known.is_some_and(|(operation, _)| operation == whom)
                }
            }
            (asked, Some(value)) => asked.holds_alone(value),
        }
    }

    /// Returns true if a condition holds that depends on the value alone.
    fn holds_alone(&self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Type(kinds) => kinds.iter().any(|kind| is_of_type(value, kind)),
            Self::Is(any) => any.contains(value),
            Self::Matches(pattern, wanted) => text.is_some_and(|text| pattern.is_match(text) == *wanted),
            Self::In(words) => text.is_some_and(|text| words.contains(text)),
            Self::InAnyCase(words) => {
                text.is_some_and(|text| words.iter().any(|word| word.to_lowercase() == text.to_lowercase()))
            }
            Self::InSpaces(words) => text
                .map(|text| (text, text.trim_matches(|character: char| character.is_ascii_whitespace())))
                .is_some_and(|(text, word)| text != word && words.contains(word)),
            Self::DigitsIn(words) => value.is_number() && words.contains(&value.to_string()),
            Self::Longer(most) => text.is_some_and(|text| text.chars().count() > *most),
            Self::MoreBytes(most) => text.is_some_and(|text| text.len() > *most),
            Self::Ascii(wanted) => text.is_some_and(|text| text.is_ascii() == *wanted),
            Self::Over(limit) => number(value).is_some_and(|number| number > *limit),
            Self::Under(limit) => number(value).is_some_and(|number| number < *limit),
            Self::WorkdaysOver(limit) => workdays(value).is_some_and(|days| days > *limit),
            Self::WorkdaysUnder(limit) => workdays(value).is_some_and(|days| days < *limit),
            Self::Date(DateForm::Extended) => text.is_some_and(date::is_calendar_date),
            Self::Date(DateForm::Basic) => text.is_some_and(date::is_basic_date),
            Self::Placeholder(Placeholder::Within) => text.is_some_and(|text| text.contains("${")),
            Self::Placeholder(Placeholder::Alone) => {
                text.is_some_and(|text| text.starts_with("${") && text.find('}') == Some(text.len() - 1))
            }
            Self::IsIban(wanted) => text.is_some_and(|text| iban::is_iban(text) == *wanted),
            Self::Fraction => value.as_f64().is_some_and(|number| number.fract() != 0.0),
            Self::ItemsOver(most) => value.as_array().is_some_and(|items| items.len() > *most),
            Self::Repeated => has_one_twice(&value.as_array().into_iter().flatten().collect::<Vec<_>>()),
            Self::RepeatedMember(name) => {
                let items = value.as_array().into_iter().flatten();
                has_one_twice(&items.filter_map(|item| item.get(name)).collect::<Vec<_>>())
            }
            _ => false,
        }
    }
}

fn compared(scope: &Scope<'_>, cell: &Cell, value: &Value, test: fn(&str, &str) -> Option<bool>) -> bool {
    let key = scope.value(&cell.key);
    let known = key.as_ref().and_then(|key| cell.cells.get(key.as_str()?));
    known.zip(value.as_str()).and_then(|(known, text)| test(text, known)).unwrap_or(false)
}
