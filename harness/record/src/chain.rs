//! The hash chain over the lines of a record. Changing, dropping or adding a line changes every later link.
//! The link in the last line covers all lines, including the last line itself.

use sha2::{Digest, Sha256};

/// The chain over the lines added so far. Each link is the SHA-256, in hexadecimal, of the previous link and
/// the line with its line ending. The first line has no previous link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashChain {
    link: String,
}

impl HashChain {
    /// Adds a line, including its line ending, and returns its link.
    pub fn add(&mut self, line: &[u8]) -> &str {
        self.link = self.next(line);
        &self.link
    }

    /// Returns the last link.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Appends the field `chain` to a JSON object, the last line of a record without its line ending. Its
    /// value is the link of the object without that field.
    pub fn seal(&self, object: &mut Vec<u8>) {
        let link = self.next(object);
        object.pop();
        object.extend_from_slice(seal(&link).as_bytes());
    }

    /// Returns true if [`Self::seal`] produced this line, with or without its line ending.
    pub fn is_sealed(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let Some(at) = line.len().checked_sub(seal("").len() + LINK) else { return false };
        let (before, found) = line.split_at(at);
        let own = self.next(&[before, b"}"].concat());
        found == seal(&own).as_bytes()
    }

    fn next(&self, line: &[u8]) -> String {
        hex::encode(Sha256::new().chain_update(&self.link).chain_update(line).finalize())
    }
}

/// Number of characters of a link.
const LINK: usize = 64;

/// Returns the end of a sealed line.
fn seal(link: &str) -> String {
    format!(",\"chain\":\"{link}\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_covers_its_own_line_and_all_before() {
        let chain = |before: &[&[u8]]| {
            let mut chain = HashChain::default();
            for line in before {
                chain.add(line);
            }
            chain
        };
        let own = chain(&[b"one\n", b"two\n"]);
        let mut line = br#"{"exit":1}"#.to_vec();
        own.seal(&mut line);
        assert!(own.is_sealed(&line) && own.is_sealed(&[&line[..], b"\n"].concat()));
        for other in [chain(&[b"one\n"]), chain(&[b"two\n", b"one\n"]), chain(&[b"one\ntwo\n"]), chain(&[])] {
            // A link covers bytes, not line boundaries. The reader of lines checks those.
            assert_eq!(other.is_sealed(&line), other == own, "{other:?}");
        }
        for at in 0..line.len() {
            let mut edited = line.clone();
            edited[at] ^= 1;
            assert!(!own.is_sealed(&edited), "byte {at}");
        }
        assert!(!own.is_sealed(b"") && !own.is_sealed(br#"{"exit":1}"#));
    }
}
