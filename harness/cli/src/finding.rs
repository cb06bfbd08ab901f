//! A finding of an earlier run, by its id or the first digits of it.

use std::path::Path;

use xs2aspec_record::{
    CaseEvents, Entry,
    finding_id::{is_prefix, printed},
};
use xs2aspec_report::{RunSummary, findings::Found, shell, text};
use xs2aspec_suite::nearest;

use crate::{Failure, report};

/// The maximum number of findings to name in an error.
const NAMED: usize = 5;

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

    /// Returns the option that names the target of the run, with a space before it.
    pub(crate) fn target_option(&self) -> String {
        let target = self.summary.start().argument("--target").map(shell::quoted);
        target.map(|target| format!(" --target {target}")).unwrap_or_default()
    }

    /// Returns the cases that show a finding, in the order of their ids, and the events of its witness.
    pub(crate) fn cases(&self, found: &Found) -> Result<(Vec<String>, Option<CaseEvents>), Failure> {
        let path = report::record(self.run);
        let (mut cases, mut witness) = (Vec::new(), None);
        for entry in report::open(&path)? {
            let Entry::Case(case) = entry.map_err(|error| report::wrong(&path, &error))? else { continue };
            let verdict = case.verdict.as_ref();
            let shown = verdict.map(|verdict| self.summary.findings().of_case(verdict)).unwrap_or_default();
            if shown.iter().any(|one| one.id == found.id) {
                cases.push(case.case.clone());
            }
            if case.case == found.root.witness.case {
                witness = Some(case);
            }
        }
        Ok((cases, witness))
    }
}

/// Replaces each finding id among these patterns by the cases that show it in an earlier run.
pub(crate) fn cases_of(patterns: &[String], run: &Path) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let mut earlier = None;
    for pattern in patterns {
        if !is_prefix(pattern) {
            all.push(pattern.clone());
            continue;
        }
        let earlier = match &mut earlier {
            Some(earlier) => earlier,
            none => none.insert(Earlier::open(run)?),
        };
        all.extend(earlier.cases(earlier.found(pattern)?)?.0);
    }
    Ok(all)
}
