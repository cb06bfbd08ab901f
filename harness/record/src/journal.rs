//! What was about to be sent. An exchange is recorded when its case ends, and a killed run does not get
//! there: what could have made a payment is therefore noted before its first byte leaves, in a file of its
//! own that goes when the run has come to its end.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufReader, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    event::Event,
    lines::{LONGEST_WORDS, NextLine, read_line},
    read_error::ReadError,
    reader::RecordReader,
    verdict::Verdict,
};

/// The record of a run, in its folder, in which the journal lies too.
pub const RECORD: &str = "record.jsonl";

/// The name of the file, beside the record.
pub const FILE: &str = "sending.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    case: String,
    step: String,
}

/// Notes what is about to be sent. A [`RunFolder`](crate::RunFolder) makes it.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<Arc<File>>,
}

impl Journal {
    /// Goes on with this file, which is written at its end.
    pub(crate) fn new(file: Arc<File>) -> Self {
        Self { file: Mutex::new(file) }
    }

    /// Notes that a case is about to send a step. It is with the system when this returns, and outlives the
    /// process.
    pub fn note(&self, case: &str, step: &str) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { case: case.to_owned(), step: step.to_owned() })?;
        line.push(b'\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }
}

/// The cases that were noted in this folder, each as often as it was; none if there is no file. A last line
/// that is cut was not sent.
pub fn noted(folder: &Path) -> io::Result<Vec<String>> {
    let mut file = match File::open(folder.join(FILE)) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut cases, mut line) = (Vec::new(), Vec::new());
    loop {
        match read_line(&mut file, &mut line)? {
            NextLine::Line if line.ends_with(b"\n") => {
                cases.push(serde_json::from_slice::<Line>(&line)?.case);
            }
            NextLine::Line | NextLine::End => return Ok(cases),
            NextLine::TooLong => {
                let what = format!("a line of {FILE} is longer than {LONGEST_WORDS}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
    }
}

/// How many cases of the run in this folder may have made a payment, and nobody knows: they were noted, and
/// have no verdict. None if the run has come to its end.
pub fn in_doubt(folder: &Path) -> usize {
    if !folder.join(FILE).exists() {
        return 0;
    }
    // A file that cannot be read says nothing against it.
    let Ok(noted) = noted(folder) else { return 1 };
    let noted: BTreeSet<String> = noted.into_iter().collect();
    if noted.is_empty() {
        return 0;
    }
    let mut left = noted.clone();
    let read = RecordReader::open(&folder.join(RECORD)).map_err(ReadError::Io).and_then(|record| {
        record.events().try_for_each(|event| {
            if let Event::Verdict(verdict) = event?
                && verdict.verdict != Verdict::Error
            {
                left.remove(&verdict.case);
            }
            Ok(())
        })
    });
    if read.is_ok() { left.len() } else { noted.len() }
}
