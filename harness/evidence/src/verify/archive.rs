//! The archive of a bundle: its members, and each byte around them.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use xs2aspec_report::text;

use crate::bundle::{self, CHAIN, DIGESTS, LARGEST, PROFILE, PUBLIC_KEY, RECORD, STATEMENT};

/// Why a file is not looked at.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// More than is kept in memory.
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

/// The bytes of an archive. One that is too large is found before it is read.
pub fn open(path: &Path) -> Result<Vec<u8>, OpenError> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    let mut input = file.take(LARGEST + 1);
    input.by_ref().take(512).read_to_end(&mut bytes)?;
    if let Some((_, kind)) = KINDS.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Err(OpenError::Kind(kind));
    }
    if length > LARGEST {
        return Err(OpenError::Large);
    }
    input.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(OpenError::Large) } else { Ok(bytes) }
}

/// Members in the order of the archive.
pub(super) type List = Vec<(String, Vec<u8>)>;

/// The members of an archive; those before the place that cannot be read, and what is wrong there.
pub(super) fn read(bytes: &[u8]) -> Result<List, (List, String)> {
    let mut members = List::new();
    match read_into(bytes, &mut members) {
        Ok(()) => Ok(members),
        Err(error) => {
            let place = members
                .last()
                .map_or("at its start".to_owned(), |(name, _)| format!("after `{}`", text::short(name)));
            Err((members, format!("the archive {place}: {error}")))
        }
    }
}

fn read_into(bytes: &[u8], members: &mut List) -> io::Result<()> {
    for entry in tar::Archive::new(bytes).entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        if entry.size() != content.len() as u64 {
            return Err(io::Error::other(format!("`{}` is cut off", text::short(&name))));
        }
        members.push((name, content));
    }
    Ok(())
}

/// Whether the members are those that are expected, once each and in order, and nothing is besides.
pub(super) fn check(bytes: &[u8], members: &List, expected: &[String], broken: &mut Vec<String>) {
    let before = broken.len();
    let found: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
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
    let list: Vec<(&str, Vec<u8>)> =
        members.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let written = bundle::archive(&list).unwrap_or_default();
    if broken.len() == before && written != bytes {
        let at = written.iter().zip(bytes).position(|(written, found)| written != found);
        broken.push(frame(members, at.unwrap_or(written.len().min(bytes.len()))));
    }
}

/// Where in an archive a byte stands that is no content of a member.
fn frame(members: &[(String, Vec<u8>)], at: usize) -> String {
    let mut start = 0;
    for (name, content) in members {
        let end = start + 512 + content.len().next_multiple_of(512);
        if at < start + 512 {
            return format!("the archive: byte {} of the header of `{name}` is another", at - start);
        }
        if at < end {
            return format!(
                "the archive: byte {at}, between the end of `{name}` and the next member, is another"
            );
        }
        start = end;
    }
    format!("the archive: byte {at}, after the last member, is another")
}
