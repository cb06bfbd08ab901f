//! Regular expressions of conditions, and sorts of strings that a regular expression cannot recognize.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use chrono::{Datelike as _, Weekday};
use regex::{Regex, RegexBuilder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use xs2aspec_bank::account_number::has_check_digits;
use xs2aspec_bank::date;

/// A regular expression. It is not anchored, and `.` matches any character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(pub(crate) &'static str);

impl Pattern {
    /// Returns true if the string matches.
    pub(super) fn matches(self, text: &str) -> bool {
        self.compiled().is_match(text)
    }

    /// Replaces each match. Returns None if there is none.
    pub(super) fn replace(self, text: &str, by: &str) -> Option<String> {
        match self.compiled().replace_all(text, by) {
            Cow::Owned(replaced) => Some(replaced),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns the last group of the first match, or the whole match if there is no group.
    pub(super) fn part(self, text: &str) -> Option<&str> {
        let groups = self.compiled().captures(text)?;
        groups.get(groups.len() - 1).map(|part| part.as_str())
    }

    fn compiled(self) -> &'static Regex {
        self.compile().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Compiles the pattern once per process.
    fn compile(self) -> Result<&'static Regex, regex::Error> {
        static COMPILED: LazyLock<Mutex<HashMap<&str, &Regex>>> = LazyLock::new(Mutex::default);
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get(self.0) {
            return Ok(known);
        }
        let made = RegexBuilder::new(self.0).dot_matches_new_line(true).build()?;
        Ok(compiled.entry(self.0).or_insert(Box::leak(Box::new(made))))
    }
}

impl<'de: 'static> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pattern = Self(Deserialize::deserialize(deserializer)?);
        pattern.compile().map_err(D::Error::custom)?;
        Ok(pattern)
    }
}

/// A sort of strings that a regular expression cannot recognize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sort {
    /// An existing day, as `YYYY-MM-DD`.
    Day,
    /// A Saturday or Sunday.
    Weekend,
    /// An iban with valid check digits.
    Iban,
    /// A Norwegian account number: eleven digits, the last of them a check digit.
    DomesticNumber,
}

impl Sort {
    /// Returns true if the string is of this sort.
    pub(super) fn has(self, text: &str) -> bool {
        match self {
            Self::Day => date::parse(text).is_ok(),
            Self::Weekend => {
                date::parse(text).is_ok_and(|day| matches!(day.weekday(), Weekday::Sat | Weekday::Sun))
            }
            Self::Iban => has_check_digits(text),
            Self::DomesticNumber => has_check_digit(text),
        }
    }
}

/// Returns true if the last of eleven digits is a valid check digit: modulus 11 with the weights 5 4 3 2 7 6
/// 5 4 3 2.
fn has_check_digit(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|digit| digit.to_digit(10)).collect();
    let weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];
    digits.len() == 11
        && digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

/// The order of two strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// The first sorts before the second.
    Less,
    /// They are equal.
    Equal,
    /// They differ.
    Other,
}

impl Order {
    /// Returns true if two strings have this order.
    pub(super) fn is_of(self, one: &str, other: &str) -> bool {
        match self {
            Self::Less => one < other,
            Self::Equal => one == other,
            Self::Other => one != other,
        }
    }
}
