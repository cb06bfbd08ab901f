//! Judges the recorded answers of a run once more, by the cases and rules of this version, and says which verdicts would be others.

use std::{collections::BTreeSet, sync::Arc};

use xs2aspec_record::{CaseVerdict, Event, Exchange, Finding, Role, RunStarted, Verdict};
use xs2aspec_suite::{Case, Problems, Suite};

use crate::session::{Session, SessionError};

/// Why a record cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    /// A record of a version that did not write it.
    #[error("the record has no `profile`, which says how the target was judged")]
    NoProfile,
    /// The session.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The cases that were drawn, which the record carries.
    #[error("the drawn cases of the record are none of this version: {0}")]
    Drawn(#[from] Problems),
}

/// What has come of a record that was judged again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rejudged {
    /// Whether this version judged the run, by these cases: a verdict that would be another was then edited.
    pub is_own: bool,
    /// Cases that come to the same verdict, by the same findings.
    pub unchanged: usize,
    /// Cases that come to another one.
    pub changed: Vec<Change>,
    /// Cases that cannot be judged again, with the reason.
    pub not_told: Vec<(String, String)>,
    /// Cases of this version that the run did not have, at any depth.
    pub new: usize,
}

/// A verdict that would be another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Case id.
    pub case: String,
    /// As recorded.
    pub before: Verdict,
    /// By this version.
    pub now: Verdict,
    /// What makes the difference.
    pub why: String,
}

/// Judges the exchanges of a record again.
pub async fn rejudge(suite: Arc<Suite>, events: &[Event]) -> Result<Rejudged, RejudgeError> {
    let profile = events.iter().find_map(|event| match event {
        Event::Profile(profile) => Some(profile),
        _ => None,
    });
    let profile = profile.ok_or(RejudgeError::NoProfile)?;
    let is_own = events.iter().any(|event| match event {
        Event::RunStarted(start) => is_of(start, &suite),
        _ => false,
    });
    let suite = with_drawn(suite, events)?;
    let session = Session::of_record(Arc::clone(&suite), events, profile)?;
    let mut rejudged = Rejudged { is_own, ..Rejudged::default() };
    let mut known = BTreeSet::new();
    for event in events {
        let Event::Verdict(before) = event else { continue };
        known.insert(before.case.as_str());
        if before.role != Role::Selected {
            continue;
        }
        let Some(case) = suite.case(&before.case) else {
            rejudged.not_told.push((before.case.clone(), "this version has no such case".to_owned()));
            continue;
        };
        if let Some(why) = asks_otherwise(before, case) {
            rejudged.not_told.push((before.case.clone(), why));
            continue;
        }
        if before.unconfirmed {
            // What decided it are the answers to another request.
            rejudged.unchanged += 1;
            continue;
        }
        let Some(done) = session.case(&before.case).await else { continue };
        let now = &done.verdict;
        // What is waived was judged a violation.
        let word = if before.verdict == Verdict::Waived { Verdict::Fail } else { before.verdict };
        let is_same = now.verdict == word && (word != Verdict::Fail || now.findings == before.findings);
        if is_same {
            rejudged.unchanged += 1;
        } else if let Some(place) = masked(&done.take_exchanges(), before, now) {
            let why = format!("what was recorded of {place} is masked, so that it cannot be judged again");
            rejudged.not_told.push((before.case.clone(), why));
        } else {
            let why = difference(before, now, is_own);
            rejudged.changed.push(Change {
                case: before.case.clone(),
                before: before.verdict,
                now: now.verdict,
                why,
            });
        }
    }
    rejudged.new = suite.cases().iter().filter(|case| !known.contains(case.id.as_str())).count();
    Ok(rejudged)
}

/// The suite, and the cases that were drawn for a run and stand in its record.
fn with_drawn(suite: Arc<Suite>, events: &[Event]) -> Result<Arc<Suite>, Problems> {
    let Some(Event::RunStarted(RunStarted { drawn: true, .. })) = events.first() else { return Ok(suite) };
    let sources = events.iter().filter_map(|event| match event {
        Event::Source(source) => Some((source.file.as_str(), source.text.as_str())),
        _ => None,
    });
    let drawn: Vec<(&str, &str)> = sources.filter(|(file, _)| suite.tree().text(file).is_none()).collect();
    Ok(Arc::new(Suite::load(suite.tree().clone().and(&drawn))?))
}

/// Whether a run was judged by this version and by these cases.
fn is_of(start: &RunStarted, suite: &Suite) -> bool {
    start.tool == crate::run::tool()
        && start.suite_sha256 == suite.tree().sha256()
        && start.document_sha256 == suite.spec().document.sha256()
}

/// Why the recorded answers are not those to what this version sends.
fn asks_otherwise(before: &CaseVerdict, case: &Case) -> Option<String> {
    let differs = |what: &str, before: &str, now: &str| {
        Some(format!("it asks something else: its {what} was `{before}`, and is now `{now}`"))
    };
    if before.operation != case.request.operation {
        return differs("operation", &before.operation, &case.request.operation);
    }
    if before.changes != case.changes {
        return differs("change to the baseline", &before.changes.join("; "), &case.changes.join("; "));
    }
    let control = before.control.as_ref().map(|control| control.case.as_str());
    // A case that stopped before its control has not recorded it.
    match (control, case.control.as_deref()) {
        (Some(before), now) if now != Some(before) && case.same_as.as_deref() != Some(before) => {
            differs("control", before, now.unwrap_or("none"))
        }
        _ => None,
    }
}

/// Where a finding that makes the difference speaks of a body of which something is masked.
fn masked(exchanges: &[Exchange], before: &CaseVerdict, now: &CaseVerdict) -> Option<String> {
    let differing = different(&before.findings, &now.findings);
    let place = differing.iter().find(|finding| finding.at != "status")?;
    let is_masked = exchanges.iter().filter_map(|exchange| exchange.response.as_ref()).any(|answer| {
        let headers = answer.headers.iter().map(|header| header.1.as_str());
        let body = answer.body.as_ref().map(|body| body.shown());
        headers.chain(body.as_deref()).any(has_pseudonym)
    });
    is_masked.then(|| place.at.clone())
}

/// Whether a text holds the mark of [`crate::mask`]: `~` and eight hexadecimal digits.
fn has_pseudonym(text: &str) -> bool {
    text.match_indices('~').any(|(at, _)| {
        text.as_bytes().get(at + 1..at + 9).is_some_and(|mark| mark.iter().all(u8::is_ascii_hexdigit))
    })
}

fn different<'a>(before: &'a [Finding], now: &'a [Finding]) -> Vec<&'a Finding> {
    let gone = before.iter().filter(|finding| !now.contains(finding));
    gone.chain(now.iter().filter(|finding| !before.contains(finding))).collect()
}

/// What makes the difference, in words.
fn difference(before: &CaseVerdict, now: &CaseVerdict, is_own: bool) -> String {
    let mut why = Vec::new();
    if before.expected != now.expected {
        why.push(format!("it expected `{}`, and expects `{}` now", before.expected, now.expected));
    }
    let says = |finding: &Finding| {
        format!("{}: expected {}, got {} at {}", finding.clause, finding.expected, finding.actual, finding.at)
    };
    for finding in &before.findings {
        if !now.findings.contains(finding) {
            why.push(format!("no finding any more: {}", says(finding)));
        }
    }
    for finding in &now.findings {
        if !before.findings.contains(finding) {
            why.push(format!("a new finding: {}", says(finding)));
        }
    }
    if before.reason != now.reason && before.verdict != Verdict::Waived {
        why.extend(now.reason.iter().map(|reason| format!("now: {reason}")));
    }
    if is_own {
        why.push("this version and these cases judged the run, so that the record was edited".to_owned());
    } else if why.is_empty() {
        why.push("the rules of judgement are others".to_owned());
    }
    why.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_the_mask_is_seen() {
        for (text, is_one) in [
            ("{\"iban\":\"iban~0a1b2c3d\"}", true),
            ("~0a1b2c3", false),
            ("~/home/folder", false),
            ("", false),
        ] {
            assert_eq!(has_pseudonym(text), is_one, "{text}");
        }
    }
}
