//! The evidence that a history holds about a client. A history may not fit into memory, so each exchange is
//! reduced to a few numbers.

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

/// The evidence that a history holds about a client.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The first event of the history.
    pub start: RunStarted,
    /// Clauses by id.
    pub clauses: BTreeMap<String, ClauseText>,
    /// Duration of the whole run in microseconds.
    pub micros: u64,
    /// Exchanges in the order of their start.
    pub(crate) seen: Vec<Seen>,
    /// Evidence for each item, in the order of the plan.
    pub(crate) items: Vec<Sighted>,
}

/// The start time and the number of an exchange.
pub(crate) type Moment = (u64, u64);

/// The evidence for an item.
#[derive(Debug, Default)]
pub(crate) struct Sighted {
    /// The first exchange that shows the item, or that belongs to its operation.
    pub(crate) first: Option<Moment>,
    /// True if evidence that may show the item is masked.
    pub(crate) is_unknown: bool,
    /// Exchanges whose response requires the client to act.
    pub(crate) after: HashSet<u64>,
    /// Hashes of the values that must be unique, each with the first exchange that has it.
    pub(crate) values: HashMap<u64, Moment>,
    /// The first exchange that repeats an earlier value.
    pub(crate) twice: Option<(Moment, u64)>,
    /// Violations by the client.
    pub(crate) broken: Breaches,
}

/// Violations by a client, by clause and place.
pub(crate) type Breaches = BTreeMap<(String, String), Broken>;

/// Adds a violation to the known ones.
pub(crate) fn add(known: &mut Breaches, one: Broken) {
    let key = (one.finding.clause.clone(), one.finding.at.clone());
    known.entry(key).and_modify(|known| known.add(&one)).or_insert(one);
}

/// A violation by the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The finding of the first exchange that shows it.
    pub finding: Finding,
    /// Number of exchanges that show it.
    pub exchanges: u64,
    /// Index of the history with the first of them, from 0.
    pub record: usize,
    /// The start and number of the first exchange, and the index of the finding in it.
    pub(crate) first: (Moment, usize),
}

impl Broken {
    /// Returns the number of the first exchange that shows the violation.
    pub const fn exchange(&self) -> u64 {
        self.first.0.1
    }

    /// Returns a sort key by time.
    pub(crate) fn order(&self) -> (usize, (Moment, usize)) {
        (self.record, self.first)
    }

    /// Merges the same violation from other exchanges into this one.
    fn add(&mut self, other: &Self) {
        let exchanges = self.exchanges + other.exchanges;
        if other.order() < self.order() {
            *self = other.clone();
        }
        self.exchanges = exchanges;
    }
}

/// Reads a history event by event.
#[derive(Debug)]
pub struct Watch<'a> {
    plan: &'a Plan,
    rules: &'a AnswerRules,
    levels: &'a [LevelRule],
    /// True if warnings count as violations.
    denies_warnings: bool,
    recorded: Recorded,
    /// The exchange whose verdict comes next.
    waiting: Option<Exchange>,
}

impl<'a> Watch<'a> {
    /// Starts reading a history. `levels` overrides the recorded levels of findings.
    pub fn new(plan: &'a Plan, rules: &'a AnswerRules, levels: &'a [LevelRule]) -> Self {
        let items = plan.items.iter().map(|_| Sighted::default()).collect();
        let recorded = Recorded { items, ..Recorded::default() };
        Self { plan, rules, levels, denies_warnings: false, recorded, waiting: None }
    }

    /// Processes the next event.
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

    /// Returns the evidence of the whole history.
    pub fn finish(mut self) -> Recorded {
        self.look(None);
        self.recorded.seen.sort_by_key(|seen| (seen.at, seen.number));
        self.recorded
    }

    /// Evaluates the exchange that waits for its verdict.
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
                // Browsers resend a request unchanged if the connection closes before the response.
                ShownBy::Unique(_) if exchange.response.is_none() => {}
                ShownBy::Unique(name) => {
                    // An archive may list a request twice, and a request without a response may be resent.
                    // The judge recognizes both.
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

    /// Adds a value that must be unique. `is_one` is true if this request does not repeat an earlier one.
    fn value(&mut self, value: u64, moment: Moment, is_one: bool) {
        let Some(known) = self.values.insert(value, moment).filter(|_| !is_one) else { return };
        let (first, later) = (known.min(moment), known.max(moment));
        self.values.insert(value, first);
        let twice = (later, first.1);
        self.twice = Some(self.twice.map_or(twice, |known| known.min(twice)));
    }

    /// Adds the violations of a request. Returns true if one of them has level `deny`.
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

    /// Adds a request that may show that the client conforms: the bank accepted it, and it could be judged
    /// completely.
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

/// Returns the last level rule that matches a clause.
fn last<'a>(levels: &'a [LevelRule], clause: &str) -> Option<&'a LevelRule> {
    levels.iter().rev().find(|rule| !rule.is_of_verdicts() && matches_clause(&rule.pattern, clause))
}

/// Returns true if the item for operation `wanted` covers requests for `operation`.
fn is_for(plan: &Plan, wanted: &str, operation: Option<&str>) -> bool {
    let has_item = |operation: &str| {
        plan.items.iter().any(|item| matches!(&item.shown_by, ShownBy::NoBreach(own) if own == operation))
    };
    match operation {
        Some(operation) if has_item(operation) => operation == wanted,
        _ => wanted == OTHER,
    }
}

/// Returns the items that an exchange shows and its history masks, and true if the exchange could not be
/// judged completely.
fn shown(verdict: &CaseVerdict) -> Option<(&[String], bool)> {
    verdict.seen.iter().find_map(|seen| match seen {
        Observation::Shows { items, is_unreadable } => Some((items.as_slice(), *is_unreadable)),
        _ => None,
    })
}
