//! The terminal output of a finished run: the cases that need attention, and a closing summary.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use xs2aspec_record::{Came, CaseVerdict, Counts, Level, Reason, RefusedSince, Verdict};

use crate::{
    compare::diff,
    demanded,
    format::{
        block,
        finding_blocks::{self, FindingBlocks},
        groups::Groups,
        times,
    },
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{self, harmless, short},
    words,
};

/// Limit up to which findings and unjudged cases are shown as blocks. More unjudged cases are grouped by
/// reason.
pub const FEW: usize = 5;

/// Limit of the waiver entries that are suggested.
const ENTRIES: usize = 5;

/// Limit of the ids in a suggested waiver entry.
const IDS: usize = 20;

/// Limit of the clauses that are named below the numbers.
const NAMES: usize = 8;

/// Limits of the listed reasons, and of the cases named below each.
const REASONS: Listed = Listed { reasons: 20, cases: 3 };

/// The same next to findings, which are read first: a case that could not be judged often follows from a
/// finding.
const REASONS_BESIDE_FINDINGS: Listed = Listed { reasons: 3, cases: 1 };

/// Limits of the list of unjudged cases.
#[derive(Clone, Copy)]
struct Listed {
    reasons: usize,
    cases: usize,
}

/// Renders the block of one case: the request, the mismatch, the clause, and the command that reruns it.
pub fn failure(summary: &RunSummary, report: &CaseReport<'_>) -> String {
    block::failure_block(summary, report)
}

/// Renders one line for a failing case.
pub fn line(verdict: &CaseVerdict) -> String {
    let what = match verdict.findings.first() {
        Some(finding) => short(&finding.mismatch()),
        None => words::why(verdict),
    };
    let more = match verdict.findings.len() {
        0 | 1 => String::new(),
        findings => format!(" (and {} more)", findings - 1),
    };
    format!("{}  {}: {what}{more}", verdict.verdict.word().to_uppercase(), block::spaced(&verdict.case))
}

/// The terminal report: violations, warnings, unjudged cases, and the summary. It stays readable at any
/// length. The first findings of each level are shown as blocks, then a line each, up to a limit. Unjudged
/// cases are shown as blocks if they and the findings are at most [`FEW`], or else by reason with counts.
#[derive(Debug, Default)]
pub struct Terminal {
    scope: Scope,
    findings: FindingBlocks,
    unjudged: BTreeMap<Verdict, Unjudged>,
    /// The first unjudged case without a control, with its rank. It represents all others if the target
    /// accepts no baseline request.
    first: Option<(usize, String)>,
}

/// The parts of a terminal report.
#[derive(Debug, Default)]
pub struct Scope {
    /// True for the tables by operation and the observations, too.
    pub is_verbose: bool,
    /// The folder of the run, for the commands that read its findings. None for the last run.
    pub folder: Option<String>,
    /// True if the caller prints the [`conclusion`], after what it has to say itself.
    pub ends_later: bool,
}

/// Flaky, inconclusive or erroneous cases.
#[derive(Debug, Default)]
struct Unjudged {
    /// The blocks of the first few.
    blocks: String,
    groups: Groups<Reason>,
}

impl Unjudged {
    fn add(&mut self, summary: &RunSummary, report: &CaseReport<'_>) {
        self.groups.add_reason(report.verdict);
        if self.groups.times() <= FEW {
            self.blocks.push_str(&block::failure_block(summary, report));
            self.blocks.push('\n');
        }
    }
}

impl Reporter for Terminal {
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        match verdict.verdict {
            Verdict::Fail | Verdict::Warn => self.findings.add(summary, report, false),
            Verdict::Flaky => self.unjudged.entry(Verdict::Flaky).or_default().add(summary, report),
            Verdict::Inconclusive | Verdict::Error => {
                // A case with a response is best, then one that was sent.
                let asked =
                    usize::from(report.judged().is_some()) + usize::from(!report.exchanges.is_empty());
                if verdict.control.is_none() && self.first.as_ref().is_none_or(|(known, _)| *known < asked) {
                    self.first = Some((asked, block::failure_block(summary, report)));
                }
                self.unjudged.entry(verdict.verdict).or_default().add(summary, report);
            }
            Verdict::Pass | Verdict::Waived | Verdict::NotApplicable | Verdict::Observed => {}
        }
        Ok(())
    }

    fn control(
        &mut self,
        summary: &RunSummary,
        report: &CaseReport<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        self.findings.add(summary, report, true);
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let cases = summary.of_other_cases(short);
        if !cases.is_empty() {
            writeln!(out, "{}\n", cases.trim_end_matches([':', ' ']))?;
        }
        out.write_all(self.attention(summary).as_bytes())?;
        out.write_all(closing(summary, self.scope.is_verbose).as_bytes())?;
        if !self.scope.ends_later {
            writeln!(out, "{}", conclusion(summary))?;
        }
        Ok(())
    }
}

impl Terminal {
    /// Creates a report of this scope.
    pub fn new(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// Renders what needs attention.
    pub fn attention(&self, summary: &RunSummary) -> String {
        let mut shown = finding_blocks::table(summary);
        for level in [Level::Deny, Level::Warn] {
            shown.push_str(&self.findings.shown(summary, level, self.scope.folder.as_deref()));
        }
        let slow = times::block(summary);
        let counted = [(Level::Deny, "violation", 0), (Level::Warn, "warning", usize::from(slow.is_some()))];
        let counted =
            counted.map(|(level, word, more)| text::count(summary.findings().count(level) + more, word));
        shown.push_str(&slow.unwrap_or_default());
        if !shown.is_empty() {
            let _ = writeln!(shown, "{}\n", counted.join(", "));
        }
        let unjudged = self.unjudged.iter().filter(|(word, _)| **word != Verdict::Flaky);
        let unjudged: usize = unjudged.map(|(_, unjudged)| unjudged.groups.times()).sum();
        if let Some((_, first)) = self.first.as_ref().filter(|_| unjudged > FEW)
            && summary.refused_everything().is_some()
        {
            let more = text::count(unjudged - 1, "further case");
            let _ = writeln!(
                shown,
                "{first}\n{more}: no baseline request was accepted, so nothing else was tested\n"
            );
            return shown;
        }
        for (word, Unjudged { blocks, groups }) in &self.unjudged {
            if summary.findings().all().len() + groups.times() <= FEW {
                shown.push_str(blocks);
            } else {
                shown.push_str(&reasons(summary, *word, groups));
            }
        }
        shown
    }
}

/// Renders the last line: what the run concludes, and its exit code.
pub fn conclusion(summary: &RunSummary) -> String {
    format!("{}{} (exit {})", summary.of_other_cases(short), summary.conclusion(), summary.exit().code())
}

/// Renders the closing summary: cases, exchanges, duration and clauses. With `is_verbose`, it begins with
/// the counts and response times by operation.
pub fn closing(summary: &RunSummary, is_verbose: bool) -> String {
    let mut shown = String::new();
    if is_verbose {
        let totals = summary.totals();
        let operations = totals.by_operation().iter().map(|(name, row)| (harmless(name), *row));
        shown = table("operation", operations, totals.counts(), &times::rows(summary));
    }
    let waivers = waivers(summary);
    if !waivers.is_empty() || is_verbose {
        shown = format!("{shown}{waivers}\n");
    }
    let (target, amounts) = (target(summary), amounts(summary));
    let _ = writeln!(shown, "target {target}\n{amounts}\n{}", demanded::numbers(summary));
    shown.push_str(&named("violated", summary.broken().collect()));
    shown.push_str(&named("warnings for", summary.warned().collect()));
    if summary.observations() > 0 && is_verbose {
        let observations = text::count(summary.observations(), "observation");
        let _ = writeln!(
            shown,
            "{observations} of choices that the document leaves open: see `summary.md` next to the record"
        );
    }
    for line in judged_with(summary) {
        let _ = writeln!(shown, "{line}");
    }
    if let Some(refused) = refused_since(summary) {
        let _ = writeln!(shown, "{refused}");
    }
    let to_add = demanded::to_add(summary);
    if !to_add.is_empty() {
        shown.push_str(
            "to test more, add to the profile (or declare the capability absent under [capabilities]):\n",
        );
        for line in to_add {
            let _ = writeln!(shown, "   | {line}");
        }
    }
    if let Some(changes) = summary.changes() {
        let _ = writeln!(shown, "since the previous run: {}", diff::heading(changes));
        for (id, says) in changes.new_findings.iter().take(NAMES) {
            let _ = writeln!(shown, "   | new {}  {}", harmless(id), short(says));
        }
    }
    if let Some(hopeless) = hopeless(summary) {
        let _ = writeln!(shown, "{hopeless}");
    }
    shown
}

/// Renders the first of these clauses by name, or an empty string if there are none.
fn named(label: &str, clauses: Vec<&str>) -> String {
    let left = clauses.len().saturating_sub(NAMES);
    let mut names: Vec<String> = clauses.into_iter().take(NAMES).map(harmless).collect();
    if left > 0 {
        names.push(text::count(left, "more clause"));
    }
    if names.is_empty() { String::new() } else { format!("{label}: {}\n", names.join(", ")) }
}

/// Returns a line for each set of fields that was added to the requests of cases, with the number of cases.
pub(crate) fn judged_with(summary: &RunSummary) -> Vec<String> {
    let line = |(with, cases): (&str, usize)| {
        let cases = text::count(cases, "case");
        format!(
            "sent with {}: {cases}, because the target rejects the baseline request without it",
            short(with)
        )
    };
    summary.judged_with().map(line).collect()
}

/// Returns a sentence about baseline requests that the target accepted at first and rejected until the end.
pub(crate) fn refused_since(summary: &RunSummary) -> Option<String> {
    let refused = summary.asked_again().refused.iter();
    let open: Vec<&RefusedSince> = refused.filter(|one| one.again.is_none() && !one.is_broken).collect();
    let until = open.iter().map(|one| one.until).max()?;
    let since = open.iter().map(|one| one.since).min()?;
    let when = words::between(until, since);
    let names: Vec<String> = open.iter().take(NAMES).map(|one| harmless(&one.plain)).collect();
    // A request that fails only in its setup says less.
    let mut came: BTreeMap<&Came, usize> = BTreeMap::new();
    for one in open {
        *came.entry(&one.came).or_default() += 1;
    }
    let came = came.into_iter().max_by_key(|(_, times)| *times).map(|(came, _)| short(&came.to_string()));
    Some(format!(
        "{when} the target began to reject requests that it had accepted ({}): {}; later rejections are inconclusive: a token may have \
         expired, a quota may be used up, or data may be lost",
        names.join(", "),
        came.unwrap_or_default()
    ))
}

/// Returns advice if no valid request was accepted.
pub(crate) fn hopeless(summary: &RunSummary) -> Option<String> {
    let answers = summary.refused_everything()?;
    let start = summary.start();
    let target = match start.arguments.split_first() {
        Some((option, [target, ..])) if option == "--target" => target,
        _ => &start.base_url,
    };
    let doctor = format!("xs2aspec doctor --target {}", crate::shell::quoted(target));
    Some(format!("no valid request was accepted: {}; try `{}`", short(&answers), short(&doctor)))
}

/// Returns name, version, environment, address and contact of the target.
fn target(summary: &RunSummary) -> String {
    let start = summary.start();
    let mut words = short(&start.target);
    for (said, before) in [(&start.target_version, " "), (&start.environment, ", ")] {
        if let Some(said) = said {
            let _ = write!(words, "{before}{}", short(said));
        }
    }
    if let Some(address) = start.address() {
        let _ = write!(words, " at {}", short(address));
    }
    if let Some(contact) = &start.contact {
        let _ = write!(words, ", contact {}", short(contact));
    }
    words
}

/// Renders every waiver in a line, red ones first, and the entry to paste for each finding without one. The
/// result is empty in a run without waivers.
fn waivers(summary: &RunSummary) -> String {
    let mut shown = String::new();
    let (red, others): (Vec<_>, Vec<_>) = summary.waivers().iter().partition(|waiver| waiver.is_red());
    for waiver in red.iter().chain(&others) {
        let word = if waiver.is_red() { "WAIVER" } else { "waiver" };
        let _ = write!(shown, "\n{word}  {}", short(&waiver.says()));
    }
    if shown.is_empty() {
        return shown;
    }
    shown.push('\n');
    for found in summary.findings().all().iter().take(ENTRIES) {
        let ids: Vec<String> = found.ids().into_iter().take(IDS).map(|id| format!("\"{id}\"")).collect();
        let _ = write!(
            shown,
            "\n[[waiver]]  # {}\nfindings = [{}]\nowner = \"\"\nreason = \"\"\nticket = \"\"\nexpires = \"\"\n",
            harmless(&found.clause),
            ids.join(", ")
        );
    }
    shown
}

/// Returns the amounts of a run: `9 cases, 12 exchanges, 2.500 s, 3.6 cases per second`.
pub(crate) fn amounts(summary: &RunSummary) -> String {
    let cases = summary.totals().counts().total();
    let exchanges = usize::try_from(summary.exchanges()).unwrap_or(usize::MAX);
    let by_name = by_name(summary.said_by_name());
    let mut words =
        format!("{}{by_name}, {}", text::count(cases, "case"), text::count(exchanges, "exchange"));
    if let Some(finish) = summary.finish() {
        if finish.retries > 0 {
            let _ = write!(words, " ({} retried)", finish.retries);
        }
        let _ = write!(words, ", {} s", text::seconds(finish.micros));
        if let Some(rate) = text::rate(cases, finish.micros) {
            let _ = write!(words, ", {rate} cases per second");
        }
    }
    if !summary.resumed().is_empty() {
        let in_doubt: usize = summary.resumed().iter().map(|resumed| resumed.in_doubt.len()).sum();
        let _ = write!(
            words,
            ", interrupted {} with {} in doubt",
            text::count(summary.resumed().len(), "time"),
            text::count(in_doubt, "case")
        );
    }
    words
}

/// Returns a note about the cases that share the response to a baseline request, so that nothing is sent for
/// them.
pub(crate) fn by_name(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (1 of them shares the response to a baseline request)".to_owned(),
        _ => format!(" ({count} of them share the response to a baseline request)"),
    }
}

fn reasons(summary: &RunSummary, word: Verdict, groups: &Groups<Reason>) -> String {
    let listed = if summary.findings().all().is_empty() { REASONS } else { REASONS_BESIDE_FINDINGS };
    let all = text::count(groups.times(), "case");
    let groups = groups.by_times();
    let mut shown = format!("{}  {all}, by reason\n", word.word().to_uppercase());
    for (reason, group) in groups.iter().take(listed.reasons) {
        let _ = writeln!(shown, "   | {}: {}", text::count(group.times, "case"), short(reason));
        for (case, place) in group.cases.iter().take(listed.cases) {
            let _ = writeln!(shown, "   |   {}  {}", block::spaced(case), harmless(place));
        }
        if group.times > listed.cases {
            let _ = writeln!(shown, "   |   and {} more", group.times - listed.cases);
        }
    }
    if let Some(further @ [_, ..]) = groups.get(listed.reasons..) {
        let left: usize = further.iter().map(|(_, group)| group.times).sum();
        let reasons = text::count(further.len(), "further reason");
        let _ = writeln!(shown, "   | {}: {reasons}", text::count(left, "case"));
    }
    if let Some((case, _)) = groups.first().and_then(|(_, group)| group.cases.first()) {
        let again = block::again(summary, case).map(|again| format!("   = again   {again}\n"));
        shown.push_str(&again.unwrap_or_default());
    }
    shown.push('\n');
    shown
}

/// Columns of times next to the counts, by their positions in [`times::COLUMNS`].
const TIMES: [usize; 3] = [1, 2, 4];

/// Renders a table of counts with a last row for all, and the response times of each row. Verdicts that no
/// case has get no column.
fn table(
    title: &str,
    rows: impl Iterator<Item = (String, Counts)>,
    all: Counts,
    times: &[(String, [String; 5])],
) -> String {
    let rows: Vec<(String, Counts)> = rows.chain([("all".to_owned(), all)]).collect();
    let words: Vec<Verdict> = Verdict::ALL
        .into_iter()
        .filter(|verdict| matches!(verdict, Verdict::Pass | Verdict::Fail) || all.of(*verdict) > 0)
        .collect();
    let mut lines = vec![vec![title.to_owned()]];
    lines[0].extend(words.iter().map(|word| word.word().to_owned()).chain(["total".to_owned()]));
    if !times.is_empty() {
        lines[0].extend(TIMES.map(|at| times::COLUMNS[at].to_owned()));
    }
    for (name, row) in rows {
        let took = times.iter().find(|(operation, _)| *operation == name);
        let mut line = vec![name];
        line.extend(words.iter().map(|word| row.of(*word).to_string()).chain([row.total().to_string()]));
        line.extend(took.iter().flat_map(|(_, cells)| TIMES.map(|at| cells[at].clone())));
        lines.push(line);
    }
    let width =
        |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
    let mut shown = String::new();
    for line in &lines {
        let _ = write!(shown, "{:1$}", line[0], width(0).unwrap_or_default());
        for (at, cell) in line.iter().enumerate().skip(1) {
            let _ = write!(shown, "  {cell:>0$}", width(at).unwrap_or_default());
        }
        shown.push('\n');
    }
    shown
}

#[cfg(test)]
mod tests;
