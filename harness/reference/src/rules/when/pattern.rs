//! Regular expressions of conditions, and sorts of strings that no regular expression tells apart.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use chrono::{Datelike as _, Weekday};
use regex::{Regex, RegexBuilder};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use xs2aspec_bank::account_number::has_check_digits;
use xs2aspec_bank::date;

/// A regular expression. It matches anywhere unless it has anchors, and `.` is any character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(pub(crate) &'static str);

impl Pattern {
    /// Returns true if the text matches.
    pub(super) fn matches(self, text: &str) -> bool {
        self.compiled().is_match(text)
    }

    /// Replaces whatever matches. Returns None if nothing does.
    pub(super) fn replace(self, text: &str, by: &str) -> Option<String> {
        match self.compiled().replace_all(text, by) {
            Cow::Owned(replaced) => Some(replaced),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns the last group of the first match, or the match if there is no group.
    pub(super) fn part(self, text: &str) -> Option<&str> {
        let groups = self.compiled().captures(text)?;
        groups.get(groups.len() - 1).map(|part| part.as_str())
    }

    fn compiled(self) -> &'static Regex {
        self.compile().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Compiles the pattern once, for as long as the process lives.
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

/// What a string can be that no regular expression tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sort {
    /// A day that exists, as `YYYY-MM-DD`.
    Day,
    /// A Saturday or Sunday.
    Weekend,
    /// An iban with the check digits of its number.
    Iban,
    /// A Norwegian account number: eleven digits, the last of which is the check digit of the others.
    DomesticNumber,
}

impl Sort {
    /// Returns true if the text is one.
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

/// Modulo 11 with the weights 5 4 3 2 7 6 5 4 3 2.
fn has_check_digit(number: &str) -> bool {
    let digits: Vec<u32> = number.chars().filter_map(|digit| digit.to_digit(10)).collect();
    let weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1];
    digits.len() == 11
        && digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

/// How two texts compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// The first one sorts before the second one.
    Less,
    /// They are the same.
    Equal,
    /// They are not.
    Other,
}

impl Order {
    /// Returns true if two texts compare so.
    pub(super) fn is_of(self, one: &str, other: &str) -> bool {
        match self {
            Self::Less => one < other,
            Self::Equal => one == other,
            Self::Other => one != other,
        }
    }
}
