//! The record of traffic that was judged: the same events as those of any other run. Each exchange is a case of
//! its own, whose findings say which end broke what.

use std::collections::BTreeMap;

use xs2aspec_record::{CaseVerdict, End, Event, Exchange, Place, Role, RunFinished, Verdict};
use xs2aspec_runner::{DrawnRun, Session, run::Options};
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
    masker: TrafficMasker,
    /// What the traffic was read from.
    source: String,
    /// Which end counts; both where there is none.
    only: Option<End>,
    number: u64,
    /// When the first exchange began.
    began: Option<chrono::DateTime<chrono::Utc>>,
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
    /// How many exchanges broke each clause, by end.
    pub broken: BTreeMap<(End, String), u64>,
}

impl<'a> TrafficRun<'a> {
    /// Begins the record of traffic that is read from `source`. `only` leaves the findings of the other end out.
    pub fn begin(
        session: &'a Session,
        source: &str,
        only: Option<End>,
        options: &Options,
        sink: impl FnMut(&Event),
    ) -> Self {
        let record = DrawnRun::begin(session, options, &[], sink);
        let masker = TrafficMasker::new(session);
        let source = source.to_owned();
        Self { record, masker, source, only, number: 0, began: None, totals: Totals::default() }
    }

    /// Records an exchange and what it came to.
    pub fn add(&mut self, traffic: &Traffic, judged: &Judged, session: &Session, sink: impl FnMut(&Event)) {
        self.number += 1;
        let began = *self.began.get_or_insert(traffic.began);
        let operation = judged.operation.clone().unwrap_or_default();
        let id = format!("{AREA}/{:0DIGITS$}", self.number);
        let plain = session.suite().requests().plain_clause(&operation);
        let any = session.suite().answers().server_error();
        let clause = plain.unwrap_or(any).to_owned();
        let case = case(&id, &clause, &operation, &traffic.request.method);
        let masked = self.masker.masked(traffic, judged);
        let at = (traffic.began - began).num_microseconds().and_then(|at| u64::try_from(at).ok());
        let exchange = Exchange {
            number: self.number,
            case: id.clone(),
            step: "request".to_owned(),
            operation: judged.operation.clone(),
            attempt: 1,
            request: masked.request,
            response: masked.response,
            failure: traffic.failure.clone(),
            at: at.unwrap_or_default(),
            micros: traffic.micros,
        };
        let mut findings = masked.findings;
        findings.retain(|finding| self.only.is_none_or(|only| only == finding.end));
        let mut verdict = CaseVerdict {
            case: id,
            clause,
            area: AREA.to_owned(),
            operation,
            role: Role::Selected,
            place: Place { file: self.source.clone(), line: line(traffic.number), column: 1 },
            verdict: Verdict::Pass,
            expected: judged.due.clone(),
            checks: judged.checks,
            findings,
            observations: masked.observations,
            reason: None,
            absence: None,
            control: None,
            changes: traffic.label.iter().map(|label| self.masker.text(label)).collect(),
            places: vec![],
            culprit: None,
            same_as: None,
            judged_with: vec![],
            unconfirmed: false,
            exchange: Some(self.number),
            micros: traffic.micros,
        };
        self.decide(&mut verdict, judged);
        self.count(&verdict, judged);
        self.record.record(&case, verdict, vec![exchange], sink);
    }

    fn decide(&self, verdict: &mut CaseVerdict, judged: &Judged) {
        if let Some(word) = verdict.by_findings() {
            verdict.verdict = word;
        } else if judged.operation.is_none() {
            verdict.verdict = Verdict::Observed;
            verdict.checks = 0;
            verdict.reason.clone_from(&judged.undecided);
        } else if let Some(reason) = judged.undecided.as_ref().filter(|_| self.only != Some(End::Client)) {
            verdict.verdict = Verdict::Inconclusive;
            verdict.reason = Some(self.masker.text(reason));
        }
    }

    fn count(&mut self, verdict: &CaseVerdict, judged: &Judged) {
        self.totals.exchanges += 1;
        self.totals.of_no_operation += u64::from(judged.operation.is_none());
        self.totals.not_told += u64::from(!judged.not_told.is_empty());
        let mut clauses: Vec<(End, &str)> =
            verdict.findings.iter().map(|finding| (finding.end, finding.clause.as_str())).collect();
        clauses.sort_unstable();
        clauses.dedup();
        for (end, clause) in clauses {
            *self.totals.broken.entry((end, clause.to_owned())).or_default() += 1;
        }
    }

    /// Ends the record.
    pub fn finish(self, sink: impl FnMut(&Event)) -> (RunFinished, Totals) {
        (self.record.finish(sink), self.totals)
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
    Case::unwritten(id.to_owned(), clause.to_owned(), operation, request)
}

fn line(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
