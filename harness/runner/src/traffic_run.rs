//! Records judged traffic with the same events as a run. Each exchange is a case of its own, whose findings
//! name the end that violated a clause.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use xs2aspec_judge::{
    Judge,
    client::{Plan, masked},
    traffic::{Judged, Traffic, mask::TrafficMasker},
};
use xs2aspec_record::{CaseVerdict, End, Event, Exchange, Exit, Level};
use xs2aspec_suite::{BodySpec, Case, RequestSpec, Signing};

use crate::{clock::Clock, drawn::DrawnRun, run::Options};

/// Area of the cases of traffic, as reports call it.
const AREA: &str = "traffic";

/// Digits of a case number. Padding keeps the ids of the cases in order.
const DIGITS: usize = 9;

/// The record of traffic in progress.
#[derive(Debug)]
pub struct TrafficRun<'a> {
    record: DrawnRun<'a>,
    judge: &'a Judge,
    masker: TrafficMasker<'a>,
    /// The items that a client should demonstrate.
    plan: Plan,
    /// The end to judge. `None` for both.
    only: Option<End>,
    number: u64,
    /// Start of the first exchange.
    began: Option<DateTime<Utc>>,
    totals: Totals,
}

/// Numbers of exchanges, and the violations in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of exchanges.
    pub exchanges: u64,
    /// Number of exchanges that match no operation of the document.
    pub of_no_operation: u64,
    /// Number of exchanges with a part that could not be judged.
    pub not_told: u64,
    /// Violations, by end and clause.
    pub broken: BTreeMap<(End, String), Broken>,
}

/// A clause that an end violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Number of exchanges.
    pub exchanges: u64,
    /// Number of the first exchange in its source.
    pub first: u64,
    /// The source of that exchange.
    pub source: String,
    /// Description of the mismatch in it.
    pub mismatch: String,
    /// Level of the finding.
    pub level: Level,
}

impl<'a> TrafficRun<'a> {
    /// Starts the record of traffic. `only` drops the findings of the other end.
    pub fn begin(
        (judge, now): (&'a Judge, DateTime<Utc>),
        only: Option<End>,
        options: &Options,
        sink: impl FnMut(&Event),
    ) -> Self {
        let record = DrawnRun::begin(judge, Clock::at(now), options, &[], sink);
        let masker = TrafficMasker::new(judge);
        // `client report` reports a plan that cannot be read.
        let plan = Plan::load(judge.suite().tree()).ok().flatten().unwrap_or_default();
        Self { record, masker, plan, judge, only, number: 0, began: None, totals: Totals::default() }
    }

    /// Records an exchange and its verdict. `source` is the name of the file from which it was read, or a
    /// similar label.
    pub fn add(&mut self, source: &str, traffic: &Traffic, judged: &Judged, sink: impl FnMut(&Event)) {
        self.number += 1;
        let began = *self.began.get_or_insert(traffic.began);
        let operation = judged.operation.clone().unwrap_or_default();
        let id = format!("{AREA}/{:0DIGITS$}", self.number);
        let plain = self.judge.suite().requests().plain_clause(&operation);
        let any = self.judge.suite().answers().server_error();
        let clause = plain.unwrap_or(any).to_owned();
        let at = (traffic.number, source);
        let case = case((id, clause), &operation, &traffic.request.method, at);
        let mut verdict = judged.verdict(&case, traffic, self.only);
        verdict.exchange = Some(self.number);
        verdict.seen.extend(masked::shown(&self.plan, traffic, judged, self.judge.suite()));
        let masked = self.masker.masked(traffic, judged, &mut verdict);
        let began = (traffic.began - began).num_microseconds().and_then(|at| u64::try_from(at).ok());
        let exchange = Exchange {
            number: self.number,
            case: case.id.clone(),
            step: "request".to_owned(),
            look: None,
            // An exchange that cannot be read does not count for its operation.
            operation: judged.operation.clone().filter(|_| !judged.is_unread()),
            attempt: 1,
            request: masked.request,
            response: masked.response,
            failure: masked.failure,
            at: began.unwrap_or_default(),
            micros: traffic.micros,
        };
        self.count(source, traffic, &verdict, judged);
        self.record.record(&case, verdict, vec![exchange], sink);
    }

    fn count(&mut self, source: &str, traffic: &Traffic, verdict: &CaseVerdict, judged: &Judged) {
        self.totals.exchanges += 1;
        self.totals.of_no_operation += u64::from(judged.operation.is_none());
        self.totals.not_told += u64::from(!judged.not_told.is_empty());
        let mut known = BTreeSet::new();
        for finding in &verdict.findings {
            let key = (finding.end, finding.clause.clone());
            if known.insert(key.clone()) {
                let broken = self.totals.broken.entry(key).or_insert_with(|| Broken {
                    exchanges: 0,
                    first: traffic.number,
                    source: source.to_owned(),
                    mismatch: finding.mismatch(),
                    level: finding.level,
                });
                broken.exchanges += 1;
            }
        }
    }

    /// Ends the record. Returns the exit code and the totals.
    pub fn finish(self, sink: impl FnMut(&Event)) -> (Exit, Totals) {
        let finished = self.record.finish(0, sink);
        let exit = Exit::ALL.into_iter().find(|exit| exit.code() == finished.exit);
        (exit.unwrap_or(Exit::NothingRan), self.totals)
    }
}

/// Returns an exchange as a case, with its operation and the place where it was read.
fn case(
    (id, clause): (String, String),
    operation: &str,
    method: &str,
    (number, source): (u64, &str),
) -> Case {
    let request = RequestSpec {
        operation: operation.to_owned(),
        method: method.to_owned(),
        path: String::new(),
        query: Vec::new(),
        headers: Vec::new().into(),
        body: BodySpec::None,
        signing: Signing::default(),
        exact: false,
        spelled: Vec::new(),
    };
    let case = Case::unwritten(id, clause, operation, &Arc::new(request));
    Case { area: AREA.to_owned(), file: source.to_owned(), line: line(number), ..case }
}

fn line(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
