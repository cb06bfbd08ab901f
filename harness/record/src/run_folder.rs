//! The folder of a run. Only one command at a time writes to it, because a second one would destroy its
//! record.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    compressed::{self, COMPRESSED},
    doubt,
    outputs::{self, MASK_KEY, OutputError, RECORD, RECORD_BEGINS},
};

/// The empty file that a command keeps locked while it writes to the folder.
pub const LOCK: &str = "run.lock";

/// Attempts to lock a folder. A command that was stopped may hold it a moment longer.
const TRIES: u32 = 20;

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// The treatment of an unfinished run that may have created resources at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Keep that run and fail.
    Fail,
    /// Give that run up.
    GiveUp,
}

/// The files that a command writes to the folder of a run, and those that it reads meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// The names of its reports.
    pub reports: &'a [&'a str],
    /// The files that it reads.
    pub reads: &'a [&'a Path],
}

/// A folder locked by the command that writes a run to it, until this is dropped. Every such command holds
/// one.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    lock: File,
}

impl RunFolder {
    /// Returns an error if a run cannot start here now. Changes nothing.
    pub fn may_begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<(), OutputError> {
        check(path, files)?;
        match lock(path, || File::options().append(true).open(path.join(LOCK))) {
            // Without the lock file, no command is writing.
            Err(OutputError::Write { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            locked => drop(locked?),
        }
        check_doubt(path, doubt)
    }

    /// Locks the folder for a new run, which replaces a finished run or one that is given up.
    pub fn begin(path: &Path, files: Files<'_>, doubt: Doubt) -> Result<Self, OutputError> {
        let folder = Self::locked(path, files)?;
        check_doubt(path, doubt)?;
        folder.remove(MASK_KEY).map_err(|error| write(path, error))?;
        Ok(folder)
    }

    /// Locks the folder to resume the run in it.
    pub fn go_on(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        Self::locked(path, files)
    }

    fn locked(path: &Path, files: Files<'_>) -> Result<Self, OutputError> {
        check(path, files)?;
        fs::create_dir_all(path).map_err(|error| write(path, error))?;
        let lock = lock(path, || File::options().create(true).append(true).open(path.join(LOCK)))?;
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Removes the mask key at the end of the run, and compresses its record.
    pub fn end(self) -> io::Result<()> {
        self.remove(MASK_KEY)?;
        compressed::pack_record(&self.path)
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
        // A leftover lock file does not affect later commands.
        drop(self.remove(LOCK));
        drop(self.lock.unlock());
    }
}

/// Opens and locks the lock file. Retries if the previous holder removed the file meanwhile.
fn lock(folder: &Path, open: impl Fn() -> io::Result<File>) -> Result<File, OutputError> {
    for _ in 0..TRIES {
        let file = open().map_err(|error| write(folder, error))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            // Some file systems have no locks. The folder then counts as free.
            Ok(()) | Err(TryLockError::Error(_)) if outputs::is_still(&file, &folder.join(LOCK)) => {
                return Ok(file);
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
    }
    Err(OutputError::Busy { folder: folder.to_owned() })
}

/// Returns an error if a file name of a run leads to something else.
pub fn check(folder: &Path, files: Files<'_>) -> Result<(), OutputError> {
    for (name, begins) in [(RECORD, Some(RECORD_BEGINS)), (COMPRESSED, Some(RECORD_BEGINS)), (LOCK, None)] {
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
