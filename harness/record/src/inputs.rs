//! Reads small files whole: profiles, keys, certificates and tables.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Longest file, in bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// Returns the bytes of a file. Fails if it is longer than 16 MB, for example an endless device.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    bounded(File::open(path)?)
}

/// Reads a UTF-8 file like [`read()`].
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not UTF-8"))
}

/// Returns all bytes of a source of at most 16 MB.
pub fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "is longer than 16 MB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_end_is_an_error() {
        assert_eq!(bounded(io::repeat(0)).unwrap_err().to_string(), "is longer than 16 MB");
        assert_eq!(bounded(io::repeat(0).take(MOST)).unwrap().len() as u64, MOST);
    }
}
