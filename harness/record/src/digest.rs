//! SHA-256 in hexadecimal digits, as records and bundles write it.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// SHA-256 of these bytes, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// How long something is, and its SHA-256, in hex.
pub fn measured(input: &mut impl Read) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let length = io::copy(input, &mut hash)?;
    Ok((length, hex::encode(hash.finalize())))
}
