//! What the terminal shows when a run is over: the cases that need attention, and a closing summary.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use xs2aspec_record::{CaseVerdict, Counts, Verdict};

use crate::{
    compare::diff,
    demanded,
    format::{block, groups::Groups},
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{self, harmless, short},
    words,
};

/// Failing cases that are shown as whole blocks; each further one has a line of its own.
pub const WHOLE: usize = 20;

/// Failing cases that are shown at all.
pub const LINES: usize = 1_000;

/// Cases that could not be judged, up to which each is shown as a block. More of them are grouped by reason.
pub const FEW: usize = 5;

/// Entries for a file of waivers that are shown.
const ENTRIES: usize = 5;

/// Broken clauses that are named below the numbers.
const BROKEN: usize = 8;

/// Reasons that are listed.
const REASONS: usize = 20;

/// Cases named below a reason.
const NAMED: usize = 3;

/// The block of one case: what was sent, what was wrong, which clause, how to run it again. Several lines.
pub fn failure(summary: &RunSummary, report: &CaseReport<'_>) -> String {
    block::failure_block(summary, report)
}

/// One line for one failing case.
pub fn line(verdict: &CaseVerdict) -> String {
    let what = match verdict.findings.first() {
        Some(finding) => short(&words::mismatch(finding)),
        None => short(words::reason(verdict)),
    };
    let more = match verdict.findings.len() {
        0 | 1 => String::new(),
        findings => format!(" (and {} more)", findings - 1),
    };
    format!("{}  {}: {what}{more}", verdict.verdict.word().to_uppercase(), block::spaced(&verdict.case))
}

/// Every case that needs attention, and the summary. However many there are it stays readable: the first
/// [`WHOLE`] failing ones as blocks, then a line each, [`LINES`] of them at most; what could not be judged as
/// blocks while it is at most [`FEW`], else by reason with counts.
#[derive(Debug, Default)]
pub struct Terminal {
    failing: String,
    /// How many cases fail.
    fail: usize,
    unjudged: BTreeMap<Verdict, Unjudged>,
}

/// Cases with one of the verdicts that could not tell.
#[derive(Debug, Default)]
struct Unjudged {
    /// The first few.
    blocks: String,
    groups: Groups,
}

impl Reporter for Terminal {
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        match verdict.verdict {
            Verdict::Fail => {
                self.fail += 1;
                if self.fail <= WHOLE {
                    self.failing.push_str(&block::failure_block(summary, report));
                    self.failing.push('\n');
                } else if self.fail <= LINES {
                    self.failing.push_str(&line(verdict));
                    self.failing.push('\n');
                }
            }
            Verdict::Inconclusive | Verdict::Error => {
                let unjudged = self.unjudged.entry(verdict.verdict).or_default();
                unjudged.groups.add_reason(verdict);
                if unjudged.groups.times() <= FEW {
                    unjudged.blocks.push_str(&block::failure_block(summary, report));
                    unjudged.blocks.push('\n');
                }
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
        self.failing.push_str(&block::failure_block(summary, report));
        self.failing.push_str("   = nobody selected it: other cases rest on it\n\n");
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let cases = summary.of_other_cases(short);
        if !cases.is_empty() {
            writeln!(out, "{}\n", cases.trim_end_matches([':', ' ']))?;
        }
        out.write_all(self.attention(summary).as_bytes())?;
        out.write_all(closing(summary).as_bytes())
    }
}

impl Terminal {
    /// The cases that need attention.
    pub fn attention(&self, summary: &RunSummary) -> String {
        let mut shown = self.failing.clone();
        if self.fail > LINES {
            let more = text::count(self.fail - LINES, "more case");
            let _ = writeln!(shown, "FAIL  {more}: `record.jsonl` and the reports beside it have them all");
        }
        if self.fail > WHOLE {
            shown.push('\n');
        }
        for (word, Unjudged { blocks, groups }) in &self.unjudged {
            if groups.times() <= FEW {
                shown.push_str(blocks);
            } else {
                shown.push_str(&reasons(summary, *word, groups));
            }
        }
        shown
    }
}

/// The summary at the end: counts by operation and by strength, cases, exchanges, time, and what the run
/// comes to.
pub fn closing(summary: &RunSummary) -> String {
    let totals = summary.totals();
    let operations = totals.by_operation().iter().map(|(name, row)| (harmless(name), *row));
    let strengths = totals.by_strength().iter().map(|(name, row)| (name.word().to_owned(), *row));
    let mut shown = table("operation", operations, totals.counts());
    shown.push('\n');
    shown.push_str(&table("strength", strengths, totals.counts()));
    shown.push_str(&waivers(summary));
    let (target, amounts, conclusion) = (target(summary), amounts(summary), summary.conclusion());
    let _ = writeln!(shown, "\ntarget {target}\n{amounts}\n{}", demanded::numbers(summary));
    shown.push_str(&broken(summary));
    let to_add = demanded::to_add(summary);
    if !to_add.is_empty() {
        shown.push_str("to ask more, add to the profile (or declare it absent under [capabilities]):\n");
        for line in to_add {
            let _ = writeln!(shown, "   | {line}");
        }
    }
    if let Some(changes) = summary.changes() {
        let _ = writeln!(shown, "since the run before: {}", diff::heading(changes));
    }
    if let Some(hopeless) = hopeless(summary) {
        let _ = writeln!(shown, "{hopeless}");
    }
    let _ = writeln!(shown, "{}{conclusion} (exit {})", summary.of_other_cases(short), summary.exit().code());
    shown
}

/// The first broken clauses by name; nothing where none is.
fn broken(summary: &RunSummary) -> String {
    let mut names: Vec<String> = summary.broken().take(BROKEN).map(harmless).collect();
    let left = summary.broken().count().saturating_sub(BROKEN);
    if left > 0 {
        names.push(text::count(left, "more clause"));
    }
    if names.is_empty() { String::new() } else { format!("broken: {}\n", names.join(", ")) }
}

/// What to say where no valid request was accepted.
fn hopeless(summary: &RunSummary) -> Option<String> {
    let answers = summary.refused_everything()?;
    let start = summary.start();
    let target = match start.arguments.split_first() {
        Some((option, [target, ..])) if option == "--target" => target,
        _ => &start.base_url,
    };
    let doctor = format!("xs2aspec doctor --target {}", crate::shell::quoted(target));
    Some(format!("no valid request was accepted: {}; try `{}`", short(&answers), short(&doctor)))
}

/// Name, version, kind and address of the target, and who answers for it.
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

/// Every waiver in a line, red ones first, and the entry to paste for each clause that is broken without one.
/// Nothing in a run without waivers.
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
    for clause in summary.broken().take(ENTRIES) {
        let _ = write!(
            shown,
            "\n[[waiver]]\ncases = \"{}\"\nowner = \"\"\nreason = \"\"\nticket = \"\"\nexpires = \"\"\n",
            harmless(clause)
        );
    }
    shown
}

/// `9 cases, 12 exchanges, 2.500 s, 3.6 cases per second`.
pub(crate) fn amounts(summary: &RunSummary) -> String {
    let cases = summary.totals().counts().total();
    let exchanges = usize::try_from(summary.exchanges()).unwrap_or(usize::MAX);
    let by_name = by_name(summary.said_by_name());
    let mut words =
        format!("{}{by_name}, {}", text::count(cases, "case"), text::count(exchanges, "exchange"));
    if let Some(finish) = summary.finish() {
        if finish.retries > 0 {
            let _ = write!(words, " ({} of them once more)", finish.retries);
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

/// How many of some cases judge the answer to a plain request, so that nothing is sent for them.
pub(crate) fn by_name(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " (1 of them shares the answer to a plain request)".to_owned(),
        _ => format!(" ({count} of them share the answer to a plain request)"),
    }
}

fn reasons(summary: &RunSummary, word: Verdict, groups: &Groups) -> String {
    let all = text::count(groups.times(), "case");
    let groups = groups.by_times();
    let mut shown = format!("{}  {all}, by reason\n", word.word().to_uppercase());
    for (reason, group) in groups.iter().take(REASONS) {
        let _ = writeln!(shown, "   | {}: {}", text::count(group.times, "case"), short(reason));
        for (case, place) in group.cases.iter().take(NAMED) {
            let _ = writeln!(shown, "   |   {}  {}", block::spaced(case), harmless(place));
        }
        if group.times > NAMED {
            let _ = writeln!(shown, "   |   and {} more", group.times - NAMED);
        }
    }
    if groups.len() > REASONS {
        let left: usize = groups[REASONS..].iter().map(|(_, group)| group.times).sum();
        let reasons = text::count(groups.len() - REASONS, "further reason");
        let _ = writeln!(shown, "   | {}: {reasons}", text::count(left, "case"));
    }
    if let Some((case, _)) = groups.first().and_then(|(_, group)| group.cases.first()) {
        let _ = writeln!(shown, "   = again   {}", block::again(summary, case));
    }
    shown.push('\n');
    shown
}

/// A table of counts with a last row for all.
fn table(title: &str, rows: impl Iterator<Item = (String, Counts)>, all: Counts) -> String {
    let rows: Vec<(String, Counts)> = rows.chain([("all".to_owned(), all)]).collect();
    let names = rows.iter().map(|(name, _)| name.chars().count());
    let width = names.chain([title.len()]).max().unwrap_or_default();
    let mut shown = format!("{title:width$}");
    for verdict in Verdict::ALL {
        let _ = write!(shown, "  {}", verdict.word());
    }
    shown.push_str("  total\n");
    for (name, row) in rows {
        let _ = write!(shown, "{name:width$}");
        for verdict in Verdict::ALL {
            let _ = write!(shown, "  {:>1$}", row.of(verdict), verdict.word().len());
        }
        let _ = writeln!(shown, "  {:>5}", row.total());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Run,
        sample::{self, Sample},
    };

    fn attention(events: &[xs2aspec_record::Event]) -> String {
        let (run, mut terminal) = (Run::of(events).unwrap(), Terminal::default());
        run.show(&mut [&mut terminal]);
        terminal.attention(run.summary())
    }

    #[test]
    fn the_closing_summary() {
        insta::assert_snapshot!(closing(Run::of(&sample::mixed()).unwrap().summary()), @"
        operation    pass  fail  waived  inconclusive  not-applicable  observed  error  total
        basket          2     0       0             0               0         0      0      2
        customers       0     0       0             0               1         0      0      1
        ncbct           0     0       0             0               0         0      1      1
        periodic        1     1       0             1               0         1      0      4
        transaction     1     0       0             0               0         0      0      1
        all             4     1       0             1               1         1      1      9

        strength  pass  fail  waived  inconclusive  not-applicable  observed  error  total
        stated       4     1       0             1               1         0      1      8
        choice       0     0       0             0               0         1      0      1
        all          4     1       0             1               1         1      1      9

        target test bank 2.4, sandbox at https://bank.test/psd2, contact payments team
        9 cases, 10 exchanges (1 of them once more), 2.500 s, 3.6 cases per second
        7 demanded clauses: 3 kept, 1 broken, 1 not asked, 2 declared absent or left out
        broken: periodic.months.duplicate
        does not conform: at least one clause is broken (exit 1)
        ");
    }

    #[test]
    fn the_closing_summary_of_a_killed_run_says_so() {
        let mut sample = Sample::new(300);
        sample.verdict("periodic.months/one", Verdict::Pass);
        insta::assert_snapshot!(closing(Run::of(&sample.killed()).unwrap().summary()), @"
        operation  pass  fail  waived  inconclusive  not-applicable  observed  error  total
        periodic      1     0       0             0               0         0      0      1
        all           1     0       0             0               0         0      0      1

        strength  pass  fail  waived  inconclusive  not-applicable  observed  error  total
        stated       1     0       0             0               0         0      0      1
        all          1     0       0             0               0         0      0      1

        target test bank 2.4, sandbox at https://bank.test/psd2, contact payments team
        1 case, 1 exchange
        7 demanded clauses: 1 kept, 0 broken, 6 not asked, 0 declared absent or left out
        the run did not finish, 1 of 300 selected cases have a verdict; the others could not be told (exit 3)
        ");
    }

    #[test]
    fn hundreds_of_cases_stay_readable() {
        let mut sample = Sample::new(1500);
        for number in 0..500 {
            sample.verdict(&format!("periodic.months/fail-{number:03}"), Verdict::Fail);
            let reason = format!("reason {}", number % 30);
            sample.verdict(&format!("periodic.months/unsure-{number:03}"), Verdict::Inconclusive).reason =
                Some(reason);
            sample.verdict(&format!("periodic.months/error-{number:03}"), Verdict::Error);
        }
        let events = sample.finished();
        let shown = attention(&events);
        assert_eq!(shown.lines().filter(|line| line.starts_with("FAIL")).count(), 500);
        assert_eq!(shown.lines().filter(|line| line.starts_with("  -->")).count(), WHOLE);
        assert!(shown.contains("\nFAIL  periodic.months / fail-499: expected a refusal (4xx), got 201"));
        let rest = &shown[shown.find("INCONCLUSIVE").unwrap()..];
        assert!(rest.starts_with(
            "INCONCLUSIVE  500 cases, by reason\n   | 17 cases: reason 0\n   |   periodic.months / unsure-000"
        ));
        assert!(rest.contains("   | 160 cases: 10 further reasons\n"));
        assert!(rest.contains("ERROR  500 cases, by reason\n   | 500 cases: no answer within 5 s\n"));
    }

    #[test]
    fn a_few_are_shown_whole() {
        let shown = attention(&sample::mixed());
        let heads: Vec<&str> =
            shown.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
        assert_eq!(
            heads,
            [
                "FAIL  periodic.months.duplicate / adjacent",
                // A control that nobody selected, and that was refused by itself.
                "INCONCLUSIVE  periodic.months.duplicate / spread",
                "ERROR  ncbct.path / plain"
            ]
        );
    }

    #[test]
    fn other_cases_are_report_in_the_first_line_and_in_the_last() {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Pass);
        sample.start().other_cases = Some("my\u{1b}[2J/cases".into());
        let events = sample.finished();
        let shown = String::from_utf8(Run::of(&events).unwrap().draw(&mut Terminal::default())).unwrap();
        let said = "with the cases of my\\u{1b}[2J/cases, which are not those of xs2aspec 0.1.0";
        assert!(shown.starts_with(&format!("{said}\n\n")), "{shown}");
        assert!(
            shown.contains(&format!("\n{said}: conforms: nothing that was checked is broken;")),
            "{shown}"
        );
    }

    #[test]
    fn another_document_is_said_first_and_asked_again() {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months.duplicate/adjacent", Verdict::Fail);
        sample.start().other_document = Some("other".into());
        sample.start().arguments.extend(["--pack".into(), "other".into()]);
        let events = sample.finished();
        let shown = String::from_utf8(Run::of(&events).unwrap().draw(&mut Terminal::default())).unwrap();
        assert!(
            shown.starts_with("by the document of other, which is not that of xs2aspec 0.1.0\n"),
            "{shown}"
        );
        for command in ["run --only", "explain"] {
            let command = format!("xs2aspec {command} periodic.months.duplicate/adjacent --target");
            let line = shown.lines().find(|line| line.contains(&command)).unwrap_or_default();
            assert!(line.contains(" --pack other"), "{line}: {shown}");
        }
    }

    #[test]
    fn nothing_hostile_passes() {
        let events = sample::hostile();
        for shown in [attention(&events), closing(Run::of(&events).unwrap().summary())] {
            assert!(!shown.chars().any(|letter| letter != '\n' && text::is_hostile(letter)), "{shown:?}");
        }
    }
}
