//! What a record has of a client, as far as the plan asks for it. A record may be longer than memory: of each
//! exchange only what tells it from others stays, in a few numbers.

use std::collections::{BTreeMap, HashMap, HashSet};

use xs2aspec_record::{CaseVerdict, ClauseText, End, Event, Exchange, Finding, Level, RunStarted};
use xs2aspec_spec::AnswerRules;

use crate::client::{
    condition::{Holds, header},
    plan::{Plan, ShownBy},
    sequence::{Seen, hash},
};

/// Before what an observation says that an exchange shows, since the record masks it.
const SHOWS: &str = "the client shows: ";

/// What stands for no item.
const NOTHING: &str = "nothing";

/// What an observation says of items that an exchange shows though the record masks what shows them.
pub fn observation(items: &[&str]) -> String {
    format!("{SHOWS}{}", if items.is_empty() { NOTHING.to_owned() } else { items.join(", ") })
}

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
    /// Exchanges after whose answer the client has to do something.
    pub(crate) after: HashSet<u64>,
    /// Values that are to be unique, each as a hash with the first exchange that has it.
    pub(crate) values: HashMap<u64, Moment>,
    /// The first exchange with a value that another one before it has.
    pub(crate) twice: Option<(Moment, u64)>,
    /// What the client broke, by clause and place.
    pub(crate) broken: BTreeMap<(String, String), Broken>,
}

/// Something that the client broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// What it is, as the first exchange shows it.
    pub finding: Finding,
    /// In how many exchanges.
    pub exchanges: u64,
    /// When the first of them began, its number, and which of its findings it is.
    pub(crate) first: (Moment, usize),
}

impl Broken {
    /// The number of the first exchange that shows it.
    pub const fn exchange(&self) -> u64 {
        self.first.0.1
    }

    /// Takes another one that is the same.
    pub(crate) fn add(&mut self, other: &Self) {
        self.exchanges += other.exchanges;
        if other.first < self.first {
            (self.first, self.finding) = (other.first, other.finding.clone());
        }
    }
}

/// A record as it is read, event by event.
#[derive(Debug)]
pub struct Watch<'a> {
    plan: &'a Plan,
    rules: &'a AnswerRules,
    recorded: Recorded,
    /// Exchanges of a case whose verdict comes next.
    waiting: Vec<Exchange>,
}

impl<'a> Watch<'a> {
    /// Nothing read yet.
    pub fn new(plan: &'a Plan, rules: &'a AnswerRules) -> Self {
        let items = plan.items.iter().map(|_| Sighted::default()).collect();
        Self { plan, rules, recorded: Recorded { items, ..Recorded::default() }, waiting: Vec::new() }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: Event) {
        let recorded = &mut self.recorded;
        match event {
            Event::RunStarted(start) => recorded.start = start,
            Event::Clause(clause) => _ = recorded.clauses.insert(clause.id.clone(), clause),
            Event::Exchange(exchange) => {
                if self.waiting.first().is_some_and(|first| first.case != exchange.case) {
                    self.look(None);
                }
                self.waiting.push(exchange);
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

    /// Looks at the exchanges of a case.
    fn look(&mut self, verdict: Option<&CaseVerdict>) {
        for exchange in std::mem::take(&mut self.waiting) {
            let own = verdict.filter(|verdict| verdict.exchange == Some(exchange.number));
            self.recorded.seen.push(Seen::of(&exchange, &self.plan.fresh));
            for (item, sighted) in self.plan.items.iter().zip(&mut self.recorded.items) {
                let moment = (exchange.at, exchange.number);
                match &item.shown_by {
                    ShownBy::Exchange(condition) => match condition.holds(&exchange, self.rules) {
                        Holds::Yes => sighted.see(moment),
                        Holds::Unknown => match says_shown(own, &item.id) {
                            Some(true) => sighted.see(moment),
                            Some(false) => {}
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
                        if let Some(value) = header(&exchange.request.headers, name) {
                            sighted.value(hash(&value), moment);
                        }
                    }
                    ShownBy::NoBreach(operation) => {
                        if exchange.operation.as_deref() == Some(operation) {
                            sighted.see(moment);
                            sighted.breach(moment, own);
                        }
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

    fn value(&mut self, value: u64, moment: Moment) {
        let Some(known) = self.values.insert(value, moment) else { return };
        let (first, later) = (known.min(moment), known.max(moment));
        self.values.insert(value, first);
        let twice = (later, first.1);
        self.twice = Some(self.twice.map_or(twice, |known| known.min(twice)));
    }

    fn breach(&mut self, moment: Moment, verdict: Option<&CaseVerdict>) {
        let findings = verdict.into_iter().flat_map(|verdict| &verdict.findings).enumerate();
        let mut told = HashSet::new();
        for (at, finding) in findings.filter(|(_, one)| one.end == End::Client && one.level != Level::Note) {
            let key = (finding.clause.clone(), finding.at.clone());
            if !told.insert(key.clone()) {
                continue;
            }
            let one = Broken { finding: finding.clone(), exchanges: 1, first: (moment, at) };
            match self.broken.get_mut(&key) {
                Some(known) => known.add(&one),
                None => _ = self.broken.insert(key, one),
            }
        }
    }
}

/// Whether an observation says that an exchange shows an item; `None` where none speaks of items.
fn says_shown(verdict: Option<&CaseVerdict>, item: &str) -> Option<bool> {
    let mut said = verdict.into_iter().flat_map(|verdict| &verdict.observations);
    let items = said.find_map(|text| text.strip_prefix(SHOWS))?;
    Some(items.split(", ").any(|known| known == item))
}
