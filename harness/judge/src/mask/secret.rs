//! Values that must not be recorded, graded by how distinctive they are. Short ones occur inside other
//! values.

use base64::{Engine, prelude::BASE64_STANDARD};
use xs2aspec_spec::iban::is_iban;
use xs2aspec_suite::template;

use super::{key::MaskKey, view::separates};
use crate::profile::Profile;

/// Minimum length of a value that is masked wherever it appears.
const DISTINCTIVE: usize = 8;

/// Minimum length if the value has only letters or only digits.
const OF_ONE_KIND: usize = 11;

/// Minimum length of a value that is masked as a whole word.
const WORD: usize = 4;

/// The places where a value is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// Only in the fields, headers, path segments and parameters that contain it.
    Place,
    /// There, and as a whole word anywhere.
    Word,
    /// Everywhere, in any notation.
    Anywhere,
}

impl Grade {
    /// Returns the grade of a value. A word of the document gets a lower one.
    pub(super) fn of(text: &str, document: &str) -> Self {
        let letters: Vec<char> = text.chars().filter(|letter| !separates(*letter)).collect();
        let has_digit = text.chars().any(|letter| letter.is_ascii_digit());
        let has_letter = text.chars().any(char::is_alphabetic);
        let has_other = letters.iter().any(|letter| !letter.is_alphanumeric());
        let is_mixed = [has_digit, has_letter, has_other].into_iter().filter(|has| *has).count() > 1;
        let grade = match letters.len() {
            DISTINCTIVE.. if is_mixed => Self::Anywhere,
            OF_ONE_KIND.. => Self::Anywhere,
            WORD.. => Self::Word,
            _ => Self::Place,
        };
        let is_of_document = grade > Self::Place && document.contains(&text.to_lowercase());
        match grade {
            Self::Anywhere if is_of_document && !has_digit => Self::Word,
            Self::Word if is_of_document => Self::Place,
            other => other,
        }
    }
}

/// A value that must not be recorded.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret {
    /// Kind of the value, used in its pseudonym.
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) grade: Grade,
    /// Name of the value in the profile, if it has one.
    pub(super) name: Option<String>,
}

impl Secret {
    pub(super) fn new(kind: &str, text: &str, document: &str) -> Self {
        Self { kind: kind.to_owned(), text: text.to_owned(), grade: Grade::of(text, document), name: None }
    }

    /// Returns the pseudonym of the secret in this notation.
    pub(super) fn pseudonym(&self, key: &MaskKey, writing: &str) -> String {
        if writing.is_empty() {
            return key.pseudonym(&self.kind, &self.text);
        }
        key.pseudonym(&format!("{}.{writing}", self.kind), &self.text)
    }
}

/// Returns the secrets of a profile. `document` is the document under test, in lowercase.
pub(super) fn of_profile(profile: &Profile, document: &str) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = Vec::new();
    let mut add = |kind: &str, text: &str, name: Option<&str>| {
        // Equal values have one pseudonym.
        let known = secrets.iter().find(|known| known.text == text);
        let kind = known.map_or(kind, |known| known.kind.as_str());
        let secret = Secret { name: name.map(str::to_owned), ..Secret::new(kind, text, document) };
        if !text.is_empty() {
            secrets.push(secret);
        }
    };
    let values: Vec<_> = profile.values.iter().filter(|(name, _)| !profile.public.contains(*name)).collect();
    for (name, text) in &values {
        add(last(name), text, Some(name.as_str()));
    }
    for (name, text) in values {
        let (kind, name) = (last(name), Some(name.as_str()));
        // Requests repeat a part of some values: `${beginning.NAME}`, and the account number in an IBAN.
        if let Some(beginning) = template::beginning(text) {
            add(&format!("{kind}.beginning"), beginning, name);
        }
        if is_iban(text) {
            add(&format!("{kind}.bban"), &text[4..], name);
        }
        if let Some(rest) = without_scheme(text) {
            add(&format!("{kind}.rest"), rest, name);
        }
    }
    for text in &profile.prepared {
        add("prepared", text, None);
    }
    for (name, text) in &profile.headers {
        for (part, text) in of_header(text) {
            let kind = if part.is_empty() { name.clone() } else { format!("{name}.{part}") };
            add(&kind, &text, None);
        }
    }
    // Parts of a header may be any string. Short profile values are masked at their places.
    secrets.retain(|secret| secret.name.is_some() || secret.grade > Grade::Place);
    secrets
}

/// Returns the last part of a dotted name.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns the value of a header and its parts: the credentials after a scheme, the user and password of
/// `Basic` (RFC 7617), and the values of `name=value` pairs.
pub(super) fn of_header(value: &str) -> Vec<(&'static str, String)> {
    let mut parts = vec![("", value.to_owned())];
    let (scheme, credentials) = value.split_once(' ').unwrap_or(("", value));
    parts.push(("credentials", credentials.trim().to_owned()));
    let decoded =
        BASE64_STANDARD.decode(credentials.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"));
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some((user, password)) = decoded.as_deref().and_then(|text| text.split_once(':')) {
        parts.extend([("user", user.to_owned()), ("password", password.to_owned())]);
    }
    for pair in value.split([';', ',', ' ', '&']) {
        if let Some((_, value)) =
            pair.split_once('=').filter(|(_, value)| !value.trim_matches('=').is_empty())
        {
            parts.push(("part", value.trim_matches('"').to_owned()));
        }
    }
    parts
}

/// Returns a URI without its scheme (RFC 3986 section 3.1).
fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let rest = rest.trim_start_matches('/');
    Some(rest).filter(|rest| is_scheme && !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_masked_where_it_is_no_part_of_another() {
        const DOCUMENT: &str = "a transaction has the status pdng";
        for (text, expected) in [
            ("1", Grade::Place),
            ("123", Grade::Place),
            ("PDNG", Grade::Place),
            ("4711", Grade::Word),
            ("20250212", Grade::Word),
            ("customer", Grade::Word),
            ("transaction", Grade::Word),
            ("12345678911", Grade::Anywhere),
            ("NO9386011117947", Grade::Anywhere),
            ("canary-account", Grade::Anywhere),
            ("Kåre Nordmann", Grade::Anywhere),
        ] {
            assert_eq!(Grade::of(text, DOCUMENT), expected, "{text}");
        }
    }

    #[test]
    fn a_header_is_known_by_each_of_its_parts() {
        let found = |value: &str| of_header(value).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        for (value, part) in [
            ("Bearer canary-token", "canary-token"),
            ("Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXB3", "Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXB3"),
            ("Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXB3", "canary-user"),
            ("Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXB3", "canary-pw"),
            ("a=canary-1; b=\"canary-2\"", "canary-2"),
            ("canary", "canary"),
        ] {
            assert!(found(value).contains(&part.to_owned()), "{value}: {:?}", found(value));
        }
        assert_eq!(without_scheme("urn:iban:NO93"), Some("iban:NO93"));
        assert_eq!(without_scheme("20250212!0"), None);
    }
}
