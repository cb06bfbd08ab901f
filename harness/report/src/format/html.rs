//! `report.html`: one self-contained file that loads nothing from the network. Without its script it shows
//! the state of each sentence of the document, the findings, and what was tested. The script adds filters, a
//! search and the single cases. It only ever sets text, under a content security policy that allows no other
//! script.

mod document;
mod exchange;
mod finding;
mod first;
mod legend;
mod lists;
pub(crate) mod markup;
mod origin;
mod outline;
mod tally;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{CaseVerdict, Exchange, Reason, Verdict};

use self::{
    document::Drawing,
    finding::Witnessed,
    markup::{LINE, cut, facts, section, shown},
    tally::Tally,
};
use crate::{
    compare::diff,
    format::{block, groups::Groups},
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text, words,
};

const STYLE: &str = include_str!("html/report.css");
const SCRIPT: &str = include_str!("html/report.js");

/// Limit of the bytes of exchanges in the data of the cases. The record has all of them.
const EXCHANGES: usize = 200_000;
/// Number of slowest cases to show.
const SLOWEST: usize = 10;

/// Shown if scripts are disabled.
const WITHOUT_SCRIPT: &str = "<noscript><p class=\"soft\">Without its script, this page shows everything except the single \
    cases. To filter, search and open cases, allow the script: it is part of this file and loads nothing. \
    <code>record.jsonl</code> contains every case.</p></noscript>\n";

/// The HTML report of a run.
#[derive(Debug, Default)]
pub struct Page {
    /// The id of the last case. Each id in the data has only what differs from the one before it.
    last: Option<String>,
    /// Positions of clauses in the list on the page, by id.
    index: BTreeMap<String, usize>,
    /// Bytes of the exchanges in the data, and number of cases without theirs.
    exchanges: usize,
    left: usize,
    tally: Tally,
    findings: Witnessed,
    reasons: BTreeMap<Verdict, Groups<Reason>>,
    observed: Groups<String>,
    /// The slowest cases so far, the slowest first.
    slowest: Vec<(u64, String)>,
}

impl Reporter for Page {
    fn begin(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        self.index = summary.clauses().enumerate().map(|(at, clause)| (clause.id.clone(), at)).collect();
        self.tally = summary.document().map(Tally::new).unwrap_or_default();
        let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            hash(SCRIPT),
            hash(STYLE)
        );
        let title = shown(&format!("xs2aspec: {}", text::short(&summary.start().target)));
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<script id=\"data\" type=\"application/json\">{{\"cases\":["
        )
    }

    fn exchanges(
        &mut self,
        summary: &RunSummary,
        exchanges: &[Exchange],
        _: &mut dyn Write,
    ) -> io::Result<()> {
        self.tally.answers(exchanges);
        self.findings.control(summary, exchanges);
        Ok(())
    }

    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        self.tally.case(summary, report);
        self.findings.add(summary, report, false);
        if matches!(
            verdict.verdict,
            Verdict::Flaky
                | Verdict::Waived
                | Verdict::Inconclusive
                | Verdict::Error
                | Verdict::NotApplicable
        ) {
            self.reasons.entry(verdict.verdict).or_default().add_reason(verdict);
        }
        // A passed case observes of its own clause what was required.
        let own = format!("{}: ", verdict.clause);
        let is_open = |seen: &String| verdict.verdict != Verdict::Pass || !seen.starts_with(&own);
        for observation in verdict.observed().into_iter().filter(is_open) {
            // Observations that differ only in ids are counted together.
            self.observed.add(diff::alike(&observation), verdict);
        }
        let at = self.slowest.partition_point(|(micros, _)| *micros >= verdict.micros);
        if at < SLOWEST {
            self.slowest.insert(at, (verdict.micros, verdict.case.clone()));
            self.slowest.truncate(SLOWEST);
        }
        let drawn = self.row(summary, report);
        let between = if self.last.replace(verdict.case.clone()).is_some() { "," } else { "" };
        write!(out, "{between}{}", in_script(&drawn))
    }

    fn control(
        &mut self,
        summary: &RunSummary,
        report: &CaseReport<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        self.tally.findings(report.verdict);
        self.findings.add(summary, report, true);
        Ok(())
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        // The cases precede the other fields.
        let rest = in_script(&json!({
            "clauses": summary.clauses().map(|clause| {
                let like = self.tally.clause(&clause.id).and_then(|tally| tally.like.as_ref());
                like.map_or_else(|| json!([clause.id]), |(operation, control)| json!([clause.id, operation, control]))
            }).collect::<Vec<_>>(),
            "left": self.left,
        }));
        let rest = rest.strip_prefix('{').unwrap_or_default();
        let main = self.main(summary);
        write!(
            out,
            "],{rest}</script>\n<main id=\"report\">{main}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

impl Page {
    /// Renders everything that the page shows without a script.
    fn main(&self, summary: &RunSummary) -> String {
        let findings = self.findings.draw(summary);
        let findings = if findings.is_empty() { "<p>none</p>".to_owned() } else { findings };
        let drawing = Drawing::new(summary, &self.tally, finding::by_clause(summary));
        let sections = drawing.sections();
        let parts = [
            ("tested", "What was tested", first::tested(summary, &sections)),
            ("findings", "Findings", findings),
            ("changes", "What changed", lists::changes(summary)),
            ("words", "What the words mean", legend::legend()),
            ("document", "The document, sentence by sentence", drawing.draw(&sections)),
            ("unasked", "What was not tested, and why", lists::unasked(&self.reasons)),
            ("observed", "What was observed", lists::observed(&self.observed)),
            ("timing", "Timing", lists::timing(summary, &self.slowest)),
            ("readings", "How unclear places are read", lists::readings(summary)),
            ("origin", "Details of the run", facts(origin::details(summary))),
        ];
        let mut html = first::header(summary) + WITHOUT_SCRIPT + "<nav aria-label=\"Parts of the report\">";
        let parts = parts.iter().filter(|(.., content)| !content.is_empty());
        for (id, title, _) in parts.clone() {
            _ = write!(html, "<a href=\"#{id}\">{title}</a>");
        }
        html.push_str("</nav>\n");
        html.extend(parts.map(|(id, title, content)| section(id, title, content)));
        html
    }

    /// Returns a case as data: short if it passed, with its exchanges if there is something to look at.
    fn row(&mut self, summary: &RunSummary, report: &CaseReport<'_>) -> Value {
        let verdict = report.verdict;
        let clause = self.index.get(&verdict.clause);
        // The ids are sorted, so most of them begin like the one before.
        let before = self.last.as_deref().unwrap_or_default().bytes();
        let shared =
            before.zip(verdict.case.bytes()).take_while(|(one, other)| one == other && one.is_ascii());
        let shared = shared.count();
        let id = &verdict.case[shared..];
        if verdict.verdict == Verdict::Pass {
            return json!([shared, id, clause, verdict.exchange]);
        }
        let mut rest = details(summary, verdict);
        if shows_exchanges(verdict.verdict) {
            let changed = exchange::differing(verdict);
            let found: Vec<String> = verdict.findings.iter().map(|finding| finding.at.clone()).collect();
            let sent: Vec<Value> =
                report.exchanges.iter().map(|sent| exchange::value(sent, &changed, &found)).collect();
            let sent = Value::from(sent);
            let bytes = sent.to_string().len();
            if self.exchanges + bytes <= EXCHANGES {
                self.exchanges += bytes;
                rest["exchanges"] = sent;
            } else {
                self.left += 1;
            }
        }
        json!([shared, id, clause, verdict.exchange, verdict.verdict.word(), rest])
    }
}

/// Renders JSON as the content of a script element, which must not contain its end tag.
fn in_script(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// Returns true if the page shows the exchanges of a case with this verdict.
fn shows_exchanges(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Flaky
            | Verdict::Fail
            | Verdict::Warn
            | Verdict::Waived
            | Verdict::Inconclusive
            | Verdict::Error
    )
}

/// Returns what is known of a case that did not pass, as data for the page's script.
fn details(summary: &RunSummary, verdict: &CaseVerdict) -> Value {
    // Those of other clauses are counted for the whole run.
    let own = format!("{}: ", verdict.clause);
    let observed = verdict.observed().into_iter();
    let observed: Vec<String> =
        observed.filter(|seen| !verdict.seen.is_empty() || seen.starts_with(&own)).collect();
    let lines = |lines: &[String]| lines.iter().map(|line| cut(line, LINE)).collect::<Value>();
    let findings = verdict.findings.iter().map(|finding| {
        let says = words::mismatch(words::end(summary.start(), finding), finding);
        json!({"clause": cut(&finding.clause, LINE), "level": finding.level.word(), "says": cut(&says, LINE)})
    });
    let mut details = json!({
        "place": verdict.place.to_string(),
        "expected": verdict.expected,
        "changes": lines(&words::changes(verdict)),
        "culprit": verdict.culprit.as_ref().map(|culprit| cut(&culprit.says(), LINE)),
        "judgedWith": lines(&verdict.judged_with),
        "findings": findings.collect::<Value>(),
        "observations": lines(&observed),
        "reason": verdict.reason.as_ref().map(|reason| cut(&reason.to_string(), LINE)),
        "control": verdict.control.as_ref().map(|control| json!({"case": control.case, "accepted": control.accepted})),
        "again": shows_exchanges(verdict.verdict).then(|| block::again(summary, &verdict.case)),
    });
    if let Some(details) = details.as_object_mut() {
        details.retain(|_, known| !known.is_null() && known.as_array().is_none_or(|lines| !lines.is_empty()));
    }
    details
}
