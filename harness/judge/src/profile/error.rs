//! What is wrong with a profile.

use xs2aspec_suite::nearest;

/// Why a profile cannot be used. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file, or one it names.
    #[error("{file}: cannot be read: {source}")]
    File {
        /// Path.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Not TOML, an unknown field, a missing one, a wrong type.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// Path.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What was expected and what was found, with the near name.
        message: String,
    },
    /// A value that cannot be.
    #[error("{file}: {message}")]
    Value {
        /// Path.
        file: String,
        /// What was expected and what was found.
        message: String,
    },
}

pub(super) fn value(file: &str, message: impl Into<String>) -> ProfileError {
    ProfileError::Value { file: file.to_owned(), message: message.into() }
}

pub(crate) fn syntax(file: &str, text: &str, error: &toml::de::Error) -> ProfileError {
    let mut message = error.message().lines().next().unwrap_or_default().to_owned();
    // The parser lists what it knows between backquotes; the near name is among them.
    let mut quoted = message.split('`').skip(1).step_by(2);
    if let (true, Some(found)) = (message.starts_with("unknown field"), quoted.next())
        && let Some(near) = nearest(found, quoted)
    {
        message = format!("unknown field `{found}`; did you mean `{near}`?");
    } else if let Some((what, _)) = message.split_once(", expected one of")
        && message.starts_with("unknown field")
    {
        message = format!("{what}: `xs2aspec init --schema` lists what a profile may say");
    }
    at(file, text, error.span().map_or(0, |span| span.start), message)
}

/// A mistake at this byte of the text.
pub(super) fn at(file: &str, text: &str, byte: usize, message: String) -> ProfileError {
    let before = &text[..byte.min(text.len())];
    ProfileError::Syntax {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before.chars().rev().take_while(|letter| *letter != '\n').count() + 1,
        message,
    }
}

/// Names what is unknown, with the near name.
pub(super) fn unknown<'a>(what: &str, found: &'a str, known: impl Iterator<Item = &'a str>) -> String {
    format!("unknown {what} `{found}`{}", near(found, known))
}

/// Returns the nearest name as advice, or nothing if none is near.
pub(crate) fn near<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}
