//! `summary.md`, for the step summary of a CI server: the verdict first, then numbers, then what needs attention.

use std::{collections::BTreeMap, fmt::Write as _};

use xs2aspec_record::{CaseVerdict, Counts, Verdict};

use crate::{
    diff,
    run::{self, Run},
    terminal,
    text::{self, short},
};

/// Bytes that a summary takes at most. GitHub refuses a step summary above 1024 KiB.
pub const LARGEST: usize = 900_000;

/// Bytes kept free for the notes on what was left out.
const NOTES: usize = 4_000;

/// The summary of a run. Where it would pass [`LARGEST`] items are left out, and it says how many.
pub fn summary(run: &Run<'_>) -> String {
    let mut sheet = Sheet { text: format!("## {} (exit {})\n\n", run.conclusion(), run.exit().code()) };
    if let Some(changes) = run.changes() {
        let _ = writeln!(sheet.text, "Since {}:\n\n{}", code(&changes.base), diff::markdown(changes));
    }
    sheet.text.push_str(&facts(run));
    let ledger = run.ledger();
    let operations = ledger.by_operation().iter().map(|(name, row)| (name.as_str(), *row));
    let strengths = ledger.by_strength().iter().map(|(name, row)| (name.word(), *row));
    sheet.table("operation", operations, ledger.counts());
    sheet.table("strength", strengths, ledger.counts());
    sheet.list("Failing cases", run.with(Verdict::Fail).map(failing));
    sheet.list("Waivers", run.waivers().iter().map(|waiver| format!("- {}\n", code(&waiver.says()))));
    for (title, word) in [
        ("Waived, by reason", Verdict::Waived),
        ("Inconclusive, by reason", Verdict::Inconclusive),
        ("Errors, by reason", Verdict::Error),
        ("Not applicable, by reason", Verdict::NotApplicable),
    ] {
        sheet.list(title, run.by_reason(word).iter().map(|(reason, cases)| grouped(reason, cases)));
    }
    sheet.list(
        "Observed",
        observations(run).into_iter().map(|(seen, times)| format!("- {times} x {}\n", code(&seen))),
    );
    sheet.text
}

/// A summary as it grows.
struct Sheet {
    text: String,
}

impl Sheet {
    /// A list under a heading with the number of its items; nothing if there are none.
    fn list(&mut self, title: &str, items: impl Iterator<Item = String>) {
        let mut items = items.peekable();
        if items.peek().is_none() {
            return;
        }
        let _ = writeln!(self.text, "### {title}\n");
        let mut left_out = 0;
        for item in items {
            if self.text.len() + item.len() + NOTES > LARGEST {
                left_out += 1;
            } else {
                self.text.push_str(&item);
            }
        }
        if left_out > 0 {
            let _ = writeln!(
                self.text,
                "- {left_out} more left out to keep this file small; `record.jsonl` has them all"
            );
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
            // In a table even a code span cannot hold a bare `|` (GitHub Flavored Markdown, Tables).
            self.row(&code(name).replace('|', "/"), row);
        }
        self.row("all", all);
        self.text.push('\n');
    }

    fn row(&mut self, name: &str, row: Counts) {
        let cells = Verdict::ALL.map(|verdict| row.of(verdict).to_string()).join(" | ");
        let _ = writeln!(self.text, "| {name} | {cells} | {} |", row.total());
    }
}

fn facts(run: &Run<'_>) -> String {
    let start = run.start();
    let mut facts = format!("- target {} at {}\n", code(&start.target), code(&start.base_url));
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
        let _ = writeln!(facts, "- built-in bank with the fault {}", code(fault));
    }
    let _ = writeln!(facts, "- {}", terminal::amounts(run));
    for (option, patterns) in [("--only", &start.only), ("--skip", &start.skip)] {
        if !patterns.is_empty() {
            let patterns: Vec<String> = patterns.iter().map(|pattern| code(pattern)).collect();
            let _ = writeln!(facts, "- `{option}` {}", patterns.join(", "));
        }
    }
    let _ = writeln!(facts, "- {}, seed {}, clock {}", code(&start.tool), start.seed, code(&start.now));
    let (document, suite) = (code(&start.document_sha256), code(&start.suite_sha256));
    let _ = writeln!(facts, "- document SHA-256 {document}\n- suite SHA-256 {suite}\n");
    facts
}

fn failing(verdict: &CaseVerdict) -> String {
    let mut item = format!("- {} at {}\n", code(&verdict.case), code(&verdict.place.to_string()));
    for finding in &verdict.findings {
        let place = if finding.at == "status" { String::new() } else { format!("{}: ", code(&finding.at)) };
        let (expected, actual) = (code(&finding.expected), code(&finding.actual));
        let _ = writeln!(item, "  - {}: {place}expected {expected}, got {actual}", code(&finding.clause));
    }
    if verdict.findings.is_empty() {
        let _ = writeln!(item, "  - {}", code(run::reason(verdict)));
    }
    item
}

/// A reason, how many cases have it, and the first few of them.
fn grouped(reason: &str, cases: &[&CaseVerdict]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = cases.iter().take(NAMED).map(|case| code(&case.case)).collect();
    let more = if cases.len() > NAMED { format!(" and {} more", cases.len() - NAMED) } else { String::new() };
    format!("- {}: {}\n  - {}{more}\n", text::count(cases.len(), "case"), code(reason), named.join(", "))
}

/// What was observed in the selected cases, the most frequent first. What differs in ids alone is one thing.
fn observations(run: &Run<'_>) -> Vec<(String, usize)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for observation in run.selected().flat_map(|verdict| &verdict.observations) {
        *seen.entry(diff::alike(observation)).or_default() += 1;
    }
    let mut seen: Vec<_> = seen.into_iter().collect();
    seen.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    seen
}

/// Text from elsewhere as a code span, in which nothing is a link, a mention, HTML or emphasis (`CommonMark` section 6.1): the fence
/// is longer than any run of backticks within, and a space parts it from a backtick or space at the edge.
pub(crate) fn code(text: &str) -> String {
    let text = short(text);
    if text.is_empty() {
        return "(nothing)".to_owned();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let edge = |letter: char| letter == '`' || letter == ' ';
    let blank = text.chars().all(|letter| letter == ' ');
    let pad = if !blank && (text.starts_with(edge) || text.ends_with(edge)) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;
    use crate::sample::{self, Sample};

    #[test]
    fn a_summary_of_every_verdict() {
        insta::assert_snapshot!(summary(&Run::of(&sample::mixed()).unwrap()), @"
        ## does not conform: at least one clause is broken (exit 1)

        - target `test bank` at `https://bank.test/psd2`
        - version of the target `2.4`
        - environment of the target `sandbox`
        - contact of the target `payments team`
        - 9 cases, 10 exchanges (1 of them once more), 2.500 s, 3.6 cases per second
        - `--only` `periodic`
        - `xs2aspec 0.1.0`, seed 7, clock `2030-01-02T03:04:05Z`
        - document SHA-256 `d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0`
        - suite SHA-256 `5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e`

        | operation | pass | fail | waived | inconclusive | not-applicable | observed | error | total |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|
        | `basket` | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 2 |
        | `customers` | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 1 |
        | `ncbct` | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 |
        | `periodic` | 1 | 1 | 0 | 1 | 0 | 1 | 0 | 4 |
        | `transaction` | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |
        | all | 4 | 1 | 0 | 1 | 1 | 1 | 1 | 9 |

        | strength | pass | fail | waived | inconclusive | not-applicable | observed | error | total |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|
        | `stated` | 4 | 1 | 0 | 1 | 1 | 0 | 1 | 8 |
        | `choice` | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |
        | all | 4 | 1 | 0 | 1 | 1 | 1 | 1 | 9 |

        ### Failing cases

        - `periodic.months.duplicate/adjacent` at `cases/periodic/months-of-execution.yaml:18`
          - `periodic.months.duplicate`: expected `a refusal (4xx)`, got `201 with transactionStatus RCVD`

        ### Inconclusive, by reason

        - 1 case: `its control periodic.months/two was not accepted: got 400`
          - `periodic.months.duplicate/spread`

        ### Errors, by reason

        - 1 case: `no answer within 5 s`
          - `ncbct.path/plain`

        ### Not applicable, by reason

        - 1 case: `` the target profile does not offer `sandbox` ``
          - `customers.path/plain`

        ### Observed

        - 2 x `basket.mix: refused with 400`
        - 1 x `payment.success-status: 201`
        - 1 x `periodic.months.twelve: 201 with transactionStatus RCVD`
        ");
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
        let text = summary(&Run::of(&events).unwrap());
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
        assert!(codes >= 6, "the hostile text is there to be read: {codes}");
    }

    #[test]
    fn a_large_run_is_cut_and_says_so() {
        let mut sample = Sample::new(9_000);
        for number in 0..9_000 {
            sample.verdict(&format!("periodic.months/{number:04}"), Verdict::Fail).changes = vec![];
        }
        sample.verdict("ncbct.path/plain", Verdict::Error);
        let events = sample.finished();
        let text = summary(&Run::of(&events).unwrap());
        assert!(text.len() < LARGEST && text.len() > LARGEST - 2 * NOTES, "{}", text.len());
        let listed = text.matches("- `periodic.months/").count();
        assert!(text.contains(&format!("- {} more left out", 9_000 - listed)));
        assert!(text.contains("### Errors, by reason\n\n- 1 more left out"));
    }
}
