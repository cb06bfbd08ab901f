//! Concludes the verdicts of a run case by case. Waivers are applied, and a rejected row of valid variants
//! waits until the rejected variants are known.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use xs2aspec_judge::{
    culprits::Culprits,
    probes::{
        company::was_rejected_once,
        isolation::{self, Witness},
    },
    waived::Waivers,
};
use xs2aspec_record::{CaseVerdict, Event, Exchange, Role, Verdict};
use xs2aspec_suite::Case;

use crate::{history::History, runner::Runner};

/// Time limit for starting further reruns in isolation. A slow target, or one that does not respond to
/// certain requests, could take very long.
const LONGEST: Duration = Duration::from_secs(20);

/// Number of preceding requests that are resent with a rejected one.
const COMPANY: usize = 8;

/// Number of requests rejected once that are resent in company. A run with more of them is inconclusive
/// anyway.
const REJECTED_ONCE: usize = 10;

/// Concludes the cases of a run.
pub(crate) struct Conclusions<'a> {
    runner: &'a Runner,
    /// All cases of the run, sorted by id.
    order: &'a [(&'a Case, Role)],
    culprits: Culprits<'a>,
    waivers: Waivers,
    /// Evidence from the completed cases.
    witnesses: Vec<Witness>,
    /// Verdicts that need further requests, by position: rejected rows, and requests that were rejected once.
    waiting: BTreeMap<usize, CaseVerdict>,
    /// Number of requests that were rejected once.
    rejected_once: usize,
}

impl<'a> Conclusions<'a> {
    pub(crate) fn new(runner: &'a Runner, order: &'a [(&'a Case, Role)], waivers: Waivers) -> Self {
        Self {
            runner,
            order,
            culprits: Culprits::new(runner.judge()),
            waivers,
            witnesses: Vec::new(),
            waiting: BTreeMap::new(),
            rejected_once: 0,
        }
    }

    /// Returns the waivers and their matches so far.
    pub(crate) fn waivers(&self) -> &Waivers {
        &self.waivers
    }

    /// Adds a verdict that is kept from an earlier part of the run. Returns it updated, because a waiver may
    /// have expired since.
    pub(crate) fn keep(&mut self, mut verdict: CaseVerdict) -> CaseVerdict {
        if verdict.verdict == Verdict::Waived {
            verdict.verdict = verdict.unwaived();
            (verdict.reason, verdict.waived_with) = (None, None);
        }
        self.apply_waivers(&mut verdict);
        self.culprits.keep(&verdict);
        verdict
    }

    /// Concludes a case. Returns true if it is a violation that needs no further requests.
    pub(crate) fn land(
        &mut self,
        verdict: CaseVerdict,
        judged: Option<&Exchange>,
        history: &mut History<'_>,
    ) -> bool {
        let Ok(at) = self.order.binary_search_by(|(case, _)| case.id.cmp(&verdict.case)) else {
            return false;
        };
        self.witnesses.extend(Witness::new(at, &verdict, judged));
        let is_in_company = was_rejected_once(&verdict)
            && self.rejected_once < REJECTED_ONCE
            && self.runner.judge().asks_again();
        self.rejected_once += usize::from(is_in_company);
        if is_in_company || self.culprits.is_refused_row(self.order[at].0, &verdict, judged) {
            self.waiting.insert(at, verdict);
            return false;
        }
        let is_violation = self.is_violation(&verdict, history);
        self.conclude(verdict, history);
        is_violation
    }

    fn apply_waivers(&mut self, verdict: &mut CaseVerdict) {
        self.waivers.apply((self.runner.judge(), &self.runner.known()), verdict);
    }

    fn conclude(&mut self, mut verdict: CaseVerdict, history: &mut History<'_>) {
        self.apply_waivers(&mut verdict);
        history.append(&Event::Verdict(verdict));
    }

    /// Returns true if the verdict makes the run nonconforming.
    fn is_violation(&self, verdict: &CaseVerdict, history: &History<'_>) -> bool {
        let is_red = match verdict.verdict {
            Verdict::Fail => verdict.role == Role::Selected || verdict.is_broken_control(),
            Verdict::Warn => verdict.role == Role::Selected && history.tally.totals().denies_warnings(),
            _ => false,
        };
        is_red && !self.waivers.are_of(self.runner.judge().suite(), verdict)
    }

    /// Returns the cases whose requests directly preceded that of a case, in order of time.
    fn company(&self, at: usize, verdict: &CaseVerdict) -> Vec<&'a Case> {
        let number = verdict.exchange.unwrap_or_default();
        let before = self.witnesses.partition_point(|witness| witness.number < number);
        let before = &self.witnesses[before.saturating_sub(COMPANY)..before];
        let before = before.iter().map(|witness| witness.position).filter(|other| *other != at);
        before.map(|at| self.order[at].0).collect()
    }

    /// Concludes the waiting verdicts, sorted by id. The order makes the run independent of the number of
    /// cases in flight. Stops sending once the run is interrupted. Returns true if it is.
    pub(crate) async fn narrow(
        &mut self,
        history: &mut History<'_>,
        interrupt: &Notify,
        mut is_interrupted: bool,
    ) -> bool {
        self.witnesses.sort_by_key(|witness| witness.number);
        while let Some((at, mut verdict)) = self.waiting.pop_first() {
            let (row, judge) = (self.order[at].0, self.runner.judge());
            if !is_interrupted && was_rejected_once(&verdict) {
                let company = self.company(at, &verdict);
                let asked =
                    self.runner.ask(|view, known| judge.in_company(row, &company, &verdict, (view, known)));
                tokio::select! {
                    rejected = history.beside(asked) => verdict = rejected.unwrap_or(verdict),
                    () = interrupt.notified() => is_interrupted = true,
                }
            } else if !is_interrupted && !self.culprits.is_known(&mut verdict) {
                tokio::select! {
                    narrowed = history.beside(self.runner.ask(|view, known| judge.narrow(row, view, known))) => {
                        self.culprits.take(&mut verdict, narrowed);
                    }
                    () = interrupt.notified() => is_interrupted = true,
                }
            }
            self.conclude(verdict, history);
        }
        is_interrupted
    }

    /// Reruns failures in isolation, one after the other. Stops if the run is interrupted.
    pub(crate) async fn ask_alone(&mut self, history: &mut History<'_>, interrupt: &Notify) {
        let judge = self.runner.judge();
        if !judge.asks_again() {
            return;
        }
        let order: Vec<&Case> = self.order.iter().map(|(case, _)| *case).collect();
        let began = Instant::now();
        for suspect in isolation::suspects(&mut self.witnesses, &order).iter().enumerate() {
            let asked = self.runner.ask(|view, known| judge.isolated(suspect, &order, view, known));
            tokio::select! {
                asked = history.beside(asked) => history.append(&Event::AskedAlone(asked)),
                () = interrupt.notified() => return,
            }
            if began.elapsed() > LONGEST {
                return;
            }
        }
    }
}
