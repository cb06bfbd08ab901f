//! A finding of an earlier run, by its id or the first digits of it.

use std::path::Path;

use xs2aspec_record::{CaseEvents, Entry};
use xs2aspec_report::{RunSummary, findings::Found, text};
use xs2aspec_suite::nearest;

use crate::{Failure, report};

/// The number of digits of an id that reports print, and the fewest that name a finding.
pub(crate) const PRINTED: usize = 8;
/// The number of digits of a whole id.
const WHOLE: usize = 16;
/// The maximum number of findings to name in an error.
const NAMED: usize = 5;

/// Returns true if a string can be the id of a finding or its first digits.
pub(crate) fn is_id(text: &str) -> bool {
    (PRINTED..=WHOLE).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns an id as reports print it.
pub(crate) fn printed(id: &str) -> &str {
    id.get(..PRINTED).unwrap_or(id)
}

/// An earlier run.
pub(crate) struct Earlier<'a> {
    /// Its record or its folder.
    run: &'a Path,
    pub(crate) summary: RunSummary,
}

impl<'a> Earlier<'a> {
    /// Reads the summary of a run, given by its record or its folder.
    pub(crate) fn open(run: &'a Path) -> Result<Self, Failure> {
        if !report::record(run).exists() {
            return Err(Failure::input(format!(
                "there is no run in {}: a finding is named by a run, so run first, or pass the folder of a run",
                run.display()
            )));
        }
        Ok(Self { run, summary: report::summary(run)? })
    }

    /// Returns the finding whose id, or that of one of its symptoms, starts with these digits.
    pub(crate) fn found(&self, id: &str) -> Result<&Found, Failure> {
        let wanted = id.to_ascii_lowercase();
        let all = self.summary.findings().all();
        let named: Vec<&Found> =
            all.iter().filter(|found| found.ids().iter().any(|known| known.starts_with(&wanted))).collect();
        match named[..] {
            [found] => Ok(found),
            [] => Err(Failure::input(self.unknown(id, &wanted))),
            _ => {
                let ids: Vec<&str> = named.iter().map(|found| found.id.as_str()).collect();
                Err(Failure::input(format!("`{id}` is the start of several ids: {}", ids.join(", "))))
            }
        }
    }

    /// Returns the message for an id that no finding of the run has.
    fn unknown(&self, id: &str, wanted: &str) -> String {
        let run = self.run.display();
        let all = self.summary.findings().all();
        if all.is_empty() {
            return format!("no finding has the id `{id}`: the run in {run} has no finding");
        }
        let near = nearest(wanted, all.iter().map(|found| printed(&found.id)));
        if let Some(near) = near {
            return format!("no finding of the run in {run} has the id `{id}`; did you mean `{near}`?");
        }
        let named = all
            .iter()
            .take(NAMED)
            .map(|found| format!("\n  {}  {}", printed(&found.id), text::harmless(&found.clause)));
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("\n  and {more} more"),
        };
        let named: String = named.collect();
        format!("no finding of the run in {run} has the id `{id}`; it has:{named}{more}")
    }

    /// Returns the cases that show a finding, in the order of their ids.
    pub(crate) fn cases(&self, found: &Found) -> Result<Vec<String>, Failure> {
        let mut cases = Vec::new();
        self.each(|case| {
            let verdict = case.verdict.as_ref();
            let shown = verdict.map(|verdict| self.summary.findings().of_case(verdict)).unwrap_or_default();
            if shown.iter().any(|one| one.id == found.id) {
                cases.push(case.case.clone());
            }
        })?;
        Ok(cases)
    }

    /// Returns the recorded exchanges and the verdict of a case.
    pub(crate) fn case(&self, id: &str) -> Result<Option<CaseEvents>, Failure> {
        let mut wanted = None;
        self.each(|case| {
            if case.case == id {
                wanted = Some(case.clone());
            }
        })?;
        Ok(wanted)
    }

    /// Visits the cases of the record.
    fn each(&self, mut visit: impl FnMut(&CaseEvents)) -> Result<(), Failure> {
        let path = report::record(self.run);
        for entry in report::open(&path)? {
            if let Entry::Case(case) = entry.map_err(|error| report::wrong(&path, &error))? {
                visit(&case);
            }
        }
        Ok(())
    }

    /// Returns the value of an option of the run, such as `--target`.
    pub(crate) fn argument(&self, option: &str) -> Option<&str> {
        let arguments = &self.summary.start().arguments;
        let at = arguments.iter().position(|argument| argument == option)?;
        arguments.get(at + 1).map(String::as_str)
    }
}

/// Replaces each finding id among these patterns by the cases that show it in an earlier run. An id that is a
/// pattern of cases, too, stays as it is.
pub(crate) fn cases_of(patterns: &[String], run: &Path) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let mut earlier = None;
    for pattern in patterns {
        if !is_id(pattern) {
            all.push(pattern.clone());
            continue;
        }
        let earlier = match &mut earlier {
            Some(earlier) => earlier,
            none => none.insert(Earlier::open(run)?),
        };
        all.extend(earlier.cases(earlier.found(pattern)?)?);
    }
    Ok(all)
}
