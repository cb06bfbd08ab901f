//! `report.html`: one file for people, without anything from the network. What a target wrote reaches it as data alone: the page is
//! built by a script that only ever sets text, under a content security policy that lets nothing else run.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use xs2aspec_record::{Body, CaseVerdict, Exchange, Header, Strength, Verdict};

use crate::{
    block,
    bundle::hex,
    diff, keeper,
    run::{self, Run},
    terminal, text,
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
pub(crate) const DETAILED: usize = 1_500;

/// The page of a run.
pub fn page(run: &Run<'_>) -> String {
    // The end of the element is the only text that a script element cannot hold.
    let data = data(run).to_string().replace('<', "\\u003c");
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    let title = escaped(&format!("xs2aspec: {}", text::short(&run.start().target)));
    let summary = escaped(&run.conclusion());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main id=\"report\"><h1>{title}</h1><p>{summary}</p></main>\n\
         <script id=\"data\" type=\"application/json\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Everything that the page shows.
fn data(run: &Run<'_>) -> Value {
    let start = run.start();
    let clauses: Vec<&str> = run.clauses().map(|clause| clause.id.as_str()).collect();
    let index: BTreeMap<&str, usize> = clauses.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut detailed = 0;
    let cases: Vec<Value> = run.selected().map(|verdict| case(run, verdict, &index, &mut detailed)).collect();
    let strengths = run.ledger().by_strength().iter().map(|(strength, counts)| {
        let demanded = matches!(strength, Strength::Stated | Strength::Derived | Strength::Choice);
        let broken = counts.of(Verdict::Fail) + counts.of(Verdict::Waived);
        let kept = counts.of(Verdict::Pass);
        json!({"strength": strength.word(), "demanded": demanded, "kept": kept, "broken": broken,
               "observed": counts.of(Verdict::Observed), "open": counts.total() - kept - broken - counts.of(Verdict::Observed)})
    });
    let broken: BTreeSet<&str> = run
        .selected()
        .flat_map(|verdict| verdict.findings.iter().map(|finding| finding.clause.as_str()))
        .collect();
    json!({
        "conclusion": run.conclusion(),
        "exit": run.exit().code(),
        "facts": facts(run),
        "strengths": strengths.collect::<Vec<_>>(),
        "clauses": run.clauses().map(|clause| json!({
            "id": clause.id, "says": clause.says, "strength": clause.strength.word(), "line": clause.line,
            "section": clause.section, "standard": clause.standard, "why": clause.why,
            "broken": broken.contains(clause.id.as_str()),
        })).collect::<Vec<_>>(),
        "cases": cases,
        "left": cases_beyond(detailed),
        "waivers": run.waivers().iter().map(|waiver| json!({"red": waiver.is_red(), "says": cut(&waiver.says(), LINE)})).collect::<Vec<_>>(),
        "quality": start.quality,
        "changes": run.changes().map(|changes| json!({
            "base": cut(&changes.base, LINE), "heading": diff::heading(changes),
            "lists": diff::lists(changes).into_iter().map(|diff::List { title, items }| {
                let shown = items.iter().take(CHANGED).map(|(item, why)| (cut(item, LINE), why.map(|why| cut(why, LINE))));
                json!({"title": title, "count": items.len(), "items": shown.collect::<Vec<_>>()})
            }).collect::<Vec<_>>(),
        })),
        "slowest": slowest(run),
    })
}

fn cases_beyond(detailed: usize) -> usize {
    detailed.saturating_sub(DETAILED)
}

fn facts(run: &Run<'_>) -> Vec<(&'static str, String)> {
    let start = run.start();
    let mut facts = vec![("Target", format!("{} at {}", start.target, start.base_url))];
    let said = [
        ("Version", &start.target_version),
        ("Environment", &start.environment),
        ("Contact", &start.contact),
        ("Fault of the built-in bank", &start.fault),
    ];
    facts.extend(said.into_iter().filter_map(|(name, said)| Some((name, said.clone()?))));
    facts.push((
        "Run",
        format!(
            "{}; depth {}, seed {}, clock {}",
            terminal::amounts(run),
            start.depth,
            start.seed,
            start.now
        ),
    ));
    for (name, patterns) in [("Only", &start.only), ("Skipped", &start.skip)] {
        if !patterns.is_empty() {
            facts.push((name, patterns.join(", ")));
        }
    }
    facts.extend([
        ("Suite", format!("{}, SHA-256 {}", start.tool, start.suite_sha256)),
        ("Document", format!("SHA-256 {}", start.document_sha256)),
        ("Ledger", ledger(run)),
    ]);
    facts.into_iter().map(|(name, text)| (name, cut(&text, LINE))).collect()
}

/// How many statements the ledger has, and its digest: SHA-256 over the `clause` events in the order of their ids.
fn ledger(run: &Run<'_>) -> String {
    let mut hash = Sha256::new();
    for clause in run.clauses() {
        // Texts alone: this cannot fail.
        hash.update(serde_json::to_vec(clause).unwrap_or_default());
    }
    format!("{}, SHA-256 {}", text::count(run.clauses().count(), "statement"), hex(&hash.finalize()))
}

/// A case: short where it passed, with its exchanges where there is something to look at.
fn case(run: &Run<'_>, verdict: &CaseVerdict, index: &BTreeMap<&str, usize>, detailed: &mut usize) -> Value {
    let clause = index.get(verdict.clause.as_str()).copied();
    if verdict.verdict == Verdict::Pass {
        return json!([verdict.case, clause, "pass"]);
    }
    let mut rest = json!({
        "place": verdict.place.to_string(),
        "expected": verdict.expected,
        "changes": verdict.changes.iter().map(|change| cut(change, LINE)).collect::<Vec<_>>(),
    });
    if !verdict.findings.is_empty() {
        let findings = verdict.findings.iter().map(|finding| {
            json!({"clause": finding.clause, "says": cut(&run::mismatch(finding), LINE), "at": cut(&finding.at, LINE)})
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
    if keeper::shows_exchanges(verdict.verdict) {
        *detailed += 1;
        rest["again"] = block::again(run, verdict).into();
        if *detailed <= DETAILED {
            rest["exchanges"] = run.exchanges_of(&verdict.case).into_iter().map(exchange).collect();
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

/// The ten cases that took longest.
fn slowest(run: &Run<'_>) -> Vec<Value> {
    let mut cases: Vec<&CaseVerdict> = run.selected().collect();
    cases.sort_by_key(|verdict| std::cmp::Reverse(verdict.micros));
    cases.iter().take(10).map(|verdict| json!([verdict.case, text::duration(verdict.micros)])).collect()
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
