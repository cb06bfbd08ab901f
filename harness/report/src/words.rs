//! Wording that all reports share.

use xs2aspec_record::{
    Body, CaseVerdict, Counts, Culprit, Difference, End, Event, Exchange, Finding, Level, RunStarted, Verdict,
};

use crate::text::short;

/// Length up to which the JSON body of a response is shown with its status: `{}`, `null`.
const NOTHING: usize = 4;

/// Returns the reason of a verdict in words, shortened.
pub(crate) fn why(verdict: &CaseVerdict) -> String {
    short(&verdict.why().to_string())
}

/// Returns what distinguishes the request of a case, a line each: the minimal cause if it was found, or else
/// the differences from the control, or else the changes to the baseline. Placeholders are shown as `<name>`,
/// so that the structure of a value is readable and its secrets are not.
pub(crate) fn changes(verdict: &CaseVerdict) -> Vec<String> {
    let is_found = matches!(verdict.culprit.as_deref(), Some(Culprit::Found { .. }));
    let has_values = verdict.differences.iter().any(|one| one.sent.is_some() || one.control.is_some());
    let lines = if is_found || !has_values {
        verdict.telling_changes()
    } else {
        verdict.differences.iter().map(difference).collect()
    };
    lines.iter().map(|line| without_braces(line)).collect()
}

/// Returns a difference in a line: `Signature: <signature>,<signature> instead of <signature>`.
fn difference(one: &Difference) -> String {
    let (name, is) = match one.place.split_once('/') {
        Some(("header", name)) => (name, ": "),
        _ if matches!(one.place.as_str(), "before" | "path" | "signing") => (one.place.as_str(), ": "),
        _ => (one.place.as_str(), " = "),
    };
    let usual = if one.place == "signing" { "the usual way" } else { "nothing" };
    match (&one.sent, &one.control) {
        (Some(sent), Some(control)) => format!("{name}{is}{sent} instead of {control}"),
        (Some(sent), None) => format!("{name}{is}{sent}"),
        (None, control) => {
            let control = control.as_deref().unwrap_or("another value");
            format!("{name}{is}{usual} instead of {control}")
        }
    }
}

/// Returns a string with `<name>` for each placeholder `${name}`.
fn without_braces(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, next)) = after.split_once('}') else { break };
        shown = format!("{shown}{before}<{name}>");
        rest = next;
    }
    shown + rest
}

/// Returns the end that caused a finding in recorded traffic, or None in a run, where it is always the
/// target.
pub(crate) fn end(start: &RunStarted, finding: &Finding) -> Option<End> {
    start.traffic.map(|_| finding.end)
}

/// Returns the mismatch in words, with the end that caused it.
pub(crate) fn mismatch(end: Option<End>, finding: &Finding) -> String {
    let Some(end) = end else { return finding.mismatch() };
    let verb = if finding.level == Level::Deny { "violated it" } else { "may have violated it" };
    format!("the {} {verb}: {}", end.word(), finding.mismatch())
}

/// Returns the end that caused a violation, in parentheses. The result is empty in a run.
pub(crate) fn by(end: Option<End>) -> String {
    end.map_or_else(String::new, |end| format!(" (the {})", end.word()))
}

/// Returns the interval of requests in which something began. `until` is the last request that did not show
/// it, or 0, and `since` the first one that did.
pub(crate) fn between(until: u64, since: u64) -> String {
    if until == 0 || until >= since {
        return format!("at request {since} or before");
    }
    format!("between requests {until} and {since}")
}

/// Returns counts in words: `pass 3, fail 1`.
pub(crate) fn counts(counts: &Counts) -> String {
    let seen = Verdict::ALL.into_iter().filter(|verdict| counts.of(*verdict) > 0);
    let words: Vec<String> =
        seen.map(|verdict| format!("{} {}", verdict.word(), counts.of(verdict))).collect();
    if words.is_empty() { "no verdict".to_owned() } else { words.join(", ") }
}

/// Returns the kind of an event, as the record names it.
pub(crate) fn kind(event: &Event) -> &'static str {
    match event {
        Event::RunStarted(_) => "run-started",
        Event::Profile(_) => "profile",
        Event::Resumed(_) => "resumed",
        Event::AskedAlone(_) => "asked-alone",
        Event::RefusedSince(_) => "refused-since",
        Event::AnswerChecks(_) => "answer-checks",
        Event::Changes(_) => "changes",
        Event::Located(_) => "located",
        Event::Document(_) => "document",
        Event::Clause(_) => "clause",
        Event::Source(_) => "source",
        Event::Sending(_) => "sending",
        Event::Exchange(_) => "exchange",
        Event::Verdict(_) => "verdict",
        Event::RunFinished(_) => "run-finished",
    }
}

/// Shown if there is no response.
pub(crate) const NO_ANSWER: &str = "none";

/// Returns the status of a response, with its media type if that is not JSON.
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

#[cfg(test)]
mod tests {
    use xs2aspec_record::Verdict;

    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_difference_shows_both_sides_and_the_structure_around_a_secret() {
        let line = |place: &str, sent: Option<&str>, control: Option<&str>| {
            let mut sample = Sample::new(1);
            let verdict = sample.verdict("periodic.months/one", Verdict::Fail);
            verdict.changes = vec!["body/other = \"${a}\"".into()];
            let (sent, control) = (sent.map(str::to_owned), control.map(str::to_owned));
            verdict.differences = vec![Difference { place: place.into(), sent, control }];
            changes(verdict).join("\n")
        };
        let signature = "${signature}";
        for (place, sent, control, expected) in [
            (
                "header/Signature",
                Some("${signature},${signature}"),
                Some(signature),
                "Signature: <signature>,<signature> instead of <signature>",
            ),
            ("header/PSU-ID", None, Some("${target.psu.id}"), "PSU-ID: nothing instead of <target.psu.id>"),
            ("header/X-One", Some("a"), None, "X-One: a"),
            ("body/months", Some("[3,3]"), Some("[3,4]"), "body/months = [3,3] instead of [3,4]"),
            ("query/a", Some("1"), None, "query/a = 1"),
            (
                "signing",
                None,
                Some("signing/wrap = \"never\""),
                "signing: the usual way instead of signing/wrap = \"never\"",
            ),
            ("before", Some("ncbct"), Some("periodic"), "before: ncbct instead of periodic"),
            // A record in an older format has no values.
            ("body/months", None, None, "body/other = \"<a>\""),
        ] {
            assert_eq!(line(place, sent, control), expected);
        }
        assert_eq!(without_braces("${a} ${b.c}, ${d.. (80 characters)"), "<a> <b.c>, ${d.. (80 characters)");
    }
}
