//! Differences between two runs: new and gone findings, cases with another verdict, other observations.

use std::{collections::BTreeSet, fmt::Write as _};

use xs2aspec_record::{
    CaseEvents, CaseVerdict, Changes, Entry, Finding, ReadError, RecordReader, Role, RunStarted, Verdict,
    WaiverSeen,
};

use crate::{
    error::ReportsError,
    findings::{Findings, Found},
    summary::SummaryBuilder,
    text::{self, short},
};

/// Limit of the items that one list shows.
const MOST: usize = 200;

/// The comparison of a run with the record of an earlier one, case by case.
struct Comparison<'a> {
    base: RecordReader<'a>,
    summary: SummaryBuilder,
    /// The next case of the earlier run.
    next: Option<CaseVerdict>,
    changes: Changes,
}

impl<'a> Comparison<'a> {
    /// Creates a comparison with the record of the earlier run.
    fn new(base: RecordReader<'a>) -> Result<Self, ReportsError> {
        let changes = Changes::default();
        let mut comparison = Self { base, summary: SummaryBuilder::default(), next: None, changes };
        comparison.advance()?;
        if let Some(summary) = comparison.summary.so_far() {
            let start = summary.start();
            let RunStarted { tool, target, now, seed, .. } = start;
            comparison.changes.base = format!("{tool} against {target}, clock {now}, seed {seed}");
        }
        Ok(comparison)
    }

    /// Advances to the next selected case of the earlier run.
    fn advance(&mut self) -> Result<(), ReportsError> {
        self.next = None;
        while self.next.is_none()
            && let Some(entry) = self.base.next()
        {
            let entry = entry?;
            self.summary.add(&entry)?;
            if let Entry::Case(CaseEvents { verdict, .. }) = entry {
                self.next = verdict.filter(|verdict| verdict.role == Role::Selected);
            }
        }
        Ok(())
    }

    /// Compares the next case of the run. Cases must come in the order of their ids.
    fn add(&mut self, after: &CaseVerdict) -> Result<(), ReportsError> {
        if after.role != Role::Selected {
            return Ok(());
        }
        while let Some(before) = self.next.take_if(|before| before.case < after.case) {
            self.gone(before);
            self.advance()?;
        }
        let before = self.next.take_if(|before| before.case == after.case);
        self.verdict(before.as_ref(), after);
        self.observations(before.as_ref(), Some(after));
        if before.is_some() { self.advance() } else { Ok(()) }
    }

    fn verdict(&mut self, before: Option<&CaseVerdict>, after: &CaseVerdict) {
        let judged = |word: Verdict| {
            use Verdict::{Fail, Flaky, Observed, Pass, Waived, Warn};
            matches!(word, Pass | Flaky | Fail | Warn | Waived | Observed)
        };
        let (changes, case) = (&mut self.changes, after.case.clone());
        match (before.map(|before| before.verdict), after.verdict) {
            (Some(Verdict::Fail), Verdict::Fail) | (Some(Verdict::Warn), Verdict::Warn) => {}
            (_, Verdict::Fail) => changes.newly_broken.push((case, why(after))),
            (_, Verdict::Warn) => changes.newly_warned.push((case, why(after))),
            (Some(Verdict::Fail | Verdict::Warn), Verdict::Pass | Verdict::Flaky) => changes.fixed.push(case),
            (Some(was), word) if judged(was) && !judged(word) => {
                changes.newly_not_assessed.push((case, why(after)));
            }
            (Some(was), word) if !judged(was) && judged(word) => changes.newly_assessed.push(case),
            _ => {}
        }
    }

    fn observations(&mut self, before: Option<&CaseVerdict>, after: Option<&CaseVerdict>) {
        let seen = |verdict: Option<&CaseVerdict>| -> BTreeSet<String> {
            let verdict = verdict.into_iter();
            let said = verdict.flat_map(|one| one.observed().into_iter().map(move |seen| (&one.case, seen)));
            said.map(|(case, seen)| format!("{case}: {}", alike(&seen))).collect()
        };
        let (new, gone) = differing(&seen(before), &seen(after));
        self.changes.newly_observed.extend(new);
        self.changes.no_longer_observed.extend(gone);
    }

    fn gone(&mut self, before: CaseVerdict) {
        self.observations(Some(&before), None);
        self.changes.gone.push(before.case);
    }

    /// Returns the differences, given the findings and waivers of the finished run.
    fn finish(mut self, findings: &Findings, waivers: &[WaiverSeen]) -> Result<Changes, ReportsError> {
        while let Some(before) = self.next.take() {
            self.gone(before);
            self.advance()?;
        }
        let base = self.summary.finish()?;
        let mut changes = self.changes;
        let new = not_in(findings, base.findings());
        changes.levels = new.iter().map(|found| (found.id.clone(), found.level())).collect();
        changes.new_findings = new.into_iter().map(said).collect();
        changes.gone_findings = not_in(base.findings(), findings).into_iter().map(said).collect();
        changes.newly_observed.sort_unstable();
        changes.no_longer_observed.sort_unstable();
        let says = |waivers: &[WaiverSeen]| waivers.iter().map(WaiverSeen::says).collect::<BTreeSet<_>>();
        (changes.new_waivers, changes.gone_waivers) = differing(&says(base.waivers()), &says(waivers));
        Ok(changes)
    }
}

/// The error of a failed comparison.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// The record of the earlier run.
    #[error(transparent)]
    Base(ReportsError),
    /// The record of the later one.
    #[error(transparent)]
    Head(ReportsError),
}

/// Compares the entries of a record, in the order of its reader, with the record of an earlier run.
pub fn diff(
    base: RecordReader<'_>,
    head: impl Iterator<Item = Result<Entry, ReadError>>,
) -> Result<Changes, DiffError> {
    let mut comparison = Comparison::new(base).map_err(DiffError::Base)?;
    let mut summary = SummaryBuilder::default();
    for entry in head {
        let entry = entry.map_err(|error| DiffError::Head(error.into()))?;
        summary.add(&entry).map_err(|error| DiffError::Head(error.into()))?;
        if let Entry::Case(CaseEvents { verdict: Some(verdict), .. }) = &entry {
            comparison.add(verdict).map_err(DiffError::Base)?;
        }
    }
    let summary = summary.finish().map_err(|error| DiffError::Head(error.into()))?;
    comparison.finish(summary.findings(), summary.waivers()).map_err(DiffError::Base)
}

/// Returns the findings of one run that share no symptom with the other run.
fn not_in<'a>(some: &'a Findings, others: &Findings) -> Vec<&'a Found> {
    let is_other = |found: &&Found| !found.symptoms().any(|symptom| others.has(symptom));
    some.all().iter().filter(is_other).collect()
}

/// Returns the id of a finding and a line that describes it.
fn said(found: &Found) -> (String, String) {
    let cases = text::count(found.witnesses(), "case");
    (found.id.clone(), format!("{}: {} ({cases})", found.clause, found.root.mismatch))
}

/// Returns the first line of a comparison: the numbers.
pub fn heading(changes: &Changes) -> String {
    let warned = match changes.newly_warned.len() {
        0 => String::new(),
        warned => format!("{warned} newly warned, "),
    };
    format!(
        "{}, {} gone; cases: {} newly failing, {warned}{} fixed, {} no longer assessed",
        text::count(changes.new_findings.len(), "new finding"),
        changes.gone_findings.len(),
        changes.newly_broken.len(),
        changes.fixed.len(),
        changes.newly_not_assessed.len()
    )
}

/// One kind of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<'a> {
    /// Title of the list.
    pub title: &'static str,
    /// Cases or other strings, each with its explanation, if there is one.
    pub items: Vec<(&'a str, Option<&'a str>)>,
    /// The part of the changes that it belongs to.
    pub part: Part,
}

/// A part of the changes to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The heading and each list.
    All,
    /// The heading and the lists of findings.
    Findings,
    /// The lists of cases, observations and waivers.
    Cases,
}

/// Returns the non-empty lists of changes, new findings first.
pub fn lists(changes: &Changes) -> Vec<List<'_>> {
    fn with<'a>(title: &'static str, items: &'a [(String, String)]) -> List<'a> {
        let items = items.iter().map(|(case, why)| (case.as_str(), Some(why.as_str()))).collect();
        List { title, items, part: Part::Cases }
    }
    fn plain<'a>(title: &'static str, items: &'a [String]) -> List<'a> {
        let items = items.iter().map(|item| (item.as_str(), None)).collect();
        List { title, items, part: Part::Cases }
    }
    let lists = [
        List { part: Part::Findings, ..with("New findings", &changes.new_findings) },
        List { part: Part::Findings, ..with("Findings no longer reported", &changes.gone_findings) },
        with("Newly failing", &changes.newly_broken),
        with("New warnings", &changes.newly_warned),
        plain("Fixed", &changes.fixed),
        with("No longer assessed", &changes.newly_not_assessed),
        plain("Newly assessed", &changes.newly_assessed),
        plain("Cases not in this run", &changes.gone),
        plain("Newly observed", &changes.newly_observed),
        plain("No longer observed", &changes.no_longer_observed),
        plain("New waivers", &changes.new_waivers),
        plain("Removed waivers", &changes.gone_waivers),
    ];
    lists.into_iter().filter(|list| !list.items.is_empty()).collect()
}

/// Renders the changes as Markdown, for a comment on a pull request or a part of a summary. The result is
/// about `most` bytes long at most.
pub fn markdown(changes: &Changes, part: Part, most: usize) -> String {
    let mut shown = String::new();
    if part != Part::Cases {
        // Writing to a String cannot fail.
        _ = writeln!(shown, "### xs2aspec: {}", heading(changes));
        if changes.is_empty() {
            shown.push_str("\nNo differences.\n");
        }
    }
    let is_told = |list: &List<'_>| part == Part::All || part == list.part;
    for List { title, items, .. } in lists(changes).into_iter().filter(is_told) {
        // Writing to a String cannot fail.
        _ = writeln!(shown, "\n#### {title} ({})\n", items.len());
        let mut told = 0;
        for (item, why) in items.iter().take(MOST) {
            let why = why.map(|why| format!(": {}", code(why))).unwrap_or_default();
            let line = format!("- {}{why}\n", code(item));
            if shown.len() + line.len() > most {
                break;
            }
            shown.push_str(&line);
            told += 1;
        }
        if items.len() > told {
            _ = writeln!(shown, "- and {} more", items.len() - told);
        }
    }
    shown
}

fn differing(before: &BTreeSet<String>, after: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
    (after.difference(before).cloned().collect(), before.difference(after).cloned().collect())
}

/// Returns the string with everything that varies from run to run replaced by `*`. That covers hexadecimal
/// ids of eight or more characters, long numbers, and indices of lists, which may have grown.
pub(crate) fn alike(text: &str) -> String {
    let is_id = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let hexadecimal =
            word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        digits > 0 && (hexadecimal || digits == word.len() && digits >= 5)
    };
    let of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let (mut out, mut word) = (String::new(), String::new());
    let end = |out: &mut String, word: &mut String| {
        let is_item =
            out.ends_with('/') && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        out.push_str(if is_item || is_id(word) { "*" } else { word });
        word.clear();
    };
    for letter in text.chars() {
        if of_word(letter) {
            word.push(letter);
        } else {
            end(&mut out, &mut word);
            out.push(letter);
        }
    }
    end(&mut out, &mut word);
    out
}

/// Returns the reason of a verdict, in words.
fn why(verdict: &CaseVerdict) -> String {
    let findings: Vec<String> = verdict.findings.iter().map(Finding::mismatch).collect();
    if findings.is_empty() { verdict.why().to_string() } else { findings.join("; ") }
}

/// Returns a code span that the content cannot end.
fn code(text: &str) -> String {
    text::code(&short(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn written(events: &[xs2aspec_record::Event]) -> Vec<u8> {
        let mut writer = xs2aspec_record::RecordWriter::new(Vec::new());
        for event in events {
            writer.write(event).unwrap();
        }
        writer.finish().unwrap()
    }

    fn record(bytes: &[u8]) -> RecordReader<'_> {
        RecordReader::new(std::io::Cursor::new(bytes))
    }

    #[test]
    fn ids_of_a_run_are_no_difference() {
        let one =
            "body/12/_links/self/href: \"/v1/a/efc67160-91ea-8c7c-9000-9fb530045ce8\" is relative (20250211)";
        assert_eq!(alike(one), "body/*/_links/self/href: \"/v1/a/*\" is relative (*)");
        assert_eq!(
            alike("201 with transactionStatus RCVD, 4 defaced"),
            "201 with transactionStatus RCVD, 4 defaced"
        );
    }

    #[test]
    fn every_difference_is_in_its_list() {
        use Verdict::{Fail, Inconclusive, NotApplicable, Observed, Pass, Warn};
        let words = |verdicts: &[(&str, Verdict)]| {
            let mut sample = Sample::new(verdicts.len());
            for (case, word) in verdicts {
                sample.verdict(&format!("periodic.months/{case}"), *word);
            }
            sample.finished()
        };
        let base = words(&[
            ("a", Pass),
            ("b", Fail),
            ("c", Pass),
            ("d", NotApplicable),
            ("e", Fail),
            ("f", Pass),
            ("h", Observed),
            ("i", Pass),
            ("j", Warn),
            ("k", Warn),
            ("l", Warn),
        ]);
        let head = words(&[
            ("a", Fail),
            ("b", Pass),
            ("c", Inconclusive),
            ("d", Pass),
            ("e", Fail),
            ("g", Fail),
            ("h", Observed),
            ("i", Warn),
            ("j", Warn),
            ("k", Pass),
            ("l", Fail),
        ]);
        let (base, head) = (written(&base), written(&head));
        let diff = diff(record(base.as_slice()), record(head.as_slice())).unwrap();
        let names =
            |items: &[(String, String)]| items.iter().map(|(case, _)| case.clone()).collect::<Vec<_>>();
        assert_eq!(
            names(&diff.newly_broken),
            ["periodic.months/a", "periodic.months/g", "periodic.months/l"]
        );
        assert_eq!(names(&diff.newly_warned), ["periodic.months/i"]);
        assert_eq!(diff.fixed, ["periodic.months/b", "periodic.months/k"]);
        assert_eq!(names(&diff.newly_not_assessed), ["periodic.months/c"]);
        assert_eq!(diff.newly_assessed, ["periodic.months/d"]);
        assert_eq!(diff.gone, ["periodic.months/f"]);
        let shown = markdown(&diff, Part::All, 64_000);
        let cut = markdown(&diff, Part::All, 200);
        assert!(cut.len() < 1_000 && cut.contains("\n- and 3 more\n"), "{cut}");
        assert!(
            shown.starts_with(
                "### xs2aspec: 0 new findings, 0 gone; cases: 3 newly failing, 1 newly warned, 2 fixed, 1 no longer assessed\n\n#### Newly failing (3)"
            ),
            "{shown}"
        );
        let mut other = Sample::new(1);
        other.verdict("basket.mix/a", Fail);
        let other = written(&other.finished());
        let found = |base: &[u8], head: &[u8]| {
            let changes = super::diff(record(base), record(head)).unwrap();
            let says =
                |items: &[(String, String)]| items.iter().map(|(_, says)| says.clone()).collect::<Vec<_>>();
            (says(&changes.new_findings), says(&changes.gone_findings))
        };
        let (new, gone) = found(head.as_slice(), other.as_slice());
        assert_eq!(
            new,
            ["basket.mix: expected a rejection (4xx), got 201 with transactionStatus RCVD (1 case)"]
        );
        assert_eq!(gone.len(), 2, "a violation and a warning: {gone:?}");
        let is_red = |base: &[u8], head: &[u8], denies_warnings| {
            let changes = super::diff(record(base), record(head)).unwrap();
            changes.is_red(denies_warnings)
        };
        assert!(!diff.is_red(true), "three more cases show what was found before");
        assert!(is_red(head.as_slice(), other.as_slice(), false), "a new violation");
        let mut warned = Sample::new(1);
        warned.verdict("basket.mix/a", Warn);
        let warned = written(&warned.finished());
        assert!(!is_red(other.as_slice(), warned.as_slice(), false));
        assert!(is_red(other.as_slice(), warned.as_slice(), true), "a new warning");
        assert_eq!(found(other.as_slice(), head.as_slice()), (gone, new));
        let same = super::diff(record(head.as_slice()), record(head.as_slice())).unwrap();
        assert!(same.is_empty() && markdown(&same, Part::All, 64_000).contains("No differences."));
    }
}
