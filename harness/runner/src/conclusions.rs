//! The verdicts of a run as they are concluded, one case after the other: waivers are applied, and a row of
//! lawful forms that the target rejects waits until it is known which of the forms it minds.

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

/// After so long nothing more is asked alone: a target may be slow, or give no response to what it minds.
const LONGEST: Duration = Duration::from_secs(20);

/// The requests before a rejected one that are sent again with it.
const COMPANY: usize = 8;

/// So many requests that were rejected once are sent again in company. More than a few make a run
/// inconclusive anyway.
const REJECTED_ONCE: usize = 10;

/// Concludes the cases of a run.
pub(crate) struct Conclusions<'a> {
    runner: &'a Runner,
    /// All cases of the run, by id.
    order: &'a [(&'a Case, Role)],
    culprits: Culprits<'a>,
    waivers: Waivers,
    /// What the cases say that ended.
    witnesses: Vec<Witness>,
    /// Verdicts that wait for another look, by their positions: rejected rows, and requests that were
    /// rejected once.
    waiting: BTreeMap<usize, CaseVerdict>,
    /// How many of them were rejected once.
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

    /// Returns the waivers, and how far they were met.
    pub(crate) fn waivers(&self) -> &Waivers {
        &self.waivers
    }

    /// Takes a verdict of an earlier part of the run that stays. Returns it as it is now: a waiver may have
    /// expired since.
    pub(crate) fn keep(&mut self, mut verdict: CaseVerdict) -> CaseVerdict {
        if verdict.verdict == Verdict::Waived {
            verdict.verdict = verdict.unwaived();
            (verdict.reason, verdict.waived_with) = (None, None);
        }
        self.apply_waivers(&mut verdict);
        self.culprits.keep(&verdict);
        verdict
    }

    /// Concludes a case. Returns true if that is a violation of which all is known.
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

    /// Returns true if a verdict makes the run one that does not conform.
    fn is_violation(&self, verdict: &CaseVerdict, history: &History<'_>) -> bool {
        let is_red = match verdict.verdict {
            Verdict::Fail => verdict.role == Role::Selected || verdict.is_broken_control(),
            Verdict::Warn => verdict.role == Role::Selected && history.tally.totals().denies_warnings(),
            _ => false,
        };
        is_red && !self.waivers.are_of(self.runner.judge().suite(), verdict)
    }

    /// Returns the cases whose requests came just before that of a case, in the order of time.
    fn company(&self, at: usize, verdict: &CaseVerdict) -> Vec<&'a Case> {
        let number = verdict.exchange.unwrap_or_default();
        let before = self.witnesses.partition_point(|witness| witness.number < number);
        let before = &self.witnesses[before.saturating_sub(COMPANY)..before];
        let before = before.iter().map(|witness| witness.position).filter(|other| *other != at);
        before.map(|at| self.order[at].0).collect()
    }

    /// Concludes the verdicts that wait, in the order of their ids: the run asks the same for each of them,
    /// however many cases were in flight. Asks nothing more once it is interrupted. Returns true if it is.
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

    /// Asks again what was wrong, one thing after the other, when nothing else is under way. Nothing more
    /// where the run is to end before.
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
