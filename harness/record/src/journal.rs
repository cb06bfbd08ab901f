//! What was about to be sent. An exchange is recorded when its case ends, and a killed run does not get
//! there: what could have made a payment is therefore noted before its first byte leaves, in a file of its
//! own that goes when the run has come to its end.

use std::{
    collections::BTreeSet,
    fs::{File, TryLockError},
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    event::Event,
    reader::{ReadError, RecordReader},
    verdict::Verdict,
};

/// The record of a run, in its folder, in which the journal lies too.
pub const RECORD: &str = "record.jsonl";

/// The name of the file, beside the record.
pub const FILE: &str = "sending.jsonl";

/// Name of the file with the key of the pseudonyms of a run that has not ended.
pub const MASK_KEY: &str = "mask.key";

/// So often a folder is asked for once more.
const TRIES: u32 = 20;

#[derive(Serialize, Deserialize)]
struct Line {
    case: String,
    step: String,
}

/// Notes what is about to be sent.
#[derive(Debug)]
pub struct Journal {
    file: Mutex<File>,
}

impl Journal {
    /// Goes on with the file in this folder, or begins it. The folder is this run's as long as the journal is
    /// there: what another run that is under way wrote would be lost.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(folder.join(FILE))?;
        // A run that was stopped may hold it a moment longer. Where files cannot be locked there is nobody
        // to ask.
        let mut tries = 0;
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            if tries == TRIES {
                let says = "another run writes into this folder; wait for its end, or name another folder";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, says));
            }
            tries += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Self { file: Mutex::new(file) })
    }

    /// Forgets what an earlier run noted.
    pub fn begin_anew(&self) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).set_len(0)
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
    let text = match std::fs::read_to_string(folder.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut cases = Vec::new();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        cases.push(serde_json::from_str::<Line>(line)?.case);
    }
    Ok(cases)
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

/// Removes the file and the mask key: the run has ended.
pub fn forget(folder: &Path) -> io::Result<()> {
    [FILE, MASK_KEY].into_iter().try_for_each(|name| match std::fs::remove_file(folder.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_again_until_it_is_forgotten() {
        let folder = std::env::temp_dir().join(format!("xs2aspec-sending-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        forget(&folder).unwrap();
        assert!(noted(&folder).unwrap().is_empty());
        Journal::open(&folder).unwrap().note("a/b", "request").unwrap();
        Journal::open(&folder).unwrap().note("c/d", "payment").unwrap();
        let journal = Journal::open(&folder).unwrap();
        let busy = Journal::open(&folder).unwrap_err();
        assert!(busy.to_string().starts_with("another run writes into this folder"), "{busy}");
        drop(journal);
        let path = folder.join(FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        assert_eq!(noted(&folder).unwrap(), ["a/b"], "the cut line was not sent");
        Journal::open(&folder).unwrap().begin_anew().unwrap();
        assert!(noted(&folder).unwrap().is_empty());
        forget(&folder).unwrap();
        assert!(noted(&folder).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
