//! Reads traffic from files, one exchange after another: HTTP archives, records of runs, and requests with
//! their answers as they went over the wire.

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
use xs2aspec_record::Untold;

/// How much of a file is read to see what it is.
const LOOKED_AT: u64 = 4096;

/// Why traffic cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file.
    #[error("{0}: cannot be read: {1}")]
    File(String, io::Error),
    /// No archive at all.
    #[error("{0}: {1}")]
    Form(String, String),
    /// What is wrong with an entry.
    #[error("{file}: entry {number}: {what}")]
    Entry {
        /// The file.
        file: String,
        /// Number of the entry, from 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
}

/// What a file of traffic is.
enum Format {
    /// An HTTP archive (HAR 1.2).
    Archive,
    /// The record of a run.
    Record,
    /// Requests, each with its answer, as they go over the wire (RFC 9112).
    Pairs,
}

/// What our own records say about their masks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The values of the profile, by name: pseudonyms, unless they are public.
    pub values: BTreeMap<String, String>,
    /// Whether the requests are those of a run, which breaks rules on purpose, and not those of others.
    pub is_of_a_run: bool,
}

/// What is read of a file.
#[derive(Debug)]
pub enum Piece {
    /// How what follows was masked. Of several the last counts.
    Masked(Masked),
    /// An exchange.
    Traffic(Box<Traffic>),
    /// An exchange that cannot be read.
    Unread(Unread),
    /// The entry of this number lists a request a second time.
    Twice(u64),
}

/// An exchange that cannot be read, while others can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its number, from 1.
    pub number: u64,
    /// Method of its request; empty if it is not known.
    pub method: String,
    /// URL of its request; empty if it is not known.
    pub url: String,
    /// What is wrong with it.
    pub why: String,
}

impl Unread {
    /// Returns what is known of the exchange.
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

/// What is no text until somebody unpacks or converts it: its first bytes, what it is, and what to do.
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

/// Reads a file, or the record in the folder of a run, and hands each exchange on as soon as it is read.
/// `now` is the time of exchanges that do not say when they were. Ends early where `take` says so.
pub fn read(path: &Path, now: DateTime<Utc>, take: &mut dyn FnMut(Piece) -> bool) -> Result<(), InputError> {
    let path = if path.is_dir() { path.join(xs2aspec_record::outputs::RECORD) } else { path.to_owned() };
    let (mut file, format) = open(&path)?;
    let name = path.display().to_string();
    match format {
        Format::Archive => archive::read(&name, &mut file, now, take),
        Format::Record => recorded::read(&name, file, take),
        Format::Pairs => pairs::read(&name, &mut file, now, take),
    }
}

/// Opens a file and says what it is.
fn open(path: &Path) -> Result<(BufReader<File>, Format), InputError> {
    let name = || path.display().to_string();
    let wrong = |error| InputError::File(name(), error);
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(wrong)?);
    let mut begin = Vec::new();
    file.by_ref().take(LOOKED_AT).read_to_end(&mut begin).map_err(wrong)?;
    if let Some((_, what, do_this)) = PACKED.iter().find(|(start, ..)| begin.starts_with(start)) {
        return Err(InputError::Form(name(), format!("is {what}: {do_this}")));
    }
    // A byte order mark, which HAR 1.2 lets a reader pass over.
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
            let what = "expected an HTTP archive (JSON with `log`), the record of a run, or requests and answers that begin with \
                        `METHOD PATH HTTP/1.1`";
            return Err(InputError::Form(name(), what.to_owned()));
        }
    };
    let _ = file.fill_buf().map_err(wrong)?;
    Ok((file, format))
}
