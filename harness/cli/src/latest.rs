//! The folder of a run without `--out`: a new one, to which `latest` leads.

use chrono::Utc;
use xs2aspec_record::{latest, outputs};

use crate::{Failure, args::Run, report::cannot_write};

/// Returns the run in a new folder, if it would write to `latest`.
pub(crate) fn placed(args: &Run) -> Result<Option<Run>, Failure> {
    if args.failed || args.resume.is_some() || !latest::is_latest(&args.out) {
        return Ok(None);
    }
    let out = latest::new_folder(&args.out, Utc::now()).map_err(|error| cannot_write(&args.out, &error))?;
    Ok(Some(Run { latest: Some(args.out.clone()), out, ..args.clone() }))
}

/// Lets `latest` lead to a run that has started. A run of a few cases leaves the last full run there. Returns
/// the addition to the line that names the folder.
pub(crate) fn point(args: &Run) -> String {
    let Some(latest) = args.latest.as_ref().filter(|latest| args.only.is_empty() || !latest.exists()) else {
        return String::new();
    };
    let shown = latest.display();
    let pointed = outputs::may_write(latest, &[]).map_err(|error| error.to_string()).and_then(|()| {
        latest::point(latest, &args.out).map_err(|error| cannot_write(latest, &error).message)
    });
    match pointed {
        Ok(()) => format!(" ({shown} points there; earlier runs are kept)"),
        Err(error) => {
            note!("{error}");
            String::new()
        }
    }
}
