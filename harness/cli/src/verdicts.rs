//! The verdicts of an earlier run.

use std::{collections::BTreeMap, path::Path};

use xs2aspec_record::{Event, Verdict};

use crate::{Failure, report};

/// Returns the cases of a run that failed or could not be judged. `run` is its record or its folder.
pub(crate) fn failed(run: &Path) -> Result<Vec<String>, Failure> {
    let is_open = |verdict| matches!(verdict, Verdict::Fail | Verdict::Inconclusive | Verdict::Error);
    let verdicts = verdicts(run)?;
    Ok(verdicts.into_iter().filter(|(_, verdict)| is_open(*verdict)).map(|(case, _)| case).collect())
}

/// Returns the verdict of each case of a run.
pub(crate) fn verdicts(run: &Path) -> Result<BTreeMap<String, Verdict>, Failure> {
    let path = report::record(run);
    let mut verdicts = BTreeMap::new();
    for event in report::open(&path)?.events() {
        if let Event::Verdict(verdict) = event.map_err(|error| report::wrong(&path, &error))? {
            verdicts.insert(verdict.case, verdict.verdict);
        }
    }
    Ok(verdicts)
}
