//! Reads the archive of a bundle: its members, and the bytes around them.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use xs2aspec_record::{RecordReader, compressed, digest::measured, lines::LONGEST};
use xs2aspec_report::text;

use crate::{
    bundle::{CHAIN, DIGESTS, LARGEST, PROFILE, PUBLIC_KEY, RECORD, STATEMENT, header},
    slice::Slice,
};

/// The reason why a file cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file is too large.
    #[error("expected an archive of at most {} MB, found more", LARGEST / 1_000_000)]
    Large,
    /// The file is an archive or compressed file of another kind.
    #[error("this is {0}; expected a tar archive written by `bundle`")]
    Kind(&'static str),
}

/// The first bytes of other kinds of files.
const KINDS: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
];

/// The members of a bundle, with their positions and digests.
#[derive(Debug)]
pub struct Archive {
    file: File,
    pub(super) members: Vec<Member>,
    /// Reason why the rest of the archive cannot be read.
    pub(super) error: Option<String>,
}

/// A member of an archive.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// Start of its content.
    start: u64,
    length: u64,
    pub(super) sha256: String,
}

impl Archive {
    /// Reads an archive once, compressed or not. Rejects one that is too large before that.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let file = match compressed::open(path, |start| start.get(257..262) == Some(b"ustar".as_slice())) {
            Err(error) if is_corrupt(&error) => {
                let error = Some(format!("the archive: {error}"));
                return Ok(Self { file: tempfile::tempfile()?, members: Vec::new(), error });
            }
            file => file?,
        };
        let mut start = Vec::new();
        Slice::new(&file, 0, 512).read_to_end(&mut start)?;
        if let Some((_, kind)) = KINDS.iter().find(|(kind, _)| start.starts_with(kind)) {
            return Err(OpenError::Kind(kind));
        }
        if file.metadata()?.len() > LARGEST {
            return Err(OpenError::Large);
        }
        let mut members = Vec::new();
        let read = read_members(Slice::new(&file, 0, LARGEST).buffered(), &mut members);
        let error = read.err().map(|error| {
            let place = members.last();
            let place = place
                .map_or("at its start".to_owned(), |last| format!("after `{}`", text::short(&last.name)));
            format!("the archive {place}: {error}")
        });
        Ok(Self { file, members, error })
    }

    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rfind(|member| member.name == name)
    }

    /// Returns the content of a member. Returns empty content if it is missing.
    pub(super) fn content(&self, name: &str) -> BufReader<Slice<'_>> {
        self.slice(name).buffered()
    }

    fn slice(&self, name: &str) -> Slice<'_> {
        let (start, length) = self.member(name).map_or((0, 0), |member| (member.start, member.length));
        Slice::new(&self.file, start, length)
    }

    /// Returns the content of a small member, at most the length of a line of a record. Records and reports
    /// are read piece by piece.
    pub(super) fn whole(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.content(name).take(LONGEST).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Returns the record.
    pub fn record(&self) -> RecordReader<'_> {
        RecordReader::new(self.slice(RECORD))
    }

    /// Checks that the archive consists of exactly the expected members, once each and in order.
    pub(super) fn check(&self, expected: &[String], broken: &mut Vec<String>) -> io::Result<()> {
        let before = broken.len();
        let found: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        let needed = [RECORD, CHAIN, PROFILE, DIGESTS, PUBLIC_KEY, STATEMENT];
        for name in expected.iter().chain(needed.iter().filter(|name| !expected.contains(name))) {
            match found.iter().filter(|other| other == &name).count() {
                0 => broken.push(format!("the archive: `{}` is missing", text::short(name))),
                1 => {}
                times => broken.push(format!("the archive: `{}` occurs {times} times", text::short(name))),
            }
        }
        for name in found.iter().filter(|name| !expected.contains(name)) {
            broken.push(format!("the archive: `{}` does not belong to the bundle", text::short(name)));
        }
        if broken.len() == before && found != expected {
            let at = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            let name = at.map_or("", |at| found[at]);
            broken.push(format!("the archive: `{}` is out of order", text::short(name)));
        }
        if broken.len() == before {
            broken.extend(self.frame()?);
        }
        Ok(())
    }

    /// Checks each byte outside the content of members, which `bundle` writes in exactly one way.
    fn frame(&self) -> io::Result<Option<String>> {
        let mut at = 0;
        for Member { name, start, length, .. } in &self.members {
            let header = header(name, *length)?;
            if let Some(byte) = self.differing(at, header.as_bytes())? {
                return Ok(Some(format!("the archive: byte {byte} of the header of `{name}` differs")));
            }
            if *start != at + 512 {
                return Ok(Some(format!("the archive: `{name}` has more than one header")));
            }
            at = start + length;
            let padding = usize::try_from(length.next_multiple_of(512) - length).unwrap_or_default();
            if let Some(byte) = self.differing(at, &vec![0; padding])? {
                return Ok(Some(format!(
                    "the archive: byte {}, between the end of `{name}` and the next member, differs",
                    at + byte
                )));
            }
            at = start + length.next_multiple_of(512);
        }
        let is_longer = Slice::new(&self.file, at + 1024, 1).read(&mut [0])? > 0;
        let end = self.differing(at, &[0; 1024])?.or(is_longer.then_some(1024));
        Ok(end.map(|byte| format!("the archive: byte {}, after the last member, differs", at + byte)))
    }

    /// Returns the offset of the first byte that differs from the expected ones. A missing byte counts as
    /// different.
    fn differing(&self, start: u64, expected: &[u8]) -> io::Result<Option<u64>> {
        let mut found = Vec::new();
        Slice::new(&self.file, start, expected.len() as u64).read_to_end(&mut found)?;
        let at = expected.iter().zip(&found).position(|(expected, found)| expected != found);
        Ok(at.or((found.len() < expected.len()).then_some(found.len())).map(|at| at as u64))
    }
}

/// Returns true if a compressed file was changed or truncated.
fn is_corrupt(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Reads the members of an archive as far as possible. Extended headers count as members: `bundle` writes
/// none, and their names may be as long as the file.
fn read_members(input: impl Read, members: &mut Vec<Member>) -> io::Result<()> {
    for entry in tar::Archive::new(input).entries()?.raw(true) {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let (length, sha256) = measured(&mut entry)?;
        if entry.size() != length {
            return Err(io::Error::other(format!("`{}` is truncated", text::short(&name))));
        }
        members.push(Member { name, start: entry.raw_file_position(), length, sha256 });
    }
    Ok(())
}
