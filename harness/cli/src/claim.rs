//! Claims the folder of a run before the first request.

use std::{fs::File, path::Path};

use xs2aspec_record::{
    RunFolder, compressed,
    outputs::{OutputError, RECORD},
    run_folder::{self, Doubt, Files},
};

use crate::{
    Failure,
    args::Run,
    report::{self, wrong},
};

/// Claims the folder for a new run.
pub(crate) fn begun(args: &Run) -> Result<RunFolder, Failure> {
    files(args, |files| RunFolder::begin(&args.out, files, doubt(args)))
}

/// Claims the folder of a run to resume, before its record changes.
pub(crate) fn resumed(args: &Run, folder: &Path) -> Result<RunFolder, Failure> {
    let path = folder.join(RECORD);
    File::open(compressed::record_of(&path))
        .map_err(|error| wrong(&path, &format!("cannot read the record: {error}")))?;
    files(args, |files| RunFolder::go_on(folder, files))
}

/// Fails if this run cannot claim the folder.
pub(crate) fn check(args: &Run, goes_on: bool) -> Result<(), Failure> {
    files(args, |files| {
        if goes_on {
            run_folder::check(&args.out, files)
        } else {
            RunFolder::may_begin(&args.out, files, doubt(args))
        }
    })
}

/// Passes the files of a run to `of`, which fails before the first request if the run would overwrite its
/// input, a key, the run of another command, or a run in doubt.
fn files<T>(args: &Run, of: impl FnOnce(Files<'_>) -> Result<T, OutputError>) -> Result<T, Failure> {
    let profile = args.target.profile();
    // A resumed run may read the key in its own folder.
    let mask_key = args.mask_key.file.as_deref().filter(|_| args.resume.is_none());
    let reads: Vec<&Path> = profile.into_iter().chain(args.waivers.as_deref()).chain(mask_key).collect();
    of(Files { reports: &report::names(), reads: &reads }).map_err(|error| match error {
        OutputError::InDoubt { .. } => Failure::input(format!("{error}; --force overwrites it")),
        error => Failure::input(error),
    })
}

fn doubt(args: &Run) -> Doubt {
    if args.force { Doubt::GiveUp } else { Doubt::Fail }
}
