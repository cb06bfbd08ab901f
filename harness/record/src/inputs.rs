//! Files that a command reads whole: profiles, keys, certificates, tables. None of them is long.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Bytes that such a file has at most.
const MOST: u64 = 16 * 1024 * 1024;

/// Returns the bytes of a file. One of more than 16 MB is an error, as a device without end is.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    bounded(File::open(path)?)
}

/// [`read()`] for a text in UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is no UTF-8"))
}

/// Returns all bytes of a source that has 16 MB of them at most.
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
