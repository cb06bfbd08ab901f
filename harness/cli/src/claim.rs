//! The folder of a run is claimed before anything is sent.

use std::{fs::File, path::Path};

use xs2aspec_record::{
    RunFolder,
    outputs::{OutputError, RECORD},
    run_folder::{self, Doubt, Files},
};

use crate::{
    Failure,
    args::Run,
    report::{self, wrong},
};

/// Makes the folder this command's, for a run that begins.
pub(crate) fn begun(args: &Run) -> Result<RunFolder, Failure> {
    files(args, |files| RunFolder::begin(&args.out, files, doubt(args)))
}

/// Makes the folder of a run that goes on this command's, before its record is touched.
pub(crate) fn resumed(args: &Run, folder: &Path) -> Result<RunFolder, Failure> {
    let path = folder.join(RECORD);
    File::open(&path).map_err(|error| wrong(&path, &format!("cannot be read: {error}")))?;
    files(args, |files| RunFolder::go_on(folder, files))
}

/// Fails if the folder cannot be this run's.
pub(crate) fn check(args: &Run, goes_on: bool) -> Result<(), Failure> {
    files(args, |files| {
        if goes_on {
            run_folder::check(&args.out, files)
        } else {
            RunFolder::may_begin(&args.out, files, doubt(args))
        }
    })
}

/// Hands the files of a run to what fails before anything is sent: where the run would write over what it
/// reads, over a key, over the run of another command, or over one in doubt.
fn files<T>(args: &Run, of: impl FnOnce(Files<'_>) -> Result<T, OutputError>) -> Result<T, Failure> {
    let profile = args.target.as_deref().filter(|target| !target.contains("://")).map(Path::new);
    // The key of a run that goes on may be the one in its folder.
    let mask_key = args.mask_key.file.as_deref().filter(|_| args.resume.is_none());
    let reads: Vec<&Path> = profile.into_iter().chain(args.waivers.as_deref()).chain(mask_key).collect();
    of(Files { reports: &report::names(), reads: &reads }).map_err(|error| match error {
        OutputError::InDoubt { .. } => {
            Failure::input(format!("{error}; --force gives it up and begins anew"))
        }
        error => Failure::input(error),
    })
}

fn doubt(args: &Run) -> Doubt {
    if args.force { Doubt::GiveUp } else { Doubt::Fail }
}
