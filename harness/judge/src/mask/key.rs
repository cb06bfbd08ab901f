//! The key for a run's pseudonyms. It is never recorded, so nobody can verify a guess against a pseudonym.

use std::{fmt, io, path::Path};

use aws_lc_rs::{hmac, rand};
use xs2aspec_record::outputs::{self, MASK_KEY};
use xs2aspec_spec::masks::DIGITS;

/// Length of a key in bytes, equal to the output of SHA-256 (RFC 2104 section 3).
const LENGTH: usize = 32;

/// Maximum length of a kind in a pseudonym.
const LONGEST_KIND: usize = 64;

/// The reason why a key cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MaskKeyError {
    /// The file cannot be read.
    #[error("cannot read the mask key {0}: {1}")]
    File(String, io::Error),
    /// The file has other content.
    #[error("{0} is not a mask key: expected 64 hexadecimal digits, as printed by `openssl rand -hex 32`")]
    NoKey(String),
}

/// A key of 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct MaskKey([u8; LENGTH]);

impl fmt::Debug for MaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MaskKey(***)")
    }
}

impl MaskKey {
    /// Returns a new random key.
    pub fn random() -> Self {
        let mut key = [0; LENGTH];
        if rand::fill(&mut key).is_err() {
            unreachable!("the system returns no random bytes");
        }
        Self(key)
    }

    /// Reads a key from a file.
    pub fn read(path: &Path) -> Result<Self, MaskKeyError> {
        let name = path.display().to_string();
        let text = xs2aspec_record::inputs::read_to_string(path)
            .map_err(|error| MaskKeyError::File(name.clone(), error))?;
        Self::parse(text.trim()).ok_or(MaskKeyError::NoKey(name))
    }

    /// Writes the key into the folder of a run, readable only by its owner.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        outputs::write_private(&folder.join(MASK_KEY), format!("{}\n", hex::encode(self.0)).as_bytes())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut key = [0; LENGTH];
        hex::decode_to_slice(text, &mut key).ok().map(|()| Self(key))
    }

    /// Returns the pseudonym of a string: HMAC-SHA-256 (RFC 2104), truncated to 8 bytes.
    pub(super) fn pseudonym(&self, kind: &str, text: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let digits = hex::encode(&hmac::sign(&key, text.as_bytes()).as_ref()[..DIGITS / 2]);
        // The name of a header may be any token (RFC 9110 section 5.6.2).
        let of_kind =
            |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
        let kind: String = kind.chars().take(LONGEST_KIND).map(of_kind).collect();
        let kind = kind.trim_end_matches(['-', '.']);
        format!("{}~{digits}", if kind.is_empty() { "value" } else { kind })
    }
}

#[cfg(test)]
mod tests {
    use xs2aspec_spec::masks::is_pseudonym;

    use super::*;

    #[test]
    fn a_pseudonym_is_the_beginning_of_a_mac() {
        // RFC 4231 test case 2, with the key padded to its full length. Zeros do not change the MAC.
        let key = MaskKey::parse(&format!("{:0<64}", "4a656665")).unwrap();
        assert_eq!(key.pseudonym("iban", "what do ya want for nothing?"), "iban~5bdcc146bf60754e");
        assert_ne!(MaskKey::random().pseudonym("a", "b"), MaskKey::random().pseudonym("a", "b"));
        assert!(!format!("{key:?}").contains("4a65"));
    }

    #[test]
    fn a_kind_is_a_part_of_any_text() {
        for kind in ["x-api-key", "iban.lowercase", "", "!~\"ø", &"k".repeat(300)] {
            let pseudonym = MaskKey::random().pseudonym(kind, "a");
            assert!(is_pseudonym(&pseudonym) && pseudonym.len() < 90, "{pseudonym}");
        }
    }

    #[test]
    fn only_a_key_is_read_as_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let key = MaskKey::random();
        key.write(folder.path()).unwrap();
        let path = folder.path().join(MASK_KEY);
        assert_eq!(MaskKey::read(&path).unwrap(), key);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        for text in ["", "secret", &"0".repeat(63), &"g".repeat(64), &"0".repeat(66)] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(MaskKey::read(&path), Err(MaskKeyError::NoKey(_))), "{text}");
        }
        assert!(matches!(MaskKey::read(&folder.path().join("none")), Err(MaskKeyError::File(..))));
    }
}
