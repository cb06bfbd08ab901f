//! Finds secrets in a string, whatever their notation.

use std::{borrow::Cow, ops::Range};

use aho_corasick::{AhoCorasick, MatchKind};

use super::{
    key::MaskKey,
    secret::{Grade, Secret},
    view::{View, separates},
};
use crate::fill::encode;

/// A part of a string and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: Range<usize>,
    pub(super) pseudonym: String,
}

impl Found {
    /// Returns the same match shifted by `by` bytes.
    pub(super) fn moved(self, by: usize) -> Self {
        Self { at: self.at.start + by..self.at.end + by, ..self }
    }
}

/// Finds secrets that are masked anywhere, or as whole words.
pub(super) struct Finder {
    anywhere: Search,
    words: Search,
}

/// Secrets of one grade. The longest match at a position wins, because an IBAN contains its BBAN.
struct Search {
    secrets: Vec<Secret>,
    automaton: AhoCorasick,
}

impl Search {
    fn new(secrets: Vec<Secret>, written: impl Fn(&str) -> String) -> Self {
        let patterns = secrets.iter().map(|secret| written(&secret.text));
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(patterns);
        // The patterns of a profile are far below the limits of an automaton.
        let automaton = automaton.unwrap_or_else(|error| unreachable!("secrets of a profile: {error}"));
        Self { secrets, automaton }
    }

    fn find<'a>(&'a self, bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, &'a Secret)> {
        let found = self.automaton.find_iter(bytes);
        found.map(|found| (found.range(), &self.secrets[found.pattern().as_usize()]))
    }
}

impl Finder {
    pub(super) fn new(secrets: &[Secret]) -> Self {
        let of = |grade: Grade| secrets.iter().filter(|secret| secret.grade == grade).cloned().collect();
        let compact = |text: &str| text.chars().filter(|letter| !separates(*letter)).collect();
        Self {
            anywhere: Search::new(of(Grade::Anywhere), compact),
            words: Search::new(of(Grade::Word), str::to_owned),
        }
    }

    /// Returns true if there are no secrets.
    pub(super) fn is_empty(&self) -> bool {
        self.anywhere.secrets.is_empty() && self.words.secrets.is_empty()
    }

    /// Finds the secrets in a string. If `has_words` is false, it skips secrets that are masked as words.
    pub(super) fn find(&self, text: &[u8], has_words: bool, key: &MaskKey) -> Vec<Found> {
        if self.is_empty() {
            return Vec::new();
        }
        let view = View::decoded(text);
        let compact = view.compact();
        let mut found: Vec<Found> = Vec::new();
        let mut add = |at: Range<usize>, secret: &Secret| {
            let pseudonym = secret.pseudonym(key, writing(&secret.text, &text[at.clone()]));
            found.push(Found { at, pseudonym });
        };
        for (at, secret) in self.anywhere.find(&compact.bytes) {
            add(compact.place(at), secret);
        }
        if has_words {
            for (at, secret) in self.words(&view.bytes) {
                add(view.place(at), secret);
            }
        }
        for (at, bytes) in view.base64() {
            let inner = View::new(&bytes);
            let first = self.anywhere.find(&inner.compact().bytes).next().map(|(_, secret)| secret);
            if let Some(secret) = first.or_else(|| self.words(&bytes).next().map(|(_, secret)| secret)) {
                let run = String::from_utf8_lossy(&view.bytes[at.clone()]);
                let pseudonym = key.pseudonym(&format!("{}.base64", secret.kind), &run);
                found.push(Found { at: view.place(at), pseudonym });
            }
        }
        found
    }

    fn words<'a>(&'a self, bytes: &[u8]) -> impl Iterator<Item = (Range<usize>, &'a Secret)> {
        self.words.find(bytes).filter(move |(at, _)| is_word(bytes, at))
    }
}

/// Returns true if a range is not part of a longer word or number. `1000.00` and `127.0.0.1:1000` are single
/// words.
pub(super) fn is_word(bytes: &[u8], at: &Range<usize>) -> bool {
    let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let joins = |first: Option<&u8>, second: Option<&u8>, joints: &[u8]| match first {
        Some(byte) if of_word(byte) => true,
        Some(byte) if joints.contains(byte) => second.is_some_and(of_word),
        _ => false,
    };
    let mut before = bytes[..at.start].iter().rev();
    let mut after = bytes[at.end..].iter();
    !joins(before.next(), before.next(), b"._-:") && !joins(after.next(), after.next(), b"._-")
}

/// Returns a name for the notation of a secret, or an empty string for the usual one.
fn writing(secret: &str, written: &[u8]) -> &'static str {
    let Ok(written) = std::str::from_utf8(written) else { return "other" };
    match () {
        () if written == secret || written == encode(secret) => "",
        () if written == secret.to_lowercase() => "lowercase",
        () if written == secret.to_uppercase() => "uppercase",
        () if written.eq_ignore_ascii_case(secret) => "mixed-case",
        () if written.contains('%') || written.contains('+') && !secret.contains('+') => "encoded",
        () if written.contains(' ') => "spaced",
        () => "other",
    }
}

/// Replaces the matches. If matches overlap, the first one counts. If they start together, the longest
/// counts.
pub(super) fn replaced(text: &[u8], mut found: Vec<Found>) -> Cow<'_, [u8]> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|found| (found.at.start, std::cmp::Reverse(found.at.end)));
    let (mut out, mut done) = (Vec::with_capacity(text.len()), 0);
    for Found { at, pseudonym } in found {
        if at.start >= done {
            out.extend_from_slice(&text[done..at.start]);
            out.extend_from_slice(pseudonym.as_bytes());
            done = at.end;
        }
    }
    out.extend_from_slice(&text[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use base64::{Engine, prelude::BASE64_STANDARD};

    use super::*;

    fn masked(secrets: &[Secret], text: &str, key: &MaskKey) -> String {
        let found = Finder::new(secrets).find(text.as_bytes(), true, key);
        String::from_utf8(replaced(text.as_bytes(), found).into_owned()).unwrap()
    }

    fn secret(text: &str) -> Secret {
        Secret::new("id", text, "")
    }

    #[test]
    fn a_secret_is_found_in_each_writing() {
        let key = MaskKey::random();
        let token = "CANARY acc/p!1";
        let uuid = "0ca7a51e-0000-4000-8000-00000000000a";
        let iban = "NO9386011117947";
        let secrets = [secret(token), secret(uuid), secret(iban), secret("4711")];
        let of = |secret: &Secret, writing: &str| secret.pseudonym(&key, writing);
        for (at, written, expected) in [
            (0, token.to_owned(), ""),
            (0, "CANARY%20acc%2Fp%211".to_owned(), ""),
            (0, "CANARY%20acc%2fp%211".to_owned(), "encoded"),
            (0, "CANARY+acc%2Fp%211".to_owned(), "encoded"),
            (0, "CANARY%20acc%2Fp!1".to_owned(), "encoded"),
            (0, "CANARY%2520acc%252Fp%25211".to_owned(), "encoded"),
            (0, "canary acc/p!1".to_owned(), "lowercase"),
            (1, uuid.to_uppercase(), "uppercase"),
            (1, uuid.replace('-', ""), "other"),
            (2, "no9386011117947".to_owned(), "lowercase"),
            (2, "No9386011117947".to_owned(), "mixed-case"),
            (2, "NO93 8601 1117 947".to_owned(), "spaced"),
            (3, "4711".to_owned(), ""),
        ] {
            let text = masked(&secrets, &format!("<{written}>"), &key);
            assert_eq!(text, format!("<{}>", of(&secrets[at], expected)), "{written}");
        }
        for written in [token, uuid, iban, "the account 4711"] {
            let code = BASE64_STANDARD.encode(format!("user:{written}"));
            for code in [code.clone(), code.trim_end_matches('=').to_owned(), code.replace('=', "%3D")] {
                let text = masked(&secrets, &format!("Basic {code}"), &key);
                assert!(text.starts_with("Basic id.base64~") && !text.contains(&code), "{written}: {text}");
            }
        }
    }

    #[test]
    fn a_word_is_no_part_of_a_number() {
        let key = MaskKey::random();
        for text in
            ["1000.00", "-1000.50", "2025-1000-01", "http://127.0.0.1:1000/", "a1000", "1000é", "x_1000"]
        {
            assert_eq!(masked(&[secret("1000")], text, &key), text);
        }
        for text in ["1000", "account 1000.", "/1000/", "\"1000\"", "a=1000&b", "(1000)", "1000, 1000"] {
            assert!(!masked(&[secret("1000")], text, &key).contains("1000~"), "{text}");
            assert!(masked(&[secret("1000")], text, &key).contains("id~"), "{text}");
        }
    }
}
