//! What was ticked off, as a record: each item a case, so that every report can be drawn from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use xs2aspec_record::{
    Absence, CaseSource, CaseVerdict, ClauseText, End, Event, Exchange, Exit, Finding, Level, Mismatch,
    Place, Reason, RunFinished, RunStarted, Strength, Totals, Traffic, Verdict,
};

use crate::client::{plan::FILE, recorded::Recorded, state::State, tick::Ticked};

/// The area of all cases.
const AREA: &str = "client";

/// What the whole comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Items that are shown, those that need not be apart.
    pub shown: usize,
    /// Items that should be shown.
    pub items: usize,
    /// Items that are broken.
    pub broken: usize,
    /// Items that need not be shown, and are.
    pub optional: usize,
}

impl Statement {
    /// Counts.
    pub fn of(ticked: &[Ticked<'_>]) -> Self {
        let count = |is: &dyn Fn(&Ticked<'_>) -> bool| ticked.iter().filter(|one| is(one)).count();
        let is_shown = |one: &Ticked<'_>| matches!(one.state, State::Shown(_));
        Self {
            shown: count(&|one| !one.item.is_optional && is_shown(one)),
            items: count(&|one| !one.item.is_optional),
            broken: count(&|one| matches!(one.state, State::Broken(..))),
            optional: count(&|one| one.item.is_optional && is_shown(one)),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, items, broken, optional } = self;
        match broken {
            0 if *shown == 0 => f.write_str("nothing is to be said of the client")?,
            0 => f.write_str("the client conforms in what it showed")?,
            1 => f.write_str("the client does not conform: 1 item is broken")?,
            _ => write!(f, "the client does not conform: {broken} items are broken")?,
        }
        write!(f, ": {shown} of {items} items shown")?;
        if *optional > 0 { write!(f, ", and {optional} of those that need not be shown") } else { Ok(()) }
    }
}

/// The record of a report: its events in order, and what they come to. `exchanges` are those that say
/// something of an item, by number; `tool` is the name and version of the program, `plan` the text of the
/// plan, and `shown_as` the path under which people can open that.
pub fn events(
    ticked: &[Ticked<'_>],
    (recorded, exchanges): (&Recorded, &BTreeMap<u64, Exchange>),
    plan: (&str, &str),
    tool: String,
    arguments: Vec<String>,
) -> (Vec<Event>, Exit) {
    let start = RunStarted {
        format: RunStarted::FORMAT,
        tool,
        target: format!("the client of {}", recorded.start.target),
        cases: ticked.len(),
        arguments,
        only: vec![],
        skip: vec![],
        shard: None,
        planned: None,
        drawn: false,
        traffic: Some(Traffic::ClientReport),
        quality: Some(format!("{}.", Statement::of(ticked))),
        waivers_sha256: None,
        ..recorded.start.clone()
    };
    let cases: Vec<Case<'_>> = ticked.iter().map(|ticked| Case { ticked, recorded, file: plan.0 }).collect();
    let mut totals = Totals::default();
    totals.start(&start);
    let mut events = vec![Event::RunStarted(start)];
    let mut told = BTreeSet::new();
    for case in &cases {
        let clause = case.clause();
        totals.clause(&clause);
        events.push(Event::Clause(clause));
        for broken in &case.ticked.broken {
            let known = recorded.clauses.get(&broken.finding.clause);
            let strange = told.insert(&broken.finding.clause);
            events.extend(known.filter(|_| strange).cloned().map(Event::Clause));
        }
    }
    events.push(Event::Source(CaseSource { file: plan.0.to_owned(), text: plan.1.to_owned() }));
    let mut number = 0;
    for case in &cases {
        let seen = case.ticked.exchange().and_then(|seen| exchanges.get(&seen));
        if let Some(seen) = seen {
            number += 1;
            events.push(Event::Exchange(Exchange {
                number,
                case: case.id(),
                step: "request".to_owned(),
                ..seen.clone()
            }));
        }
        let verdict = case.verdict(seen.map(|seen| (number, seen)));
        totals.add(&verdict, case.strength());
        events.push(Event::Verdict(verdict));
    }
    let exit = Exit::of(&totals);
    events.push(Event::RunFinished(RunFinished {
        counts: totals.counts(),
        exchanges: number,
        micros: recorded.micros,
        exit: exit.code(),
        ..RunFinished::default()
    }));
    (events, exit)
}

/// An item as a case.
struct Case<'a> {
    ticked: &'a Ticked<'a>,
    recorded: &'a Recorded,
    file: &'a str,
}

impl Case<'_> {
    fn id(&self) -> String {
        format!("{AREA}.{}", self.ticked.item.id)
    }

    fn strength(&self) -> Strength {
        if self.ticked.item.is_optional { Strength::Observed } else { Strength::Stated }
    }

    /// The clause that an item is: it says what it is, and names those of the document.
    fn clause(&self) -> ClauseText {
        let item = self.ticked.item;
        ClauseText {
            id: self.id(),
            says: item.says.clone(),
            strength: self.strength(),
            line: self.line_of_the_document(),
            quote: String::new(),
            readings: vec![],
            section: "What a client shows".to_owned(),
            standard: None,
            why: item.is_optional.then(|| "a client need not show it".to_owned()),
            set: None,
        }
    }

    fn line_of_the_document(&self) -> u32 {
        let known = self.ticked.item.clauses.iter().find_map(|clause| self.recorded.clauses.get(clause));
        known.map_or(1, |clause| clause.line)
    }

    fn verdict(&self, seen: Option<(u64, &Exchange)>) -> CaseVerdict {
        let Ticked { item, state, broken } = self.ticked;
        let mut findings: Vec<Finding> = broken.iter().map(|one| one.finding.clone()).collect();
        let not_shown = || Reason::NotShown { meet: item.meet.clone() };
        let (verdict, reason) = match state {
            State::Shown(_) if findings.iter().any(|finding| finding.level == Level::Warn) => {
                (Verdict::Warn, None)
            }
            State::Shown(_) => (Verdict::Pass, None),
            State::NotShown if item.is_optional => (Verdict::NotApplicable, Some(not_shown())),
            State::NotShown => (Verdict::Inconclusive, Some(not_shown())),
            State::Unknown => (Verdict::Inconclusive, Some(Reason::NotReadable)),
            State::Broken(_, words) => {
                if findings.is_empty() {
                    findings.push(self.finding(words));
                }
                (Verdict::Fail, None)
            }
        };
        let place = Place { file: self.file.to_owned(), line: item.place.0, column: item.place.1 };
        CaseVerdict {
            area: AREA.to_owned(),
            operation: seen.and_then(|(_, seen)| seen.operation.clone()).unwrap_or_default(),
            verdict,
            expected: item.says.clone(),
            checks: u32::from(seen.is_some()),
            findings,
            absence: (verdict == Verdict::NotApplicable).then_some(Absence::Declared),
            reason,
            exchange: seen.map(|(number, _)| number),
            micros: seen.map_or(0, |(_, seen)| seen.micros),
            ..CaseVerdict::blank(self.id(), self.id(), place)
        }
    }

    fn finding(&self, words: &str) -> Finding {
        Finding {
            clause: self.id(),
            expected: format!("a client that {}", self.ticked.item.says),
            actual: words.to_owned(),
            at: "request".to_owned(),
            kind: Mismatch::Request,
            level: Level::Deny,
            end: End::Client,
        }
    }
}

/// The plan's file as people can open it.
pub fn place_of_the_plan(tree: &xs2aspec_spec::Tree) -> String {
    tree.shown(FILE)
}
