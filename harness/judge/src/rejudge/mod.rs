//! Rejudges the recorded exchanges of a run with the cases and rules of this version. Reports verdicts that
//! differ, verdicts that cannot be rejudged, and contradictions between the history and the suite.
//!
//! - `plan`: the cases that the history must have, and its statements about the whole run
//! - `replay`: the history instead of a target
//! - `compare`: a recorded verdict and that of this version

mod compare;
mod plan;
mod replay;

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::Arc,
};

use xs2aspec_record::{
    Absence, AnswerChecks, CaseEvents, CaseVerdict, Entry, Event, LevelRule, ReadError, RecordReader,
    RunFinished, RunStarted, TargetProfile, Verdict,
};
use xs2aspec_suite::{Case, Problems, Suite};

use self::replay::Replay;
use self::{
    compare::{Compared, compare},
    plan::Expected,
};
use crate::{Judge, JudgeError};

/// The reason why a history cannot be rejudged.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    /// The history lacks the profile because an older version wrote it.
    #[error("the record has no `profile`, so it cannot be judged again")]
    NoProfile,
    /// The history cannot be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// The recorded profile cannot be used.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The generated cases in the history are invalid in this version.
    #[error("the generated cases in the record are invalid in this version: {0}")]
    Drawn(#[from] Problems),
}

/// The result of rejudging a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejudged {
    /// True if this version judged the run with these cases. Any difference then is an edit.
    pub is_own: bool,
    /// Number of verdicts that are the same, with the same findings.
    pub unchanged: usize,
    /// Verdicts that differ.
    pub changed: Vec<Change>,
    /// Items that cannot be rejudged, with the reason. A case is given by its id.
    pub not_told: Vec<(String, String)>,
    /// Statements of the history that the suite or its own verdicts contradict.
    pub contradictions: Vec<String>,
    /// Number of unchanged verdicts of generated cases, which the history itself contains.
    pub drawn: usize,
    /// The number of selected cases and of controls that the history must have, or the reason why it is
    /// unknown.
    pub planned: Result<(usize, usize), &'static str>,
    /// Number of cases of this version that the run did not have, at any depth.
    pub new: usize,
}

/// A verdict that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Case id.
    pub case: String,
    /// The recorded verdict.
    pub before: Verdict,
    /// The verdict of this version.
    pub now: Verdict,
    /// The reason for the difference.
    pub why: String,
    /// True if only an edit can explain it.
    pub is_edit: bool,
}

impl Rejudged {
    /// Returns the verdicts that the recorded exchanges contradict.
    pub fn edited(&self) -> impl Iterator<Item = &Change> {
        self.changed.iter().filter(|change| change.is_edit)
    }

    /// Returns the number of verdicts that could not be rejudged.
    pub fn untold(&self) -> usize {
        self.not_told.len() + self.changed.iter().filter(|change| !change.is_edit).count()
    }

    /// Returns true if every verdict was rejudged and the history has all cases of its run.
    pub fn is_whole(&self) -> bool {
        self.untold() + self.drawn == 0 && self.planned.is_ok()
    }

    /// Returns true if only an edit can explain the content of the history.
    pub fn is_edited(&self) -> bool {
        self.edited().next().is_some() || !self.contradictions.is_empty()
    }
}

/// The parts of a history that concern the whole run.
#[derive(Debug, Default)]
struct Whole {
    start: RunStarted,
    profile: Option<TargetProfile>,
    /// Document, clauses and case files.
    introduced: Vec<Event>,
    checks: Option<AnswerChecks>,
    finished: Option<RunFinished>,
    /// Cases that other cases depend on.
    rested_on: HashMap<String, CaseEvents>,
}

impl Whole {
    /// Reads the parts from a history, with the cases that have these ids.
    fn read(record: RecordReader<'_>, ids: &HashSet<&str>) -> Result<Self, ReadError> {
        let mut whole = Self::default();
        for entry in record {
            match entry? {
                Entry::Run(Event::RunStarted(start)) => whole.start = start,
                Entry::Run(Event::Profile(profile)) => whole.profile = Some(profile),
                Entry::Run(event @ (Event::Document(_) | Event::Clause(_) | Event::Source(_))) => {
                    whole.introduced.push(event);
                }
                Entry::Run(Event::AnswerChecks(checks)) => whole.checks = Some(checks),
                Entry::Run(Event::RunFinished(finished)) => whole.finished = Some(finished),
                Entry::Case(case) if ids.contains(case.case.as_str()) => {
                    whole.rested_on.insert(case.case.clone(), case);
                }
                _ => {}
            }
        }
        Ok(whole)
    }

    /// Returns true if the run was not interrupted.
    fn is_complete(&self) -> bool {
        self.finished.as_ref().is_some_and(|finished| !finished.stopped_early)
    }
}

/// Rejudges the exchanges of a history, applying these levels after its own. Reads the history twice, because
/// a case may depend on a later one.
pub fn rejudge<'a>(
    suite: &Arc<Suite>,
    open: impl Fn() -> io::Result<RecordReader<'a>>,
    levels: &[LevelRule],
) -> Result<Rejudged, RejudgeError> {
    let cases = suite.cases().iter();
    let ids: HashSet<&str> =
        cases.flat_map(|case| [&case.control, &case.same_as]).flatten().map(String::as_str).collect();
    let mut whole = Whole::read(open().map_err(ReadError::Io)?, &ids)?;
    let judge = judge_of(suite, &whole, levels)?;
    let mut replay = Replay::new(&judge, std::mem::take(&mut whole.rested_on));
    let (base, suite) = (suite, judge.suite());
    let is_own = is_of(&whole.start, suite) && levels.is_empty();
    let mut rejudged = Rejudged {
        is_own,
        unchanged: 0,
        changed: Vec::new(),
        not_told: Vec::new(),
        contradictions: Vec::new(),
        drawn: 0,
        planned: Err("the run was planned by another version or with other cases"),
        new: 0,
    };
    let mut expected = if is_own { Expected::of(&judge, &whole, &mut rejudged) } else { None };
    let mut known = HashSet::new();
    for entry in open().map_err(ReadError::Io)? {
        let Entry::Case(events) = entry? else { continue };
        if let Some(expected) = &mut expected {
            expected.see(&events, &mut rejudged);
        }
        let id = events.case.clone();
        match judge_again((&judge, &mut replay), events, is_own, whole.is_complete()) {
            Compared::Same if whole.start.drawn && base.case(&id).is_none() => rejudged.drawn += 1,
            Compared::Same => rejudged.unchanged += 1,
            Compared::Other(change) => rejudged.changed.push(change),
            Compared::OtherCase(why) => {
                rejudged.contradictions.push(format!("the case `{id}` differs from the suite: {why}"));
            }
            Compared::NotTold(why) => rejudged.not_told.push((id.clone(), why)),
        }
        known.insert(id);
    }
    if let Some(expected) = expected {
        expected.finish(&whole, &mut rejudged);
    }
    rejudged.new = suite.cases().iter().filter(|case| !known.contains(&case.id)).count();
    Ok(rejudged)
}

/// Rejudges a case.
fn judge_again(
    (judge, replay): (&Judge, &mut Replay<'_>),
    events: CaseEvents,
    is_own: bool,
    is_complete: bool,
) -> Compared {
    let not_told = |why: &str| Compared::NotTold(why.to_owned());
    let Some(before) = events.verdict.clone() else { return not_told("the run ended before its verdict") };
    let Some(case) = judge.suite().case(&before.case) else {
        return not_told("this version has no such case");
    };
    match compare::asks_otherwise(&before, case) {
        Some(why) if is_own => return Compared::OtherCase(why),
        Some(why) => return Compared::NotTold(format!("the case has changed: {why}")),
        None => {}
    }
    if before.unconfirmed {
        return not_told("the responses to other requests decided it");
    }
    let is_sent = events.exchanges.iter().any(|exchange| exchange.step == "request");
    match before.verdict {
        Verdict::NotApplicable if !is_sent && is_absent(judge, case, &before) => Compared::Same,
        Verdict::NotApplicable if !is_sent => {
            not_told("the recorded profile does not show why it was not applicable")
        }
        _ => compare(&before, &replay.case(case, events), is_own, is_complete),
    }
}

/// Returns true if the recorded profile lacks something that a case needs, as its verdict says. The order of
/// entries decides which missing value is named first, so only the kind is compared.
fn is_absent(judge: &Judge, case: &Case, before: &CaseVerdict) -> bool {
    let kind = |absence: &Absence| std::mem::discriminant(absence);
    judge.absence(case).is_some_and(|absence| before.absence.as_ref().map(kind) == Some(kind(&absence)))
}

/// Returns a judge with the profile of a history.
fn judge_of(suite: &Arc<Suite>, whole: &Whole, more: &[LevelRule]) -> Result<Judge, RejudgeError> {
    let profile = whole.profile.as_ref().ok_or(RejudgeError::NoProfile)?;
    let levels = whole.start.levels.iter().chain(more).cloned().collect();
    let suite = of_record(suite, whole, profile)?;
    Ok(Judge::of_record(suite, profile, levels)?)
}

/// Returns the suite with all cases of a run: generated cases, whose case files are in the history, and those
/// of all entries of its profile.
fn of_record(suite: &Arc<Suite>, whole: &Whole, profile: &TargetProfile) -> Result<Arc<Suite>, Problems> {
    let sources = whole.introduced.iter().filter_map(|event| match event {
        Event::Source(source) if whole.start.drawn => Some((source.file.as_str(), source.text.as_str())),
        _ => None,
    });
    let drawn: Vec<(&str, &str)> = sources.filter(|(file, _)| suite.tree().text(file).is_none()).collect();
    let values = || profile.values.keys().map(String::as_str);
    if drawn.is_empty() && suite.has_entries(values()) {
        return Ok(Arc::clone(suite));
    }
    let suite = Suite::load(suite.tree().clone().and(&drawn))?;
    Ok(Arc::new(suite.with_entries(values()).map_err(|problem| Problems(vec![problem]))?))
}

/// Returns true if a run was judged by this version with these cases.
fn is_of(start: &RunStarted, suite: &Suite) -> bool {
    start.tool == RunStarted::tool()
        && start.suite_sha256 == suite.tree().sha256()
        && start.document_sha256 == suite.spec().document.sha256()
}
