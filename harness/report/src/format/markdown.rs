//! `summary.md`, for the step summary of a CI server: the verdict first, then numbers, then what needs
//! attention.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use xs2aspec_record::{Counts, Level, Reason, Verdict};

use crate::{
    compare::diff,
    demanded,
    findings::Found,
    format::{
        groups::{Group, Groups},
        terminal, times,
    },
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text::{self, code},
    words,
};

/// Limit of the bytes of a summary. GitHub allows 64 KiB for a comment and 1024 KiB for a step summary.
pub const LARGEST: usize = 64_000;

/// Limit of the findings in the first table.
const ROWS: usize = 50;

/// Limit of the changes of a request that are shown.
const CHANGES: usize = 4;

/// Limit of the patterns of cases that are named.
const PATTERNS: usize = 20;

/// Bytes reserved for the notes about omitted items.
const NOTES: usize = 4_000;

/// Bytes reserved for the lists after those of findings.
const OTHERS: usize = 2_000;

/// The summary of a run. Items beyond [`LARGEST`] are omitted and counted.
#[derive(Debug, Default)]
pub struct Summary {
    reasons: BTreeMap<Verdict, Groups<Reason>>,
    observed: Groups<String>,
}

impl Reporter for Summary {
    fn case(&mut self, _: &RunSummary, report: &CaseReport<'_>, _: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        match verdict.verdict {
            Verdict::Flaky
            | Verdict::Waived
            | Verdict::Inconclusive
            | Verdict::Error
            | Verdict::NotApplicable => {
                self.reasons.entry(verdict.verdict).or_default().add_reason(verdict);
            }
            Verdict::Fail | Verdict::Warn | Verdict::Pass | Verdict::Observed => {}
        }
        for observation in verdict.observed() {
            // Observations that differ only in ids are counted together.
            self.observed.add(diff::alike(&observation), verdict);
        }
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        let cases = summary.of_other_cases(code);
        let text = format!("## {cases}{} (exit {})\n\n", summary.conclusion(), summary.exit().code());
        let mut page = Page { text, limit: LARGEST - NOTES - OTHERS };
        if let Some(line) = terminal::hopeless(summary) {
            let _ = writeln!(page.text, "{}\n", code(&line));
        }
        if let Some(changes) = summary.changes() {
            let (new, base) =
                (diff::markdown(changes, diff::Part::Findings, LARGEST / 4), code(&changes.base));
            let _ = writeln!(page.text, "Since {base}:\n\n{new}");
        }
        page.findings(summary);
        page.text.push_str(&facts(summary));
        let totals = summary.totals();
        let operations = totals.by_operation().iter().map(|(name, row)| (name.as_str(), *row));
        let strengths = totals.by_strength().iter().map(|(name, row)| (name.word(), *row));
        page.table("operation", operations, totals.counts());
        page.table("strength", strengths, totals.counts());
        page.times(summary);
        for (title, level) in [("Violations", Level::Deny), ("Warnings", Level::Warn)] {
            let of_level = summary.findings().of(level);
            let items = of_level.map(|found| item(summary, found));
            page.list(title, items, summary.findings().count(level) - summary.findings().of(level).count());
        }
        // Findings leave room for the other lists.
        page.limit += OTHERS;
        page.list(
            "Waivers",
            summary.waivers().iter().map(|waiver| format!("- {}\n", code(&waiver.says()))),
            0,
        );
        if let Some(changes) = summary.changes() {
            let most = LARGEST.saturating_sub(page.text.len()) / 2;
            page.text.push_str(diff::markdown(changes, diff::Part::Cases, most).trim_start());
            page.text.push('\n');
        }
        for (title, word) in [
            ("Waived, by reason", Verdict::Waived),
            ("Flaky, by reason", Verdict::Flaky),
            ("Inconclusive, by reason", Verdict::Inconclusive),
            ("Errors, by reason", Verdict::Error),
            ("Not applicable, by reason", Verdict::NotApplicable),
        ] {
            if let Some(groups) = self.reasons.get(&word) {
                page.list(
                    title,
                    groups.by_times().into_iter().map(|(reason, group)| grouped(&reason, group)),
                    0,
                );
            }
        }
        let observed = self.observed.by_times();
        let observed = observed.iter().map(|(seen, group)| format!("- {} x {}\n", group.times, code(seen)));
        page.list("Observed", observed, 0);
        out.write_all(page.text.as_bytes())
    }
}

/// A summary under construction.
struct Page {
    text: String,
    /// The number of bytes beyond which lists omit items.
    limit: usize,
}

impl Page {
    /// Appends a list under a heading, or nothing if there are no items. `beyond` counts items that are
    /// already omitted.
    fn list(&mut self, title: &str, items: impl Iterator<Item = String>, beyond: usize) {
        let mut items = items.peekable();
        if items.peek().is_none() {
            return;
        }
        let _ = writeln!(self.text, "### {title}\n");
        let mut left_out = beyond;
        for item in items {
            if self.text.len() + item.len() > self.limit {
                left_out += 1;
            } else {
                self.text.push_str(&item);
            }
        }
        if left_out > 0 {
            let _ =
                writeln!(self.text, "- {left_out} more, omitted to keep this file small; see `record.jsonl`");
        }
        self.text.push('\n');
    }

    fn table<'a>(&mut self, title: &str, rows: impl Iterator<Item = (&'a str, Counts)>, all: Counts) {
        let words = Verdict::ALL.map(Verdict::word).join(" | ");
        let _ = writeln!(
            self.text,
            "| {title} | {words} | total |\n|---{}|",
            "|--:".repeat(Verdict::ALL.len() + 1)
        );
        for (name, row) in rows {
            // In a table even a code span cannot contain a bare `|` (GitHub Flavored Markdown, Tables).
            self.row(&code(name).replace('|', "/"), row);
        }
        self.row("all", all);
        self.text.push('\n');
    }

    /// Appends a table with a row per finding, or nothing if there are none.
    fn findings(&mut self, summary: &RunSummary) {
        let all = summary.findings().all();
        if all.is_empty() {
            return;
        }
        let (end, line) = if summary.start().traffic.is_some() { (" end |", "---|") } else { ("", "") };
        let _ = writeln!(self.text, "| level |{end} clause | cases | finding |\n|---|{line}---|--:|---|");
        for found in all.iter().take(ROWS) {
            let (level, clause) = (found.level().word(), code(&found.clause).replace('|', "/"));
            let end = found.root.end.map_or_else(String::new, |end| format!(" {} |", end.word()));
            let (cases, id) = (found.witnesses(), code(&found.id));
            let _ = writeln!(self.text, "| {level} |{end} {clause} | {cases} | {id} |");
        }
        self.text.push('\n');
        if all.len() > ROWS {
            let _ = writeln!(self.text, "and {}\n", text::count(all.len() - ROWS, "more finding"));
        }
    }

    /// Appends the response times.
    fn times(&mut self, summary: &RunSummary) {
        let rows = times::rows(summary);
        if rows.is_empty() {
            return;
        }
        let _ = writeln!(
            self.text,
            "| time | {} |\n|---{}|",
            times::COLUMNS.join(" | "),
            "|--:".repeat(times::COLUMNS.len())
        );
        for (name, cells) in rows {
            let _ = writeln!(self.text, "| {} | {} |", code(&name).replace('|', "/"), cells.join(" | "));
        }
        self.text.push('\n');
        let item = |line: &String| format!("- {}\n", code(line));
        if let Some((heading, lines)) = times::too_slow(summary) {
            let lines = [heading].into_iter().chain(lines).collect::<Vec<_>>();
            self.list("Slower than the profile allows", lines.iter().map(item), 0);
        }
    }

    fn row(&mut self, name: &str, row: Counts) {
        let cells = Verdict::ALL.map(|verdict| row.of(verdict).to_string()).join(" | ");
        let _ = writeln!(self.text, "| {name} | {cells} | {} |", row.total());
    }
}

fn facts(summary: &RunSummary) -> String {
    let start = summary.start();
    let at = start.address().map(|address| format!(" at {}", code(address))).unwrap_or_default();
    let mut facts = format!("- target {}{at}\n", code(&start.target));
    let said = [
        ("version", &start.target_version),
        ("environment", &start.environment),
        ("contact", &start.contact),
    ];
    for (what, said) in said {
        if let Some(said) = said {
            let _ = writeln!(facts, "- {what} of the target {}", code(said));
        }
    }
    if let Some(fault) = &start.fault {
        let _ = writeln!(facts, "- reference bank with the fault {}", code(fault));
    }
    if !start.variations.is_empty() {
        let variations: Vec<String> = start.variations.iter().map(|name| code(name)).collect();
        let _ = writeln!(facts, "- reference bank with the variation {}", variations.join(", "));
    }
    if start.on_purpose {
        let _ = writeln!(facts, "- {}", text::ON_PURPOSE);
    }
    let _ = writeln!(facts, "- {}\n- {}", terminal::amounts(summary), demanded::numbers(summary));
    for line in terminal::judged_with(summary) {
        let _ = writeln!(facts, "- {}", code(&line));
    }
    if let Some(line) = terminal::refused_since(summary) {
        let _ = writeln!(facts, "- {}", code(&line));
    }
    for line in demanded::to_add(summary) {
        let _ = writeln!(facts, "  - to test more, add {}", code(&line));
    }
    for rule in &start.levels {
        let (level, pattern) = (rule.level.word(), code(&rule.pattern));
        let _ = writeln!(facts, "- level {level} for {pattern}, by {}", rule.by.words());
    }
    for (option, patterns) in [("--only", &start.only), ("--skip", &start.skip)] {
        if !patterns.is_empty() {
            let more = patterns.len().saturating_sub(PATTERNS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let patterns: Vec<String> = patterns.iter().take(PATTERNS).map(|pattern| code(pattern)).collect();
            let _ = writeln!(facts, "- `{option}` {}{more}", patterns.join(", "));
        }
    }
    let run_id =
        if start.run_id.is_empty() { String::new() } else { format!(", run {}", code(&start.run_id)) };
    let _ =
        writeln!(facts, "- {}, seed {}{run_id}, clock {}", code(&start.tool), start.seed, code(&start.now));
    let (document, suite) = (code(&start.document_sha256), code(&start.suite_sha256));
    let _ = writeln!(facts, "- document SHA-256 {document}\n- suite SHA-256 {suite}\n");
    facts
}

/// Renders a finding by its smallest witness, and the clauses that it explains.
fn item(summary: &RunSummary, found: &Found) -> String {
    let root = &found.root;
    let says = summary.clause(&found.clause).map(|clause| format!(": {}", code(&clause.says)));
    let says = says.unwrap_or_default();
    let cases = text::count(found.witnesses(), "case");
    let by = words::by(root.end);
    let mut item = format!("- {}{by}{says} ({cases}, finding {})\n", code(&found.clause), code(&found.id));
    let (case, place) = (code(&root.witness.case), code(&root.witness.place.to_string()));
    let request = root.request.map(|number| format!(", request {number}")).unwrap_or_default();
    let _ = writeln!(item, "  - {case} at {place}{request}: {}", code(&root.mismatch));
    for change in root.changes.iter().take(CHANGES) {
        let _ = writeln!(item, "    - {}", code(change));
    }
    if root.changes.len() > CHANGES {
        let _ = writeln!(item, "    - and {}", text::count(root.changes.len() - CHANGES, "more change"));
    }
    if let Some(sequence) = &found.sequence {
        let _ = writeln!(item, "  - {}", code(sequence));
    }
    if let Some(culprit) = &root.culprit {
        let _ = writeln!(item, "  - {}", code(culprit));
    }
    let others: Vec<String> = found.other_clauses().into_iter().take(ROWS).map(code).collect();
    if !others.is_empty() {
        let _ = writeln!(item, "  - cases of these clauses fail for the same cause: {}", others.join(", "));
    }
    item
}

/// Renders a reason, the number of its cases, and the first few of them.
fn grouped(reason: &str, group: &Group) -> String {
    let named: Vec<String> = group.cases.iter().map(|(case, _)| code(case)).collect();
    let more = match group.times - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("- {}: {}\n  - {}{more}\n", text::count(group.times, "case"), code(reason), named.join(", "))
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;
    use crate::sample::{self, Sample};

    fn summary(events: &[xs2aspec_record::Event]) -> String {
        String::from_utf8(crate::Run::of(events).unwrap().draw(&mut Summary::default())).unwrap()
    }

    #[test]
    fn a_summary_of_every_verdict() {
        insta::assert_snapshot!(summary(&sample::mixed()), @"
        ## does not conform: at least one clause is violated (exit 1)

        | level | clause | cases | finding |
        |---|---|--:|---|
        | deny | `periodic.months.duplicate` | 1 | `219065e171fdb086` |

        - target `test bank` at `https://bank.test/psd2`
        - version of the target `2.4`
        - environment of the target `sandbox`
        - contact of the target `payments team`
        - 9 cases, 10 exchanges (1 retried), 2.500 s, 3.6 cases per second
        - 7 required clauses: 3 passed, 1 violated, 1 not tested, 2 skipped
        - `--only` `periodic`
        - `xs2aspec 0.1.0`, seed 7, clock `2030-01-02T03:04:05Z`
        - document SHA-256 `d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0`
        - suite SHA-256 `5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e`

        | operation | pass | flaky | fail | warn | waived | inconclusive | not-applicable | observed | error | total |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | `basket` | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 2 |
        | `customers` | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 1 |
        | `ncbct` | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 |
        | `periodic` | 1 | 0 | 1 | 0 | 0 | 1 | 0 | 1 | 0 | 4 |
        | `transaction` | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |
        | all | 4 | 0 | 1 | 0 | 0 | 1 | 1 | 1 | 1 | 9 |

        | strength | pass | flaky | fail | warn | waived | inconclusive | not-applicable | observed | error | total |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | `stated` | 4 | 0 | 1 | 0 | 0 | 1 | 1 | 0 | 1 | 8 |
        | `choice` | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |
        | all | 4 | 0 | 1 | 0 | 0 | 1 | 1 | 1 | 1 | 9 |

        | time | responses | p50 | p95 | p99 | largest |
        |---|--:|--:|--:|--:|--:|
        | `periodic` | 7 | 12 ms | 12 ms | 12 ms | 12 ms |

        ### Violations

        - `periodic.months.duplicate`: `month numbers may not repeat` (1 case, finding `219065e171fdb086`)
          - `periodic.months.duplicate/adjacent` at `cases/periodic/months-of-execution.yaml:18`, request 3: `expected a rejection (4xx), got 201 with transactionStatus RCVD`
            - `body/monthsOfExecution = [3, 3]`

        ### Inconclusive, by reason

        - 1 case: `its control periodic.months/two was not accepted: it got 400`
          - `periodic.months.duplicate/spread`

        ### Errors, by reason

        - 1 case: `no answer within 5 s`
          - `ncbct.path/plain`

        ### Not applicable, by reason

        - 1 case: `` the target profile declares that the target has no `sandbox` ``
          - `customers.path/plain`

        ### Observed

        - 2 x `basket.mix: refused with 400`
        - 1 x `payment.success-status: 201`
        - 1 x `periodic.months.twelve: 201 with transactionStatus RCVD`
        ");
    }

    #[test]
    fn other_cases_and_variations_are_report() {
        let mut sample = Sample::new(1);
        sample.verdict("periodic.months/one", Verdict::Pass);
        sample.start().other_cases = Some("my <b>`cases".into());
        sample.start().variations = vec!["error.body/page".into()];
        let text = summary(&sample.finished());
        assert!(
            text.starts_with(
                "## cases from ``my <b>`cases``, not those built into `xs2aspec 0.1.0`: conforms: "
            ),
            "{text}"
        );
        assert!(text.contains("- reference bank with the variation `error.body/page`\n"), "{text}");
    }

    #[test]
    fn a_code_span_gives_back_its_text() {
        for text in
            ["a", "`", "``", " `a` ", "a``b`c", "a|b", "<b>&amp;</b>", "a\\", "http://x.test @y #1", "  "]
        {
            let seen: Vec<Event> =
                Parser::new(&format!("- x {} y", code(text))).map(Event::into_static).collect();
            assert!(seen.contains(&Event::Code(text.into())), "{text:?}: {seen:?}");
        }
    }

    #[test]
    fn a_hostile_answer_is_nothing_but_code() {
        let events = sample::hostile();
        let text = summary(&events);
        assert!(!text.chars().any(|letter| letter != '\n' && text::is_hostile(letter)), "{text:?}");
        let mut codes = 0;
        for event in Parser::new_ext(&text, Options::all()) {
            match event {
                Event::Html(_) | Event::InlineHtml(_) => panic!("HTML: {event:?}"),
                Event::Start(
                    Tag::Link { .. }
                    | Tag::Image { .. }
                    | Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::HtmlBlock
                    | Tag::CodeBlock(_),
                ) => panic!("markup: {event:?}"),
                Event::Text(text) => assert!(!text.contains("evil.test") && !text.contains('@'), "{text}"),
                Event::Code(code) => codes += usize::from(code.contains("evil.test")),
                _ => {}
            }
        }
        assert!(codes >= 5, "the hostile text is there to be read: {codes}");
    }

    #[test]
    fn a_large_run_is_cut_and_says_so() {
        let mut sample = Sample::new(9_000);
        for number in 0..9_000 {
            sample.verdict(&format!("periodic.months/{number:04}"), Verdict::Fail).findings[0].at =
                format!("body/member-{number:04}");
        }
        sample.verdict("ncbct.path/plain", Verdict::Error);
        let events = sample.finished();
        let text = summary(&events);
        assert!(text.len() < LARGEST && text.len() > LARGEST - 2 * NOTES, "{}", text.len());
        let listed = text.matches("- `periodic.months/").count();
        assert!(text.contains(&format!("- {} more, omitted", 9_000 - listed)));
        assert!(text.contains("### Errors, by reason\n\n- 1 case: "));
    }
}
