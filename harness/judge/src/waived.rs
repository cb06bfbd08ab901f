//! Applies waivers to a run: to findings that a waiver covers, and to cases that are inconclusive only
//! because their control was rejected, if that is waived or allowed.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use xs2aspec_record::{
    CaseVerdict, Excuse, Level, LevelSource, Reason, Role, Verdict, WaiverSeen, WaiverState,
};
use xs2aspec_suite::{Case, Suite, nearest, plan};

use crate::{Done, Judge, Known, waiver::Waiver};

/// A day ends everywhere when it ends in the last time zone, UTC-12.
const LAST_ZONE: TimeDelta = TimeDelta::hours(-12);

/// The waivers of a run and their results.
#[derive(Debug, Default)]
pub struct Waivers {
    all: Vec<(Waiver, Met)>,
    /// The current day in the last time zone.
    today: NaiveDate,
}

/// The results of a waiver so far.
#[derive(Debug, Default)]
struct Met {
    /// The waived cases.
    waived: Vec<String>,
    /// True if its findings occurred, even in cases with other findings.
    was_there: bool,
    /// For a waiver without finding ids, its cases that passed.
    passed: Vec<String>,
    /// Number of its other cases that got a verdict without a finding.
    settled: usize,
}

impl Waivers {
    /// Returns these waivers as they apply at this time.
    pub fn new(waivers: Vec<Waiver>, now: DateTime<Utc>) -> Self {
        let today = now.checked_add_signed(LAST_ZONE).unwrap_or(now).date_naive();
        Self { all: waivers.into_iter().map(|waiver| (waiver, Met::default())).collect(), today }
    }

    /// Returns the active waivers with their indexes.
    fn holding(&self) -> impl Iterator<Item = (usize, &Waiver)> {
        let all = self.all.iter().map(|(waiver, _)| waiver).enumerate();
        all.filter(|(_, waiver)| waiver.expires >= self.today)
    }

    /// Returns the active waivers with their results.
    fn noting(&mut self) -> impl Iterator<Item = (&Waiver, &mut Met)> {
        let all = self.all.iter_mut().map(|(waiver, met)| (&*waiver, met));
        all.filter(|(waiver, _)| waiver.expires >= self.today)
    }

    /// Returns the waivers that together cover all findings of a case. Returns None if one is not covered.
    fn cover(&self, case: &Case, verdict: &CaseVerdict) -> Option<Vec<usize>> {
        let mut used = Vec::new();
        for finding in &verdict.findings {
            let (number, _) = self.holding().find(|(_, waiver)| waiver.covers(case, verdict, finding))?;
            if !used.contains(&number) {
                used.push(number);
            }
        }
        Some(used).filter(|used| !used.is_empty())
    }

    /// Returns true if the failure or warning of a case is waived.
    pub fn are_of(&self, suite: &Suite, verdict: &CaseVerdict) -> bool {
        suite.case(&verdict.case).is_some_and(|case| self.cover(case, verdict).is_some())
    }

    /// Applies the waivers to a verdict and updates their results.
    pub fn apply(&mut self, (judge, known): (&Judge, &Known), verdict: &mut CaseVerdict) {
        if verdict.role != Role::Selected && !verdict.is_broken_control() {
            return;
        }
        let Some(case) = judge.suite().case(&verdict.case) else { return };
        match verdict.verdict {
            Verdict::Fail | Verdict::Warn => {
                for (waiver, met) in self.noting() {
                    met.was_there |= verdict.findings.iter().any(|one| waiver.covers(case, verdict, one));
                }
                let Some(used) = self.cover(case, verdict) else { return };
                verdict.verdict = Verdict::Waived;
                verdict.reason = Some(Reason::Waived { excuse: says(&self.all[used[0]].0) });
                for number in used {
                    self.all[number].1.waived.push(verdict.case.clone());
                }
            }
            Verdict::Inconclusive => {
                if let Some((control, excuse)) = self.excuse((judge, known), verdict) {
                    verdict.verdict = Verdict::Waived;
                    verdict.reason = Some(Reason::ControlExcused { control: control.clone(), excuse });
                    verdict.waived_with = Some(control);
                }
            }
            Verdict::Pass | Verdict::Flaky | Verdict::Observed | Verdict::NotApplicable => {
                let is_of = |waiver: &Waiver| waiver.findings.is_empty() && waiver.is_of(case);
                for (_, met) in self.noting().filter(|(waiver, _)| is_of(waiver)) {
                    if verdict.verdict.is_pass() {
                        met.passed.push(verdict.case.clone());
                    } else {
                        met.settled += 1;
                    }
                }
            }
            Verdict::Waived | Verdict::Error => {}
        }
    }

    /// Returns the control that keeps a case from being judged, and the excuse for its rejection if that is
    /// waived or allowed. Follows the chain of controls.
    fn excuse(&self, (judge, known): (&Judge, &Known), verdict: &CaseVerdict) -> Option<(String, Excuse)> {
        let mut next = verdict.control.clone().filter(|_| !verdict.unconfirmed);
        while let Some(seen) = next.filter(|seen| !seen.accepted) {
            let done = known.case(&seen.case)?;
            if let Some(why) = self.why(judge, judge.suite().case(&seen.case)?, done) {
                return Some((seen.case, why));
            }
            let is_open = matches!(done.verdict.verdict, Verdict::Inconclusive | Verdict::Waived);
            next = done.verdict.control.clone().filter(|_| is_open && !done.verdict.unconfirmed);
        }
        None
    }

    /// Returns the excuse for the rejection of a control if every violated clause is waived or allowed.
    fn why(&self, judge: &Judge, case: &Case, done: &Done) -> Option<Excuse> {
        let verdict = &done.verdict;
        let mut broken = verdict.findings.iter().filter(|finding| finding.at == "status").peekable();
        if broken.peek().is_none() {
            // A note does not count as a finding.
            let is_noted =
                case.expect.is_accepted() && verdict.verdict == Verdict::Observed && !done.is_accepted();
            let server = done.is_server_error().then(|| judge.suite().answers().server_error());
            let allowed =
                [case.clause.as_str()].into_iter().chain(server).map(|clause| allowed(judge, clause));
            return allowed.collect::<Option<Vec<_>>>().filter(|_| is_noted)?.into_iter().next();
        }
        let why = broken.map(|finding| {
            let waiver = self.holding().find(|(_, waiver)| waiver.covers(case, verdict, finding));
            waiver.map(|(_, waiver)| says(waiver)).or_else(|| allowed(judge, &finding.clause))
        });
        why.collect::<Option<Vec<_>>>()?.into_iter().next()
    }

    /// Returns the state of each waiver. In a complete run of the whole suite, every finding is known.
    pub fn seen(&self, suite: &Suite, is_whole: bool) -> Vec<WaiverSeen> {
        let seen = |(waiver, met): &(Waiver, Met)| {
            let Met { waived, was_there, passed, settled } = met;
            let named = suite.cases().iter().filter(|case| waiver.is_of(case)).count();
            let is_known =
                named > 0 || suite.clauses().keys().any(|clause| plan::matches_clause(&waiver.cases, clause));
            let is_by_id = !waiver.findings.is_empty();
            let none = &vec![];
            let (state, cases) = if waiver.expires < self.today {
                (WaiverState::Expired, none)
            } else if !is_known {
                (WaiverState::Unmatched, none)
            } else if !waived.is_empty() || *was_there {
                (WaiverState::InForce, waived)
            } else if !passed.is_empty() && passed.len() + settled >= named {
                (WaiverState::Passing, passed)
            } else if is_by_id && is_whole {
                (WaiverState::Unmatched, none)
            } else {
                (WaiverState::NotAsked, passed)
            };
            let mut cases = cases.clone();
            let near = || {
                let ids = suite.cases().iter().flat_map(|case| [case.clause.as_str(), &case.id]);
                nearest(&waiver.cases, ids).map(str::to_owned)
            };
            cases.sort_unstable();
            WaiverSeen {
                pattern: waiver.cases.clone(),
                findings: waiver.findings.clone(),
                owner: waiver.owner.clone(),
                reason: waiver.reason.clone(),
                ticket: waiver.ticket.clone(),
                expires: waiver.expires.to_string(),
                place: waiver.place.clone(),
                near: if is_known { None } else { near() },
                state,
                cases,
            }
        };
        self.all.iter().map(seen).collect()
    }
}

/// Returns the excuse that a waiver gives.
fn says(Waiver { owner, reason, ticket, expires, .. }: &Waiver) -> Excuse {
    let (owner, ticket, because) = (owner.clone(), ticket.clone(), reason.clone());
    Excuse::Waiver { until: expires.to_string(), owner, ticket, because }
}

/// Returns the excuse for a clause whose level the user lowered, or None if nobody did.
fn allowed(judge: &Judge, clause: &str) -> Option<Excuse> {
    let set = judge.levels().clause(clause);
    let is_set = matches!(set.by, LevelSource::Profile | LevelSource::CommandLine);
    (is_set && set.level < Level::Deny).then_some(Excuse::Level { by: set.by })
}

#[cfg(test)]
mod tests;
