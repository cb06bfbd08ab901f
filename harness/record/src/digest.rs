//! SHA-256 in hexadecimal, as in records and bundles.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of `bytes`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns the length of the input and its SHA-256, in hexadecimal.
pub fn measured(input: &mut impl Read) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let length = io::copy(input, &mut hash)?;
    Ok((length, hex::encode(hash.finalize())))
}
