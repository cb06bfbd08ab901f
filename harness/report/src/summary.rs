//! What a record says of a run as a whole: everything but its cases one by one.

mod conclusion;

use std::collections::{BTreeMap, BTreeSet, btree_map};

use xs2aspec_record::{
    CaseEvents, CaseVerdict, Changes, ClauseState, ClauseText, Demanded, DocumentText, Entry, Event, Exit,
    Level, Resumed, Role, RunFinished, RunStarted, Strength, TargetProfile, Totals, Verdict, WaiverSeen,
    WaiverState,
};

use crate::{
    error::RunError,
    findings::{AskedAgain, Findings, symptom::Symptoms},
    words::{self, answer, kind},
};

/// What a record says of a run as a whole, as far as it was read.
#[derive(Debug, Clone)]
pub struct RunSummary {
    start: RunStarted,
    document: Option<DocumentText>,
    clauses: BTreeMap<String, ClauseText>,
    /// Case files.
    sources: BTreeSet<String>,
    totals: Totals,
    /// Clauses that selected cases break.
    broken: BTreeSet<String>,
    /// Clauses that selected cases warn of.
    warned: BTreeSet<String>,
    /// Cases that are waived, controls among them.
    waived: BTreeSet<String>,
    /// Controls of the cases that fail or warn.
    controls: BTreeSet<String>,
    /// What was seen where the document leaves the target free.
    observations: usize,
    profile: Option<TargetProfile>,
    resumed: Vec<Resumed>,
    asked_again: AskedAgain,
    changes: Option<Changes>,
    finish: Option<RunFinished>,
    events: usize,
    exchanges: u64,
    /// Whether the checks on answers were told.
    has_checks: bool,
    /// Kinds of answers, up to a few.
    answers: BTreeSet<String>,
    /// Cases whose control was not accepted, and those whose control was.
    refused: usize,
    accepted: usize,
    said_by_name: usize,
    /// Cases by what was another in their requests than they say.
    judged_with: BTreeMap<String, usize>,
    symptoms: Symptoms,
    /// What they come to, once the record was read.
    findings: Findings,
}

/// Kinds of answers that are told apart.
const KINDS: usize = 4;

/// Forms in which cases were asked that are told apart.
const OTHER_FORMS: usize = 20;

/// Controls of broken cases whose exchanges a report can show.
const CONTROLS: usize = 500;

/// Puts a summary together, entry by entry.
#[derive(Debug, Default)]
pub struct SummaryBuilder {
    summary: Option<RunSummary>,
}

impl SummaryBuilder {
    /// Takes the next entry of a record.
    pub fn add(&mut self, entry: &Entry) -> Result<(), RunError> {
        match (&mut self.summary, entry) {
            (Some(summary), Entry::Run(event)) => summary.add(event),
            (Some(summary), Entry::Case(case)) => summary.add_case(case),
            (None, Entry::Run(event)) => {
                self.summary = Some(RunSummary::begin(Some(event))?);
                Ok(())
            }
            (None, Entry::Case(_)) => Err(RunError::NoStart { found: "exchange" }),
        }
    }

    /// The summary so far; `None` before the first event.
    pub fn so_far(&self) -> Option<&RunSummary> {
        self.summary.as_ref()
    }

    /// The summary of the whole record. A run that was killed has no `run-finished`; it has a summary all the
    /// same.
    pub fn finish(self) -> Result<RunSummary, RunError> {
        let mut summary = self.summary.ok_or(RunError::NoStart { found: "no event" })?;
        summary.check()?;
        summary.findings = summary.findings_so_far(summary.waivers());
        Ok(summary)
    }
}

impl RunSummary {
    /// The beginning of a run.
    fn begin(first: Option<&Event>) -> Result<Self, RunError> {
        let start = match first {
            Some(Event::RunStarted(start)) => start.clone(),
            Some(other) => return Err(RunError::NoStart { found: kind(other) }),
            None => return Err(RunError::NoStart { found: "no event" }),
        };
        let mut totals = Totals::default();
        totals.start(&start);
        let symptoms = Symptoms::of(&start);
        Ok(Self {
            start,
            document: None,
            clauses: BTreeMap::new(),
            sources: BTreeSet::new(),
            totals,
            broken: BTreeSet::new(),
            warned: BTreeSet::new(),
            waived: BTreeSet::new(),
            controls: BTreeSet::new(),
            observations: 0,
            profile: None,
            resumed: Vec::new(),
            asked_again: AskedAgain::default(),
            changes: None,
            finish: None,
            events: 1,
            exchanges: 0,
            has_checks: false,
            answers: BTreeSet::new(),
            refused: 0,
            accepted: 0,
            said_by_name: 0,
            judged_with: BTreeMap::new(),
            symptoms,
            findings: Findings::default(),
        })
    }

    /// Takes the next event of the run as a whole.
    fn add(&mut self, event: &Event) -> Result<(), RunError> {
        self.events += 1;
        let is_misplaced = match event {
            _ if self.finish.is_some() => true,
            Event::RunStarted(_) => true,
            Event::Profile(_) => self.profile.is_some(),
            Event::Document(_) => self.document.is_some(),
            Event::AnswerChecks(_) => self.has_checks,
            _ => false,
        };
        if is_misplaced {
            return Err(RunError::Misplaced { found: kind(event), number: self.events });
        }
        match event {
            Event::RunStarted(_) | Event::Sending(_) | Event::Exchange(_) | Event::Verdict(_) => {}
            Event::Source(source) => {
                if !self.sources.insert(source.file.clone()) {
                    return Err(RunError::Twice { what: "source", id: source.file.clone() });
                }
            }
            Event::Clause(clause) => match self.clauses.entry(clause.id.clone()) {
                btree_map::Entry::Vacant(entry) => {
                    self.totals.clause(clause);
                    entry.insert(clause.clone());
                }
                btree_map::Entry::Occupied(entry) => {
                    return Err(RunError::Twice { what: "clause", id: entry.key().clone() });
                }
            },
            Event::Profile(profile) => self.profile = Some(profile.clone()),
            Event::Document(document) => self.document = Some(document.clone()),
            Event::Resumed(resumed) => {
                self.resumed.push(resumed.clone());
                self.asked_again = AskedAgain::default();
            }
            Event::AnswerChecks(checks) => {
                self.has_checks = true;
                checks.checks.iter().for_each(|check| self.totals.check(check));
            }
            Event::AskedAlone(asked) => self.asked_again.alone.push(asked.clone()),
            Event::RefusedSince(refused) => self.asked_again.refused(refused.clone()),
            Event::Changes(changes) => self.changes = Some(changes.clone()),
            Event::RunFinished(finish) => {
                self.totals.times(&finish.times);
                self.finish = Some(finish.clone());
            }
        }
        Ok(())
    }

    /// Takes the next case.
    fn add_case(&mut self, case: &CaseEvents) -> Result<(), RunError> {
        self.events += case.exchanges.len() + usize::from(case.verdict.is_some());
        if self.finish.is_some() {
            let found = if case.exchanges.is_empty() { "verdict" } else { "exchange" };
            return Err(RunError::Misplaced { found, number: self.events });
        }
        for exchange in &case.exchanges {
            self.exchanges += 1;
            if self.answers.len() < KINDS {
                self.answers.insert(answer(exchange));
            }
        }
        let Some(verdict) = &case.verdict else { return Ok(()) };
        self.count(verdict)?;
        match verdict.role {
            Role::Selected if matches!(verdict.verdict, Verdict::Fail | Verdict::Warn) => {
                self.symptoms.add(verdict, &case.exchanges, false);
            }
            Role::Control if verdict.is_broken_control() => self.symptoms.add(verdict, &case.exchanges, true),
            _ => {}
        }
        self.symptoms.ask(verdict, &case.exchanges);
        Ok(())
    }

    /// Counts a verdict.
    fn count(&mut self, verdict: &CaseVerdict) -> Result<(), RunError> {
        let clause = self.clauses.get(&verdict.clause).ok_or_else(|| RunError::UnknownClause {
            clause: verdict.clause.clone(),
            case: verdict.case.clone(),
        })?;
        self.totals.add(verdict, clause.strength);
        // What is waived with its control has no waiver of its own.
        let is_by_itself = verdict.waived_with.is_none() || !verdict.findings.is_empty();
        if verdict.verdict == Verdict::Waived && is_by_itself {
            self.waived.insert(verdict.case.clone());
        }
        match &verdict.control {
            Some(control) if control.accepted => self.accepted += 1,
            Some(_) => self.refused += 1,
            None => {}
        }
        self.said_by_name += usize::from(verdict.role == Role::Selected && verdict.same_as.is_some());
        if verdict.role == Role::Selected {
            self.count_judged_with(verdict);
            self.observations += verdict.observed().len();
            if verdict.verdict == Verdict::Fail {
                let denied = verdict.findings.iter().filter(|finding| finding.level == Level::Deny);
                self.broken.extend(denied.map(|finding| finding.clause.clone()));
            }
            if matches!(verdict.verdict, Verdict::Fail | Verdict::Warn) {
                if self.controls.len() < CONTROLS {
                    self.controls.extend(verdict.control.iter().map(|control| control.case.clone()));
                }
                let warnings = verdict.findings.iter().filter(|finding| finding.level == Level::Warn);
                self.warned.extend(warnings.map(|finding| finding.clause.clone()));
            }
        }
        Ok(())
    }

    /// Counts a case whose requests had something else than they say.
    fn count_judged_with(&mut self, verdict: &CaseVerdict) {
        if verdict.judged_with.is_empty() {
            return;
        }
        let with = verdict.judged_with.join("; ");
        if self.judged_with.len() < OTHER_FORMS || self.judged_with.contains_key(&with) {
            *self.judged_with.entry(with).or_default() += 1;
        }
    }

    /// Holds what `run-finished` says against the verdicts: it can be computed again from them.
    fn check(&self) -> Result<(), RunError> {
        let Some(finish) = &self.finish else { return Ok(()) };
        let found = self.totals.counts();
        if finish.counts != found {
            return Err(RunError::Counts { counted: Box::new(finish.counts), found: Box::new(found) });
        }
        let found = self.exit().code();
        if finish.exit != found {
            return Err(RunError::Exit { said: finish.exit, found });
        }
        let in_force = finish.waivers.iter().filter(|waiver| waiver.state == WaiverState::InForce);
        let named: BTreeSet<&String> = in_force.flat_map(|waiver| &waiver.cases).collect();
        let is_red = finish.waivers.iter().any(WaiverSeen::is_red);
        match self.waived.iter().find(|case| !named.contains(case)) {
            Some(case) if !is_red => Err(RunError::NotWaived { case: case.clone() }),
            _ => Ok(()),
        }
    }

    /// What was run, against what.
    pub fn start(&self) -> &RunStarted {
        &self.start
    }

    /// What has to stand before everything else that is said of a run whose cases or document are not those
    /// of the program; nothing elsewhere. `shown` makes a text harmless where it stands.
    pub fn of_other_cases(&self, shown: impl Fn(&str) -> String) -> String {
        let tool = &self.start.tool;
        match (&self.start.other_document, &self.start.other_cases) {
            (Some(folder), _) => {
                format!("by the document of {}, which is not that of {}: ", shown(folder), shown(tool))
            }
            (None, Some(folder)) => {
                format!("with the cases of {}, which are not those of {}: ", shown(folder), shown(tool))
            }
            (None, None) => String::new(),
        }
    }

    /// How the run ended; `None` if it was killed.
    pub fn finish(&self) -> Option<&RunFinished> {
        self.finish.as_ref()
    }

    /// How the target was asked and judged, if the record says so.
    pub fn profile(&self) -> Option<&TargetProfile> {
        self.profile.as_ref()
    }

    /// Where the run was interrupted and went on.
    pub fn resumed(&self) -> &[Resumed] {
        &self.resumed
    }

    /// What differs from the run that it was compared with, if it was.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// What was asked again, and was not as before.
    pub fn asked_again(&self) -> &AskedAgain {
        &self.asked_again
    }

    /// The document under test, if the record carries it.
    pub fn document(&self) -> Option<&DocumentText> {
        self.document.as_ref()
    }

    /// A clause, by id.
    pub fn clause(&self, id: &str) -> Option<&ClauseText> {
        self.clauses.get(id)
    }

    /// Every clause of the record, by id.
    pub fn clauses(&self) -> impl ExactSizeIterator<Item = &ClauseText> {
        self.clauses.values()
    }

    /// Clauses that selected cases break, by id.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }

    /// Clauses that selected cases warn of, by id.
    pub fn warned(&self) -> impl ExactSizeIterator<Item = &str> {
        self.warned.iter().map(String::as_str)
    }

    /// Whether a case that fails or warns has this one as its control.
    pub fn is_control_of_broken(&self, case: &str) -> bool {
        self.controls.contains(case)
    }

    /// How often selected cases saw the target use a freedom of the document.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Strength of a case's clause.
    pub fn strength(&self, verdict: &CaseVerdict) -> Strength {
        // `count` refuses a verdict without its clause.
        self.clause(&verdict.clause).map_or(Strength::Untestable, |clause| clause.strength)
    }

    /// How many exchanges took place: as `run-finished` says it, else as many as were written.
    pub fn exchanges(&self) -> u64 {
        self.finish.as_ref().map_or(self.exchanges, |finish| finish.exchanges)
    }

    /// How many of the selected cases are the plain request once more.
    pub fn said_by_name(&self) -> usize {
        self.said_by_name
    }

    /// What was another in the requests of selected cases than they say, since the target refuses a plain
    /// request, and in how many of them.
    pub fn judged_with(&self) -> impl Iterator<Item = (&str, usize)> {
        self.judged_with.iter().map(|(with, cases)| (with.as_str(), *cases))
    }

    /// What the answers were of a target that accepted no valid request; `None` if it accepted one, or
    /// nothing rests on any.
    pub fn refused_everything(&self) -> Option<String> {
        let kinds: Vec<&str> = self.answers.iter().map(String::as_str).collect();
        let said = match kinds.as_slice() {
            [] => return None,
            [words::NO_ANSWER] => "no answer came".to_owned(),
            [one] => format!("every answer is {one}"),
            more if more.len() < KINDS => format!("the answers are {}", more.join(", ")),
            more => format!("the answers are {} and others", more[..KINDS - 1].join(", ")),
        };
        (self.accepted == 0 && self.refused > 0).then_some(said)
    }

    /// What is wrong, each thing once. Nothing while the record is still read.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// What was wrong with the cases that were read, but for what is waived by its id.
    pub fn findings_so_far(&self, waivers: &[WaiverSeen]) -> Findings {
        Findings::new(&self.symptoms, &self.asked_again, waivers)
    }

    /// What is wrong by clause and place.
    pub(crate) fn symptoms(&self) -> &Symptoms {
        &self.symptoms
    }

    /// The one count of verdicts, controls apart.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Whether every selected case has a verdict and the run came to its end.
    pub fn complete(&self) -> bool {
        self.finish.as_ref().is_some_and(|finish| !finish.stopped_early)
            && (self.start.drawn || self.totals.counts().total() == self.start.cases)
    }

    /// What the run comes to. A run that is not complete never conforms: the missing cases could not be
    /// judged.
    pub fn exit(&self) -> Exit {
        match Exit::with(&self.totals, self.waivers()) {
            Exit::Conforms if !self.complete() => Exit::CouldNotTell,
            exit => exit,
        }
    }

    /// How many demanded clauses are in each state. What an unfinished run has not come to is not asked.
    pub fn demanded(&self) -> Demanded {
        let numbers = self.totals.clauses().numbers();
        if self.complete() {
            return numbers;
        }
        Demanded { not_asked: numbers.not_asked + numbers.left_out, left_out: 0, ..numbers }
    }

    /// The state of a demanded clause; `None` of any other.
    pub fn state(&self, clause: &str) -> Option<ClauseState> {
        match self.totals.clauses().state(clause)? {
            ClauseState::LeftOut if !self.complete() => Some(ClauseState::NotAsked),
            state => Some(state),
        }
    }

    /// The waivers of the run, and what has come of them.
    pub fn waivers(&self) -> &[WaiverSeen] {
        self.finish.as_ref().map_or(&[], |finish| &finish.waivers)
    }
}
