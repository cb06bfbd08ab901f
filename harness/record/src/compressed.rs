//! The compressed record of a finished run. While a run writes its record, the record is plain, so that it
//! survives the process. The end of the run compresses it with gzip, and every reader opens both forms.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};

use crate::{
    latest,
    outputs::{Output, RECORD, RECORD_BEGINS, folder_of},
};

/// The compressed record of a finished run, in its folder.
pub const COMPRESSED: &str = "record.jsonl.gz";

/// Number of bytes of a content that show what it is.
const LOOKED_AT: u64 = 512;

/// The first bytes of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b\x08";

/// The largest content that is unpacked, in bytes. It bounds the space that a small file can take.
const LARGEST: u64 = 1 << 34;

/// Returns the path of the record in the folder of a run. A plain record is newer than a compressed one.
pub(crate) fn record_in(folder: &Path) -> PathBuf {
    let [plain, compressed] = [RECORD, COMPRESSED].map(|name| folder.join(name));
    if !plain.exists() && compressed.exists() { compressed } else { plain }
}

/// Returns the path of the record that `path` names: a record, the folder of a run, or `latest`.
pub fn record_of(path: &Path) -> PathBuf {
    let path = latest::followed(path);
    if path.is_dir() { record_in(&path) } else { renamed(&path) }
}

/// Returns the path of the compressed record, if `path` is the one that the record had before. Returns any
/// other path as it is.
pub(crate) fn renamed(path: &Path) -> PathBuf {
    let is_record = path.file_name().is_some_and(|name| name == RECORD);
    if is_record { record_in(folder_of(path)) } else { path.to_owned() }
}

/// Opens the record that `path` names, as in [`record_of`]. It may be compressed.
pub fn open_record(path: &Path) -> io::Result<File> {
    open(&record_of(path), is_record)
}

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

/// Returns true if these are the first bytes of a record.
pub(crate) fn is_record(start: &[u8]) -> bool {
    start.starts_with(RECORD_BEGINS)
}

/// Replaces the plain record in a folder by a compressed one. A link that leads elsewhere stays as it is.
pub(crate) fn pack_record(folder: &Path) -> io::Result<()> {
    let plain = folder.join(RECORD);
    if !fs::symlink_metadata(&plain).is_ok_and(|file| file.is_file()) {
        return Ok(());
    }
    let mut out = packer(Output::in_folder(&folder.join(COMPRESSED))?);
    io::copy(&mut File::open(&plain)?, &mut out)?;
    out.finish()?.finish()?;
    fs::remove_file(plain)
}

/// Makes the record in a folder plain, to append to it.
pub(crate) fn unpack_record(folder: &Path) -> io::Result<()> {
    let (plain, compressed) = (folder.join(RECORD), folder.join(COMPRESSED));
    if !plain.exists() && compressed.exists() {
        let mut out = Output::in_folder(&plain)?;
        unpack(File::open(compressed)?, &mut out)?;
        out.finish()?;
    }
    remove(folder)
}

/// Removes the compressed record of an earlier run, after the plain record of a new one has started.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(COMPRESSED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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
        // What cannot be unpacked is another file.
        drop(MultiGzDecoder::new(&mut *file).take(LOOKED_AT).read_to_end(&mut start));
        file.rewind()?;
    }
    Ok(magic == GZIP && is_content(&start))
}

/// Writes the content of a compressed file.
fn unpack(file: File, out: &mut impl Write) -> io::Result<()> {
    let mut content = MultiGzDecoder::new(file).take(LARGEST);
    io::copy(&mut content, out)?;
    // One more byte shows whether the limit cut the content.
    match content.into_inner().read(&mut [0])? {
        0 => out.flush(),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, "its content is longer than 16 GB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RecordReader, RecordWriter, RunStarted, event::Event};

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut out = packer(Vec::new());
        out.write_all(content).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn a_file_is_unpacked_if_its_content_is_what_was_expected() {
        let record = b"{\"event\":\"run-started\"}\n".repeat(10_000);
        let twice = [gzip(&record[..100_000]), gzip(&record[100_000..])].concat();
        let cut = gzip(&record)[..200].to_vec();
        for (name, bytes, expected) in [
            ("plain", record.clone(), Some(record.clone())),
            ("compressed", gzip(&record), Some(record.clone())),
            ("two members", twice, Some(record.clone())),
            ("other content", gzip(b"other"), Some(gzip(b"other"))),
            ("no gzip", GZIP.to_vec(), Some(GZIP.to_vec())),
            ("empty", vec![], Some(vec![])),
            ("truncated", cut, None),
            ("more behind", [gzip(&record), b"more".to_vec()].concat(), None),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), bytes).unwrap();
            let opened = open_record(file.path()).and_then(|mut file| {
                let mut content = Vec::new();
                file.read_to_end(&mut content).map(|_| content)
            });
            assert!(opened.ok() == expected, "{name}");
        }
    }

    #[test]
    fn a_folder_has_one_record_and_a_plain_one_is_newer() {
        let folder = tempfile::TempDir::new().unwrap();
        let (plain, compressed) = (folder.path().join(RECORD), folder.path().join(COMPRESSED));
        let forms = || (plain.exists(), compressed.exists());
        let start = Event::RunStarted(RunStarted { format: RunStarted::FORMAT, ..RunStarted::default() });
        let write = |writer: RecordWriter<io::BufWriter<File>>, event: &Event| {
            let mut writer = writer;
            writer.write(event).unwrap();
        };
        write(RecordWriter::create(&plain).unwrap(), &start);
        let before = fs::read(&plain).unwrap();
        pack_record(folder.path()).unwrap();
        assert_eq!((forms(), record_in(folder.path())), ((false, true), compressed.clone()));
        let events: Vec<_> = RecordReader::open(&compressed).unwrap().events().map(Result::unwrap).collect();
        assert_eq!(events, std::slice::from_ref(&start));
        // A resumed run continues the same lines.
        write(RecordWriter::go_on(&plain).unwrap(), &Event::Document(crate::DocumentText::default()));
        assert_eq!((forms(), record_in(folder.path())), ((true, false), plain.clone()));
        assert!(fs::read(&plain).unwrap().starts_with(&before));
        // A new run replaces both.
        fs::write(&compressed, gzip(&before)).unwrap();
        assert_eq!(record_in(folder.path()), plain);
        write(RecordWriter::create(&plain).unwrap(), &start);
        assert_eq!((forms(), fs::read(&plain).unwrap()), ((true, false), before));
        // Nothing to compress.
        fs::remove_file(&plain).unwrap();
        pack_record(folder.path()).unwrap();
        assert_eq!(forms(), (false, false));
    }
}
