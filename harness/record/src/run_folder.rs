//! The folder of a run. One command at a time writes into it: the record of another one would be lost.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use crate::{
    journal::{self, Journal},
    outputs::{self, OutputError, PART, RECORD, RECORD_BEGINS},
    part,
};

/// How often a folder is tried to be locked. A command that was stopped may hold it a moment longer.
const TRIES: u32 = 20;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// What each line of the journal begins with.
const NOTE_BEGINS: &[u8] = b"{\"case\":";

/// What a command does with a run that did not come to its end, while nobody knows what it made at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It leaves that run alone, and fails.
    Fail,
    /// It gives that run up.
    GiveUp,
}

/// What a command writes into the folder of a run, and reads meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// The names of its reports.
    pub reports: &'a [&'a str],
    /// The files that it reads.
    pub reads: &'a [&'a Path],
}

/// A folder that belongs to the command that writes a run into it, until this is dropped. Every command that
/// writes one holds it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The journal, which is locked.
    lock: Arc<File>,
}

impl RunFolder {
    /// Returns an error if a run could not begin here now. Changes nothing.
    pub fn may_begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<(), OutputError> {
        check(path, files)?;
        match lock(path, || File::options().append(true).open(path.join(journal::FILE))) {
            // Where there is no journal nobody writes.
            Err(OutputError::Write { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            locked => drop(locked?),
        }
        check_doubt(path, doubt)
    }

    /// Makes the folder this command's. Its run takes the place of one that ended, or that is given up.
    pub fn begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<Self, OutputError> {
        let folder = Self::locked(path, files)?;
        check_doubt(path, doubt)?;
        let cleared = folder.lock.set_len(0).and_then(|()| part::remove(path));
        cleared.map_err(|error| write(path, error))?;
        Ok(folder)
    }

    /// Makes the folder this command's, which goes on with the run there.
    pub fn go_on(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        Self::locked(path, files)
    }

    fn locked(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        check(path, files)?;
        fs::create_dir_all(path).map_err(|error| write(path, error))?;
        let journal = path.join(journal::FILE);
        let file = lock(path, || File::options().create(true).append(true).open(&journal))?;
        Ok(Self { path: path.to_owned(), lock: Arc::new(file) })
    }

    /// Returns the journal of the run.
    pub fn journal(&self) -> Journal {
        Journal::new(Arc::clone(&self.lock))
    }

    /// Removes the journal: the run has come to its end.
    pub fn end(self) -> io::Result<()> {
        self.lock.set_len(0)?;
        self.remove()
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_file(self.path.join(journal::FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for RunFolder {
    /// Leaves the journal only where a run may go on by it.
    fn drop(&mut self) {
        if self.lock.metadata().is_ok_and(|journal| journal.len() == 0) {
            // What cannot be removed says nothing to whoever comes next.
            drop(self.remove());
        }
        drop(self.lock.unlock());
    }
}

/// Returns the journal that `open` gives, locked. Who held it before may have removed it meanwhile.
fn lock(folder: &Path, open: impl Fn() -> io::Result<File>) -> Result<File, OutputError> {
    for _ in 0..TRIES {
        let file = open().map_err(|error| write(folder, error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            // Where files cannot be locked there is nobody to ask.
            Ok(()) | Err(TryLockError::Error(_)) if outputs::is_still(&file, &folder.join(journal::FILE)) => {
                return Ok(file);
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
    }
    Err(OutputError::Busy { folder: folder.to_owned() })
}

/// Returns an error if a name of a run leads to something else.
pub fn check(folder: &Path, files: Files<'_>) -> Result<(), OutputError> {
    for (name, begins) in [(RECORD, RECORD_BEGINS), (PART, RECORD_BEGINS), (journal::FILE, NOTE_BEGINS)] {
        let path = folder.join(name);
        outputs::is_no_input(&path, files.reads)?;
        outputs::holds_nothing_else(&path, begins)?;
    }
    files.reports.iter().try_for_each(|name| outputs::may_write(&folder.join(name), files.reads))
}

fn check_doubt(folder: &Path, doubt: Doubt) -> Result<(), OutputError> {
    match journal::in_doubt(folder) {
        cases if cases > 0 && doubt == Doubt::Fail => {
            Err(OutputError::InDoubt { folder: folder.to_owned(), cases })
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, error: io::Error) -> OutputError {
    OutputError::Write { path: path.to_owned(), error }
}

#[cfg(test)]
mod tests;
