//! The archive of a bundle: its members, and each byte around them.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Take},
    path::{Path, PathBuf},
};

use xs2aspec_record::{RecordReader, digest::measured};
use xs2aspec_report::text;

use crate::bundle::{CHAIN, DIGESTS, LARGEST, PROFILE, PUBLIC_KEY, RECORD, STATEMENT, header};

/// Why a file is not looked at.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// More than is looked at.
    #[error("expected an archive of at most {} MB, found more", LARGEST / 1_000_000)]
    Large,
    /// An archive or a compression of another kind.
    #[error("this is {0}; expected a tar, as `bundle` writes it")]
    Kind(&'static str),
}

/// What files of other kinds begin with.
const KINDS: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
];

/// Bytes of a member that is read whole. Records and reports are not.
const WHOLE: u64 = 1 << 28;

/// The members of a bundle, where they stand and what they come to.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    pub(super) members: Vec<Member>,
    /// Why what comes after the last of them cannot be read.
    pub(super) error: Option<String>,
}

/// A member of an archive.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// Where its content begins.
    start: u64,
    length: u64,
    pub(super) sha256: String,
}

impl Archive {
    /// Reads an archive once. One that is too large is found before that.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let mut file = File::open(path)?;
        let mut start = Vec::new();
        file.by_ref().take(512).read_to_end(&mut start)?;
        if let Some((_, kind)) = KINDS.iter().find(|(kind, _)| start.starts_with(kind)) {
            return Err(OpenError::Kind(kind));
        }
        if file.metadata()?.len() > LARGEST {
            return Err(OpenError::Large);
        }
        file.rewind()?;
        let mut archive = Self { path: path.to_owned(), members: Vec::new(), error: None };
        if let Err(error) = archive.read_members(BufReader::new(file.take(LARGEST))) {
            let place = archive.members.last();
            let place = place
                .map_or("at its start".to_owned(), |last| format!("after `{}`", text::short(&last.name)));
            archive.error = Some(format!("the archive {place}: {error}"));
        }
        Ok(archive)
    }

    fn read_members(&mut self, input: impl Read) -> io::Result<()> {
        for entry in tar::Archive::new(input).entries()? {
            let mut entry = entry?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let (length, sha256) = measured(&mut entry)?;
            if entry.size() != length {
                return Err(io::Error::other(format!("`{}` is cut off", text::short(&name))));
            }
            self.members.push(Member { name, start: entry.raw_file_position(), length, sha256 });
        }
        Ok(())
    }

    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rfind(|member| member.name == name)
    }

    /// The content of a member; nothing where it is missing.
    pub(super) fn content(&self, name: &str) -> io::Result<BufReader<Take<File>>> {
        let mut file = File::open(&self.path)?;
        let (start, length) = self.member(name).map_or((0, 0), |member| (member.start, member.length));
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(1 << 16, file.take(length)))
    }

    /// The content of a member that is small.
    pub(super) fn whole(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.content(name)?.take(WHOLE).read_to_end(&mut content)?;
        Ok(content)
    }

    /// The record.
    pub fn record(&self) -> io::Result<RecordReader<BufReader<Take<File>>>> {
        self.content(RECORD).map(RecordReader::new)
    }

    /// Whether the members are those that are expected, once each and in order, and nothing is besides.
    pub(super) fn check(&self, expected: &[String], broken: &mut Vec<String>) -> io::Result<()> {
        let before = broken.len();
        let found: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        let needed = [RECORD, CHAIN, PROFILE, DIGESTS, PUBLIC_KEY, STATEMENT];
        for name in expected.iter().chain(needed.iter().filter(|name| !expected.contains(name))) {
            match found.iter().filter(|other| other == &name).count() {
                0 => broken.push(format!("the archive: `{}` is missing", text::short(name))),
                1 => {}
                times => broken.push(format!("the archive: `{}` is there {times} times", text::short(name))),
            }
        }
        for name in found.iter().filter(|name| !expected.contains(name)) {
            broken.push(format!("the archive: `{}` does not belong there", text::short(name)));
        }
        if broken.len() == before && found != expected {
            let at = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            let name = at.map_or("", |at| found[at]);
            broken.push(format!("the archive: `{}` does not stand in its place", text::short(name)));
        }
        if broken.len() == before {
            broken.extend(self.frame()?);
        }
        Ok(())
    }

    /// Looks at each byte that is no content of a member: `bundle` writes them in one way only.
    fn frame(&self) -> io::Result<Option<String>> {
        let mut file = BufReader::new(File::open(&self.path)?);
        let mut at = 0;
        for Member { name, start, length, .. } in &self.members {
            let header = header(name, *length)?;
            if let Some(byte) = differing(&mut file, header.as_bytes())? {
                return Ok(Some(format!("the archive: byte {byte} of the header of `{name}` is another")));
            }
            if *start != at + 512 {
                return Ok(Some(format!("the archive: `{name}` has more than one header")));
            }
            at = start + length;
            file.seek(SeekFrom::Start(at))?;
            let padding = usize::try_from(length.next_multiple_of(512) - length).unwrap_or_default();
            if let Some(byte) = differing(&mut file, &vec![0; padding])? {
                return Ok(Some(format!(
                    "the archive: byte {}, between the end of `{name}` and the next member, is another",
                    at + byte
                )));
            }
            at = start + length.next_multiple_of(512);
        }
        let end =
            differing(&mut file, &[0; 1024])?.or(if file.read(&mut [0])? > 0 { Some(1024) } else { None });
        Ok(end.map(|byte| format!("the archive: byte {}, after the last member, is another", at + byte)))
    }
}

/// The first byte of the input that is not the expected one, if any is; one that is missing is another too.
fn differing(input: &mut impl Read, expected: &[u8]) -> io::Result<Option<u64>> {
    let mut found = Vec::new();
    input.take(expected.len() as u64).read_to_end(&mut found)?;
    let at = expected.iter().zip(&found).position(|(expected, found)| expected != found);
    Ok(at.or((found.len() < expected.len()).then_some(found.len())).map(|at| at as u64))
}
