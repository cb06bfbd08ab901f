//! Conditions on the values of a request.

mod likeness;
mod pattern;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use axum::http::Uri;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use xs2aspec_bank::header::fields::Fields;
use xs2aspec_bank::{country, currency};

use super::Place;
use super::rows::{kept, list};
use crate::codes::{SANCTIONED_COUNTRIES, SANCTIONED_CURRENCIES};

pub(crate) use likeness::{Count, Likeness};
pub(crate) use pattern::{Order, Pattern, Sort};

/// The values that a fault or a variation applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum When {
    /// No value.
    Absent,
    /// Any value.
    Present,
    /// `null`.
    Null,
    /// A value of another JSON type: `s` string, `o` object, `a` array, `i` integer.
    NotType(char),
    /// A value of this JSON type: `n` number, `b` boolean, `s` string, `a` array, `o` object.
    Type(char),
    /// A value whose JSON text, without spaces between its parts, matches.
    Json(Pattern),
    /// This string.
    Is(&'static str),
    /// One of these strings.
    Among(#[serde(deserialize_with = "words")] &'static [&'static str]),
    /// A string that is not in the list, but resembles one of it.
    Like(Likeness, #[serde(deserialize_with = "words")] &'static [&'static str]),
    /// A string of this length in characters.
    Characters(usize),
    /// A string of a length in this range, in characters.
    Between(usize, usize),
    /// A string of more than this number of characters.
    Longer(usize),
    /// A string of more than this number of characters, unless they are counted this way.
    Forgiven(Count, usize),
    /// A string of more than this number of characters, only if they are counted this way.
    Overcounted(Count, usize),
    /// A string that matches.
    Matches(Pattern),
    /// A string that does not match.
    Unmatched(Pattern),
    /// A string that matches, and satisfies the condition after each match is replaced with this string. `$1`
    /// is the first group.
    Becomes(Pattern, &'static str, #[serde(deserialize_with = "kept")] &'static When),
    /// A string of this sort.
    A(Sort),
    /// A string whose part compares this way with a part of the string at this pointer of the body. A part is
    /// the last group of a pattern.
    Against(Pattern, &'static str, Pattern, Order),
    /// An array of this length.
    Items(usize),
    /// An array that contains this integer this number of times.
    Has(i64, usize),
    /// An array with an item that satisfies the condition.
    Item(#[serde(deserialize_with = "kept")] &'static When),
    /// An array with duplicate items.
    Repeats,
    /// An array with an integer that is less than the one before it.
    Descends,
    /// An object with a field that has none of these names.
    OtherMembers(#[serde(deserialize_with = "words")] &'static [&'static str]),
    /// An Amount that lacks a number of fraction digits in this range, compared with its currency.
    LacksDigits(usize, usize),
    /// No value, if another place of the body has one.
    AbsentWith(&'static str),
    /// A value in a request without this header.
    Without(&'static str),
    /// Any value, if another place of the same head or body satisfies the condition.
    At(Place, #[serde(deserialize_with = "kept")] &'static When),
    /// All conditions hold.
    All(#[serde(deserialize_with = "list")] &'static [When]),
    /// One of the conditions holds.
    Any(#[serde(deserialize_with = "list")] &'static [When]),
    /// The condition does not hold. An absent value counts.
    Not(#[serde(deserialize_with = "kept")] &'static When),
}

/// The head or the body that contains the value, for conditions on other places.
#[derive(Clone, Copy)]
pub(super) enum Around<'a> {
    Head(Fields<'a>, &'a Uri),
    Body(&'a Value),
}

impl<'a> Around<'a> {
    /// Returns the value at a place.
    pub(super) fn value(self, place: Place) -> Option<Cow<'a, Value>> {
        match (self, place) {
            (Self::Head(fields, uri), Place::Header(_) | Place::Query(_)) => {
                place.text(fields, uri, &Value::Null).map(|text| Cow::Owned(text.into()))
            }
            (Self::Body(body), Place::Body(pointer)) => body.pointer(pointer).map(Cow::Borrowed),
            _ => None,
        }
    }
}

impl When {
    /// Returns true if the condition holds for a value.
    pub(super) fn holds(self, found: Option<&Value>, around: Around<'_>) -> bool {
        let text = || found.and_then(Value::as_str);
        let items = || found.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let characters = || text().map(|text| text.chars().count());
        match self {
            Self::Absent => found.is_none(),
            Self::Present => found.is_some(),
            Self::Null => found.is_some_and(Value::is_null),
            Self::NotType(letter) => found.is_some_and(|value| !is_type(value, letter)),
            Self::Type(letter) => found.is_some_and(|value| is_type(value, letter)),
            Self::Json(pattern) => found.is_some_and(|value| pattern.matches(&value.to_string())),
            Self::Is(wanted) => text() == Some(wanted),
            Self::Among(list) => text().is_some_and(|text| list.contains(&text)),
            Self::Like(likeness, list) => text().is_some_and(|text| {
                !list.contains(&text) && list.iter().any(|one| likeness.holds(text, one))
            }),
            Self::Characters(count) => characters() == Some(count),
            Self::Between(least, most) => characters().is_some_and(|count| (least..=most).contains(&count)),
            Self::Longer(most) => characters().is_some_and(|count| count > most),
            Self::Forgiven(count, most) => {
                text().is_some_and(|text| text.chars().count() > most && count.count(text) <= most)
            }
            Self::Overcounted(count, most) => {
                text().is_some_and(|text| text.chars().count() <= most && count.count(text) > most)
            }
            Self::Matches(pattern) => text().is_some_and(|text| pattern.matches(text)),
            Self::Unmatched(pattern) => text().is_some_and(|text| !pattern.matches(text)),
            Self::Becomes(pattern, by, when) => text()
                .and_then(|text| pattern.replace(text, by))
                .is_some_and(|text| when.holds(Some(&text.into()), around)),
            Self::A(sort) => text().is_some_and(|text| sort.has(text)),
            Self::Against(pattern, pointer, others, order) => {
                let other = around.value(Place::Body(pointer));
                let other = other.as_deref().and_then(Value::as_str).and_then(|text| others.part(text));
                let one = text().and_then(|text| pattern.part(text));
                one.zip(other).is_some_and(|(one, other)| order.is_of(one, other))
            }
            Self::Items(count) => items().len() == count && found.is_some_and(Value::is_array),
            Self::Has(number, times) => {
                items().iter().filter(|item| item.as_i64() == Some(number)).count() == times
            }
            Self::Item(when) => items().iter().any(|item| when.holds(Some(item), around)),
            Self::Descends => items().windows(2).any(|pair| pair[0].as_i64() > pair[1].as_i64()),
            Self::Repeats => items().iter().enumerate().any(|(at, item)| items()[..at].contains(item)),
            Self::OtherMembers(known) => {
                let mut names = found.and_then(Value::as_object).into_iter().flat_map(|object| object.keys());
                names.any(|name| !known.contains(&name.as_str()))
            }
            Self::LacksDigits(least, most) => {
                found.and_then(missing_digits).is_some_and(|missing| (least..=most).contains(&missing))
            }
            Self::AbsentWith(other) => {
                let other = around.value(Place::Body(other));
                found.is_none() && other.is_some_and(|value| !value.is_null())
            }
            Self::Without(header) => found.is_some() && around.value(Place::Header(header)).is_none(),
            Self::At(place, when) => when.holds(around.value(place).as_deref(), around),
            Self::All(all) => all.iter().all(|when| when.holds(found, around)),
            Self::Any(any) => any.iter().any(|when| when.holds(found, around)),
            Self::Not(when) => !when.holds(found, around),
        }
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

/// Returns the number of fraction digits that an Amount lacks, compared with its currency. Returns None if it
/// has more, or if the number for the currency is disputed.
fn missing_digits(amount: &Value) -> Option<usize> {
    let currency = currency::Currency::listed(amount["currency"].as_str()?)?;
    let units = currency.minor_units().filter(|_| !currency.is_disputed())?;
    let (_, digits) = amount["amount"].as_str()?.split_once('.').unwrap_or_default();
    units.checked_sub(digits.len())
}

/// Deserializes a list of words, given directly or as the name of a list in the document.
fn words<'de: 'static, D: Deserializer<'de>>(deserializer: D) -> Result<&'static [&'static str], D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, bound(deserialize = "'de: 'static"))]
    enum Words {
        Listed(Listed),
        Written(Vec<&'static str>),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Listed {
        Countries,
        Currencies,
        SanctionedCountries,
        SanctionedCurrencies,
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::Written(words) => words.leak(),
        Words::Listed(Listed::Countries) => &country::LISTED,
        Words::Listed(Listed::Currencies) => &currency::LISTED,
        Words::Listed(Listed::SanctionedCountries) => &SANCTIONED_COUNTRIES,
        Words::Listed(Listed::SanctionedCurrencies) => &SANCTIONED_CURRENCIES,
    })
}
