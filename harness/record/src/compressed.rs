//! The compressed record of a finished run. While a run writes its record, the record is plain, so that it
//! survives the process. The end of the run compresses it with gzip, and every reader opens both forms.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::{
    gzip, latest,
    outputs::{self, Output, RECORD, is_record, renamed},
};

pub use crate::{
    gzip::{open, packer},
    outputs::COMPRESSED,
};

/// Returns the path of the record that `path` names: a record, the folder of a run, or `latest`.
pub fn record_of(path: &Path) -> PathBuf {
    let path = latest::followed(path);
    if path.is_dir() { outputs::record_in(&path) } else { renamed(&path) }
}

/// Opens the record that `path` names, as in [`record_of`]. It may be compressed.
pub fn open_record(path: &Path) -> io::Result<File> {
    open(&record_of(path), is_record)
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
        gzip::unpack(File::open(compressed)?, &mut out)?;
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

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
            ("no gzip", b"\x1f\x8b\x08".to_vec(), Some(b"\x1f\x8b\x08".to_vec())),
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
        assert_eq!((forms(), outputs::record_in(folder.path())), ((false, true), compressed.clone()));
        let events: Vec<_> = RecordReader::open(&compressed).unwrap().events().map(Result::unwrap).collect();
        assert_eq!(events, std::slice::from_ref(&start));
        // A resumed run continues the same lines.
        write(RecordWriter::go_on(&plain).unwrap(), &Event::Document(crate::DocumentText::default()));
        assert_eq!((forms(), outputs::record_in(folder.path())), ((true, false), plain.clone()));
        assert!(fs::read(&plain).unwrap().starts_with(&before));
        // A new run replaces both.
        fs::write(&compressed, gzip(&before)).unwrap();
        assert_eq!(outputs::record_in(folder.path()), plain);
        write(RecordWriter::create(&plain).unwrap(), &start);
        assert_eq!((forms(), fs::read(&plain).unwrap()), ((true, false), before));
        // A folder without a record stays as it is.
        fs::remove_file(&plain).unwrap();
        pack_record(folder.path()).unwrap();
        assert_eq!(forms(), (false, false));
    }
}
