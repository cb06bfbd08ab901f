//! The record of traffic that was judged: the same events as those of any other run. Each exchange is a case
//! of its own, whose findings say which end broke what.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use xs2aspec_judge::Judge;
use xs2aspec_record::{CaseVerdict, End, Event, Exchange, Level, Place, Reason, Role, RunFinished, Verdict};
use xs2aspec_runner::{Clock, DrawnRun, run::Options};
use xs2aspec_suite::{BodySpec, Case, RequestSpec, Signing};

use crate::{judge::Judged, mask::TrafficMasker, traffic::Traffic};

/// The folder of the cases of traffic: an area, as reports call it.
const AREA: &str = "traffic";

/// How many exchanges a record has at most, so that the names of its cases are in their order.
const DIGITS: usize = 9;

/// A record of traffic, as far as it has come.
#[derive(Debug)]
pub struct TrafficRun<'a> {
    record: DrawnRun<'a>,
    judge: &'a Judge,
    masker: TrafficMasker<'a>,
    /// Which end counts; both where there is none.
    only: Option<End>,
    number: u64,
    /// When the first exchange began.
    began: Option<DateTime<Utc>>,
    totals: Totals,
}

/// How many exchanges there were, and what they came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Exchanges.
    pub exchanges: u64,
    /// Those that are for no operation of the document.
    pub of_no_operation: u64,
    /// Those in which something could not be told.
    pub not_told: u64,
    /// What is broken, by end and clause.
    pub broken: BTreeMap<(End, String), Broken>,
}

/// A clause that an end broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// In how many exchanges.
    pub exchanges: u64,
    /// The number of the first of them where it was read.
    pub first: u64,
    /// Where that was.
    pub source: String,
    /// What was wrong in it, in words.
    pub mismatch: String,
    /// What it does.
    pub level: Level,
}

impl<'a> TrafficRun<'a> {
    /// Begins the record of traffic. `only` leaves the findings of the other end out.
    pub fn begin(
        (judge, now): (&'a Judge, DateTime<Utc>),
        only: Option<End>,
        options: &Options,
        sink: impl FnMut(&Event),
    ) -> Self {
        let record = DrawnRun::begin(judge, Clock::at(now), options, &[], sink);
        let masker = TrafficMasker::new(judge);
        Self { record, masker, judge, only, number: 0, began: None, totals: Totals::default() }
    }

    /// Records an exchange and what it came to. `source` is the file from which it was read, or its like.
    pub fn add(&mut self, source: &str, traffic: &Traffic, judged: &Judged, sink: impl FnMut(&Event)) {
        self.number += 1;
        let began = *self.began.get_or_insert(traffic.began);
        let operation = judged.operation.clone().unwrap_or_default();
        let id = format!("{AREA}/{:0DIGITS$}", self.number);
        let plain = self.judge.suite().requests().plain_clause(&operation);
        let any = self.judge.suite().answers().server_error();
        let clause = plain.unwrap_or(any).to_owned();
        let case = case(&id, &clause, &operation, &traffic.request.method);
        let masked = self.masker.masked(traffic, judged);
        let at = (traffic.began - began).num_microseconds().and_then(|at| u64::try_from(at).ok());
        let exchange = Exchange {
            number: self.number,
            case: id.clone(),
            step: "request".to_owned(),
            look: None,
            operation: judged.operation.clone(),
            attempt: 1,
            request: masked.request,
            response: masked.response,
            failure: masked.failure,
            at: at.unwrap_or_default(),
            micros: traffic.micros,
        };
        let mut findings = masked.findings;
        findings.retain(|finding| self.only.is_none_or(|only| only == finding.end));
        let codes = if findings.is_empty() { vec![] } else { masked.codes };
        let mut verdict = CaseVerdict {
            case: id,
            clause,
            area: AREA.to_owned(),
            operation,
            role: Role::Selected,
            place: Place { file: source.to_owned(), line: line(traffic.number), column: 1 },
            verdict: Verdict::Pass,
            expected: judged.due.clone(),
            checks: judged.checks,
            findings,
            observations: masked.observations,
            refusal: None,
            reason: None,
            absence: None,
            control: None,
            changes: masked.label.into_iter().collect(),
            differences: vec![],
            codes,
            culprit: None,
            same_as: None,
            judged_with: vec![],
            waived_with: None,
            unconfirmed: false,
            exchange: Some(self.number),
            micros: traffic.micros,
        };
        self.decide(&mut verdict, judged, masked.reason);
        self.count(source, traffic, &verdict, judged);
        self.record.record(&case, verdict, vec![exchange], sink);
    }

    /// Decides the verdict. `reason` says why nothing could be told, if so.
    fn decide(&self, verdict: &mut CaseVerdict, judged: &Judged, reason: Option<Reason>) {
        if let Some(word) = verdict.by_findings() {
            verdict.verdict = word;
        } else if judged.operation.is_none() {
            verdict.verdict = Verdict::Observed;
            verdict.checks = 0;
            verdict.reason = reason;
        } else if let Some(reason) = reason.filter(|_| self.only != Some(End::Client)) {
            verdict.verdict = Verdict::Inconclusive;
            verdict.reason = Some(reason);
        }
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

    /// Ends the record.
    pub fn finish(self, sink: impl FnMut(&Event)) -> (RunFinished, Totals) {
        (self.record.finish(0, sink), self.totals)
    }
}

/// The case that an exchange is: what it says of itself is which operation was asked.
fn case(id: &str, clause: &str, operation: &str, method: &str) -> Case {
    let request = RequestSpec {
        operation: operation.to_owned(),
        method: method.to_owned(),
        path: String::new(),
        query: Vec::new(),
        headers: Vec::new().into(),
        body: BodySpec::None,
        signing: Signing::default(),
        exact: false,
    };
    Case::unwritten(id.to_owned(), clause.to_owned(), operation, &Arc::new(request))
}

fn line(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
