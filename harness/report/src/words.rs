//! What every report says in the same words.

use xs2aspec_record::{Body, CaseVerdict, Counts, End, Event, Exchange, Finding, Level, RunStarted, Verdict};

/// The body of an answer that is no longer is shown with its status: `{}`, `null`.
const NOTHING: usize = 4;

/// Why a case has its verdict; a verdict that must have a reason and has none says so.
pub(crate) fn reason(verdict: &CaseVerdict) -> &str {
    verdict.reason.as_deref().unwrap_or("no reason was recorded")
}

/// Who broke what a finding is about, where others sent the requests; in a run it is always the target.
pub(crate) fn end(start: &RunStarted, finding: &Finding) -> Option<End> {
    start.traffic.map(|_| finding.end)
}

/// What is wrong, in words, and who broke it.
pub(crate) fn mismatch(end: Option<End>, finding: &Finding) -> String {
    let Some(end) = end else { return finding.mismatch() };
    let verb = if finding.level == Level::Deny { "broke it" } else { "may have broken it" };
    format!("the {} {verb}: {}", end.word(), finding.mismatch())
}

/// Who broke it, behind what is broken; nothing in a run.
pub(crate) fn by(end: Option<End>) -> String {
    end.map_or_else(String::new, |end| format!(" (the {})", end.word()))
}

/// Counts in words: `pass 3, fail 1`.
pub(crate) fn counts(counts: &Counts) -> String {
    let seen = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let words: Vec<String> =
        seen.map(|verdict| format!("{} {}", verdict.word(), counts.of(verdict))).collect();
    if words.is_empty() { "no verdict".to_owned() } else { words.join(", ") }
}

/// Kind of an event, as a record names it.
pub(crate) fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted(_) => "run-started",
        Event::Profile(_) => "profile",
        Event::Resumed(_) => "resumed",
        Event::OrderOfTime(_) => "order-of-time",
        Event::AnswerChecks(_) => "answer-checks",
        Event::Changes(_) => "changes",
        Event::Document(_) => "document",
        Event::Clause(_) => "clause",
        Event::Source(_) => "source",
        Event::Exchange(_) => "exchange",
        Event::Verdict(_) => "verdict",
        Event::RunFinished(_) => "run-finished",
    }
}

/// In place of an answer that did not come.
pub(crate) const NO_ANSWER: &str = "none";

/// Status of an answer, with its media type where that is not JSON.
pub(crate) fn answer(exchange: &Exchange) -> String {
    let Some(response) = &exchange.response else { return NO_ANSWER.to_owned() };
    let header = response.headers.iter().find(|header| header.0.eq_ignore_ascii_case("content-type"));
    let media = header.map_or("", |header| header.1.split(';').next().unwrap_or_default().trim());
    match media {
        "" => response.status.to_string(),
        json if json.ends_with("json") => {
            let body = response.body.as_ref().map(Body::shown).filter(|body| body.len() <= NOTHING);
            body.map_or_else(|| response.status.to_string(), |body| format!("{} {body}", response.status))
        }
        other => format!("{} {other}", response.status),
    }
}
