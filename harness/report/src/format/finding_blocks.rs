//! Findings as blocks of text: each is shown by its smallest witness, with the symptoms that it explains.

use std::{collections::HashMap, fmt::Write as _};

use xs2aspec_record::{Level, finding_id::printed};

use crate::{
    findings::{
        Found,
        symptom::{Key, counted, key},
    },
    format::block,
    reporter::CaseReport,
    summary::RunSummary,
    text::{self, harmless, short},
    words,
};

/// Limit of the findings of a level that are shown as blocks. Each further one gets a line.
pub(crate) const WHOLE: usize = 20;

/// Limit of the findings of a level that are shown at all.
pub(crate) const LINES: usize = 1_000;

/// Limit of the clauses with the same cause that a finding shows.
const CARRIED: usize = 6;

/// Number of findings from which on a table precedes the blocks.
const TABLE: usize = 3;

/// Number of findings from which on each takes only a few lines, so that all fit on a screen.
const SHORT: usize = 4;

/// The blocks of the smallest witness of each symptom.
#[derive(Debug, Default)]
pub(crate) struct FindingBlocks {
    blocks: HashMap<Key, Block>,
}

#[derive(Debug)]
struct Block {
    whole: String,
    short: String,
}

impl FindingBlocks {
    /// Adds a case. A smaller witness replaces the one known so far.
    pub(crate) fn add(&mut self, summary: &RunSummary, report: &CaseReport<'_>, is_control: bool) {
        let verdict = report.verdict;
        let mut seen: Vec<Key> = Vec::new();
        for finding in counted(verdict, is_control) {
            let key = key(verdict, finding);
            let symptom = summary.symptoms().get(&key);
            if seen.contains(&key) || symptom.is_none_or(|symptom| symptom.witness.case != verdict.case) {
                continue;
            }
            let mut whole = block::finding_block(summary, report, finding);
            let short = block::short_block(summary, report, finding);
            if is_control {
                whole.push_str("   = not selected: run as the control of other cases\n");
            }
            self.blocks.insert(key.clone(), Block { whole, short });
            seen.push(key);
        }
    }

    /// Renders all findings of a level. The very first finding is whole. `folder` is that of the run, or
    /// None for the last run.
    pub(crate) fn shown(&self, summary: &RunSummary, level: Level, folder: Option<&str>) -> String {
        let findings = summary.findings();
        let of_level: Vec<&Found> = findings.of(level).collect();
        let mut shown = String::new();
        for found in of_level.iter().take(WHOLE) {
            let says = summary.clause(&found.clause).map_or("", |clause| clause.says.as_str());
            let witnesses = match found.witnesses() {
                1 => String::new(),
                witnesses => format!("    ({witnesses} cases)"),
            };
            let is_first = findings.all().first().is_some_and(|first| first.id == found.id);
            let is_short = findings.all().len() >= SHORT && !is_first;
            let block = self.blocks.get(&found.root.key());
            let block = block.map_or("", |block| if is_short { &block.short } else { &block.whole });
            let carried = if is_short { carried_in_short(found) } else { carried(found) };
            // Writing to a String cannot fail.
            _ = writeln!(
                shown,
                "{}{}  {}    {}{witnesses}\n{}",
                level.word(),
                words::by(found.root.end),
                harmless(&found.clause),
                short(says),
                (block.to_owned() + &carried + &next(summary, found, folder, is_short))
                    .trim_end_matches('\n')
            );
            if !is_short {
                shown.push('\n');
            }
        }
        for found in of_level.iter().skip(WHOLE).take(LINES - WHOLE) {
            let case = block::spaced(&found.root.witness.case);
            _ = writeln!(shown, "{}  {case}: {}", level.word(), short(&found.root.mismatch));
        }
        let left = findings.count(level) - of_level.len().min(LINES);
        if left > 0 {
            let more = text::count(left, "more finding");
            let level = level.word();
            _ = writeln!(shown, "{level}  {more}: see `record.jsonl` or the reports next to it");
        }
        shown
    }
}

/// Renders the commands that explain a finding and send its request. Cases that were generated or recorded
/// elsewhere have another command in their block.
fn next(summary: &RunSummary, found: &Found, folder: Option<&str>, is_short: bool) -> String {
    if !summary.start().sends_cases() {
        return String::new();
    }
    let id = printed(&found.id);
    let run: Vec<&str> = folder.into_iter().flat_map(|folder| ["--run", folder]).collect();
    let options = ["--target", "--cases", "--pack"];
    let line = |label: &str, name: &str| {
        let words = [&[name, id][..], &run].concat();
        format!("   = {label:7} {}\n", block::command(summary, &words, &options))
    };
    let mut lines = line("next", "explain");
    // The reference bank of a run ends with it.
    if !is_short && summary.start().argument("--target").is_some() {
        lines += &line("curl", "curl");
    }
    lines
}

/// Renders the other clauses with the same cause, in one line.
fn carried_in_short(found: &Found) -> String {
    let mut lines = String::new();
    if let Some(sequence) = &found.sequence {
        _ = writeln!(lines, "   = order   {}", short(sequence));
    }
    let others = found.other_clauses();
    if !others.is_empty() {
        let left = others.len().saturating_sub(CARRIED);
        let left = if left > 0 { format!(" and {left} more") } else { String::new() };
        let others: Vec<String> = others.into_iter().take(CARRIED).map(harmless).collect();
        _ = writeln!(lines, "   = also    {}{left}", others.join(", "));
    }
    lines
}

/// Renders the other symptoms with the same cause.
fn carried(found: &Found) -> String {
    let mut lines = String::new();
    if let Some(sequence) = &found.sequence {
        _ = writeln!(lines, "   = order   {}", short(sequence));
    }
    for symptom in found.carried.iter().take(CARRIED) {
        let cases = text::count(symptom.witnesses, "case");
        let (clause, mismatch) = (harmless(&symptom.clause), short(&symptom.mismatch));
        _ = writeln!(lines, "   = also    {clause}: {mismatch} ({cases})");
    }
    let left = found.carried.len().saturating_sub(CARRIED);
    if left > 0 {
        _ = writeln!(lines, "   = also    {left} more, listed in the reports");
    }
    if !found.shared_by.is_empty() {
        let clauses: Vec<String> =
            found.shared_by.iter().take(CARRIED).map(|clause| harmless(clause)).collect();
        _ = writeln!(lines, "   = perhaps {}, whose cases send the same request", clauses.join(", "));
    }
    lines
}

/// Returns true if the requests come from recorded traffic.
fn is_of_traffic(summary: &RunSummary) -> bool {
    summary.start().traffic.is_some()
}

/// Renders a table with a row per finding, or an empty string if there are only a few.
pub(crate) fn table(summary: &RunSummary) -> String {
    let all = summary.findings().all();
    if all.len() < TABLE {
        return String::new();
    }
    let rows: Vec<(String, &Found)> =
        all.iter().take(WHOLE).map(|found| (harmless(&found.clause), found)).collect();
    let width = rows.iter().map(|(clause, _)| clause.chars().count()).max().unwrap_or_default();
    let (title, end) = if is_of_traffic(summary) { ("end     ", 6) } else { ("", 0) };
    let mut shown = format!("level  {title}{:width$}  cases  finding\n", "clause");
    for (clause, found) in rows {
        let (level, cases) = (found.level().word(), found.witnesses());
        let by = found.root.end.map_or_else(String::new, |by| format!("{:end$}  ", by.word()));
        _ = writeln!(shown, "{level:5}  {by}{clause:width$}  {cases:>5}  {}", found.id);
    }
    if all.len() > WHOLE {
        _ = writeln!(shown, "and {}", text::count(all.len() - WHOLE, "more finding"));
    }
    shown.push('\n');
    shown
}
