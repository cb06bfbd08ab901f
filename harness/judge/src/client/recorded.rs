//! What a record has of a client, as far as the plan asks for it. A record may be longer than memory: of each
//! exchange only what tells it from others stays, in a few numbers.

use std::collections::{BTreeMap, HashMap, HashSet};

use xs2aspec_record::{
    CaseVerdict, ClauseLevel, ClauseText, End, Event, Exchange, Finding, Level, LevelRule, Observation,
    RunStarted,
};
use xs2aspec_spec::AnswerRules;
use xs2aspec_suite::plan::matches_clause;

use crate::{
    client::{
        condition::{Holds, header},
        plan::{OTHER, Plan, ShownBy},
        sequence::Seen,
    },
    traffic::hash,
};

/// What a record has of a client.
#[derive(Debug, Default)]
pub struct Recorded {
    /// What the record says of itself.
    pub start: RunStarted,
    /// Clauses by id.
    pub clauses: BTreeMap<String, ClauseText>,
    /// Microseconds that the whole took.
    pub micros: u64,
    /// Exchanges in the order in which they began.
    pub(crate) seen: Vec<Seen>,
    /// What was seen of each item, in the order of the plan.
    pub(crate) items: Vec<Sighted>,
}

/// When an exchange began, and its number.
pub(crate) type Moment = (u64, u64);

/// What was seen of an item.
#[derive(Debug, Default)]
pub(crate) struct Sighted {
    /// The first exchange that shows it, or that is for its operation.
    pub(crate) first: Option<Moment>,
    /// Whether something that may show it is masked.
    pub(crate) is_unknown: bool,
    /// Exchanges after whose response the client has to do something.
    pub(crate) after: HashSet<u64>,
    /// Values that are to be unique, each as a hash with the first exchange that has it.
    pub(crate) values: HashMap<u64, Moment>,
    /// The first exchange with a value that another one before it has.
    pub(crate) twice: Option<(Moment, u64)>,
    /// Findings about the client.
    pub(crate) broken: Breaches,
}

/// Findings about a client, by clause and place.
pub(crate) type Breaches = BTreeMap<(String, String), Broken>;

/// Adds something that a client broke to what is known.
pub(crate) fn add(known: &mut Breaches, one: Broken) {
    let key = (one.finding.clause.clone(), one.finding.at.clone());
    known.entry(key).and_modify(|known| known.add(&one)).or_insert(one);
}

/// Something that the client broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What it is, as the first exchange shows it.
    pub finding: Finding,
    /// In how many exchanges.
    pub exchanges: u64,
    /// The record of the first of them, from 0.
    pub record: usize,
    /// When the first of them began, its number, and which of its findings it is.
    pub(crate) first: (Moment, usize),
}

impl Broken {
    /// The number of the first exchange that shows it.
    pub const fn exchange(&self) -> u64 {
        self.first.0.1
    }

    /// Returns its position in order of time.
    pub(crate) fn order(&self) -> (usize, (Moment, usize)) {
        (self.record, self.first)
    }

    /// Takes another one that is the same.
    fn add(&mut self, other: &Self) {
        let exchanges = self.exchanges + other.exchanges;
        if other.order() < self.order() {
            *self = other.clone();
        }
        self.exchanges = exchanges;
    }
}

/// A record as it is read, event by event.
#[derive(Debug)]
pub struct Watch<'a> {
    plan: &'a Plan,
    rules: &'a AnswerRules,
    levels: &'a [LevelRule],
    /// Whether warnings are violations.
    denies_warnings: bool,
    recorded: Recorded,
    /// The exchange whose verdict comes next.
    waiting: Option<Exchange>,
}

impl<'a> Watch<'a> {
    /// Begins to read a record. `levels` are those that findings get instead of the recorded ones.
    pub fn new(plan: &'a Plan, rules: &'a AnswerRules, levels: &'a [LevelRule]) -> Self {
        let items = plan.items.iter().map(|_| Sighted::default()).collect();
        let recorded = Recorded { items, ..Recorded::default() };
        Self { plan, rules, levels, denies_warnings: false, recorded, waiting: None }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: Event) {
        let recorded = &mut self.recorded;
        match event {
            Event::RunStarted(start) => {
                let rules = [start.levels.as_slice(), self.levels].concat();
                self.denies_warnings = LevelRule::denies(&rules, LevelRule::WARNINGS);
                recorded.start = start;
            }
            Event::Clause(mut clause) => {
                if let Some(LevelRule { level, by, .. }) = last(self.levels, &clause.id) {
                    clause.set = Some(ClauseLevel { level: *level, by: *by });
                }
                recorded.clauses.insert(clause.id.clone(), clause);
            }
            Event::Exchange(exchange) => {
                self.look(None);
                self.waiting = Some(exchange);
            }
            Event::Verdict(verdict) => self.look(Some(&verdict)),
            Event::RunFinished(finish) => recorded.micros = finish.micros,
            _ => {}
        }
    }

    /// What the whole record has.
    pub fn finish(mut self) -> Recorded {
        self.look(None);
        self.recorded.seen.sort_by_key(|seen| (seen.at, seen.number));
        self.recorded
    }

    /// Looks at the exchange that waits for its verdict.
    fn look(&mut self, verdict: Option<&CaseVerdict>) {
        let Some(exchange) = self.waiting.take() else { return };
        let denies_warnings = self.denies_warnings;
        let level = |finding: &Finding| match last(self.levels, &finding.clause)
            .map_or(finding.level, |rule| rule.level)
        {
            Level::Warn if denies_warnings => Level::Deny,
            level => level,
        };
        let own = verdict.filter(|verdict| verdict.exchange == Some(exchange.number));
        self.recorded.seen.push(Seen::of(&exchange, &self.plan.fresh));
        for (item, sighted) in self.plan.items.iter().zip(&mut self.recorded.items) {
            let moment = (exchange.at, exchange.number);
            match &item.shown_by {
                ShownBy::Exchange(condition) => match condition.holds(&exchange, self.rules) {
                    Holds::Yes => sighted.see(moment),
                    Holds::Unknown => match own.and_then(shown) {
                        Some((items, _)) if items.contains(&item.id) => sighted.see(moment),
                        Some(_) => {}
                        None => sighted.is_unknown = true,
                    },
                    Holds::No => {}
                },
                ShownBy::After(condition, _) => {
                    if condition.holds(&exchange, self.rules) == Holds::Yes {
                        sighted.after.insert(exchange.number);
                    }
                }
                // Browsers send a request again, as it is, if the connection ends before the answer.
                ShownBy::Unique(_) if exchange.response.is_none() => {}
                ShownBy::Unique(name) => {
                    // An archive may list a request twice, and a request without an answer may be sent
                    // again: the judge tells that.
                    let is_of_item = |finding: &Finding| {
                        let mut patterns = item.clauses.iter();
                        finding.end == End::Client
                            && patterns.any(|pattern| matches_clause(pattern, &finding.clause))
                    };
                    let is_one = own.is_some_and(|own| !own.findings.iter().any(is_of_item));
                    if let Some(value) = header(&exchange.request.headers, name) {
                        sighted.value(hash(&value), moment, is_one);
                    }
                }
                ShownBy::NoBreach(operation) => {
                    if is_for(self.plan, operation, exchange.operation.as_deref())
                        && let Some(verdict) = own
                    {
                        let breaks = sighted.breach(moment, verdict, &level);
                        sighted.kept(moment, &exchange, verdict, breaks);
                    }
                }
            }
        }
    }
}

impl Sighted {
    fn see(&mut self, moment: Moment) {
        self.first = Some(self.first.map_or(moment, |first| first.min(moment)));
    }

    /// Takes a value that is to be unique. `is_one` says that the request is no second one with it.
    fn value(&mut self, value: u64, moment: Moment, is_one: bool) {
        let Some(known) = self.values.insert(value, moment).filter(|_| !is_one) else { return };
        let (first, later) = (known.min(moment), known.max(moment));
        self.values.insert(value, first);
        let twice = (later, first.1);
        self.twice = Some(self.twice.map_or(twice, |known| known.min(twice)));
    }

    /// Adds what the client broke in a request. Returns true if it broke something of level `deny`.
    fn breach(&mut self, moment: Moment, verdict: &CaseVerdict, level: &dyn Fn(&Finding) -> Level) -> bool {
        let mut told = HashSet::new();
        let mut is_denied = false;
        for (at, finding) in verdict.findings.iter().enumerate().filter(|(_, one)| one.end == End::Client) {
            let level = level(finding);
            if level == Level::Note || !told.insert((&finding.clause, &finding.at)) {
                continue;
            }
            is_denied |= level == Level::Deny;
            let finding = Finding { level, ..finding.clone() };
            add(&mut self.broken, Broken { finding, exchanges: 1, record: 0, first: (moment, at) });
        }
        is_denied
    }

    /// Takes a request that may show that the client keeps the rules: one that the bank accepted, and that
    /// could be judged as a whole.
    fn kept(&mut self, moment: Moment, exchange: &Exchange, verdict: &CaseVerdict, breaks: bool) {
        let answer = exchange.response.as_ref().filter(|_| exchange.failure.is_none());
        if breaks || !answer.is_some_and(|answer| (200..300).contains(&answer.status)) {
            return;
        }
        if shown(verdict).is_some_and(|(_, is_unreadable)| is_unreadable) {
            self.is_unknown = true;
        } else {
            self.see(moment);
        }
    }
}

/// Returns the last level that is given to a clause.
fn last<'a>(levels: &'a [LevelRule], clause: &str) -> Option<&'a LevelRule> {
    levels.iter().rev().find(|rule| !rule.is_of_verdicts() && matches_clause(&rule.pattern, clause))
}

/// Returns true if an item for an operation is for requests for this one.
fn is_for(plan: &Plan, wanted: &str, operation: Option<&str>) -> bool {
    let has_item = |operation: &str| {
        plan.items.iter().any(|item| matches!(&item.shown_by, ShownBy::NoBreach(own) if own == operation))
    };
    match operation {
        Some(operation) if has_item(operation) => operation == wanted,
        _ => wanted == OTHER,
    }
}

/// Returns the items that an exchange shows and its record masks, and true if it could not be judged as a
/// whole.
fn shown(verdict: &CaseVerdict) -> Option<(&[String], bool)> {
    verdict.seen.iter().find_map(|seen| match seen {
        Observation::Shows { items, is_unreadable } => Some((items.as_slice(), *is_unreadable)),
        _ => None,
    })
}
