//! Judges the recorded answers of a run once more, by the cases and rules of this version, and says which
//! verdicts would be others.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io::{self, BufRead},
    sync::Arc,
};

use xs2aspec_record::{
    CaseVerdict, Entry, Event, Exchange, Finding, LevelRule, ReadError, RecordReader, Role, RunStarted,
    TargetProfile, Verdict,
};
use xs2aspec_suite::{Case, Problems, Suite};

use crate::session::{Done, Session, SessionError};

/// Why a record cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    /// A record of a version that did not write it.
    #[error("the record has no `profile`, which says how the target was judged")]
    NoProfile,
    /// A record that cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
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

/// Judges the exchanges of a record again, with these levels after its own. It is opened twice: a case may
/// rest on one that comes after it.
pub async fn rejudge<R: BufRead>(
    suite: Arc<Suite>,
    open: impl Fn() -> io::Result<RecordReader<R>>,
    levels: &[LevelRule],
) -> Result<Rejudged, RejudgeError> {
    let (session, is_own) = session(&suite, open().map_err(ReadError::Io)?, levels)?;
    let suite = session.suite();
    let mut rejudged = Rejudged { is_own, ..Rejudged::default() };
    let mut known = BTreeSet::new();
    for entry in open().map_err(ReadError::Io)? {
        let Entry::Case(events) = entry? else { continue };
        let Some(before) = events.verdict.clone() else { continue };
        known.insert(before.case.clone());
        if before.role != Role::Selected {
            continue;
        }
        let Some(case) = suite.case(&before.case) else {
            rejudged.not_told.push((before.case, "this version has no such case".to_owned()));
            continue;
        };
        if let Some(why) = asks_otherwise(&before, case) {
            rejudged.not_told.push((before.case, why));
            continue;
        }
        if before.unconfirmed {
            // What decided it are the answers to another request.
            rejudged.unchanged += 1;
            continue;
        }
        let Some(done) = session.judge_recorded(case, events).await else { continue };
        rejudged.add(&before, &done);
    }
    rejudged.new = suite.cases().iter().filter(|case| !known.contains(&case.id)).count();
    Ok(rejudged)
}

/// A session in which the record answers, and whether this version judged the run.
fn session<R: BufRead>(
    suite: &Arc<Suite>,
    record: RecordReader<R>,
    more: &[LevelRule],
) -> Result<(Session, bool), RejudgeError> {
    let cases = suite.cases().iter();
    let ids: HashSet<&str> =
        cases.flat_map(|case| [&case.control, &case.same_as]).flatten().map(String::as_str).collect();
    let (mut is_own, mut profile, mut rested_on) = (false, None, HashMap::new());
    let (mut is_drawn, mut sources, mut levels) = (false, Vec::new(), Vec::new());
    for entry in record {
        match entry? {
            Entry::Run(Event::RunStarted(start)) => {
                (is_own, is_drawn) = (is_of(&start, suite) && more.is_empty(), start.drawn);
                levels = start.levels;
            }
            Entry::Run(Event::Source(source)) if is_drawn => sources.push((source.file, source.text)),
            Entry::Run(Event::Profile(found)) => profile = Some(found),
            Entry::Case(case) if ids.contains(case.case.as_str()) => {
                rested_on.insert(case.case.clone(), case);
            }
            _ => {}
        }
    }
    let profile = profile.ok_or(RejudgeError::NoProfile)?;
    levels.extend_from_slice(more);
    let suite = of_record(suite, &sources, &profile)?;
    Ok((Session::of_record(suite, rested_on, (&profile, levels))?, is_own))
}

impl Rejudged {
    /// Holds the verdict of a case by this version against the recorded one.
    fn add(&mut self, before: &CaseVerdict, done: &Done) {
        let now = &done.verdict;
        let word = before.unwaived();
        let is_same = now.verdict == word && now.findings == before.findings;
        if is_same {
            self.unchanged += 1;
        } else if let Some(place) = masked(&done.take_exchanges(), before, now) {
            let why = format!("what was recorded of {place} is masked, so that it cannot be judged again");
            self.not_told.push((before.case.clone(), why));
        } else {
            self.changed.push(Change {
                case: before.case.clone(),
                before: before.verdict,
                now: now.verdict,
                why: difference(before, now, self.is_own),
            });
        }
    }
}

/// The suite with all cases of a run: those that were drawn for it, which stand in its record as the texts of
/// case files, and those of all entries of its profile.
fn of_record(
    suite: &Arc<Suite>,
    sources: &[(String, String)],
    profile: &TargetProfile,
) -> Result<Arc<Suite>, Problems> {
    let drawn: Vec<(&str, &str)> = sources
        .iter()
        .map(|(file, text)| (file.as_str(), text.as_str()))
        .filter(|(file, _)| suite.tree().text(file).is_none())
        .collect();
    let values = || profile.values.keys().map(String::as_str);
    if drawn.is_empty() && suite.has_entries(values()) {
        return Ok(Arc::clone(suite));
    }
    let suite = Suite::load(suite.tree().clone().and(&drawn))?;
    Ok(Arc::new(suite.with_entries(values()).map_err(|problem| Problems(vec![problem]))?))
}

/// Whether a run was judged by this version and by these cases.
fn is_of(start: &RunStarted, suite: &Suite) -> bool {
    start.tool == RunStarted::tool()
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
    if before.changes != case.changes() {
        return differs("change to the baseline", &before.changes.join("; "), &case.changes().join("; "));
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
    let same = |finding: &Finding, others: &[Finding]| {
        let other = |other: &&Finding| Finding { level: finding.level, ..(*other).clone() } == *finding;
        others.iter().find(other).map(|other| other.level)
    };
    for finding in &before.findings {
        match same(finding, &now.findings) {
            None => why.push(format!("no finding any more: {}", says(finding))),
            Some(level) if level != finding.level => {
                let (before, now) = (finding.level.word(), level.word());
                why.push(format!("its level was {before}, and is {now} now: {}", says(finding)));
            }
            Some(_) => {}
        }
    }
    for finding in &now.findings {
        if same(finding, &before.findings).is_none() {
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
