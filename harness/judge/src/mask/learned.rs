//! Personal values in messages that are not in the profile.

use std::{fmt, ops::RangeInclusive};

use xs2aspec_spec::iban::is_iban;

use super::{
    finder::{Finder, Found},
    key::MaskKey,
    secret::{Grade, Secret},
};

/// Length of Norwegian account and person numbers.
const NUMBER: usize = 11;

/// Lengths of IBANs (ISO 13616).
const IBAN: RangeInclusive<usize> = 15..=34;

/// Values found in messages.
#[derive(Default)]
pub struct Learned {
    secrets: Vec<Secret>,
    finder: Option<Finder>,
}

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Learned({} values)", self.secrets.len())
    }
}

impl Learned {
    /// Adds values with their kinds. The first of equal values counts.
    pub(super) fn add(&mut self, found: Vec<(String, String)>, document: &str) {
        let before = self.secrets.len();
        self.add_each(found, |text| Grade::of(text, document));
        if self.secrets.len() > before {
            self.finder = Some(Finder::new(&self.secrets));
        }
    }

    /// Adds values that are masked only at their places.
    pub(super) fn add_places(&mut self, found: Vec<(String, String)>) {
        self.add_each(found, |_| Grade::Place);
    }

    fn add_each(&mut self, found: Vec<(String, String)>, grade: impl Fn(&str) -> Grade) {
        for (kind, text) in found {
            if !text.trim().is_empty() && !self.secrets.iter().any(|known| known.text == text) {
                self.secrets.push(Secret { kind, grade: grade(&text), text, name: None });
            }
        }
    }

    /// Adds the values of another collection.
    pub fn append(&mut self, mut other: Self) {
        self.secrets.append(&mut other.secrets);
        self.finder = (!self.secrets.is_empty()).then(|| Finder::new(&self.secrets));
    }

    /// Returns the pseudonym of a whole value.
    pub(super) fn exact(&self, text: &str, key: &MaskKey) -> Option<String> {
        self.secrets.iter().find(|secret| secret.text == text).map(|secret| secret.pseudonym(key, ""))
    }

    /// Finds the values in a string.
    pub(super) fn find(&self, text: &[u8], has_words: bool, key: &MaskKey) -> Vec<Found> {
        self.finder.as_ref().map_or_else(Vec::new, |finder| finder.find(text, has_words, key))
    }
}

/// Returns true if the request contains a value of its response. Short values do not count, because every
/// request contains some.
pub(super) fn is_sent(text: &str, url: &str, body: &str, document: &str) -> bool {
    Grade::of(text, document) > Grade::Place && (body.contains(text) || url.contains(text))
}

/// Finds IBANs with correct check digits (ISO 13616), and numbers with the length of account and person
/// numbers.
pub(super) fn numbers(text: &str) -> Vec<(String, String)> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let kind = |word: &str| {
        let is_number = word.len() == NUMBER && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_account = || IBAN.contains(&word.len()) && is_iban(&word.to_ascii_uppercase());
        if is_number { Some("number") } else { is_account().then_some("account") }
    };
    words.filter_map(|word| Some((kind(word)?.to_owned(), word.to_owned()))).collect()
}
