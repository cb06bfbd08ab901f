//! Findings: each is one thing that is wrong, with the cases that show it. The smallest of them is shown.

use std::{collections::HashMap, fmt::Write as _};

use sha2::{Digest as _, Sha256};
use xs2aspec_record::{CaseVerdict, Finding, Level, Place};

use crate::{
    format::block,
    reporter::CaseReport,
    summary::RunSummary,
    text::{self, harmless, short},
};

/// Findings that are kept apart. A target that makes each of its answers another one does not fill the memory.
const APART: usize = 5_000;

/// Findings of one level that are shown as whole blocks; each further one has a line of its own.
pub(crate) const WHOLE: usize = 20;

/// Findings of one level that are shown at all.
pub(crate) const LINES: usize = 1_000;

/// What a run found, in the order in which it was seen first.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: Vec<Found>,
    /// Position by level, clause and place, with the places of what is refused.
    index: HashMap<(Level, String, String), usize>,
    /// Further ones that were not kept apart, by level.
    beyond: HashMap<Level, usize>,
}

/// Witnesses of a finding that are named besides the smallest.
const NAMED: usize = 20;

/// One thing that is wrong.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) level: Level,
    pub(crate) clause: String,
    /// Where in the answer, and at which places of the request, if some were found guilty.
    pub(crate) place: String,
    /// What was expected and what came, as the smallest witness shows it.
    pub(crate) mismatch: String,
    /// The smallest witness.
    pub(crate) witness: Witness,
    /// The first of the others.
    pub(crate) others: Vec<Witness>,
    /// How many cases show it.
    pub(crate) witnesses: usize,
    /// Level, clause and what the clause says.
    heading: String,
    /// What the smallest witness shows.
    block: String,
    /// Whether its smallest witness is a case of another clause, and how much that changes.
    rank: (bool, usize, usize),
}

impl Found {
    /// What tells it from other findings, the same in every run that finds it: clause and place.
    pub(crate) fn fingerprint(&self) -> String {
        let hash = Sha256::digest(format!("{}\n{}", self.clause, self.place));
        let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        format!("{number:016x}")
    }
}

/// A case that shows a finding.
#[derive(Debug)]
pub(crate) struct Witness {
    pub(crate) case: String,
    /// The file of the case, and the line in it.
    pub(crate) place: Place,
}

impl Witness {
    fn of(verdict: &CaseVerdict) -> Self {
        Self { case: verdict.case.clone(), place: verdict.place.clone() }
    }
}

impl Findings {
    /// Takes the findings of a case. Of a control that nobody selected only what its status says counts.
    pub(crate) fn add(&mut self, summary: &RunSummary, report: &CaseReport<'_>, is_control: bool) {
        let mut seen: Vec<usize> = Vec::new();
        for finding in &report.verdict.findings {
            if is_control && finding.at != "status" {
                continue;
            }
            let Some(at) = self.position(summary, report.verdict, finding) else { continue };
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            let found = &mut self.found[at];
            found.witnesses += 1;
            let changes = report.verdict.telling_changes();
            let rank = (finding.clause != report.verdict.clause, changes.len(), changes.concat().len());
            let mut other = Witness::of(report.verdict);
            if found.witnesses == 1 || rank < found.rank {
                found.rank = rank;
                found.mismatch = finding.mismatch();
                std::mem::swap(&mut found.witness, &mut other);
                found.block = block::finding_block(summary, report, finding);
                if is_control {
                    found.block.push_str("   = nobody selected it: other cases rest on it\n");
                }
            }
            if found.witnesses > 1 && found.others.len() < NAMED {
                found.others.push(other);
            }
        }
    }

    /// Where a finding is kept; `None` beyond those that are kept apart.
    fn position(&mut self, summary: &RunSummary, verdict: &CaseVerdict, finding: &Finding) -> Option<usize> {
        let place = finding.at.split('/').map(|step| {
            let is_index = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
            if is_index { "*" } else { step }
        });
        let mut place = place.collect::<Vec<_>>().join("/");
        // What is refused together is one thing, and something else another one.
        let culprit = verdict.culprit.as_ref().filter(|_| finding.is_answer_to(verdict));
        for refused in culprit.iter().flat_map(|culprit| culprit.forms()) {
            place = format!("{place} {}", refused.place);
        }
        let key = (finding.level, finding.clause.clone(), place.clone());
        if let Some(at) = self.index.get(&key) {
            return Some(*at);
        }
        if self.found.len() >= APART {
            *self.beyond.entry(finding.level).or_default() += 1;
            return None;
        }
        let says = summary.clause(&finding.clause).map_or("", |clause| clause.says.as_str());
        self.found.push(Found {
            level: finding.level,
            clause: finding.clause.clone(),
            place,
            mismatch: String::new(),
            witness: Witness::of(verdict),
            others: Vec::new(),
            heading: format!("{}  {}    {}", finding.level.word(), harmless(&finding.clause), short(says)),
            block: String::new(),
            rank: (true, usize::MAX, usize::MAX),
            witnesses: 0,
        });
        self.index.insert(key, self.found.len() - 1);
        Some(self.found.len() - 1)
    }

    /// Those that are kept apart, in the order in which they were seen first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Found> {
        self.found.iter()
    }

    /// How many findings there are of a level.
    pub(crate) fn count(&self, level: Level) -> usize {
        let apart = self.found.iter().filter(|found| found.level == level).count();
        apart + self.beyond.get(&level).copied().unwrap_or_default()
    }

    /// All findings of a level.
    pub(crate) fn shown(&self, level: Level) -> String {
        let mut shown = String::new();
        let of_level = || self.found.iter().filter(|found| found.level == level);
        for found in of_level().take(WHOLE) {
            let witnesses = match found.witnesses {
                1 => String::new(),
                witnesses => format!("    ({witnesses} witnesses)"),
            };
            // Writing to a String cannot fail.
            _ = writeln!(shown, "{}{witnesses}\n{}", found.heading, found.block);
        }
        for found in of_level().skip(WHOLE).take(LINES - WHOLE) {
            let case = block::spaced(&found.witness.case);
            _ = writeln!(shown, "{}  {case}: {}", level.word(), short(&found.mismatch));
        }
        let left = self.count(level) - of_level().take(LINES).count();
        if left > 0 {
            let more = text::count(left, "more finding");
            let level = level.word();
            _ = writeln!(shown, "{level}  {more}: `record.jsonl` and the reports beside it have them all");
        }
        if of_level().count() > WHOLE {
            shown.push('\n');
        }
        shown
    }
}
