//! `report.html`: one self-contained file that loads nothing from the network. Without its script it shows
//! the state of each sentence of the document, the findings, and what was tested. The script adds filters, a
//! search and the single cases. It only ever sets text, under a content security policy that allows no other
//! script.

mod document;
mod exchange;
mod finding;
mod first;
pub(crate) mod markup;
mod outline;
mod tally;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{Exchange, Level, Reason, Verdict};

use self::{
    document::Drawing,
    finding::Witnessed,
    markup::{LINE, cut, section, shown},
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

/// Limit of the cases whose exchanges are shown. The record has all of them.
const DETAILED: usize = 1_500;
/// Number of slowest cases to show.
const SLOWEST: usize = 10;

/// Shown if scripts are disabled.
const WITHOUT_SCRIPT: &str = "<noscript><p class=\"soft\">Without its script, this page shows everything except the single \
    cases. To filter, search and open cases, allow the script: it is part of this file and loads nothing. \
    <code>record.jsonl</code> contains every case.</p></noscript>\n";

/// The HTML report of a run.
#[derive(Debug, Default)]
pub struct Page {
    has_cases: bool,
    /// Positions of clauses in the list on the page, by id.
    index: BTreeMap<String, usize>,
    /// Number of cases with exchanges to show.
    detailed: usize,
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
        self.detailed += usize::from(shows_exchanges(verdict.verdict));
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
        for observation in verdict.observed() {
            // Observations that differ only in ids are counted together.
            self.observed.add(diff::alike(&observation), verdict);
        }
        let at = self.slowest.partition_point(|(micros, _)| *micros >= verdict.micros);
        if at < SLOWEST {
            self.slowest.insert(at, (verdict.micros, verdict.case.clone()));
            self.slowest.truncate(SLOWEST);
        }
        let clause = self.index.get(&verdict.clause).copied();
        let drawn = case(summary, report, clause, self.detailed <= DETAILED);
        let between = if std::mem::replace(&mut self.has_cases, true) { "," } else { "" };
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
            "left": self.detailed.saturating_sub(DETAILED),
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
        let (violations, warnings) =
            (summary.findings().count(Level::Deny), summary.findings().count(Level::Warn));
        let findings = self.findings.draw(summary);
        let findings = if findings.is_empty() { "<p>none</p>".to_owned() } else { findings };
        let drawing = Drawing::new(summary, &self.tally, finding::by_clause(summary));
        let parts = [
            ("tested", "What was tested", first::tested(summary)),
            ("findings", "Findings", section("findings", "Findings", &findings)),
            ("changes", "What changed", first::changes(summary)),
            (
                "document",
                "The document",
                section("document", "The document, sentence by sentence", &drawing.draw()),
            ),
            ("unasked", "Not tested", first::unasked(&self.reasons)),
            ("observed", "Observed", first::observed(&self.observed)),
            ("timing", "Timing", first::timing(summary, &self.slowest)),
            ("readings", "Readings", first::readings(summary)),
        ];
        let links = parts.iter().filter(|(.., html)| !html.is_empty());
        let links: Vec<String> =
            links.map(|(id, title, _)| format!("<a href=\"#{id}\">{title}</a>")).collect();
        let links = links.concat();
        let header = first::header(summary, violations, warnings);
        let sections: String = parts.into_iter().map(|(.., html)| html).collect();
        format!("{header}{WITHOUT_SCRIPT}<nav aria-label=\"Parts of the report\">{links}</nav>\n{sections}")
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

/// Returns a case as data: short if it passed, with its exchanges if there is something to look at.
fn case(summary: &RunSummary, report: &CaseReport<'_>, clause: Option<usize>, is_detailed: bool) -> Value {
    let verdict = report.verdict;
    // Most ids begin with their clause.
    let id =
        verdict.case.strip_prefix(&verdict.clause).filter(|rest| rest.starts_with('/') && clause.is_some());
    let id = id.unwrap_or(&verdict.case);
    if verdict.verdict == Verdict::Pass {
        return json!([id, clause, "pass", verdict.exchange]);
    }
    let mut rest = json!({
        "place": verdict.place.to_string(),
        "expected": verdict.expected,
        "changes": words::changes(verdict).iter().map(|change| cut(change, LINE)).collect::<Vec<_>>(),
    });
    if let Some(culprit) = &verdict.culprit {
        rest["culprit"] = cut(&culprit.says(), LINE).into();
    }
    if !verdict.judged_with.is_empty() {
        rest["judgedWith"] = verdict.judged_with.iter().map(|with| cut(with, LINE)).collect();
    }
    if !verdict.findings.is_empty() {
        let findings = verdict.findings.iter().map(|finding| {
            let says = words::mismatch(words::end(summary.start(), finding), finding);
            json!({"clause": cut(&finding.clause, LINE), "level": finding.level.word(), "says": cut(&says, LINE)})
        });
        rest["findings"] = findings.collect();
    }
    let observed = verdict.observed();
    if !observed.is_empty() {
        rest["observations"] = observed.iter().map(|seen| cut(seen, LINE)).collect();
    }
    if let Some(reason) = &verdict.reason {
        rest["reason"] = cut(&reason.to_string(), LINE).into();
    }
    if let Some(control) = &verdict.control {
        rest["control"] = json!({"case": control.case, "accepted": control.accepted});
    }
    if shows_exchanges(verdict.verdict) {
        if let Some(again) = block::again(summary, &verdict.case) {
            rest["again"] = again.into();
        }
        if is_detailed {
            let changed = exchange::differing(verdict);
            let found: Vec<String> = verdict.findings.iter().map(|finding| finding.at.clone()).collect();
            rest["exchanges"] =
                report.exchanges.iter().map(|sent| exchange::value(sent, &changed, &found)).collect();
        }
    }
    json!([id, clause, verdict.verdict.word(), verdict.exchange, rest])
}
