//! Rules for the files that commands write. A command does not overwrite its inputs, a private key, or a
//! record that may still be needed. Files appear complete or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use crate::gzip;

/// The record of a run, in its folder.
pub const RECORD: &str = "record.jsonl";

/// The compressed record of a finished run, in its folder.
pub const COMPRESSED: &str = "record.jsonl.gz";

/// The file with the pseudonym key of an unfinished run, next to its record.
pub const MASK_KEY: &str = "mask.key";

/// The first bytes of the record of a run.
pub(crate) const RECORD_BEGINS: &[u8] = b"{\"event\":\"run-started\"";

/// Number of bytes at the start of a file that are searched for a key.
const LOOKED_AT: u64 = 64 * 1024;

/// Size of the write buffer, in bytes.
const BUFFER: usize = 1 << 16;

/// The reason why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The path leads to a file that the command reads.
    #[error("{}: refusing to overwrite `{}`, which the command reads: choose another path", path.display(), read.display())]
    Input {
        /// The output path.
        path: PathBuf,
        /// The input, as it was named.
        read: PathBuf,
    },
    /// The path leads to a file that cannot be recreated.
    #[error("{}: refusing to overwrite {what}: choose another path or delete it first", path.display())]
    Precious {
        /// The output path.
        path: PathBuf,
        /// Description of the existing file.
        what: &'static str,
    },
    /// Another command is writing a run to the folder.
    #[error("{}: another command is writing to this folder: wait until it ends or choose another folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The system reported an error.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// The output path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// An unfinished run has cases that may have created resources.
    #[error(
        "{}: the run in this folder is unfinished, and {cases} of its cases may have created resources at the target: resume it with \
         `xs2aspec run --resume {}`",
        folder.display(),
        folder.display()
    )]
    InDoubt {
        /// The folder of that run.
        folder: PathBuf,
        /// Number of cases in doubt.
        cases: usize,
    },
}

/// Returns an error unless a command with these inputs may write this file.
pub fn may_write(path: &Path, reads: &[&Path]) -> Result<(), OutputError> {
    // A file with the former name of a record would take its place.
    let path = &renamed(path);
    is_no_input(path, reads)?;
    match precious(path) {
        Some(what) => Err(OutputError::Precious { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// Returns an error if the file exists and does not start like a file of a run.
pub(crate) fn holds_nothing_else(path: &Path, begins: Option<&[u8]>) -> Result<(), OutputError> {
    let start = start_of(path).unwrap_or_default();
    if start.is_empty() || begins.is_some_and(|begins| start.starts_with(begins)) {
        return Ok(());
    }
    let what = if is_key(&start) { "a private key" } else { "a file that was not written by a run" };
    Err(OutputError::Precious { path: path.to_owned(), what })
}

pub(crate) fn is_no_input(path: &Path, reads: &[&Path]) -> Result<(), OutputError> {
    match reads.iter().find(|read| is_same(path, read)) {
        Some(read) => Err(OutputError::Input { path: path.to_owned(), read: (*read).to_owned() }),
        None => Ok(()),
    }
}

/// Returns true if two paths lead to the same file, including by hard or symbolic links. A missing file
/// equals no other.
pub fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        let id = |path: &Path| fs::metadata(path).ok().map(|file| id(&file));
        id(one).is_some_and(|id_of_one| id(other) == Some(id_of_one))
    }
    #[cfg(not(unix))]
    {
        let whole = |path: &Path| fs::canonicalize(path).ok();
        whole(one).is_some_and(|path| whole(other) == Some(path))
    }
}

/// Returns true if an open file still has this name and was not removed since. Only Unix can identify an open
/// file. Elsewhere, checks only that the path exists.
pub(crate) fn is_still(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        let id = |file: io::Result<fs::Metadata>| file.ok().map(|file| id(&file));
        id(file.metadata()).is_some_and(|own| id(fs::metadata(path)) == Some(own))
    }
    #[cfg(not(unix))]
    {
        _ = file;
        path.exists()
    }
}

#[cfg(unix)]
fn id(file: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino())
}

/// Returns the path of the record in the folder of a run. A plain record is newer than a compressed one.
pub(crate) fn record_in(folder: &Path) -> PathBuf {
    let [plain, compressed] = [RECORD, COMPRESSED].map(|name| folder.join(name));
    if !plain.exists() && compressed.exists() { compressed } else { plain }
}

/// Returns the path of the compressed record, if `path` is the one that the record had before. Returns any
/// other path as it is.
pub(crate) fn renamed(path: &Path) -> PathBuf {
    let is_record = path.file_name().is_some_and(|name| name == RECORD);
    if is_record { record_in(folder_of(path)) } else { path.to_owned() }
}

/// Returns true if these are the first bytes of a record.
pub(crate) fn is_record(start: &[u8]) -> bool {
    start.starts_with(RECORD_BEGINS)
}

/// Returns a description of the file if no command may overwrite it.
fn precious(path: &Path) -> Option<&'static str> {
    let start = start_of(path)?;
    if is_key(&start) {
        return Some("a private key");
    }
    start.starts_with(RECORD_BEGINS).then_some("the record of a run")
}

/// Returns the first bytes of a regular file, or of the record that is compressed in it. Devices and pipes
/// have no content to protect and may be endless.
fn start_of(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    if gzip::contains(&mut file, is_record).ok()? {
        return Some(RECORD_BEGINS.to_vec());
    }
    let mut start = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Returns true if a file with these first bytes contains a private key.
fn is_key(start: &[u8]) -> bool {
    const PEM: &[u8] = b"PRIVATE KEY-----";
    start.windows(PEM.len()).any(|part| part == PEM) || is_key_in_der(start)
}

/// Returns true if the bytes start like a private key in DER (PKCS#1, PKCS#8, SEC 1) or like PKCS#12. These
/// are sequences that start with the version.
fn is_key_in_der(bytes: &[u8]) -> bool {
    let [0x30, length, rest @ ..] = bytes else { return false };
    let skipped = if *length < 0x80 { 0 } else { usize::from(length & 0x7f) };
    matches!(rest.get(skipped..skipped + 3), Some([0x02, 0x01, 0 | 1 | 3]))
}

/// A file that is written under a temporary name and moved to its path when it is complete. If dropped
/// earlier, the previous file stays.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<Place>,
    path: PathBuf,
}

#[derive(Debug)]
enum Place {
    Beside(NamedTempFile),
    /// Devices and pipes, and files in a folder where no other file can be created.
    There(File),
}

impl Output {
    /// Starts a file for this path. Symbolic links are followed and kept.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let place = match fs::metadata(&path) {
            Err(_) => Place::Beside(beside(&path)?),
            Ok(file) if !file.is_file() => Place::There(File::options().write(true).open(&path)?),
            // A write-protected file must not be replaced either.
            Ok(file) => {
                let there = File::options().write(true).open(&path)?;
                if let Ok(new) = beside(&path) {
                    new.as_file().set_permissions(file.permissions())?;
                    Place::Beside(new)
                } else {
                    there.set_len(0)?;
                    Place::There(there)
                }
            }
        };
        Ok(Self { out: BufWriter::with_capacity(BUFFER, place), path })
    }

    /// Starts a file in a folder that was given to a command, like [`Output::create`]. A symbolic link is
    /// replaced because it may lead out of the folder, unless it leads to a device.
    pub fn in_folder(path: &Path) -> io::Result<Self> {
        let is_device = fs::metadata(path).is_ok_and(|file| !file.is_file());
        if !path.is_symlink() || is_device {
            return Self::create(path);
        }
        let out = BufWriter::with_capacity(BUFFER, Place::Beside(beside(path)?));
        Ok(Self { out, path: path.to_owned() })
    }

    /// Writes the whole content.
    fn filled(mut self, content: &[u8]) -> io::Result<()> {
        self.write_all(content)?;
        self.finish()
    }

    /// Returns the path of the file with the content written so far.
    pub fn written(&mut self) -> io::Result<&Path> {
        self.out.flush()?;
        Ok(match self.out.get_ref() {
            Place::Beside(file) => file.path(),
            Place::There(_) => &self.path,
        })
    }

    /// Moves the file to its path.
    pub fn finish(self) -> io::Result<()> {
        let Self { out, path } = self;
        match out.into_inner().map_err(io::IntoInnerError::into_error)? {
            Place::There(_) => Ok(()),
            Place::Beside(file) => match file.persist(&path) {
                Ok(_) => Ok(()),
                // A file that is a mount point cannot be replaced, only written.
                Err(failed) if path.is_file() => fs::copy(failed.file.path(), &path).map(drop),
                Err(failed) => Err(failed.error),
            },
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file) => file.write(bytes),
            Self::There(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file) => file.flush(),
            Self::There(file) => file.flush(),
        }
    }
}

/// Creates an empty file in the folder of `path`, with the permissions of a new file.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The umask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a whole file, or keeps the previous one.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    Output::create(path)?.filled(content)
}

/// Writes a file like [`write()`] in a folder that was given to a command, as [`Output::in_folder`] does.
pub fn write_in_folder(path: &Path, content: &[u8]) -> io::Result<()> {
    Output::in_folder(path)?.filled(content)
}

/// Writes a private key like [`write()`]. Only its owner may read it, on systems that have owners, whatever
/// the permissions of the previous file were.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    // The system creates temporary files with access for the owner only.
    let mut file = Builder::new().prefix(".").suffix(".part").tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    file.persist(path).map(drop).map_err(|failed| failed.error)
}

/// Returns an error unless files can be created in this folder, or in its nearest existing parent. Leaves
/// nothing behind.
pub fn is_writable(folder: &Path) -> io::Result<()> {
    match fs::metadata(folder) {
        Ok(_) => tempfile::tempfile_in(folder).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match folder.parent() {
            Some(parent) if parent.as_os_str().is_empty() => is_writable(Path::new(".")),
            Some(parent) => is_writable(parent),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = "{\"event\":\"run-started\",\"format\":1}\n";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::TempDir::new().unwrap();
        let put = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).unwrap();
        put("input", b"input");
        put("key.pem", b"a sentence\n-----BEGIN PRIVATE KEY-----\nAA\n");
        put("rsa.pem", b"-----BEGIN RSA PRIVATE KEY-----\nAA\n");
        put("key.der", &[0x30, 0x82, 4, 0xbd, 2, 1, 0, 0x30]);
        put("small.der", &[0x30, 0x2e, 2, 1, 0, 0x30]);
        put("store.p12", &[0x30, 0x82, 9, 1, 2, 1, 3, 0x30]);
        put("certificate.der", &[0x30, 0x82, 3, 1, 0x30, 0x82, 2]);
        put("certificate.pem", b"-----BEGIN CERTIFICATE-----\nAA\n");
        put("some.jsonl", STARTED.as_bytes());
        put("report.html", b"<!doctype html>");
        folder
    }

    #[test]
    fn what_may_be_written_over() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::hard_link(path("input"), path("hard")).unwrap();
        #[cfg(unix)]
        for (to, name) in [("input", "soft"), ("key.pem", "soft.pem"), ("/dev/null", "null")] {
            std::os::unix::fs::symlink(to, path(name)).unwrap();
        }
        for (name, expected) in [
            ("new", None),
            ("report.html", None),
            ("certificate.der", None),
            ("certificate.pem", None),
            ("null", None),
            ("input", Some("which the command reads")),
            ("sub/../input", Some("which the command reads")),
            ("hard", Some("which the command reads")),
            ("soft", Some("which the command reads")),
            ("key.pem", Some("refusing to overwrite a private key")),
            ("soft.pem", Some("refusing to overwrite a private key")),
            ("rsa.pem", Some("refusing to overwrite a private key")),
            ("key.der", Some("refusing to overwrite a private key")),
            ("small.der", Some("refusing to overwrite a private key")),
            ("store.p12", Some("refusing to overwrite a private key")),
            ("some.jsonl", Some("refusing to overwrite the record of a run")),
        ] {
            let said = may_write(&path(name), &[&path("none"), &path("input")]).err();
            let said = said.map(|error| error.to_string());
            match expected {
                None => assert_eq!(said, None, "{name}"),
                Some(expected) => {
                    assert!(said.as_deref().unwrap_or_default().contains(expected), "{name}: {said:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            entries.collect::<std::collections::BTreeSet<_>>()
        };
        let before = names();
        let mut output = Output::create(&path("report.html")).unwrap();
        output.write_all(b"half").unwrap();
        output.flush().unwrap();
        assert_eq!(fs::read(path("report.html")).unwrap(), b"<!doctype html>");
        drop(output);
        assert_eq!(names(), before, "nothing is left behind");
        write(&path("report.html"), b"whole").unwrap();
        assert_eq!((fs::read(path("report.html")).unwrap(), names()), (b"whole".to_vec(), before));
        assert!(write(&path("none/report.html"), b"").is_err() && write(folder.path(), b"").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_devices_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        symlink("report.html", path("link")).unwrap();
        symlink("/dev/full", path("full")).unwrap();
        fs::set_permissions(path("report.html"), fs::Permissions::from_mode(0o640)).unwrap();
        write(&path("link"), b"through").unwrap();
        assert!(path("link").is_symlink());
        assert_eq!(fs::read(path("report.html")).unwrap(), b"through");
        assert_eq!(fs::metadata(path("report.html")).unwrap().permissions().mode() & 0o777, 0o640);
        write(&path("new"), b"").unwrap();
        fs::write(path("usual"), b"").unwrap();
        let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode();
        assert_eq!(mode("new"), mode("usual"));
        assert_eq!(write(&path("full"), b"a").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(path("full").is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out_of_a_folder() {
        use std::os::unix::fs::symlink;
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        for (link, to) in [("soft", "report.html"), ("none", "nothing")] {
            symlink(to, path(link)).unwrap();
            let mut output = Output::in_folder(&path(link)).unwrap();
            output.write_all(b"own").unwrap();
            output.finish().unwrap();
            assert_eq!((path(link).is_symlink(), fs::read(path(link)).unwrap()), (false, b"own".to_vec()));
        }
        assert_eq!(fs::read(path("report.html")).unwrap(), b"<!doctype html>");
        assert!(!path("nothing").exists());
    }

    #[test]
    fn whether_a_folder_can_be_written_is_known_before() {
        let folder = folder();
        assert!(is_writable(folder.path()).is_ok());
        assert!(is_writable(&folder.path().join("to/be/made")).is_ok());
        assert!(!folder.path().join("to").exists());
        assert!(is_writable(&folder.path().join("input")).is_err());
        assert!(is_writable(&folder.path().join("input/below")).is_err());
        assert!(is_writable(Path::new("relative/folder")).is_ok());
    }
}
