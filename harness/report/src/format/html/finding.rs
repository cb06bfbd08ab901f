//! A finding: the words of the document, then the request, the response, and the accepted request side by
//! side.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
};

use xs2aspec_record::{CaseVerdict, ClauseText, Exchange, Level, Reading, finding_id::printed};

use super::{
    document, exchange,
    markup::{escaped, inline, list, shown},
    outline,
};
use crate::{
    findings::{
        Found,
        symptom::{counted, key},
    },
    format::block,
    reporter::CaseReport,
    summary::RunSummary,
    text, words,
};

/// Limit of the findings that are shown with their exchange.
const WHOLE: usize = 50;

/// Limit of the findings that are shown at all.
const LINES: usize = 1_000;

/// Limit of the witnesses whose exchanges are stored. Only at the end is it known which of them are shown.
const KEPT: usize = 8 * WHOLE;

/// Limit of the other symptoms that a finding lists.
const CARRIED: usize = 20;

/// The exchanges of the witnesses of findings.
#[derive(Debug, Default)]
pub(super) struct Witnessed {
    /// By case.
    witnesses: HashMap<String, Shown>,
    /// The judged exchange of each control, by case.
    controls: HashMap<String, Exchange>,
}

/// The parts of a witness that are shown.
#[derive(Debug)]
struct Shown {
    judged: Option<Exchange>,
    verdict: CaseVerdict,
}

impl Witnessed {
    /// Stores the exchange of a control of a failed case.
    pub(super) fn control(&mut self, summary: &RunSummary, exchanges: &[Exchange]) {
        let judged = exchanges.iter().rev().find(|exchange| exchange.step == "request");
        if let Some(judged) = judged.filter(|judged| summary.is_control_of_broken(&judged.case)) {
            self.controls.insert(judged.case.clone(), judged.clone());
        }
    }

    /// Adds a case, if it is the smallest witness of a symptom so far.
    pub(super) fn add(&mut self, summary: &RunSummary, report: &CaseReport<'_>, is_control: bool) {
        let verdict = report.verdict;
        let symptoms = summary.symptoms();
        let witness = |finding| symptoms.get(&key(verdict, finding)).map(|symptom| &symptom.witness.case);
        if !counted(verdict, is_control).any(|finding| witness(finding) == Some(&verdict.case)) {
            return;
        }
        if self.witnesses.len() >= KEPT {
            let needed: BTreeSet<&str> = symptoms.witnesses().collect();
            self.witnesses.retain(|case, _| needed.contains(case.as_str()));
        }
        if self.witnesses.len() < KEPT {
            self.witnesses.insert(verdict.case.clone(), Shown::new(report));
        }
    }

    /// Renders all findings, violations first.
    pub(super) fn draw(&self, summary: &RunSummary) -> String {
        let findings = summary.findings();
        let all: Vec<&Found> = findings.of(Level::Deny).chain(findings.of(Level::Warn)).collect();
        let mut html = String::new();
        for (at, found) in all.iter().take(LINES).enumerate() {
            self.finding(summary, found, at < WHOLE, &mut html);
        }
        let known: usize = [Level::Deny, Level::Warn].map(|level| findings.count(level)).iter().sum();
        let left = known - all.len().min(LINES);
        if left > 0 {
            _ = write!(html, "<p class=\"soft\">{} in record.jsonl.</p>", text::count(left, "more finding"));
        }
        html
    }

    fn finding(&self, summary: &RunSummary, found: &Found, is_whole: bool, html: &mut String) {
        let clause = summary.clause(&found.clause);
        let (class, word) = match found.level() {
            Level::Deny => ("denied", "violation"),
            Level::Warn | Level::Note => ("warned", "warning"),
        };
        let id = printed(&found.id);
        _ = write!(
            html,
            "<article class=\"finding {class}\" id=\"finding:{}\" tabindex=\"-1\"><h3><span class=\"{class}\">{word}</span>{} {}</h3>\
             <p><a href=\"#clause:{}\"><code>{}</code></a> ({}), finding <code>{id}</code></p>",
            found.id,
            words::by(found.root.end),
            clause.map_or_else(|| shown(&found.clause), |clause| shown(&clause.says)),
            shown(&found.clause),
            shown(&found.clause),
            clause.map_or_else(|| "not in the record".to_owned(), document::level)
        );
        if let Some(clause) = clause {
            html.push_str(&sentence(summary, clause));
        }
        let witness = &found.root.witness.case;
        _ = write!(html, "<p class=\"mismatch\">{}</p>", shown(&found.root.mismatch));
        if let Some(sequence) = &found.sequence {
            _ = write!(html, "<p>{}</p>", shown(sequence));
        }
        match self.witnesses.get(witness).filter(|_| is_whole) {
            Some(one) => one.draw(self, html),
            None => _ = write!(html, "<p><code>{}</code></p>", shown(witness)),
        }
        let rerun = block::again(summary, witness);
        // The suite cannot send a request that it did not make.
        let is_sent = summary.start().sends_cases();
        let by_id = ["explain", "curl"].map(|command| is_sent.then(|| format!("xs2aspec {command} {id}")));
        let next: Vec<String> = by_id.into_iter().chain([rerun]).flatten().collect();
        if !next.is_empty() {
            let next = next.iter().map(|command| format!("<code>{}</code>", shown(command)));
            _ = write!(html, "<div>Next:{}</div>", list(next));
        }
        let others: Vec<String> = found.root.others.iter().map(|one| case(&one.case)).collect();
        if !found.carried.is_empty() {
            html.push_str(&carried(found));
        }
        if !others.is_empty() {
            let more = found.root.witnesses - 1 - others.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            _ = write!(
                html,
                "<details><summary>{} in all</summary><div class=\"inside\"><p>{}, {}{more}</p></div></details>",
                text::count(found.root.witnesses, "case"),
                case(witness),
                others.join(", ")
            );
        }
        html.push_str("</article>\n");
    }
}

/// Returns the finding that shows each violated clause.
pub(super) fn by_clause(summary: &RunSummary) -> HashMap<&str, &str> {
    let mut found = HashMap::new();
    for one in summary.findings().all().iter().take(LINES) {
        for symptom in one.symptoms() {
            found.entry(symptom.clause.as_str()).or_insert(one.id.as_str());
        }
        found.insert(one.clause.as_str(), one.id.as_str());
    }
    found
}

/// Renders the other symptoms with the same cause.
fn carried(found: &Found) -> String {
    let said = found.carried.iter().take(CARRIED).map(|symptom| {
        let (clause, cases) = (shown(&symptom.clause), text::count(symptom.witnesses, "case"));
        format!(
            "<a href=\"#clause:{clause}\"><code>{clause}</code></a>: {} ({cases})",
            shown(&symptom.mismatch)
        )
    });
    let left = found.carried.len().saturating_sub(CARRIED);
    let more = (left > 0).then(|| format!("{left} more"));
    format!("<div>Same cause:{}</div>", list(said.chain(more)))
}

/// Renders a link to a case.
fn case(id: &str) -> String {
    format!("<a href=\"#case:{}\"><code>{}</code></a>", shown(id), shown(id))
}

/// Renders the line of the document that contains a clause, with its quote marked, and how it is read.
fn sentence(summary: &RunSummary, clause: &ClauseText) -> String {
    let place = format!("{}, line {}", escaped(&clause.section), clause.line);
    let document = summary.document();
    let line =
        document.and_then(|document| document.text.lines().nth((clause.line as usize).checked_sub(1)?));
    let (Some(document), Some(line)) = (document, line) else {
        return format!("<p class=\"soft\">{place}</p>");
    };
    // The bars around a row of a table are not part of the text.
    let line = line.trim().trim_matches('|');
    let (mut html, mut from) = (String::new(), 0);
    for part in outline::quoted(line, &clause.quote) {
        _ = write!(html, "{}<mark>{}</mark>", escaped(&line[from..part.start]), escaped(&line[part.clone()]));
        from = part.end;
    }
    html.push_str(&escaped(&line[from..]));
    let readings = document.readings.iter().filter(|reading| clause.readings.contains(&reading.row));
    let readings = readings.map(|Reading { row, text }| {
        format!("<p>{} <a class=\"soft\" href=\"#reading:{row}\">(reading {row})</a></p>", inline(text))
    });
    let readings: String = readings.collect();
    format!("<blockquote><p>{}</p><p class=\"soft\">{place}</p></blockquote>{readings}", html.trim())
}

impl Shown {
    fn new(report: &CaseReport<'_>) -> Self {
        Self { judged: report.judged().cloned(), verdict: report.verdict.clone() }
    }

    fn draw(&self, all: &Witnessed, html: &mut String) {
        let Self { judged, verdict } = self;
        let judged = judged.as_ref();
        let control = verdict.control.as_ref();
        let twin = control.and_then(|control| all.controls.get(&control.case));
        let changes = words::changes(verdict);
        if !changes.is_empty() {
            let changes = changes.iter().map(|change| format!("<code>{}</code>", shown(change)));
            _ = write!(html, "<div>Differences from the accepted request:{}</div>", list(changes));
        }
        if !verdict.judged_with.is_empty() {
            let with = verdict.judged_with.iter().map(|with| format!("<code>{}</code>", shown(with)));
            _ = write!(
                html,
                "<div>Sent with this, because the target rejects the baseline request without it:{}</div>",
                list(with)
            );
        }
        let culprit = verdict.culprit.as_ref().map(|culprit| culprit.says());
        let reason = verdict.reason.as_ref().map(ToString::to_string);
        for said in culprit.into_iter().chain(reason) {
            _ = write!(html, "<p>{}</p>", shown(&said));
        }
        let places = exchange::differing(verdict);
        let found: Vec<String> = verdict.findings.iter().map(|finding| finding.at.clone()).collect();
        html.push_str("<div class=\"sides\">");
        if let Some(judged) = judged {
            let (sent, came) = (exchange::request(judged, &places), exchange::answer(judged, &found));
            let (number, place) = (judged.number, shown(&verdict.place.to_string()));
            _ = write!(
                html,
                "<div><div class=\"soft\">request {number} ({place})</div>{}</div>",
                sent.html("request")
            );
            _ = write!(html, "<div><div class=\"soft\">response</div>{}</div>", came.html("response"));
        }
        if let Some(control) = control {
            let word = if control.accepted { "accepted" } else { "not accepted" };
            _ = write!(html, "<div><div class=\"soft\">{word}: the control {}</div>", case(&control.case));
            if let Some(twin) = twin {
                _ = write!(html, "<div class=\"soft\">with request {}</div>", twin.number);
                html.push_str(&exchange::request(twin, &places).html("request of the control"));
            }
            html.push_str("</div>");
        }
        html.push_str("</div>");
    }
}
