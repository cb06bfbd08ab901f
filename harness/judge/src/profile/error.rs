//! Errors in a profile.

use xs2aspec_suite::nearest;

/// The reason why a profile cannot be used (exit code 2).
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The profile, or a file that it names, cannot be read.
    #[error("cannot read {file}: {source}")]
    File {
        /// Path.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Invalid TOML, an unknown or missing field, or a wrong type.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// Path.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, counted in characters from 1.
        column: usize,
        /// The expected and the found, with a suggestion.
        message: String,
    },
    /// An invalid value.
    #[error("{file}: {message}")]
    Value {
        /// Path.
        file: String,
        /// The expected and the found value.
        message: String,
    },
}

pub(super) fn value(file: &str, message: impl Into<String>) -> ProfileError {
    ProfileError::Value { file: file.to_owned(), message: message.into() }
}

pub(crate) fn syntax(file: &str, text: &str, error: &toml::de::Error) -> ProfileError {
    let mut message = error.message().lines().next().unwrap_or_default().to_owned();
    // The parser lists the known names in backquotes. The nearest one is among them.
    let mut quoted = message.split('`').skip(1).step_by(2);
    if let (true, Some(found)) = (message.starts_with("unknown field"), quoted.next())
        && let Some(near) = nearest(found, quoted)
    {
        message = format!("unknown field `{found}`; did you mean `{near}`?");
    } else if let Some((what, _)) = message.split_once(", expected one of")
        && message.starts_with("unknown field")
    {
        message = format!("{what}: `xs2aspec init --schema` lists the allowed fields");
    }
    at(file, text, error.span().map_or(0, |span| span.start), message)
}

/// Returns an error at this byte offset of the file.
pub(super) fn at(file: &str, text: &str, byte: usize, message: String) -> ProfileError {
    let before = &text[..byte.min(text.len())];
    ProfileError::Syntax {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before.chars().rev().take_while(|letter| *letter != '\n').count() + 1,
        message,
    }
}

/// Describes an unknown name, with a suggestion.
pub(super) fn unknown<'a>(what: &str, found: &'a str, known: impl Iterator<Item = &'a str>) -> String {
    format!("unknown {what} `{found}`{}", near(found, known))
}

/// Returns a suggestion for the nearest name, or an empty string.
pub(crate) fn near<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}
