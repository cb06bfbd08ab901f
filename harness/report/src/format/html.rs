//! `report.html`: one file for people, without anything from the network. What a target wrote reaches it as
//! data alone: the page is built by a script that only ever sets text, under a content security policy that
//! lets nothing else run.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{
    Body, ClauseText, Exchange, Header, Level, LevelSource, Strength, Verdict, digest::hex,
};

use crate::{
    compare::diff,
    demanded,
    format::{block, terminal, times},
    reporter::{CaseReport, Reporter},
    summary::RunSummary,
    text,
};

const STYLE: &str = include_str!("html/report.css");
const SCRIPT: &str = include_str!("html/report.js");

/// Characters of one body that are shown; the record has the rest.
const BODY: usize = 8_000;
/// Characters of one header or of one text.
const LINE: usize = 2_000;
/// Items of one list of what changed that are shown.
const CHANGED: usize = 200;
/// Cases whose exchanges are shown; the record has the others.
const DETAILED: usize = 1_500;
/// Cases that took longest.
const SLOWEST: usize = 10;

/// The page of a run.
#[derive(Debug, Default)]
pub struct Page {
    has_cases: bool,
    /// Clauses by id: which one of the list on the page.
    index: BTreeMap<String, usize>,
    /// Cases whose exchanges are there to be shown.
    detailed: usize,
    /// Clauses of all findings, with the worst level.
    broken: BTreeMap<String, Level>,
    /// The cases that took longest so far, the slowest first.
    slowest: Vec<(u64, String)>,
}

impl Reporter for Page {
    fn case(&mut self, summary: &RunSummary, report: &CaseReport<'_>, out: &mut dyn Write) -> io::Result<()> {
        let verdict = report.verdict;
        self.detailed += usize::from(shows_exchanges(verdict.verdict));
        let clause = self.index.get(&verdict.clause).copied();
        let between = if std::mem::replace(&mut self.has_cases, true) { "," } else { "" };
        let drawn = case(summary, report, clause, self.detailed <= DETAILED);
        for finding in &verdict.findings {
            let known = self.broken.entry(finding.clause.clone()).or_insert(finding.level);
            *known = finding.level.max(*known);
        }
        let at = self.slowest.partition_point(|(micros, _)| *micros >= verdict.micros);
        if at < SLOWEST {
            self.slowest.insert(at, (verdict.micros, verdict.case.clone()));
            self.slowest.truncate(SLOWEST);
        }
        write!(out, "{between}{}", in_script(&drawn))
    }

    fn begin(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        self.index = summary.clauses().enumerate().map(|(at, clause)| (clause.id.clone(), at)).collect();
        let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            hash(SCRIPT),
            hash(STYLE)
        );
        let title = escaped(&format!("xs2aspec: {}", text::short(&summary.start().target)));
        let other = summary.of_other_cases(text::short);
        let says = escaped(&format!("{other}{}. {}.", summary.conclusion(), demanded::numbers(summary)));
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<main id=\"report\"><h1>{title}</h1><p>{says}</p></main>\n\
             <script id=\"data\" type=\"application/json\">{{\"cases\":["
        )
    }

    fn finish(&mut self, summary: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
        // The cases stand before the other members.
        let rest = in_script(&self.rest(summary));
        let rest = rest.strip_prefix('{').unwrap_or_default();
        write!(out, "],{rest}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
    }
}

impl Page {
    /// Everything that the page shows but its cases.
    fn rest(&self, summary: &RunSummary) -> Value {
        let strengths = summary.totals().by_strength().iter().map(|(strength, counts)| {
            let demanded = matches!(strength, Strength::Stated | Strength::Derived | Strength::Choice);
            let broken = counts.of(Verdict::Fail) + counts.of(Verdict::Waived);
            let kept = counts.of(Verdict::Pass);
            json!({"strength": strength.word(), "demanded": demanded, "kept": kept, "broken": broken,
                   "warned": counts.warn, "observed": counts.observed,
                   "open": counts.total() - kept - broken - counts.warn - counts.observed})
        });
        json!({
            "conclusion": format!("{}{}", summary.of_other_cases(text::short), summary.conclusion()),
            "exit": summary.exit().code(),
            "facts": facts(summary),
            "strengths": strengths.collect::<Vec<_>>(),
            "demanded": demanded::numbers(summary),
            "toAdd": demanded::to_add(summary),
            "clauses": summary.clauses().map(|clause| json!({
                "id": clause.id, "says": clause.says, "strength": clause.strength.word(), "line": clause.line,
                "section": clause.section, "standard": clause.standard, "why": clause.why,
                "level": level(clause), "broken": self.broken.get(&clause.id).map(|level| level.word()),
                "state": demanded::state(summary, &clause.id).map(|(state, checked)| json!([state.word(), checked])),
            })).collect::<Vec<_>>(),
            "left": self.detailed.saturating_sub(DETAILED),
            "waivers": summary.waivers().iter().map(|waiver| json!({"red": waiver.is_red(), "says": cut(&waiver.says(), LINE)})).collect::<Vec<_>>(),
            "quality": summary.start().quality,
            "changes": summary.changes().map(|changes| json!({
                "base": cut(&changes.base, LINE), "heading": diff::heading(changes),
                "lists": diff::lists(changes).into_iter().map(|diff::List { title, items }| {
                    let shown = items.iter().take(CHANGED).map(|(item, why)| (cut(item, LINE), why.map(|why| cut(why, LINE))));
                    json!({"title": title, "count": items.len(), "items": shown.collect::<Vec<_>>()})
                }).collect::<Vec<_>>(),
            })),
            "times": {"columns": times::COLUMNS, "rows": times::rows(summary)},
            "slow": times::too_slow(summary).into_iter().flat_map(|(heading, lines)| [heading].into_iter().chain(lines)).collect::<Vec<_>>(),
            "slowFor": times::slow_for(summary),
            "slowest": self.slowest.iter().map(|(micros, case)| json!([case, text::duration(*micros)])).collect::<Vec<_>>(),
        })
    }
}

/// The level of a clause, and who set it where that is not its strength.
fn level(clause: &ClauseText) -> String {
    let set = clause.level();
    match set.by {
        LevelSource::Strength => set.level.word().to_owned(),
        by => format!("{} by {}", set.level.word(), by.words()),
    }
}

/// As the content of a script element, whose end is the only text that it cannot hold.
fn in_script(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// Whether a page shows the exchanges of a case with this verdict.
fn shows_exchanges(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Fail | Verdict::Warn | Verdict::Waived | Verdict::Inconclusive | Verdict::Error
    )
}

fn facts(summary: &RunSummary) -> Vec<(&'static str, String)> {
    let start = summary.start();
    let at = start.address().map(|address| format!(" at {address}")).unwrap_or_default();
    let mut facts = vec![("Target", format!("{}{at}", start.target))];
    let said = [
        ("Version", &start.target_version),
        ("Environment", &start.environment),
        ("Contact", &start.contact),
        ("Fault of the built-in bank", &start.fault),
    ];
    facts.extend(said.into_iter().filter_map(|(name, said)| Some((name, said.clone()?))));
    if !start.variations.is_empty() {
        facts.push(("Variation of the built-in bank", start.variations.join(", ")));
    }
    if let Some(folder) = &start.other_cases {
        facts.push(("Cases", format!("of {folder}, which are not those of {}", start.tool)));
    }
    if let Some(folder) = &start.other_document {
        facts.push(("Document", format!("of {folder}, which is not that of {}", start.tool)));
    }
    facts.push((
        "Run",
        format!(
            "{}; depth {}, seed {}, clock {}",
            terminal::amounts(summary),
            start.depth,
            start.seed,
            start.now
        ),
    ));
    for rule in &start.levels {
        let (level, pattern, by) = (rule.level.word(), &rule.pattern, rule.by.words());
        facts.push(("Level", format!("{level} for {pattern}, by {by}")));
    }
    for (name, patterns) in [("Only", &start.only), ("Skipped", &start.skip)] {
        if !patterns.is_empty() {
            facts.push((name, patterns.join(", ")));
        }
    }
    facts.extend([
        ("Suite", format!("{}, SHA-256 {}", start.tool, start.suite_sha256)),
        ("Document", format!("SHA-256 {}", start.document_sha256)),
        ("Ledger", ledger(summary)),
    ]);
    facts.into_iter().map(|(name, text)| (name, cut(&text, LINE))).collect()
}

/// How many statements the ledger has, and its digest: SHA-256 over the `clause` events in the order of their
/// ids.
fn ledger(summary: &RunSummary) -> String {
    let mut hash = Sha256::new();
    for clause in summary.clauses() {
        // Texts alone: this cannot fail.
        hash.update(serde_json::to_vec(clause).unwrap_or_default());
    }
    format!("{}, SHA-256 {}", text::count(summary.clauses().len(), "statement"), hex(&hash.finalize()))
}

/// A case: short where it passed, with its exchanges where there is something to look at.
fn case(summary: &RunSummary, report: &CaseReport<'_>, clause: Option<usize>, is_detailed: bool) -> Value {
    let verdict = report.verdict;
    if verdict.verdict == Verdict::Pass {
        return json!([verdict.case, clause, "pass"]);
    }
    let mut rest = json!({
        "place": verdict.place.to_string(),
        "expected": verdict.expected,
        "changes": verdict.telling_changes().iter().map(|change| cut(change, LINE)).collect::<Vec<_>>(),
    });
    if let Some(culprit) = &verdict.culprit {
        rest["culprit"] = cut(&culprit.says(), LINE).into();
    }
    if !verdict.findings.is_empty() {
        let findings = verdict.findings.iter().map(|finding| {
            json!({"clause": finding.clause, "level": finding.level.word(), "says": cut(&finding.mismatch(), LINE), "at": cut(&finding.at, LINE)})
        });
        rest["findings"] = findings.collect();
    }
    if !verdict.observations.is_empty() {
        rest["observations"] = verdict.observations.iter().map(|seen| cut(seen, LINE)).collect();
    }
    if let Some(reason) = &verdict.reason {
        rest["reason"] = cut(reason, LINE).into();
    }
    if let Some(control) = &verdict.control {
        rest["control"] = json!({"case": control.case, "accepted": control.accepted});
    }
    if shows_exchanges(verdict.verdict) {
        rest["again"] = block::again(summary, &verdict.case).into();
        if is_detailed {
            rest["exchanges"] = report.exchanges.iter().map(exchange).collect();
        }
    }
    json!([verdict.case, clause, verdict.verdict.word(), rest])
}

fn exchange(exchange: &Exchange) -> Value {
    let headers = |headers: &[Header]| -> Vec<String> {
        headers.iter().map(|Header(name, value)| cut(&format!("{name}: {value}"), LINE)).collect()
    };
    let body = |body: &Option<Body>| body.as_ref().map(|body| cut(&body.shown(), BODY));
    let request = &exchange.request;
    json!({
        "step": exchange.step,
        "took": text::duration(exchange.micros),
        "request": {"line": cut(&format!("{} {}", request.method, request.url), LINE), "headers": headers(&request.headers), "body": body(&request.body)},
        "response": exchange.response.as_ref().map(|answer| {
            json!({"line": answer.status.to_string(), "headers": headers(&answer.headers), "body": body(&answer.body)})
        }),
        "failure": exchange.failure.as_deref().map(|failure| cut(failure, LINE)),
    })
}

/// The text without what steers a reader's eye, and not longer than this; line ends stay.
fn cut(text: &str, most: usize) -> String {
    let shown = |text: &str| {
        let lines: Vec<String> =
            text.split('\n').map(|line| text::harmless(line.trim_end_matches('\r'))).collect();
        lines.join("\n")
    };
    match text.char_indices().nth(most) {
        None => shown(text),
        Some((end, _)) => {
            format!("{}\n... ({} characters more)", shown(&text[..end]), text[end..].chars().count())
        }
    }
}

/// As text between tags, or in an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
