//! Places in a request or a response.

use std::{fmt, str::FromStr};

/// A place in a message: `header/PSU-ID`, `query/withAccounts`, `body/creditorAccount/iban`, `body`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// A header, by name.
    Header(String),
    /// A query parameter, by name.
    Query(String),
    /// A field of the body, by JSON pointer (RFC 6901). Empty for the whole body.
    Body(String),
    /// The path of a request, below the base URL.
    Path,
    /// A header that the request had, by name. Only `keep` can use it.
    Sent(String),
}

/// The error for a string that is not a location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a place in a message: expected `header/NAME`, `query/NAME`, `body`, `body/FIELD/..` or `path`"
)]
pub struct NoLocation(String);

impl FromStr for Location {
    type Err = NoLocation;

    fn from_str(text: &str) -> Result<Self, NoLocation> {
        match text.split_once('/') {
            Some(("header", name)) if !name.is_empty() && !name.contains('/') => {
                Ok(Self::Header(name.to_owned()))
            }
            Some(("query", name)) if !name.is_empty() => Ok(Self::Query(name.to_owned())),
            Some(("body", member)) if !member.is_empty() => Ok(Self::Body(format!("/{member}"))),
            Some(("sent", name)) if !name.is_empty() && !name.contains('/') => {
                Ok(Self::Sent(name.to_owned()))
            }
            None if text == "path" => Ok(Self::Path),
            None if text == "body" => Ok(Self::Body(String::new())),
            _ => Err(NoLocation(text.to_owned())),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header/{name}"),
            Self::Query(name) => write!(f, "query/{name}"),
            Self::Body(pointer) => write!(f, "body{pointer}"),
            Self::Path => f.write_str("path"),
            Self::Sent(name) => write!(f, "sent/{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_location_is_written_as_it_was_read() {
        for text in [
            "header/PSU-ID",
            "query/withAccounts",
            "body",
            "body/creditorAccount/iban",
            "body/a~1b/0",
            "path",
            "sent/Digest",
        ] {
            assert_eq!(text.parse::<Location>().unwrap().to_string(), text);
        }
        for text in ["", "header", "header/", "header/a/b", "query/", "body/", "cookie/a", "path/a", "sent/"]
        {
            assert!(text.parse::<Location>().is_err(), "{text}");
        }
    }
}
