//! Reads and writes gzip files.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};

/// Number of bytes of a content that show what it is.
const LOOKED_AT: u64 = 512;

/// The first bytes of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b\x08";

/// The largest content that is unpacked, in bytes. It bounds the space that a small file can take.
const LARGEST: u64 = 1 << 34;

/// Opens a file. If it is compressed and `is_content` accepts the first 512 bytes of its content, returns the
/// content in an unnamed file, which can be read at any position.
pub fn open(path: &Path, is_content: fn(&[u8]) -> bool) -> io::Result<File> {
    let mut file = File::open(path)?;
    if !contains(&mut file, is_content)? {
        return Ok(file);
    }
    let mut content = tempfile::tempfile()?;
    unpack(file, &mut content)?;
    content.rewind()?;
    Ok(content)
}

/// Returns a writer that compresses. Its `finish` returns `out`.
pub fn packer<W: Write>(out: W) -> GzEncoder<W> {
    GzEncoder::new(out, Compression::default())
}

/// Returns true if a file is compressed and `is_content` accepts the first bytes of its content. Leaves the
/// file at its start.
pub(crate) fn contains(file: &mut File, is_content: fn(&[u8]) -> bool) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        // A pipe cannot be read twice.
        return Ok(false);
    }
    let (mut magic, mut start) = (Vec::new(), Vec::new());
    (&mut *file).take(GZIP.len() as u64).read_to_end(&mut magic)?;
    file.rewind()?;
    if magic == GZIP {
        // A file that cannot be unpacked is no compressed record.
        drop(MultiGzDecoder::new(&mut *file).take(LOOKED_AT).read_to_end(&mut start));
        file.rewind()?;
    }
    Ok(magic == GZIP && is_content(&start))
}

/// Writes the content of a compressed file.
pub(crate) fn unpack(file: File, out: &mut impl Write) -> io::Result<()> {
    let mut content = MultiGzDecoder::new(file).take(LARGEST);
    io::copy(&mut content, out)?;
    // One more byte shows whether the limit cut the content.
    match content.into_inner().read(&mut [0])? {
        0 => out.flush(),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, "its content is longer than 16 GB")),
    }
}
