//! The summary of a record: everything except the single cases.

mod conclusion;

use std::collections::{BTreeMap, BTreeSet, btree_map};

use xs2aspec_record::{
    CaseEvents, CaseVerdict, Changes, ClauseState, ClauseText, Demanded, DocumentText, Entry, Event, Exit,
    Level, Place, Resumed, Role, RunFinished, RunStarted, Strength, TargetProfile, Totals, Verdict,
    WaiverSeen, WaiverState,
};

use crate::{
    error::RunError,
    findings::{AskedAgain, Findings, Found, symptom::Symptoms},
    words::{self, answer, kind},
};

/// The summary of a record, as far as it was read.
#[derive(Debug, Clone)]
pub struct RunSummary {
    start: RunStarted,
    document: Option<DocumentText>,
    clauses: BTreeMap<String, ClauseText>,
    /// Case files.
    sources: BTreeSet<String>,
    totals: Totals,
    /// Clauses that selected cases violate.
    broken: BTreeSet<String>,
    /// Clauses with warnings from selected cases.
    warned: BTreeSet<String>,
    /// Waived cases, including controls.
    waived: BTreeSet<String>,
    /// Controls of the cases that fail or warn.
    controls: BTreeSet<String>,
    /// Number of observations of choices that the document leaves open.
    observations: usize,
    profile: Option<TargetProfile>,
    resumed: Vec<Resumed>,
    asked_again: AskedAgain,
    changes: Option<Changes>,
    /// The places of findings in files of the user, by id.
    places: BTreeMap<String, Place>,
    finish: Option<RunFinished>,
    events: usize,
    exchanges: u64,
    /// True if the record has the counts of response checks.
    has_checks: bool,
    /// Kinds of responses, up to [`KINDS`].
    answers: BTreeSet<String>,
    /// Numbers of cases whose control was rejected and accepted.
    refused: usize,
    accepted: usize,
    said_by_name: usize,
    /// Numbers of cases by what was added to or changed in their requests.
    judged_with: BTreeMap<String, usize>,
    symptoms: Symptoms,
    /// The findings, once the record was read.
    findings: Findings,
}

/// Limit of the kinds of responses that are distinguished.
const KINDS: usize = 4;

/// Limit of the additions to requests that are distinguished.
const OTHER_FORMS: usize = 20;

/// Limit of the controls of failed cases whose exchanges a report can show.
const CONTROLS: usize = 500;

/// Builds a summary, entry by entry.
#[derive(Debug, Default)]
pub struct SummaryBuilder {
    summary: Option<RunSummary>,
}

impl SummaryBuilder {
    /// Adds the next entry of a record.
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

    /// Returns the summary so far, or None before the first event.
    pub fn so_far(&self) -> Option<&RunSummary> {
        self.summary.as_ref()
    }

    /// Returns the summary of the whole record. The record of a killed run has no `run-finished`, but still
    /// has a summary.
    pub fn finish(self) -> Result<RunSummary, RunError> {
        let mut summary = self.summary.ok_or(RunError::NoStart { found: "no event" })?;
        summary.check()?;
        summary.findings = summary.findings_so_far(summary.waivers());
        Ok(summary)
    }
}

impl RunSummary {
    /// Creates a summary from the first event.
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
            places: BTreeMap::new(),
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

    /// Adds the next event that does not belong to a case.
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
            Event::Located(located) => self.places.extend(located.places.clone()),
            Event::RunFinished(finish) => {
                self.totals.times(&finish.times);
                self.finish = Some(finish.clone());
            }
        }
        Ok(())
    }

    /// Adds the next case.
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
        // A case that is waived with its control has no waiver of its own.
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

    /// Counts a case whose requests differed from its definition.
    fn count_judged_with(&mut self, verdict: &CaseVerdict) {
        if verdict.judged_with.is_empty() {
            return;
        }
        let with = verdict.judged_with.join("; ");
        if self.judged_with.len() < OTHER_FORMS || self.judged_with.contains_key(&with) {
            *self.judged_with.entry(with).or_default() += 1;
        }
    }

    /// Checks `run-finished` against the verdicts, from which it can be computed.
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

    /// Returns the start event.
    pub fn start(&self) -> &RunStarted {
        &self.start
    }

    /// Returns the prefix of every conclusion about a run whose cases or document are not the built-in ones.
    /// It is empty for other runs. `shown` makes a string harmless for the format.
    pub fn of_other_cases(&self, shown: impl Fn(&str) -> String) -> String {
        let tool = &self.start.tool;
        match (&self.start.other_document, &self.start.other_cases) {
            (Some(folder), _) => {
                format!("document from {}, not the one built into {}: ", shown(folder), shown(tool))
            }
            (None, Some(folder)) => {
                format!("cases from {}, not those built into {}: ", shown(folder), shown(tool))
            }
            (None, None) => String::new(),
        }
    }

    /// Returns the finish event, or None if the run was killed.
    pub fn finish(&self) -> Option<&RunFinished> {
        self.finish.as_ref()
    }

    /// Returns the profile, if the record contains it.
    pub fn profile(&self) -> Option<&TargetProfile> {
        self.profile.as_ref()
    }

    /// Returns the points at which the run was resumed.
    pub fn resumed(&self) -> &[Resumed] {
        &self.resumed
    }

    /// Returns the differences from an earlier run, if they were compared.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// Returns the place of a finding in a file of the user: the recorded one, or else the first line of the
    /// profile. Returns None if the target is no profile.
    pub fn place(&self, found: &Found) -> Option<Place> {
        let ids = found.ids();
        if let Some(place) = ids.iter().find_map(|id| self.places.get(id)) {
            return Some(place.clone());
        }
        let target = self.start.argument("--target")?;
        let is_file = !target.contains("://");
        is_file.then(|| Place { file: target.replace('\\', "/"), line: 1, column: 1 })
    }

    /// Sets the places of findings, by id.
    pub fn set_places(&mut self, places: BTreeMap<String, Place>) {
        self.places = places;
    }

    /// Returns the requests that were repeated, and whose results had changed.
    pub fn asked_again(&self) -> &AskedAgain {
        &self.asked_again
    }

    /// Returns the document under test, if the record contains it.
    pub fn document(&self) -> Option<&DocumentText> {
        self.document.as_ref()
    }

    /// Returns a clause by id.
    pub fn clause(&self, id: &str) -> Option<&ClauseText> {
        self.clauses.get(id)
    }

    /// Returns every clause of the record, ordered by id.
    pub fn clauses(&self) -> impl ExactSizeIterator<Item = &ClauseText> {
        self.clauses.values()
    }

    /// Returns the clauses that selected cases violate, ordered by id.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }

    /// Returns the clauses with warnings from selected cases, ordered by id.
    pub fn warned(&self) -> impl ExactSizeIterator<Item = &str> {
        self.warned.iter().map(String::as_str)
    }

    /// Returns true if this case is the control of a case that fails or warns.
    pub fn is_control_of_broken(&self, case: &str) -> bool {
        self.controls.contains(case)
    }

    /// Returns how many times selected cases observed a choice that the document leaves open.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the strength of a case's clause.
    pub fn strength(&self, verdict: &CaseVerdict) -> Strength {
        // `count` rejects a verdict without its clause.
        self.clause(&verdict.clause).map_or(Strength::Untestable, |clause| clause.strength)
    }

    /// Returns the number of exchanges: that of `run-finished`, or else of the record.
    pub fn exchanges(&self) -> u64 {
        self.finish.as_ref().map_or(self.exchanges, |finish| finish.exchanges)
    }

    /// Returns the number of selected cases that share the response to a baseline request.
    pub fn said_by_name(&self) -> usize {
        self.said_by_name
    }

    /// Returns what was added to or changed in the requests of selected cases because the target rejects a
    /// baseline request, with the number of cases.
    pub fn judged_with(&self) -> impl Iterator<Item = (&str, usize)> {
        self.judged_with.iter().map(|(with, cases)| (with.as_str(), *cases))
    }

    /// Returns the kinds of responses of a target that accepted no valid request. Returns None if it accepted
    /// one, or if no case has a control.
    pub fn refused_everything(&self) -> Option<String> {
        let kinds: Vec<&str> = self.answers.iter().map(String::as_str).collect();
        let said = match kinds.as_slice() {
            [] => return None,
            [words::NO_ANSWER] => "there was no response".to_owned(),
            [one] => format!("every response is {one}"),
            more if more.len() < KINDS => format!("the responses are {}", more.join(", ")),
            more => format!("the responses are {} and others", more[..KINDS - 1].join(", ")),
        };
        (self.accepted == 0 && self.refused > 0).then_some(said)
    }

    /// Returns the findings. There are none before the record is read to its end.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the findings of the cases read so far, without those waived by id.
    pub fn findings_so_far(&self, waivers: &[WaiverSeen]) -> Findings {
        Findings::new(&self.symptoms, &self.asked_again, waivers)
    }

    /// Returns the symptoms, by clause and place.
    pub(crate) fn symptoms(&self) -> &Symptoms {
        &self.symptoms
    }

    /// Returns the counts of verdicts. Controls are counted separately.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns true if every selected case has a verdict and the run finished.
    pub fn complete(&self) -> bool {
        self.finish.as_ref().is_some_and(|finish| !finish.stopped_early)
            && (self.start.drawn || self.totals.counts().total() == self.start.cases)
    }

    /// Returns the exit code. A run that is not complete never conforms, because the missing cases could not
    /// be judged.
    pub fn exit(&self) -> Exit {
        match Exit::with(&self.totals, self.waivers()) {
            Exit::Conforms if !self.complete() => Exit::CouldNotTell,
            exit => exit,
        }
    }

    /// Returns the number of required clauses in each state. In an unfinished run, clauses without a verdict
    /// are not tested.
    pub fn demanded(&self) -> Demanded {
        let numbers = self.totals.clauses().numbers();
        if self.complete() {
            return numbers;
        }
        Demanded { not_asked: numbers.not_asked + numbers.left_out, left_out: 0, ..numbers }
    }

    /// Returns the state of a required clause, or None for any other clause.
    pub fn state(&self, clause: &str) -> Option<ClauseState> {
        match self.totals.clauses().state(clause)? {
            ClauseState::LeftOut if !self.complete() => Some(ClauseState::NotAsked),
            state => Some(state),
        }
    }

    /// Returns the waivers of the run, and their results.
    pub fn waivers(&self) -> &[WaiverSeen] {
        self.finish.as_ref().map_or(&[], |finish| &finish.waivers)
    }
}
