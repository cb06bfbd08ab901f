//! The record of a command that is no plain run, and the reports drawn from it.

use std::{fs, path::Path};

use xs2aspec_record::{Event, Spool, journal, outputs};
use xs2aspec_report::reports;

use crate::{
    Failure,
    report::{cannot_write, names},
};

/// A record that is written as events come.
pub(crate) struct Recording<'a> {
    folder: &'a Path,
    spool: Spool,
    broken: Option<Failure>,
}

impl<'a> Recording<'a> {
    /// Begins the record of a folder, if the command may write there.
    pub(crate) fn create(folder: &'a Path, reads: &[&Path]) -> Result<Self, Failure> {
        outputs::may_write_run(folder, &names(), reads).map_err(Failure::input)?;
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        journal::forget(folder).map_err(|error| cannot_write(folder, &error))?;
        let path = folder.join(outputs::RECORD);
        let spool = Spool::create(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { folder, spool, broken: None })
    }

    /// Writes the next event. What cannot be written is told at the end.
    pub(crate) fn write(&mut self, event: &Event) {
        if self.broken.is_none()
            && let Err(error) = self.spool.write(event)
        {
            self.broken = Some(cannot_write(&self.folder.join(outputs::RECORD), &error));
        }
    }

    /// Writes the reports beside the record.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if let Some(failure) = self.broken {
            return Err(failure);
        }
        let (head, written) = reports::write(self.folder, &mut [], |tell| {
            self.spool.settle(|event| {
                tell(event);
                Ok(())
            })
        });
        head.map_err(Failure::input)?;
        written.map_err(Failure::input)
    }
}
