//! A place in a body, formatted only when it is reported.

use std::fmt::{self, Write};

/// The body, or a field or element of an outer place. Displays as `body/_links/self`: `body` with a JSON
/// pointer (RFC 6901).
#[derive(Debug, Clone, Copy)]
pub(super) enum At<'a> {
    /// The whole body.
    Body,
    /// A field of an object.
    Member(&'a At<'a>, &'a str),
    /// An element of an array, counted from 0.
    Element(&'a At<'a>, usize),
}

impl At<'_> {
    /// Returns the place of a field.
    pub(super) const fn member<'a>(&'a self, name: &'a str) -> At<'a> {
        At::Member(self, name)
    }

    /// Returns the place of an element.
    pub(super) const fn element(&self, index: usize) -> At<'_> {
        At::Element(self, index)
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("body"),
            Self::Element(outer, index) => write!(f, "{outer}/{index}"),
            Self::Member(outer, name) => {
                write!(f, "{outer}/")?;
                write_token(name, f)
            }
        }
    }
}

/// Returns true if a path matches a place, segment by segment. `*` matches one field or element, `**` any
/// number of them.
pub(super) fn is_at(path: &[String], place: &[&str]) -> bool {
    match (path.split_first(), place.split_first()) {
        (None, None) => true,
        (Some((name, rest)), _) if name == "**" => {
            is_at(rest, place) || place.split_first().is_some_and(|(_, inner)| is_at(path, inner))
        }
        (Some((name, rest)), Some((token, inner))) => (name == "*" || name == token) && is_at(rest, inner),
        _ => false,
    }
}

/// Writes a segment, escaped as in RFC 6901 section 3. Control characters are escaped too, since places are
/// printed on terminals.
fn write_token(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in name.chars() {
        match character {
            '~' => f.write_str("~0")?,
            '/' => f.write_str("~1")?,
            _ => write_printable(character, f)?,
        }
    }
    Ok(())
}

/// Returns a pointer with its control characters escaped.
pub(super) fn printable(pointer: &str) -> String {
    let mut out = String::with_capacity(pointer.len());
    for character in pointer.chars() {
        write_printable(character, &mut out).expect("writing to a string does not fail");
    }
    out
}

fn write_printable(character: char, out: &mut impl Write) -> fmt::Result {
    if character.is_control() {
        return write!(out, "{}", character.escape_default());
    }
    out.write_char(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_stars_is_that_of_many_places() {
        let is_at = |path: &str, place: &str| {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            super::is_at(&path, &place.split('/').collect::<Vec<_>>())
        };
        assert!(is_at("a/*/b", "a/1/b") && is_at("a/*/b", "a/*/b") && !is_at("a/*", "a/1/b"));
        assert!(
            is_at("**/b", "b") && is_at("**/b", "a/1/b") && !is_at("**/b", "a/b/c") && is_at("**", "a/b")
        );
    }

    #[test]
    fn a_place_is_a_pointer_after_the_word_body() {
        let links = At::Body.member("_links");
        assert_eq!(links.member("a/b~c\u{1b}").to_string(), "body/_links/a~1b~0c\\u{1b}");
        assert_eq!(links.element(3).to_string(), "body/_links/3");
        assert_eq!(At::Body.to_string(), "body");
    }
}
