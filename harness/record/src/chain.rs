//! The hash chain over the lines of a record: whoever changes, drops or adds a line changes every link after
//! it.

use sha2::{Digest, Sha256};

use crate::digest::hex;

/// The chain, as far as lines were added. Each link is SHA-256, in hex, over the link before and the line
/// with its end; the first line has no link before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashChain {
    link: String,
}

impl HashChain {
    /// Adds a line, with its end, and returns its link.
    pub fn add(&mut self, line: &[u8]) -> &str {
        let hash = Sha256::new().chain_update(&self.link).chain_update(line);
        self.link = hex(&hash.finalize());
        &self.link
    }

    /// The last link.
    pub fn link(&self) -> &str {
        &self.link
    }
}
