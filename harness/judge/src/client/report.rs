//! Writes the result for a client as a history in which each item is a case, so that every report can be
//! rendered from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use xs2aspec_record::{
    Absence, CaseSource, CaseVerdict, ClauseText, End, Event, Exchange, Exit, Finding, Level, LevelRule,
    Mismatch, Observation, Place, Reason, RunFinished, RunStarted, Strength, Totals, Traffic, Verdict,
};

use crate::client::{
    plan::FILE,
    recorded::Recorded,
    state::{Breach, State},
    tick::Ticked,
};

/// The area of all cases.
const AREA: &str = "client";

/// A summary of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statement {
    /// Required items that are shown.
    pub shown: usize,
    /// Required items that are not skipped.
    pub items: usize,
    /// Violated items.
    pub broken: usize,
    /// Items shown with a warning.
    pub warned: usize,
    /// Required items that are skipped.
    pub skipped: usize,
    /// Optional items that are shown.
    pub optional: usize,
    /// Exchanges of all records.
    pub exchanges: usize,
}

impl Statement {
    /// Counts the items and exchanges.
    pub fn of(ticked: &[Ticked<'_>], records: &[Recorded]) -> Self {
        let mut statement =
            Self { exchanges: records.iter().map(|record| record.seen.len()).sum(), ..Self::default() };
        for one in ticked {
            let is_required = !one.item.is_optional;
            let is_skipped = matches!(one.state, State::Skipped(_));
            let is_shown = matches!(one.state, State::Shown(_));
            statement.broken += usize::from(matches!(one.state, State::Broken(..)));
            statement.warned += usize::from(one.is_warned());
            statement.items += usize::from(is_required && !is_skipped);
            statement.skipped += usize::from(is_required && is_skipped);
            statement.shown += usize::from(is_required && is_shown);
            statement.optional += usize::from(!is_required && is_shown);
        }
        statement
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, items, broken, warned, skipped, optional, exchanges } = self;
        match broken {
            0 if *shown == 0 => f.write_str("the client cannot be judged")?,
            0 if shown == items => f.write_str("the client conforms")?,
            0 => f.write_str("the client conforms as far as it was tested")?,
            1 => f.write_str("the client does not conform: 1 item is violated")?,
            _ => write!(f, "the client does not conform: {broken} items are violated")?,
        }
        write!(f, ": {shown} of {items} required items shown")?;
        for (number, words) in
            [(warned, "with a warning"), (skipped, "skipped"), (optional, "optional items shown")]
        {
            if *number > 0 {
                write!(f, ", {number} {words}")?;
            }
        }
        write!(f, "; {exchanges} {}", if *exchanges == 1 { "exchange" } else { "exchanges" })
    }
}

/// The data of a report.
#[derive(Debug)]
pub struct Report<'a> {
    /// The state of each item.
    pub ticked: &'a [Ticked<'a>],
    /// The histories.
    pub records: &'a [Recorded],
    /// The names of the histories as given by the user.
    pub names: &'a [String],
    /// The exchanges that are evidence for an item, by history and number.
    pub exchanges: &'a BTreeMap<(usize, u64), Exchange>,
    /// Level rules that override the recorded ones.
    pub levels: &'a [LevelRule],
    /// The path of the plan and its text.
    pub plan: (&'a str, &'a str),
}

impl Report<'_> {
    /// Returns the events of the report's history in order, and the exit code.
    pub fn events(&self, arguments: Vec<String>) -> (Vec<Event>, Exit) {
        let start = self.start(arguments);
        let mut totals = Totals::default();
        totals.start(&start);
        let mut events = vec![Event::RunStarted(start)];
        let mut told = BTreeSet::new();
        for ticked in self.ticked {
            let clause = self.clause(ticked);
            totals.clause(&clause);
            events.push(Event::Clause(clause));
            for broken in &ticked.broken {
                let known = self.known(&broken.finding.clause);
                let is_new = told.insert(&broken.finding.clause);
                events.extend(known.filter(|_| is_new).cloned().map(Event::Clause));
            }
        }
        events.push(Event::Source(CaseSource { file: self.plan.0.to_owned(), text: self.plan.1.to_owned() }));
        let mut number = 0;
        for ticked in self.ticked {
            let seen = ticked.exchange().and_then(|seen| self.exchanges.get(&seen));
            if let Some(seen) = seen {
                number += 1;
                events.push(Event::Exchange(Exchange {
                    number,
                    case: id(ticked),
                    step: "request".to_owned(),
                    ..seen.clone()
                }));
            }
            let verdict = self.verdict(ticked, seen.map(|seen| (number, seen)));
            totals.add(&verdict, strength(ticked));
            events.push(Event::Verdict(verdict));
        }
        let exit = Exit::of(&totals);
        events.push(Event::RunFinished(RunFinished {
            counts: totals.counts(),
            exchanges: self.records.iter().map(|record| record.seen.len() as u64).sum(),
            micros: self.records.iter().map(|record| record.micros).sum(),
            exit: exit.code(),
            ..RunFinished::default()
        }));
        (events, exit)
    }

    /// Returns a name for an exchange, with its number in its history.
    pub fn named(&self, (record, number): (usize, u64)) -> String {
        match self.names.get(record) {
            Some(name) if self.names.len() > 1 => format!("exchange {number} of {name}"),
            _ => format!("exchange {number}"),
        }
    }

    fn start(&self, arguments: Vec<String>) -> RunStarted {
        let first = self.records.first().map(|record| record.start.clone()).unwrap_or_default();
        let targets: BTreeSet<&str> =
            self.records.iter().map(|record| record.start.target.as_str()).collect();
        let levels = self.records.iter().flat_map(|record| &record.start.levels);
        RunStarted {
            format: RunStarted::FORMAT,
            tool: RunStarted::tool(),
            target: format!("the client of {}", targets.into_iter().collect::<Vec<_>>().join(", ")),
            cases: self.ticked.len(),
            arguments,
            only: vec![],
            skip: vec![],
            shard: None,
            planned: None,
            drawn: false,
            traffic: Some(Traffic::ClientReport),
            on_purpose: self.records.iter().any(|record| record.start.on_purpose),
            quality: Some(format!("{}.", Statement::of(self.ticked, self.records))),
            waivers_sha256: None,
            levels: levels.chain(self.levels).cloned().collect(),
            ..first
        }
    }

    /// Returns a clause of the document as a history has it.
    fn known(&self, clause: &str) -> Option<&ClauseText> {
        self.records.iter().find_map(|record| record.clauses.get(clause))
    }

    /// Returns an item as a clause.
    fn clause(&self, ticked: &Ticked<'_>) -> ClauseText {
        let item = ticked.item;
        let line = item.clauses.iter().find_map(|clause| self.known(clause)).map_or(1, |clause| clause.line);
        ClauseText {
            id: id(ticked),
            says: item.says.clone(),
            strength: strength(ticked),
            line,
            quote: String::new(),
            readings: vec![],
            section: "What a client shows".to_owned(),
            standard: None,
            why: item.is_optional.then(|| "a client need not show it".to_owned()),
            set: None,
        }
    }

    fn verdict(&self, ticked: &Ticked<'_>, exchange: Option<(u64, &Exchange)>) -> CaseVerdict {
        let Ticked { item, state, broken, .. } = ticked;
        let mut findings: Vec<Finding> = broken.iter().map(|one| one.finding.clone()).collect();
        let mut seen = Vec::new();
        if !matches!(state, State::Shown(_) | State::Broken(..)) {
            let noted = |finding| Observation::NotedOfClients { finding: Box::new(finding) };
            seen.extend(findings.drain(..).map(noted));
        }
        let not_shown = || Reason::NotShown { meet: item.meet.clone() };
        let (verdict, reason) = match state {
            State::Shown(_) if ticked.is_warned() => (Verdict::Warn, None),
            State::Shown(_) => (Verdict::Pass, None),
            State::Skipped(reason) => (Verdict::NotApplicable, Some(reason.clone())),
            State::NotShown { .. } | State::Unknown if item.is_optional => {
                (Verdict::NotApplicable, Some(not_shown()))
            }
            State::NotShown { .. } => (Verdict::Inconclusive, Some(not_shown())),
            State::Unknown => (Verdict::Inconclusive, Some(Reason::NotReadable)),
            State::Broken(_, breach) => {
                if findings.is_empty() {
                    findings.push(finding(ticked, breach));
                }
                (Verdict::Fail, None)
            }
        };
        let place = Place { file: self.plan.0.to_owned(), line: item.place.0, column: item.place.1 };
        CaseVerdict {
            area: AREA.to_owned(),
            operation: exchange.and_then(|(_, exchange)| exchange.operation.clone()).unwrap_or_default(),
            verdict,
            expected: item.says.clone(),
            checks: u32::from(exchange.is_some()),
            findings,
            seen,
            absence: (verdict == Verdict::NotApplicable).then_some(Absence::Declared),
            reason,
            changes: ticked.exchange().map(|seen| self.named(seen)).into_iter().collect(),
            exchange: exchange.map(|(number, _)| number),
            micros: exchange.map_or(0, |(_, exchange)| exchange.micros),
            ..CaseVerdict::blank(id(ticked), id(ticked), place)
        }
    }
}

fn id(ticked: &Ticked<'_>) -> String {
    format!("{AREA}.{}", ticked.item.id)
}

fn strength(ticked: &Ticked<'_>) -> Strength {
    if ticked.item.is_optional { Strength::Observed } else { Strength::Stated }
}

fn finding(ticked: &Ticked<'_>, breach: &Breach) -> Finding {
    Finding {
        clause: id(ticked),
        expected: format!("a client to {}", ticked.item.says),
        actual: breach.to_string(),
        at: "request".to_owned(),
        kind: Mismatch::Request,
        level: Level::Deny,
        end: End::Client,
    }
}

/// Returns the path of the plan in a form that users can open.
pub fn place_of_the_plan(tree: &xs2aspec_spec::Tree) -> String {
    tree.shown(FILE)
}
