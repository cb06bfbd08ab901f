//! How a string is like another, and other ways to count its characters.

use serde::Deserialize;

/// How a string is like one of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Likeness {
    /// In all but letter case.
    LetterCase,
    /// In all but blanks around it.
    Blanks,
    /// It begins so.
    Beginning,
    /// It ends so.
    End,
    /// It has that in it.
    Inside,
    /// It is the beginning of one, and not empty.
    Part,
    /// It is as long, and one letter is another.
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

/// Another way to count the characters of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Count {
    /// Without blanks around it.
    Trimmed,
    /// Those of ASCII.
    Ascii,
    /// Without marks that combine with the letter before them.
    WithoutMarks,
    /// Bytes of UTF-8.
    Bytes,
    /// Units of UTF-16.
    Units,
    /// Without blanks.
    WithoutBlanks,
    /// With several blanks as one.
    OneBlank,
    /// Those of its longest line.
    LongestLine,
    /// After it was written in capital letters, of which one letter may become several.
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
