//! The folder of a run. One command at a time writes into it: the record of another one would be lost.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    doubt,
    outputs::{self, MASK_KEY, OutputError, RECORD, RECORD_BEGINS},
};

/// The file that the command holds locked that writes into the folder. It is empty.
pub const LOCK: &str = "run.lock";

/// How often a folder is tried to be locked. A command that was stopped may hold it a moment longer.
const TRIES: u32 = 20;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// What a command does with a run that did not come to its end, while nobody knows what it made at the
/// target.
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
    lock: File,
}

impl RunFolder {
    /// Returns an error if a run could not begin here now. Changes nothing.
    pub fn may_begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<(), OutputError> {
        check(path, files)?;
        match lock(path, || File::options().append(true).open(path.join(LOCK))) {
            // Where there is no such file nobody writes.
            Err(OutputError::Write { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            locked => drop(locked?),
        }
        check_doubt(path, doubt)
    }

    /// Makes the folder this command's. Its run takes the place of one that ended, or that is given up.
    pub fn begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<Self, OutputError> {
        let folder = Self::locked(path, files)?;
        check_doubt(path, doubt)?;
        folder.remove(MASK_KEY).map_err(|error| write(path, error))?;
        Ok(folder)
    }

    /// Makes the folder this command's, which goes on with the run there.
    pub fn go_on(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        Self::locked(path, files)
    }

    fn locked(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        check(path, files)?;
        fs::create_dir_all(path).map_err(|error| write(path, error))?;
        let lock = lock(path, || File::options().create(true).append(true).open(path.join(LOCK)))?;
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Removes the mask key: the run has come to its end.
    pub fn end(self) -> io::Result<()> {
        self.remove(MASK_KEY)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be removed says nothing to whoever comes next.
        drop(self.remove(LOCK));
        drop(self.lock.unlock());
    }
}

/// Returns the file that `open` gives, locked. Who held it before may have removed it meanwhile.
fn lock(folder: &Path, open: impl Fn() -> io::Result<File>) -> Result<File, OutputError> {
    for _ in 0..TRIES {
        let file = open().map_err(|error| write(folder, error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            // Where files cannot be locked there is nobody to ask.
            Ok(()) | Err(TryLockError::Error(_)) if outputs::is_still(&file, &folder.join(LOCK)) => {
                return Ok(file);
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
    }
    Err(OutputError::Busy { folder: folder.to_owned() })
}

/// Returns an error if a name of a run leads to something else.
pub fn check(folder: &Path, files: Files<'_>) -> Result<(), OutputError> {
    for (name, begins) in [(RECORD, Some(RECORD_BEGINS)), (LOCK, None)] {
        let path = folder.join(name);
        outputs::is_no_input(&path, files.reads)?;
        outputs::holds_nothing_else(&path, begins)?;
    }
    outputs::is_no_input(&folder.join(MASK_KEY), files.reads)?;
    files.reports.iter().try_for_each(|name| outputs::may_write(&folder.join(name), files.reads))
}

fn check_doubt(folder: &Path, doubt: Doubt) -> Result<(), OutputError> {
    match doubt::in_doubt(&folder.join(RECORD)) {
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
