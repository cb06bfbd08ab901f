//! Defines what a record hides of a message, and the pseudonyms that replace it.

use std::ops::Range;

use serde::Deserialize;

use crate::{problem::Problem, tree::Tree, yaml};

/// Path of the file in a tree.
pub const FILE: &str = "fixtures/spec/masks.yaml";

/// Number of hexadecimal digits of a pseudonym.
pub const DIGITS: usize = 16;

/// Number of digits in records up to format 4.
const FORMER_DIGITS: usize = 8;

/// Words that mark the name of a header, field or parameter as that of a secret.
const SECRET_WORDS: [&str; 9] = [
    "authorization",
    "consent",
    "cookie",
    "credential",
    "passphrase",
    "password",
    "secret",
    "session",
    "token",
];

/// Words that mark the name of a header that is computed from a body. Such a value confirms a guess of what
/// the body holds.
const DIGEST_WORDS: [&str; 6] = ["checksum", "digest", "etag", "hash", "md5", "signature"];

/// Returns the places of the pseudonyms in a text. A pseudonym is a kind, `~`, and hexadecimal digits.
pub fn pseudonyms(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let of_kind = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    let tildes = text.iter().enumerate().filter(|(_, byte)| **byte == b'~');
    tildes.filter_map(move |(at, _)| {
        let kind = text[..at].iter().rev().take_while(of_kind).count();
        let rest = &text[at + 1..];
        let digits = match rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count() {
            FORMER_DIGITS if !rest.get(FORMER_DIGITS).is_some_and(u8::is_ascii_alphanumeric) => FORMER_DIGITS,
            DIGITS.. => DIGITS,
            _ => return None,
        };
        let is_named = text[..at].last().is_some_and(u8::is_ascii_alphanumeric);
        is_named.then_some(at - kind..at + 1 + digits)
    })
}

/// Returns true if a text is one pseudonym and nothing else.
pub fn is_pseudonym(text: &str) -> bool {
    pseudonyms(text.as_bytes()).any(|at| at == (0..text.len()))
}

/// Returns true if a text contains a pseudonym.
pub fn holds_pseudonym(text: &[u8]) -> bool {
    pseudonyms(text).next().is_some()
}

/// Headers and fields that are masked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaskSpec {
    /// Headers whose words are masked, except `words`.
    headers: Vec<String>,
    /// Words of these headers that describe their syntax and reveal nothing about their owner.
    #[serde(default)]
    words: Vec<String>,
    /// Request headers that identify a person. A suite sends invented values, but other clients send real
    /// ones.
    #[serde(default)]
    personal_headers: Vec<String>,
    /// Fields that are masked with everything below them. Lowercase, without `-` and `_`.
    personal: Vec<String>,
    /// Fields that are never masked by their name, even below a personal one. Written the same way.
    plain: Vec<String>,
}

/// The privacy of a value, according to the name of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privacy {
    /// The value identifies somebody or is a secret. Holds the kind of its pseudonym.
    Personal(String),
    /// The value identifies nobody, even below a personal field.
    Plain,
    /// The value is as private as the field around it.
    Inherited,
}

impl MaskSpec {
    /// Reads the file of a tree. A tree without it is rejected, because a record would show too much.
    pub fn load(tree: &Tree) -> Result<Self, Problem> {
        let text = tree.text(FILE).ok_or_else(|| {
            Problem::of_file(FILE, "the spec has no such file")
                .help("list the headers and fields that no record may show, under `headers`, `personal` and `plain`")
        })?;
        let mut spec: Self = yaml::read(FILE, text)?;
        for name in spec.personal.iter_mut().chain(&mut spec.plain) {
            *name = normalized(name);
        }
        Ok(spec)
    }

    /// Returns true if the words of this header are masked.
    pub fn hides_header(&self, name: &str) -> bool {
        self.headers.iter().any(|hidden| hidden.eq_ignore_ascii_case(name))
    }

    /// Returns true if a masked header may show this word.
    pub fn shows_word(&self, word: &str) -> bool {
        self.words.iter().any(|shown| shown.eq_ignore_ascii_case(word))
    }

    /// Returns true if this request header identifies a person.
    pub fn is_personal_header(&self, name: &str) -> bool {
        self.personal_headers.iter().any(|personal| personal.eq_ignore_ascii_case(name))
    }

    /// Returns the privacy of a value, according to the name of its field.
    pub fn privacy(&self, field: &str) -> Privacy {
        let name = normalized(field);
        match () {
            () if self.plain.contains(&name) => Privacy::Plain,
            () if self.personal.contains(&name) || is_secret(field) => Privacy::Personal(name),
            () => Privacy::Inherited,
        }
    }
}

/// Returns true if a header, field or parameter of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let name = normalized(name);
    SECRET_WORDS.iter().any(|word| name.contains(word)) || name.ends_with("key")
}

/// Returns true if a header of this name is computed from the body.
pub fn is_digest(name: &str) -> bool {
    let name = normalized(name);
    DIGEST_WORDS.iter().any(|word| name.contains(word))
}

/// Returns a name in lowercase, without `-` and `_`.
pub fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<MaskSpec, String> {
        MaskSpec::load(&Tree::of(&[(FILE, text)])).map_err(|problem| problem.to_string())
    }

    #[test]
    fn pseudonyms_are_recognized_in_any_text() {
        for (text, is_one, found) in [
            ("iban~0a1b2c3d4e5f6071", true, "iban~0a1b2c3d4e5f6071"),
            ("iban.lowercase~0a1b2c3d4e5f6071", true, "iban.lowercase~0a1b2c3d4e5f6071"),
            ("{\"iban\":\"iban~0a1b2c3d4e5f6071\"}", false, "iban~0a1b2c3d4e5f6071"),
            ("SHA-256=digest~0a1b2c3d4e5f6071==", false, "digest~0a1b2c3d4e5f6071"),
            ("/id~0a1b2c3d4e5f6071x/", false, "id~0a1b2c3d4e5f6071"),
            // Records up to format 4.
            ("iban~0a1b2c3d", true, "iban~0a1b2c3d"),
            ("a iban~0a1b2c3d, b", false, "iban~0a1b2c3d"),
            ("", false, ""),
            ("~", false, ""),
            ("NO9386011117947", false, ""),
            ("~0a1b2c3d4e5f6071", false, ""),
            (" ~0a1b2c3d", false, ""),
            ("iban~0a1b2c3", false, ""),
            ("iban~0a1b2c3g", false, ""),
            ("iban~0a1b2c3de", false, ""),
            ("~/home/folder", false, ""),
        ] {
            assert_eq!(is_pseudonym(text), is_one, "{text}");
            assert_eq!(holds_pseudonym(text.as_bytes()), !found.is_empty(), "{text}");
            let at = pseudonyms(text.as_bytes()).next().unwrap_or_default();
            assert_eq!(&text[at], found, "{text}");
        }
    }

    #[test]
    fn names_of_secrets_and_digests_are_recognized() {
        for name in
            ["access_token", "TPP-Session-ID", "Set-Cookie", "client-secret", "X-Api-Key", "consentId"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["code", "currency", "keyword", "X-Request-ID"] {
            assert!(!is_secret(name), "{name}");
        }
        for (name, expected) in
            [("ETag", true), ("Content-MD5", true), ("Repr-Digest", true), ("Date", false)]
        {
            assert_eq!(is_digest(name), expected, "{name}");
        }
    }

    #[test]
    fn names_are_the_same_in_each_way_of_writing() {
        let masks =
            load("headers: [X-Seal]\nwords: [keyId]\npersonal: [ownerName]\nplain: [_links]\n").unwrap();
        assert!(masks.hides_header("x-seal") && !masks.hides_header("Date"));
        assert!(masks.shows_word("KEYID") && !masks.shows_word("SN"));
        assert_eq!(masks.privacy("refresh_token"), Privacy::Personal("refreshtoken".to_owned()));
        assert_eq!(masks.privacy("OWNER_NAME"), Privacy::Personal("ownername".to_owned()));
        assert_eq!(masks.privacy("links"), Privacy::Plain);
        assert_eq!(masks.privacy("other"), Privacy::Inherited);
    }

    #[test]
    fn each_mistake_is_named() {
        let unknown = load("headers: []\npersonal: []\nplain: []\nheader: []\n").unwrap_err();
        assert!(
            unknown.contains(":4:1: unknown field `header`") && unknown.contains("`headers`"),
            "{unknown}"
        );
        let none = MaskSpec::load(&Tree::default()).unwrap_err().to_string();
        assert!(none.contains("no such file"), "{none}");
    }
}
