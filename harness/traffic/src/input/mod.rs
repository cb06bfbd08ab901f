//! Reads traffic from files, one exchange after another: HTTP archives, records of runs, and files of
//! requests and responses as sent.

mod archive;
mod body;
mod budget;
mod entry;
mod member;
mod pairs;
mod quirks;
mod recorded;
mod spelling;
mod surrogates;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use chrono::{DateTime, Utc};

use xs2aspec_judge::traffic::{Payload, Sent, Traffic};
use xs2aspec_record::{Untold, compressed};

/// Number of bytes that are read to detect the format of a file.
const LOOKED_AT: u64 = 4096;

/// The reason why traffic cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file cannot be read.
    #[error("{0}: cannot be read: {1}")]
    File(String, io::Error),
    /// The file has an unknown format.
    #[error("{0}: {1}")]
    Form(String, String),
    /// An entry is invalid.
    #[error("{file}: entry {number}: {what}")]
    Entry {
        /// The file.
        file: String,
        /// Number of the entry, from 1.
        number: u64,
        /// The error.
        what: String,
    },
}

/// The format of a file of traffic.
enum Format {
    /// An HTTP archive (HAR 1.2).
    Archive,
    /// The record of a run.
    Record,
    /// Requests with their responses as sent (RFC 9112).
    Pairs,
}

/// Information about masking in records of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// Values of the profile, by name. They are pseudonyms unless they are public.
    pub values: BTreeMap<String, String>,
    /// True if the requests are from a run, which violates rules on purpose.
    pub is_of_a_run: bool,
}

/// A piece of a file.
#[derive(Debug)]
pub enum Piece {
    /// Masking of the pieces that follow. The last one counts.
    Masked(Masked),
    /// An exchange.
    Traffic(Box<Traffic>),
    /// An exchange that cannot be read.
    Unread(Unread),
    /// The entry with this number lists a request a second time.
    Twice(u64),
}

/// An exchange that cannot be read. Others in the file may be readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its number, from 1.
    pub number: u64,
    /// Method of its request. Empty if unknown.
    pub method: String,
    /// URL of its request. Empty if unknown.
    pub url: String,
    /// The error.
    pub why: String,
}

impl Unread {
    /// Returns the known part of the exchange.
    pub fn traffic(&self, began: DateTime<Utc>) -> Traffic {
        let (method, url, headers) = (self.method.clone(), self.url.clone(), Vec::new());
        let body = Payload::Unknown(Untold::Unreadable);
        Traffic {
            number: self.number,
            label: None,
            began,
            micros: 0,
            request: Sent { method, url, headers, body, changed: None },
            answer: None,
            failure: Some(format!("it cannot be read: {}", self.why)),
        }
    }
}

/// Formats that must be unpacked or converted first: the initial bytes, the name, and the advice.
const PACKED: [(&[u8], &str, &str); 13] = [
    (b"\x1f\x8b", "compressed (gzip)", "unpack it with gunzip first"),
    (b"PK\x03\x04", "compressed (zip)", "unpack it with unzip first, or export it as HAR"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)", "unpack it with unzstd first"),
    (b"BZh", "compressed (bzip2)", "unpack it with bunzip2 first"),
    (b"\xfd7zXZ", "compressed (xz)", "unpack it with unxz first"),
    (b"\x78\x9c", "compressed (zlib)", "export it as .har"),
    (b"\x78\xda", "compressed (zlib)", "export it as .har"),
    (b"7z\xbc\xaf", "compressed (7-Zip)", "unpack it with 7z x first"),
    (b"\xff\xfe\0\0", "UTF-32", "convert it with iconv -f UTF-32 -t UTF-8 first"),
    (b"\xff\xfe", "UTF-16", TO_UTF_8),
    (b"\xfe\xff", "UTF-16", TO_UTF_8),
    (b"{\0", "UTF-16 without a byte order mark", "convert it with iconv -f UTF-16LE -t UTF-8 first"),
    (b"\0{", "UTF-16 without a byte order mark", "convert it with iconv -f UTF-16BE -t UTF-8 first"),
];

const TO_UTF_8: &str = "convert it with iconv -f UTF-16 -t UTF-8 first";

/// Reads a file, or the record in the folder of a run, and passes on each exchange as soon as it is read.
/// `now` is the time of exchanges without one. Stops when `take` returns false.
pub fn read(path: &Path, now: DateTime<Utc>, take: &mut dyn FnMut(Piece) -> bool) -> Result<(), InputError> {
    let path = compressed::record_of(path);
    let (mut file, format) = open(&path)?;
    let name = path.display().to_string();
    match format {
        Format::Archive => archive::read(&name, &mut file, now, take),
        Format::Record => recorded::read(&name, file, take),
        Format::Pairs => pairs::read(&name, &mut file, now, take),
    }
}

/// Opens a file and detects its format.
fn open(path: &Path) -> Result<(BufReader<File>, Format), InputError> {
    let name = || path.display().to_string();
    let wrong = |error| InputError::File(name(), error);
    let mut file = BufReader::with_capacity(1 << 16, compressed::open_record(path).map_err(wrong)?);
    let mut begin = Vec::new();
    file.by_ref().take(LOOKED_AT).read_to_end(&mut begin).map_err(wrong)?;
    if let Some((_, what, do_this)) = PACKED.iter().find(|(start, ..)| begin.starts_with(start)) {
        return Err(InputError::Form(name(), format!("is {what}: {do_this}")));
    }
    // HAR 1.2 allows readers to ignore a byte order mark.
    let skipped: u64 = if begin.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    file.seek(SeekFrom::Start(skipped)).map_err(wrong)?;
    let text = String::from_utf8_lossy(&begin);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let format = match text.chars().next() {
        None => return Err(InputError::Form(name(), "expected an archive, found an empty file".to_owned())),
        Some('{') if text.starts_with(r#"{"event":"run-started""#) => Format::Record,
        Some('{' | '[') => Format::Archive,
        Some(_) if pairs::begins(text) => Format::Pairs,
        Some(_) => {
            let what = "expected an HTTP archive (JSON with `log`), the record of a run, or requests and responses that start with \
                        `METHOD PATH HTTP/1.1`";
            return Err(InputError::Form(name(), what.to_owned()));
        }
    };
    let _ = file.fill_buf().map_err(wrong)?;
    Ok((file, format))
}
