//! What the terminal shows when a run is over: the cases that need attention, and a closing summary.

use std::{collections::BTreeSet, fmt::Write as _};

use xs2aspec_record::{CaseVerdict, Counts, Verdict};

use crate::{
    block, diff,
    run::{self, Run},
    text::{self, harmless, short},
};

/// Failing cases that are shown as whole blocks; each further one has a line of its own.
pub const WHOLE: usize = 20;

/// Cases that could not be judged, up to which each is shown as a block. More of them are grouped by reason.
pub const FEW: usize = 5;

/// Entries for a file of waivers that are shown.
const ENTRIES: usize = 5;

/// Reasons that are listed.
const REASONS: usize = 20;

/// Cases named below a reason.
const NAMED: usize = 3;

/// The block of one case: what was sent, what was wrong, which clause, how to run it again. Several lines.
pub fn failure(run: &Run<'_>, verdict: &CaseVerdict) -> String {
    block::of(run, verdict)
}

/// One line for one failing case.
pub fn line(verdict: &CaseVerdict) -> String {
    let what = match verdict.findings.first() {
        Some(finding) => short(&run::mismatch(finding)),
        None => short(run::reason(verdict)),
    };
    let more = match verdict.findings.len() {
        0 | 1 => String::new(),
        findings => format!(" (and {} more)", findings - 1),
    };
    format!("{}  {}: {what}{more}", verdict.verdict.word().to_uppercase(), block::spaced(&verdict.case))
}

/// Every case that needs attention. However many there are it stays readable: the first [`WHOLE`] failing ones as blocks, then a
/// line each; what could not be judged as blocks while it is at most [`FEW`], else by reason with counts.
pub fn attention(run: &Run<'_>) -> String {
    let mut shown = String::new();
    for (number, verdict) in run.with(Verdict::Fail).enumerate() {
        if number < WHOLE {
            shown.push_str(&block::of(run, verdict));
            shown.push('\n');
        } else {
            shown.push_str(&line(verdict));
            shown.push('\n');
        }
    }
    if run.with(Verdict::Fail).count() > WHOLE {
        shown.push('\n');
    }
    for word in [Verdict::Inconclusive, Verdict::Error] {
        if run.with(word).count() <= FEW {
            for verdict in run.with(word) {
                shown.push_str(&block::of(run, verdict));
                shown.push('\n');
            }
        } else {
            shown.push_str(&reasons(run, word));
        }
    }
    shown
}

/// The summary at the end: counts by operation and by strength, cases, exchanges, time, and what the run comes to.
pub fn closing(run: &Run<'_>) -> String {
    let ledger = run.ledger();
    let operations = ledger.by_operation().iter().map(|(name, row)| (harmless(name), *row));
    let strengths = ledger.by_strength().iter().map(|(name, row)| (name.word().to_owned(), *row));
    let mut shown = table("operation", operations, ledger.counts());
    shown.push('\n');
    shown.push_str(&table("strength", strengths, ledger.counts()));
    shown.push_str(&waivers(run));
    let (target, amounts, conclusion) = (target(run), amounts(run), run.conclusion());
    let _ = writeln!(shown, "\ntarget {target}\n{amounts}");
    if let Some(changes) = run.changes() {
        let _ = writeln!(shown, "since the run before: {}", diff::heading(changes));
    }
    let _ = writeln!(shown, "{conclusion} (exit {})", run.exit().code());
    shown
}

/// Name, version, kind and address of the target, and who answers for it.
fn target(run: &Run<'_>) -> String {
    let start = run.start();
    let mut words = short(&start.target);
    for (said, before) in [(&start.target_version, " "), (&start.environment, ", ")] {
        if let Some(said) = said {
            let _ = write!(words, "{before}{}", short(said));
        }
    }
    let _ = write!(words, " at {}", short(&start.base_url));
    if let Some(contact) = &start.contact {
        let _ = write!(words, ", contact {}", short(contact));
    }
    words
}

/// Every waiver in a line, red ones first, and the entry to paste for each clause that is broken without one. Nothing in a run without
/// waivers.
fn waivers(run: &Run<'_>) -> String {
    let mut shown = String::new();
    let (red, others): (Vec<_>, Vec<_>) = run.waivers().iter().partition(|waiver| waiver.is_red());
    for waiver in red.iter().chain(&others) {
        let word = if waiver.is_red() { "WAIVER" } else { "waiver" };
        let _ = write!(shown, "\n{word}  {}", short(&waiver.says()));
    }
    if shown.is_empty() {
        return shown;
    }
    shown.push('\n');
    let broken: BTreeSet<&str> = run.with(Verdict::Fail).map(|verdict| verdict.clause.as_str()).collect();
    for clause in broken.iter().take(ENTRIES) {
        let _ = write!(
            shown,
            "\n[[waiver]]\ncases = \"{}\"\nowner = \"\"\nreason = \"\"\nticket = \"\"\nexpires = \"\"\n",
            harmless(clause)
        );
    }
    shown
}

/// `9 cases, 12 exchanges, 2.500 s, 3.6 cases per second`.
pub(crate) fn amounts(run: &Run<'_>) -> String {
    let cases = run.ledger().counts().total();
    let exchanges = usize::try_from(run.exchanges()).unwrap_or(usize::MAX);
    let mut words = format!("{}, {}", text::count(cases, "case"), text::count(exchanges, "exchange"));
    if let Some(finish) = run.finish() {
        if finish.retries > 0 {
            let _ = write!(words, " ({} of them once more)", finish.retries);
        }
        let _ = write!(words, ", {} s", text::seconds(finish.micros));
        if let Some(rate) = text::rate(cases, finish.micros) {
            let _ = write!(words, ", {rate} cases per second");
        }
    }
    if !run.resumed().is_empty() {
        let in_doubt: usize = run.resumed().iter().map(|resumed| resumed.in_doubt.len()).sum();
        let _ = write!(
            words,
            ", interrupted {} with {} in doubt",
            text::count(run.resumed().len(), "time"),
            text::count(in_doubt, "case")
        );
    }
    words
}

fn reasons(run: &Run<'_>, word: Verdict) -> String {
    let groups = run.by_reason(word);
    let all = run.with(word).count();
    let mut shown = format!("{}  {}, by reason\n", word.word().to_uppercase(), text::count(all, "case"));
    for (reason, cases) in groups.iter().take(REASONS) {
        let _ = writeln!(shown, "   | {}: {}", text::count(cases.len(), "case"), short(reason));
        for case in cases.iter().take(NAMED) {
            let _ = writeln!(
                shown,
                "   |   {}  {}",
                block::spaced(&case.case),
                harmless(&case.place.to_string())
            );
        }
        if cases.len() > NAMED {
            let _ = writeln!(shown, "   |   and {} more", cases.len() - NAMED);
        }
    }
    if groups.len() > REASONS {
        let left: usize = groups[REASONS..].iter().map(|(_, cases)| cases.len()).sum();
        let reasons = text::count(groups.len() - REASONS, "further reason");
        let _ = writeln!(shown, "   | {}: {reasons}", text::count(left, "case"));
    }
    if let Some(first) = groups.first().and_then(|(_, cases)| cases.first()) {
        let _ = writeln!(shown, "   = again   {}", block::again(run, first));
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
    use crate::sample::{self, Sample};

    #[test]
    fn the_closing_summary() {
        insta::assert_snapshot!(closing(&Run::of(&sample::mixed()).unwrap()), @"
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
        does not conform: at least one clause is broken (exit 1)
        ");
    }

    #[test]
    fn the_closing_summary_of_a_killed_run_says_so() {
        let mut sample = Sample::new(300);
        sample.verdict("periodic.months/one", Verdict::Pass);
        insta::assert_snapshot!(closing(&Run::of(&sample.killed()).unwrap()), @"
        operation  pass  fail  waived  inconclusive  not-applicable  observed  error  total
        periodic      1     0       0             0               0         0      0      1
        all           1     0       0             0               0         0      0      1

        strength  pass  fail  waived  inconclusive  not-applicable  observed  error  total
        stated       1     0       0             0               0         0      0      1
        all          1     0       0             0               0         0      0      1

        target test bank 2.4, sandbox at https://bank.test/psd2, contact payments team
        1 case, 1 exchange
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
        let shown = attention(&Run::of(&events).unwrap());
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
        let shown = attention(&Run::of(&sample::mixed()).unwrap());
        let heads: Vec<&str> =
            shown.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).collect();
        assert_eq!(
            heads,
            [
                "FAIL  periodic.months.duplicate / adjacent",
                "INCONCLUSIVE  periodic.months.duplicate / spread",
                "ERROR  ncbct.path / plain"
            ]
        );
    }

    #[test]
    fn nothing_hostile_passes() {
        let events = sample::hostile();
        let run = Run::of(&events).unwrap();
        for shown in [attention(&run), closing(&run)] {
            assert!(!shown.chars().any(|letter| letter != '\n' && text::is_hostile(letter)), "{shown:?}");
        }
    }
}
