//! Similarity of strings, and ways to count characters.

use serde::Deserialize;

/// A way in which a string resembles one of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Likeness {
    /// It differs only in case.
    LetterCase,
    /// It differs only in the spaces around it.
    Blanks,
    /// It starts with the other.
    Beginning,
    /// It ends with the other.
    End,
    /// It contains the other.
    Inside,
    /// The other starts with it, and it is not empty.
    Part,
    /// It differs in one letter.
    OneLetter,
}

impl Likeness {
    pub(super) fn holds(self, text: &str, one: &str) -> bool {
        match self {
            Self::LetterCase => text.eq_ignore_ascii_case(one),
            Self::Blanks => text.trim() == one,
            Self::Beginning => text.starts_with(one),
            Self::End => text.ends_with(one),
            Self::Inside => text.contains(one),
            Self::Part => !text.is_empty() && one.starts_with(text),
            Self::OneLetter => {
                let others = text.bytes().zip(one.bytes()).filter(|(a, b)| a != b).count();
                text.len() == one.len() && others == 1
            }
        }
    }
}

/// A way to count the characters of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Count {
    /// Without the spaces around it.
    Trimmed,
    /// ASCII characters only.
    Ascii,
    /// Without combining marks.
    WithoutMarks,
    /// Bytes in UTF-8.
    Bytes,
    /// Code units in UTF-16.
    Units,
    /// Without spaces.
    WithoutBlanks,
    /// With repeated spaces folded into one.
    OneBlank,
    /// In the longest line.
    LongestLine,
    /// After conversion to uppercase, which can turn one letter into several.
    Capitals,
}

impl Count {
    pub(super) fn count(self, text: &str) -> usize {
        match self {
            Self::Trimmed => text.trim().chars().count(),
            Self::Ascii => text.chars().filter(char::is_ascii).count(),
            Self::WithoutMarks => {
                text.chars().filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}')).count()
            }
            Self::Bytes => text.len(),
            Self::Units => text.encode_utf16().count(),
            Self::WithoutBlanks => text.chars().filter(|letter| !letter.is_whitespace()).count(),
            Self::OneBlank => text.split_whitespace().collect::<Vec<_>>().join(" ").chars().count(),
            Self::LongestLine => text.lines().map(|line| line.chars().count()).max().unwrap_or_default(),
            Self::Capitals => text.to_uppercase().chars().count(),
        }
    }
}
