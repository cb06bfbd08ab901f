//! Files that a command writes. One rule for all commands: none writes over what it reads, over a key, or
//! over a record that somebody may still need; and what it writes is there whole or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

/// The record of a run, in its folder.
pub const RECORD: &str = "record.jsonl";

/// The file with the key of the pseudonyms of a run that has not ended, beside its record.
pub const MASK_KEY: &str = "mask.key";

/// What the record of a run begins with.
pub(crate) const RECORD_BEGINS: &[u8] = b"{\"event\":\"run-started\"";

/// Bytes at the beginning of a file in which a key is looked for.
const LOOKED_AT: u64 = 64 * 1024;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// It is what the command reads, by whatever name.
    #[error("{}: this is `{}`, which the command reads: name another place to write to", path.display(), read.display())]
    Input {
        /// What would be written.
        path: PathBuf,
        /// What is read, as it was named.
        read: PathBuf,
    },
    /// Something stands there that nobody can make again.
    #[error("{}: {what} stands there, and nothing is written over one: name another file, or remove it", path.display())]
    Precious {
        /// What would be written.
        path: PathBuf,
        /// What stands there.
        what: &'static str,
    },
    /// Another command writes a run there.
    #[error("{}: another command writes into this folder: wait until it ends, or name another folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The system.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// What cannot be written.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A run that did not come to its end, with cases of which nobody knows whether they made anything.
    #[error(
        "{}: the run there did not come to its end, and {cases} of its cases may have made something at the target: `xs2aspec run --resume {}` goes \
         on with it",
        folder.display(),
        folder.display()
    )]
    InDoubt {
        /// The folder of that run.
        folder: PathBuf,
        /// How many cases are in doubt.
        cases: usize,
    },
}

/// Whether a command that reads these files may write this one.
pub fn may_write(path: &Path, reads: &[&Path]) -> Result<(), OutputError> {
    is_no_input(path, reads)?;
    match precious(path) {
        Some(what) => Err(OutputError::Precious { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// Returns an error if a file that is to hold a part of a run holds something else, by whatever name or link:
/// what runs write begins so.
pub(crate) fn holds_nothing_else(path: &Path, begins: Option<&[u8]>) -> Result<(), OutputError> {
    let start = start_of(path).unwrap_or_default();
    if start.is_empty() || begins.is_some_and(|begins| start.starts_with(begins)) {
        return Ok(());
    }
    let what = if is_key(&start) { "a private key" } else { "a file that no run wrote" };
    Err(OutputError::Precious { path: path.to_owned(), what })
}

pub(crate) fn is_no_input(path: &Path, reads: &[&Path]) -> Result<(), OutputError> {
    match reads.iter().find(|read| is_same(path, read)) {
        Some(read) => Err(OutputError::Input { path: path.to_owned(), read: (*read).to_owned() }),
        None => Ok(()),
    }
}

/// Whether two paths name one file, by links of either kind too. What is not there is nothing else's.
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

/// Returns true if an open file still has this name: it may have been removed since. Elsewhere than on Unix
/// an open file cannot be told from another one.
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

/// What stands in a file that no command may write over.
fn precious(path: &Path) -> Option<&'static str> {
    let start = start_of(path)?;
    if is_key(&start) {
        return Some("a private key");
    }
    start.starts_with(RECORD_BEGINS).then_some("the record of a run")
}

/// Returns the first bytes of a regular file. Devices and pipes hold nothing, and may not end.
fn start_of(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
    Some(start)
}

/// Returns true if a file that begins so holds a private key.
fn is_key(start: &[u8]) -> bool {
    const PEM: &[u8] = b"PRIVATE KEY-----";
    start.windows(PEM.len()).any(|part| part == PEM) || is_key_in_der(start)
}

/// Whether bytes begin as a private key in DER (PKCS#1, PKCS#8, SEC 1) or as PKCS#12 does: a sequence whose
/// first member is the version.
fn is_key_in_der(bytes: &[u8]) -> bool {
    let [0x30, length, rest @ ..] = bytes else { return false };
    let skipped = if *length < 0x80 { 0 } else { usize::from(length & 0x7f) };
    matches!(rest.get(skipped..skipped + 3), Some([0x02, 0x01, 0 | 1 | 3]))
}

/// A file that is written beside the place where it belongs, and put there when it is whole. What stood there
/// stays until then, and stays for good where it is dropped before.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<Place>,
    path: PathBuf,
}

#[derive(Debug)]
enum Place {
    Beside(NamedTempFile),
    /// Devices and pipes, and files in a folder where no other can be made.
    There(File),
}

impl Output {
    /// Begins a file that belongs there. Symbolic links are followed, and stay.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let place = match fs::metadata(&path) {
            Err(_) => Place::Beside(beside(&path)?),
            Ok(file) if !file.is_file() => Place::There(File::options().write(true).open(&path)?),
            // What is protected against writing is not replaced either.
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

    /// [`Output::create`] for a file of a folder that a command was given. A symbolic link there may lead out
    /// of the folder, and is replaced, unless it leads to a device.
    pub fn in_folder(path: &Path) -> io::Result<Self> {
        let is_device = fs::metadata(path).is_ok_and(|file| !file.is_file());
        if !path.is_symlink() || is_device {
            return Self::create(path);
        }
        let out = BufWriter::with_capacity(BUFFER, Place::Beside(beside(path)?));
        Ok(Self { out, path: path.to_owned() })
    }

    /// Writes all of it.
    fn filled(mut self, content: &[u8]) -> io::Result<()> {
        self.write_all(content)?;
        self.finish()
    }

    /// Returns the file that holds what was written so far.
    pub fn written(&mut self) -> io::Result<&Path> {
        self.out.flush()?;
        Ok(match self.out.get_ref() {
            Place::Beside(file) => file.path(),
            Place::There(_) => &self.path,
        })
    }

    /// Puts the file where it belongs.
    pub fn finish(self) -> io::Result<()> {
        let Self { out, path } = self;
        match out.into_inner().map_err(io::IntoInnerError::into_error)? {
            Place::There(_) => Ok(()),
            Place::Beside(file) => match file.persist(&path) {
                Ok(_) => Ok(()),
                // A file that is mounted by itself cannot be replaced, only written.
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

/// An empty file in the folder of this one, with the permissions that a new file has.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The system takes away what its mask says.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file whole, or leaves what stands there.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    Output::create(path)?.filled(content)
}

/// [`write()`] for a file of a folder that a command was given, as [`Output::in_folder`] has it.
pub fn write_in_folder(path: &Path, content: &[u8]) -> io::Result<()> {
    Output::in_folder(path)?.filled(content)
}

/// [`write()`] for a private key, which its owner alone may read, where the system knows owners; whoever
/// could read what stood there.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    // A file of the system for a while, which it makes for its owner alone.
    let mut file = Builder::new().prefix(".").suffix(".part").tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    file.persist(path).map(drop).map_err(|failed| failed.error)
}

/// Whether files can be written into this folder, or into the one that would have to be made for it. Nothing
/// is left behind.
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
            ("key.pem", Some("a private key stands there")),
            ("soft.pem", Some("a private key stands there")),
            ("rsa.pem", Some("a private key stands there")),
            ("key.der", Some("a private key stands there")),
            ("small.der", Some("a private key stands there")),
            ("store.p12", Some("a private key stands there")),
            ("some.jsonl", Some("the record of a run stands there")),
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
